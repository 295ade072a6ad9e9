"""Minimax with alpha-beta, as deep as it is told; and the faulty form of document 004's window."""

import contextlib
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from threading import Timer
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Exact, Limit
from fourlab.agents.generators import generator
from fourlab.agents.minimax.kernel import CLOSED, WIN, lines_through_cells, minimax_columns, warm_up
from fourlab.game.bitboard import has_line, landing
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.options import check, option

TABLE = 1 << 16
POINTS = 100
"""A guess of so many points is shown as a value of about three quarters."""

_load_kernels = cache(warm_up)
"""Compile or load the search before anybody's clock runs."""


@dataclass(frozen=True)
class Minimax:
    """Looks a fixed number of discs ahead with alpha-beta and a table, and guesses the rest by places and threats."""

    kernels: ClassVar[tuple[str, ...]] = ("minimax",)
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    depth: int = option(
        4, "How many discs to look ahead (document 004: 4 and 6).", least=1, most=62, unit="plies", public=True, public_most=12
    )
    evaluation: Literal["lines", "terminal"] = option(
        "lines", "Where the depth ends: count lines and threats, or let nothing but finished games count.", public=True
    )
    tie: Literal["centre", "first", "random"] = option(
        "centre", "Equal columns: the most central, the leftmost, or by lot.", public=True
    )
    faithful: bool = option(
        False,
        "Document 004's window as coded: it stops where the depth counts down to 6, and all discs are its own.",
        public=True,
    )

    def __post_init__(self) -> None:
        check(self)

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Look as deep as told; with a limit of time or nodes, deeper and deeper until it is reached."""
        rng = generator(rng)
        if self.faithful:
            return _as_the_window_did(position, self.depth)
        _load_kernels()
        started = time.perf_counter()
        left = position.rules.columns * position.rules.rows - position.ply
        deepest = min(self.depth, left, limit.depth or self.depth)
        values, depth, nodes = self._deepen(position, deepest, limit)
        best = max(values)
        equal = [column for column in position.legal_columns() if values[column] == best]
        middle = (position.rules.columns - 1) / 2
        column = {
            "centre": lambda: min(equal, key=lambda column: abs(column - middle)),
            "first": lambda: equal[0],
            "random": lambda: int(rng.choice(equal)),
        }[self.tie]()
        columns = tuple(ColumnAnalysis(each, score=values[each]) for each in position.legal_columns())
        analysis = Analysis(columns, depth=depth, nodes=nodes, seconds=time.perf_counter() - started)
        return Decision(column, _value(best), None, analysis, (column,), _proven(best, depth, left))

    def _deepen(self, position: Position, deepest: int, limit: Limit) -> tuple[list[int], int, int]:
        """The values of the columns at the greatest depth that the limit allows; that depth, and the nodes spent."""
        bounded = limit.seconds is not None or limit.nodes is not None or limit.stop is not None
        allowed = 1 << 60 if limit.nodes is None else limit.nodes
        g = position.rules.geometry
        worth = _worth(position.rules) if self.evaluation == "lines" else np.zeros(0, np.int64)
        table, counts = np.zeros((2, TABLE), np.int64), np.array([0, allowed])
        stop = np.zeros(1, np.uint8) if limit.stop is None else np.frombuffer(limit.stop.flag, np.uint8)
        legal = position.legal_columns()
        values, reached = [0 if column in legal else CLOSED for column in range(g.columns)], 0
        with _alarm(limit.seconds, counts):
            for depth in range(1 if bounded else deepest, deepest + 1):
                found = minimax_columns(position.own, position.mask, g, depth, worth, table, counts, stop)
                if counts[0] > counts[1]:
                    break
                values, reached = found.tolist(), depth
                if max(values) >= WIN:
                    break  # nothing is better than the quickest win
        return values, reached, min(int(counts[0]), allowed)


@contextlib.contextmanager
def _alarm(seconds: float | None, counts: np.ndarray) -> Iterator[None]:
    """Allow no more nodes once the time is up."""
    if seconds is None:
        yield
        return
    timer = Timer(seconds, lambda: counts.__setitem__(1, -1))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@lru_cache(maxsize=16)
def _worth(rules: Rules) -> np.ndarray:
    return lines_through_cells(rules.geometry)


def _value(points: int) -> float:
    """A number from -1 to +1: wins are sure, guesses are squeezed between."""
    return math.copysign(1.0, points) if abs(points) >= WIN else math.tanh(points / POINTS)


def _proven(points: int, depth: int, left: int) -> Exact | None:
    """What is sure: a win or loss within the depth, or a draw if the whole game was looked at."""
    if abs(points) >= WIN:
        return Exact(1 if points > 0 else -1, left - (abs(points) - WIN) + 1)
    return Exact(0, left) if depth >= left and points == 0 else None


def _as_the_window_did(position: Position, depth: int) -> Decision:
    """Document 004's window: cut off where a depth that counts down equals 6, every disc placed as the searcher's own.

    With depth 6 it ends at once without a column, for which the first open one stands here. With less it never cuts off, but
    since all new discs are alike a position is known by its heights, and even that can be searched to the end.
    """
    g = position.rules.geometry
    plies = depth - 6 if depth >= 6 else g.columns * g.rows
    legal = position.legal_columns()
    known: dict[tuple[int, int], int] = {}

    def value(own: int, mask: int, left: int, maximising: bool) -> int:
        if has_line(own, g.height, g.in_a_row):
            return 1
        if left == 0 or mask == g.cells:
            return 0
        if (mask, left) not in known:
            found = 0 if maximising else 1
            for column in range(g.columns):
                if cell := landing(mask, column, g):
                    below = value(own | cell, mask | cell, left - 1, not maximising)
                    if below != found:  # 1 is all the maximiser can want, 0 all the minimiser can
                        found = below
                        break
            known[mask, left] = found
        return known[mask, left]

    values = []
    for column in legal if plies else ():
        cell = landing(position.mask, column, g)
        values.append(value(position.own | cell, position.mask | cell, plies - 1, False))
    column = legal[values.index(max(values))] if values else legal[0]
    columns = tuple(ColumnAnalysis(each, score=points) for each, points in zip(legal, values, strict=False))
    analysis = Analysis(columns, depth=plies)
    return Decision(column, float(max(values)) if values else 0.0, None, analysis, (column,))
