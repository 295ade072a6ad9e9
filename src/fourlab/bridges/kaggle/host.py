"""The process in which a submission plays: `host.main(FILE, FOLDER)`.

One line of JSON comes in and one goes out:

    > {"observation": [CELLS, MARK, STEP, BANK], "configuration": {"columns": 7, ...}, "seed": 17}
    < {"column": 3}      or {"answer": "'left'"}      or {"error": "ValueError: no"}

`player.py` is the other side.
"""

import os
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.bridges.host import TEXT_CHARACTERS, Answer, serve
from fourlab.bridges.kaggle.submission import Submission, ask, load


def main(file: str, folder: str) -> None:
    """Load a submission and answer questions, with `folder` as the working folder."""

    def load_file() -> tuple[dict[str, Any], Answer]:
        source = Path(file).read_text(encoding="utf-8")
        os.chdir(folder)
        agent = load(source, str(Path(file).parent))
        return {}, lambda question: _answer(agent, question, file)

    serve(load_file)


def _answer(agent: Submission, question: dict[str, Any], file: str) -> dict[str, Any]:
    """Return the answer of a submission to a question."""
    random.seed(question["seed"])
    np.random.seed(question["seed"])
    cells, mark, step, bank = question["observation"]
    configuration = {**question["configuration"], "__raw_path__": file}
    answer = ask(agent, cells, mark, step, bank, **configuration)
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        return {"column": max(-sys.maxsize, min(int(answer), sys.maxsize))}
    return {"answer": repr(answer)[:TEXT_CHARACTERS]}
