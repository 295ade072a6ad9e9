"""The process in which a submission plays: `host.main(FILE)`, one line of JSON in and one out.

    > {"observation": [CELLS, MARK, STEP, BANK], "configuration": {"columns": 7, ...}, "seed": 17}
    < {"column": 3}      or {"answer": "'left'"}      or {"error": "ValueError: no"}

`player.py` is the other side.
"""

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.bridges.host import TEXT_CHARACTERS, Answer, serve
from fourlab.bridges.kaggle.submission import Submission, ask, load


def main(file: str) -> None:
    """Load a submission and answer questions."""

    def load_file() -> tuple[dict[str, Any], Answer]:
        agent = load(Path(file).read_text(encoding="utf-8"))
        return {}, lambda question: _answer(agent, question)

    serve(load_file)


def _answer(agent: Submission, question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a submission to a question."""
    random.seed(question["seed"])
    np.random.seed(question["seed"])
    cells, mark, step, bank = question["observation"]
    answer = ask(agent, cells, mark, step, bank, **question["configuration"])
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        return {"column": max(-sys.maxsize, min(int(answer), sys.maxsize))}
    return {"answer": repr(answer)[:TEXT_CHARACTERS]}
