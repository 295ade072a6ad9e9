"""Three rules of thumb that beat most beginners: win, else block, else stay near the centre."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fourlab.agent import UNLIMITED, Decision, Exact, Limit
from fourlab.agents.generators import generator
from fourlab.game.outcome import Result
from fourlab.game.position import PositionLike, unfinished
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class RulesOfThumb:
    """Wins if it can, else blocks a win, else plays the column nearest the centre."""

    otherwise: Literal["centre", "random"] = option(
        "centre",
        "Choose among equally urgent columns: the most central (at random if two are), or any.",
        public=True,
    )

    def __post_init__(self) -> None:
        check(self)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Play one of the most urgent columns."""
        position = unfinished(position)
        rng = generator(rng)
        legal = position.legal_columns()
        # Trainings play the same rules with the kernel `compiled.batches.urgent_columns`.
        wins = [column for column in legal if position.makes_line(column, position.to_move)]
        blocks = [column for column in legal if position.makes_line(column, 1 - position.to_move)]
        choices = wins or blocks or list(legal)
        if self.otherwise == "centre":
            distance = position.rules.from_centre
            nearest = min(map(distance, choices))
            choices = [column for column in choices if distance(column) == nearest]
        column = int(rng.choice(choices))
        if wins:
            proven = Exact(Result.WIN, plies=1)
            return Decision(column, value=1.0, line=(column,), proven=proven)
        return Decision(column)
