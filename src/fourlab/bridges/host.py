"""The process in which a foreign file is loaded and asked: one line of JSON in, one out.

    < {"ready": true}       when the file is loaded; or {"error": "ValueError: no"}, and it exits
    > {...}                 a question
    < {...}                 its answer, or {"error": "ValueError: no"}

`hosted.py` is the other side. Whatever the file prints is discarded, so that it cannot be taken for
an answer.
"""

import json
import os
from collections.abc import Callable
from typing import Any

TEXT_CHARACTERS = 500
"""How much of a message or a wrong answer is reported."""
Answer = Callable[[dict[str, Any]], dict[str, Any]]
"""Answers a question; both are JSON objects."""


def serve(load: Callable[[], tuple[dict[str, Any], Answer]]) -> None:
    """Load a file and answer questions until `quit` or the end of the input; does not return.

    `load` returns facts about the file and what answers questions.
    """
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
        facts, answer = load()
    except BaseException as error:  # somebody else's code, which may raise anything
        say(error=text_of(error))
        os._exit(0)
    say(ready=True, **facts)
    for line in questions:
        if line.strip() == "quit":
            break
        try:
            words = answer(json.loads(line))
        except BaseException as error:
            words = {"error": text_of(error)}
        say(**words)
    # Threads of the file, such as one that compiles, must not delay the exit.
    os._exit(0)


def text_of(error: BaseException) -> str:
    """Return an exception as a short text."""
    try:
        return f"{type(error).__name__}: {error}"[:TEXT_CHARACTERS]
    except BaseException:  # its own __str__ may raise, too
        return type(error).__name__[:TEXT_CHARACTERS]
