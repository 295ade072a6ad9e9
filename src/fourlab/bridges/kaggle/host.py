"""The process in which a submission plays: `host.main(FILE)`, one line of JSON in and one out.

    > {"observation": [CELLS, MARK, STEP, BANK], "configuration": {"columns": 7, ...}, "seed": 17}
    < {"column": 3}      or {"answer": "'left'"}      or {"error": "ValueError: no"}

The first line out comes when the file is loaded: {"ready": true}, or an error. `player.py` is the
other side. Whatever the file prints is discarded, so that it cannot be taken for an answer.
"""

import json
import os
import random
import sys
from typing import Any

import numpy as np

from fourlab.bridges.kaggle.submission import Submission, ask, load

TEXT_CHARACTERS = 500
"""How much of a message or a wrong answer is reported."""


def main(file: str) -> None:
    """Load a submission and answer questions until `quit` or the end of the input."""
    # The pipes become private: the file gets an empty input, and its output goes nowhere.
    questions = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)

    def say(**words: Any) -> None:
        answers.write(json.dumps(words) + "\n")
        answers.flush()

    try:
        with open(file, encoding="utf-8") as stream:
            agent = load(stream.read())
    except BaseException as error:  # somebody else's code, which may raise anything
        say(error=_text(error))
        os._exit(0)
    say(ready=True)
    for line in questions:
        if line.strip() == "quit":
            break
        say(**_answer(agent, json.loads(line)))
    # Threads of the file, such as one that compiles, must not delay the exit.
    os._exit(0)


def _answer(agent: Submission, question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a submission to a question, or what went wrong."""
    random.seed(question["seed"])
    np.random.seed(question["seed"])
    cells, mark, step, bank = question["observation"]
    try:
        answer = ask(agent, cells, mark, step, bank, **question["configuration"])
        if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
            return {"column": max(-sys.maxsize, min(int(answer), sys.maxsize))}
        return {"answer": repr(answer)[:TEXT_CHARACTERS]}
    except BaseException as error:
        return {"error": _text(error)}


def _text(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:TEXT_CHARACTERS]
    except BaseException:  # its own __str__ may raise, too
        return type(error).__name__[:TEXT_CHARACTERS]
