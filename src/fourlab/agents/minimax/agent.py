"""The minimax agent, and the faulty minimax of Arya's graphical version."""

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
from fourlab.agents.minimax.kernel import (
    FULL_COLUMN,
    WIN,
    lines_through_cells,
    minimax_columns,
    warm_up,
)
from fourlab.game.bitboard import has_line, landing
from fourlab.game.outcome import Result
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.game.rules import Rules
from fourlab.options import check, option

# A megabyte of keys and entries: fits into a core's cache, and is cleared for every move.
TABLE_SIZE = 1 << 16
"""Entries of the transposition table; a power of two."""
MAX_STATES = 5_000_000
"""Positions that the faithful search keeps, about a gigabyte."""
SCORE_SCALE = 100
"""A heuristic score of this many points becomes a value of tanh(1), about 0.76."""

_load_kernels = cache(warm_up)
"""Load or compile the kernels once, before the time of a move starts."""


@dataclass(frozen=True)
class Minimax:
    """Alpha-beta search to a fixed depth, with a heuristic evaluation of lines and threats."""

    kernels: ClassVar[tuple[str, ...]] = ("minimax",)
    """The kernel groups it needs (fourlab.compiled.warmup)."""
    depth: int = option(
        4,
        "Search depth in plies (Arya: 4 and 6).",
        least=1,
        most=62,
        unit="plies",
        public=True,
        public_most=12,
    )
    evaluation: Literal["lines", "terminal"] = option(
        "lines",
        "Evaluate unfinished games at full depth: by lines and threats, or as 0 (terminal).",
        public=True,
    )
    ties: Literal["centre", "first", "random"] = option(
        "centre",
        "Choose among equally good columns: the most central, the leftmost, or one at random.",
        public=True,
        aliases=("tie",),
    )
    faithful: bool = option(
        False,
        "Reproduce the minimax of Arya's graphical version: it stops where a depth that counts "
        "down reaches 6, and plays every disc as its own.",
        public=True,
    )

    def __post_init__(self) -> None:
        check(self)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Search to the full depth; with a limit of time or nodes, deepen iteratively."""
        position = unfinished(position)
        rng = generator(rng)
        if self.faithful:
            return _faithful_decision(position, self.depth, limit)
        _load_kernels()
        started = time.perf_counter()
        empty = position.rules.columns * position.rules.rows - position.ply
        # A search deeper than the number of empty cells would only repeat itself.
        max_depth = min(self.depth, empty, limit.depth or self.depth)
        scores, depth, nodes = self._deepen(position, max_depth, limit)
        best = max(scores)
        legal = position.legal_columns()
        ties = [column for column in legal if scores[column] == best]
        if self.ties == "random":
            chosen = int(rng.choice(ties))
        elif self.ties == "first":
            chosen = ties[0]
        else:
            chosen = min(ties, key=position.rules.from_centre)
        analysis = Analysis(
            tuple(ColumnAnalysis(column, score=scores[column]) for column in legal),
            depth=depth,
            nodes=nodes,
            seconds=time.perf_counter() - started,
        )
        proven = _proven(best, depth, empty)
        return Decision(chosen, _value(best), None, analysis, (chosen,), proven)

    def _deepen(
        self, position: Position, max_depth: int, limit: Limit
    ) -> tuple[list[int], int, int]:
        """Search to `max_depth`, or as deep as the limit allows.

        Returns the scores of all columns, the depth of these scores and the nodes searched.
        """
        bounded = limit.seconds is not None or limit.nodes is not None or limit.stop is not None
        allowed = 1 << 60 if limit.nodes is None else limit.nodes
        g = position.rules.geometry
        cell_points = np.zeros(0, np.int64)
        if self.evaluation == "lines":
            cell_points = _cell_points(position.rules)
        # A new table for every move, so that a decision depends on its arguments alone. Depths of
        # one iterative deepening share it.
        table = np.zeros((2, TABLE_SIZE), np.int64)
        counts = np.array([0, allowed])
        stop = (
            np.zeros(1, np.uint8)
            if limit.stop is None
            else np.frombuffer(limit.stop.flag, np.uint8)
        )
        legal = position.legal_columns()
        scores = [0 if column in legal else FULL_COLUMN for column in range(g.columns)]
        reached = 0
        with _alarm(limit.seconds, counts):
            # Iterative deepening only where the search may be cut short; otherwise it would be lost
            # work.
            for depth in range(1 if bounded else max_depth, max_depth + 1):
                deeper = minimax_columns(
                    position.own, position.mask, g, depth, cell_points, table, counts, stop
                )
                if counts[0] > counts[1]:
                    break  # cut short: keep the scores of the depth before
                scores = deeper.tolist()
                reached = depth
                if max(scores) >= WIN:
                    break  # a deeper search cannot find a quicker win
        return scores, reached, min(int(counts[0]), allowed)


@contextlib.contextmanager
def _alarm(seconds: float | None, counts: np.ndarray) -> Iterator[None]:
    """Set the allowed nodes, counts[1], to -1 when the time is up."""
    if seconds is None:
        yield
        return
    # A thread of its own: the kernel runs without the GIL and looks at counts[1] at every node.
    timer = Timer(seconds, lambda: counts.__setitem__(1, -1))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@lru_cache(maxsize=16)
def _cell_points(rules: Rules) -> np.ndarray:
    return lines_through_cells(rules.geometry)


def _value(score: int) -> float:
    """Map a score to -1 to +1: proven wins and losses to the ends, heuristic scores by tanh."""
    return math.copysign(1.0, score) if abs(score) >= WIN else math.tanh(score / SCORE_SCALE)


def _proven(score: int, depth: int, empty: int) -> Exact | None:
    """Return the exact result: a win or loss within the depth, or a draw searched to the end."""
    if abs(score) >= WIN:
        # A score of WIN + n means a win when n cells are empty, the winning disc's included. Before
        # that, empty - n discs are played.
        return Exact(Result.of_score(score), empty - (abs(score) - WIN) + 1)
    return Exact(Result.DRAW, empty) if depth >= empty and score == 0 else None


class _OutOfTimeError(Exception):
    """The limit ends a search in Python."""


def _faithful_decision(position: Position, depth: int, limit: Limit) -> Decision:
    """Decide as the minimax of Arya's graphical version does.

    It stops where a depth that counts down equals 6, and places every disc as the searcher's own.
    Called with depth 6 it stops at once and returns no column; this plays the first open one. Below
    6 it never stops before the end of the game. Since all new discs are the searcher's, a position
    is given by its mask, and on usual boards the whole game is small enough to search. If the limit
    ends the search, the columns searched until then count.
    """
    g = position.rules.geometry
    plies = depth - 6 if depth >= 6 else g.columns * g.rows
    legal = position.legal_columns()
    scores_by_state: dict[tuple[int, int], int] = {}
    is_over = limit.alarm()
    max_states = MAX_STATES if limit.nodes is None else min(limit.nodes, MAX_STATES)

    def search(own: int, mask: int, plies_left: int, maximising: bool) -> int:
        if has_line(own, g.height, g.in_a_row):
            return 1
        if plies_left == 0 or mask == g.cells:
            return 0
        state = (mask, plies_left)
        if state not in scores_by_state:
            if len(scores_by_state) >= max_states or is_over():
                raise _OutOfTimeError
            # The worst result for the side whose turn it is in this wrong game.
            best = 0 if maximising else 1
            for column in range(g.columns):
                if cell := landing(mask, column, g):
                    score = search(own | cell, mask | cell, plies_left - 1, not maximising)
                    if score != best:
                        # Scores are 0 or 1, so the first improvement is the best possible.
                        best = score
                        break
            scores_by_state[state] = best
        return scores_by_state[state]

    scores: dict[int, int] = {}
    with contextlib.suppress(_OutOfTimeError):
        for column in legal if plies else ():
            cell = landing(position.mask, column, g)
            scores[column] = search(position.own | cell, position.mask | cell, plies - 1, False)
    chosen = max(scores, key=scores.__getitem__, default=legal[0])  # the first of equals
    columns = tuple(ColumnAnalysis(column, score=score) for column, score in scores.items())
    analysis = Analysis(columns, depth=plies, nodes=len(scores_by_state))
    return Decision(chosen, float(scores.get(chosen, 0)), None, analysis, (chosen,))
