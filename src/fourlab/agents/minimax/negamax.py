"""Kaggle ConnectX's built-in negamax agent."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.compiled.negamax import better, enter, kaggle_negamax
from fourlab.compiled.random import seed_state
from fourlab.game.bitboard import landing
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.options import check, option

SLICE_NODES = 300_000
"""Nodes of a compiled slice at most, about 10 ms; on seven columns that is depth 5 at once."""


@dataclass(frozen=True)
class Negamax:
    """Kaggle ConnectX's negamax: four plies deep, its own heuristic scores, no alpha-beta."""

    kernels: ClassVar[tuple[str, ...]] = ("negamax",)
    """The kernel groups it needs (fourlab.compiled.warmup)."""
    depth: int = option(
        4,
        "Search depth in plies; one more disc is only scored.",
        least=0,
        most=7,
        unit="plies",
        public=True,
        public_most=5,
    )
    ties: Literal["random", "first"] = option(
        "random",
        "Choose among equal columns: at random (Kaggle since March 2020), or the first (before).",
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
        """Search to the depth of the options or of the limit, whichever is smaller."""
        position = unfinished(position)
        rng = generator(rng)
        depth = self.depth if limit.depth is None else min(self.depth, limit.depth)
        # One number of the caller's generator seeds the kernel's, so the same `rng` gives the same
        # column.
        state = seed_state(int(rng.integers(2**32)))
        search = _SlicedSearch(position, self.ties == "random", limit.alarm())
        is_bounded = limit.seconds is not None or limit.stop is not None
        reached = 0 if is_bounded else depth
        score, column, _ = search.root(reached, state)
        # Deepen only where the search may be cut short; the last depth that is complete counts.
        with contextlib.suppress(_OutOfTimeError):
            while reached < depth:
                score, column, _ = search.root(reached + 1, state)
                reached += 1
        # Scores are doubled in the kernel. They mix wins with estimates, so there is no value.
        return Decision(int(column), analysis=Analysis(depth=reached, score=score / 2))


class _OutOfTimeError(Exception):
    """The limit ends the search."""


@dataclass(frozen=True)
class _SlicedSearch:
    """Kaggle's negamax in slices: compiled below, with looks at the clock and stop flag above."""

    position: Position
    random_ties: bool
    is_over: Callable[[], bool]

    def root(self, depth: int, state: int) -> tuple[int, int, int]:
        """Search the position; returns twice the score, the column and the random state."""
        position = self.position
        return self._search(position.own, position.mask, depth, state, is_root=True)

    def _search(
        self, own: int, mask: int, depth: int, state: int, is_root: bool = False
    ) -> tuple[int, int, int]:
        """Do as `kaggle_negamax` does, whose words are the specification of this."""
        g = self.position.rules.geometry
        if not (is_root and depth == 0) and self.is_over():
            raise _OutOfTimeError
        if depth == 0 or g.columns ** (depth + 1) <= SLICE_NODES:
            return kaggle_negamax(own, mask, g, depth, self.random_ties, state)
        best, chosen = enter(own, mask, g)
        if chosen >= 0 or mask == g.cells:
            return best, chosen, state
        for column in range(g.columns):
            if cell := landing(mask, column, g):
                reply, _, state = self._search(mask ^ own, mask | cell, depth - 1, state)
                best, chosen, state = better(-reply, column, best, chosen, self.random_ties, state)
        return best, chosen, state
