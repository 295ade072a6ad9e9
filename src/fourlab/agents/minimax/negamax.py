"""Kaggle ConnectX's built-in negamax agent."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.compiled.random import seed_state
from fourlab.game.position import Position
from fourlab.options import check, option


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
        self, position: Position, limit: Limit = UNLIMITED, rng: np.random.Generator | None = None
    ) -> Decision:
        """Search to the depth of the options or of the limit, whichever is smaller."""
        rng = generator(rng)
        depth = self.depth if limit.depth is None else min(self.depth, limit.depth)
        # One number of the caller's generator seeds the kernel's, so the same `rng` gives the same
        # column.
        state = seed_state(int(rng.integers(2**32)))
        g = position.rules.geometry
        score, column, _ = kaggle_negamax(
            position.own, position.mask, g, depth, self.ties == "random", state
        )
        # Scores are doubled in the kernel. They mix wins with estimates, so there is no value.
        return Decision(int(column), analysis=Analysis(depth=depth, score=score / 2))
