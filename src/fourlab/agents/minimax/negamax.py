"""Kaggle's built-in opponent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from fourlab.agent import UNLIMITED, Analysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.compiled.random import seed_state
from fourlab.game.position import Position
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Negamax:
    """Kaggle ConnectX's negamax: four plies, its own peculiar scores, no alpha-beta."""

    kernels: ClassVar[tuple[str, ...]] = ("negamax",)
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    depth: int = option(
        4,
        "How many discs to look ahead before the last one, which is only scored.",
        least=0,
        most=7,
        unit="plies",
        public=True,
        public_most=5,
    )
    ties: Literal["random", "first"] = option(
        "random", "Equal columns: by lot as Kaggle does since March 2020, or the first as before.", public=True
    )

    def __post_init__(self) -> None:
        check(self)

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Search to the full depth, or to the limit's."""
        rng = generator(rng)
        depth = self.depth if limit.depth is None else min(self.depth, limit.depth)
        state = seed_state(int(rng.integers(2**32)))
        g = position.rules.geometry
        score, column, _ = kaggle_negamax(position.own, position.mask, g, depth, self.ties == "random", state)
        return Decision(int(column), analysis=Analysis(depth=depth, score=score / 2))
