"""What the authors wanted to know, and the answers, filled from data."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fourlab.studies.claims import Claim
from fourlab.studies.filling import bears_out, fill


@dataclass(frozen=True)
class Question:
    """What an author wanted to know, and the answer as a template."""

    question: str
    answer: str
    """With places for values of claims: {table-1-best.faithful}."""
    expects: Sequence[str] = ()
    """What the words take for granted: "table-1-best.true holds"."""

    def answered(self, claims: Mapping[str, Claim]) -> str | None:
        """Return the answer; None if values are missing or are not what the words say."""
        return fill(self.answer, claims) if bears_out(claims, self.expects) else None


def answers_of(author: str, claims: Mapping[str, Claim]) -> dict[str, str | None]:
    """Return the answers to the questions of a report; None where the data allow none.

    Of several answers to one question, the first that fits is given.
    """
    answers: dict[str, str | None] = {}
    for question in questions_of(author):
        if answers.get(question.question) is None:
            answers[question.question] = question.answered(claims)
    return answers


@cache
def questions_of(author: str) -> tuple[Question, ...]:
    """Return the research questions of a report with their answers, in its order."""
    text = files("fourlab.studies").joinpath("questions.toml").read_text(encoding="utf-8")
    return tuple(Question(**entry) for entry in tomllib.loads(text).get(author, ()))
