"""Intermediate results of a search, sent at most ten times a second."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from fourlab.game.position import Position
from fourlab.web.messages import OpinionAnswer, PointAnswer
from fourlab.web.settings import SECONDS_BETWEEN_EVENTS

if TYPE_CHECKING:  # which imports the compiler
    from fourlab.analysis.opinion import Opinion

Report = Callable[[str], None]
"""Called with an intermediate result as JSON."""


class Reporter:
    """A thread that reports the latest opinion of a search while the search runs.

    Searches report about ten opinions per power of ten simulations, in bursts at the beginning.
    Every report has the latest opinion, and of the others since the last report a point of the
    convergence curve each.
    """

    def __init__(self, agent: str, position: Position, report: Report) -> None:
        self._agent = agent
        self._position = position
        self._report = report
        self._opinions: list[Opinion] = []  # since the last report
        self._news = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Reporter":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended = True
        self._news.set()
        self._thread.join()

    def add(self, opinion: "Opinion") -> None:
        """Keep an opinion for the next report."""
        self._opinions.append(opinion)
        self._news.set()

    def with_trace(self, answer: OpinionAnswer) -> str:
        """Return an answer as JSON, with the snapshots since the last report."""
        opinions, self._opinions = self._opinions, []
        answer.trace = [
            PointAnswer.of(opinion) for opinion in opinions if opinion.simulations is not None
        ]
        return answer.model_dump_json()

    def _run(self) -> None:
        while True:
            self._news.wait()
            if self._ended:
                return
            self._news.clear()
            if self._opinions:
                latest = OpinionAnswer.of(self._opinions[-1], self._agent, self._position)
                self._report(self.with_trace(latest))
                time.sleep(SECONDS_BETWEEN_EVENTS)
