"""The uniformly random agent, the baseline for all others."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourlab.agent import UNLIMITED, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.game.position import PositionLike, unfinished

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Random:
    """Plays a uniformly random column."""

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Sample an open column."""
        position = unfinished(position)
        rng = generator(rng)
        legal = position.legal_columns()
        # The policy covers all columns of the board, full ones with 0.
        policy = tuple(
            1 / len(legal) if column in legal else 0.0 for column in range(position.rules.columns)
        )
        return Decision(int(rng.choice(legal)), policy=policy)
