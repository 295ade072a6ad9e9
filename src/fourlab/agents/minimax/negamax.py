"""Kaggle's built-in opponent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from fourlab.agent import Analysis, Decision, Limit
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.compiled.random import seed_state
from fourlab.errors import UserError
from fourlab.game.position import Position

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Negamax:
    """Kaggle ConnectX's negamax: four plies, its own peculiar scores, no alpha-beta."""

    kernels: ClassVar[tuple[str, ...]] = ("negamax",)
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    depth: int = 4
    """How many discs to look ahead before the last one, which is only scored."""
    ties: Literal["random", "first"] = "random"
    """Equal columns: by lot as Kaggle does since March 2020, or the first as before."""

    def __post_init__(self) -> None:
        if not 0 <= self.depth <= 7:
            raise UserError(f"negamax, which has no alpha-beta, looks 0 to 7 plies ahead, not {self.depth}")

    def decide(self, position: Position, limit: Limit, rng: "np.random.Generator") -> Decision:
        """Search to the full depth, or to the limit's."""
        depth = self.depth if limit.depth is None else min(self.depth, limit.depth)
        state = seed_state(int(rng.integers(2**32)))
        g = position.rules.geometry
        score, column, _ = kaggle_negamax(position.own, position.mask, g, depth, self.ties == "random", state)
        return Decision(int(column), analysis=Analysis(depth=depth, score=score / 2))
