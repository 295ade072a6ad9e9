"""Exact play against a uniformly random opponent, in rational numbers: the truth behind document 000's figures."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Limit
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

WITHOUT_LIMIT = Limit()


@dataclass(frozen=True)
class ExpectimaxRandom:
    """Exact expectimax against a uniformly random opponent, for positions with few empty cells."""

    positions: int = option(
        200_000,
        "How many positions it is willing to look at; more are refused.",
        least=1,
        unit="positions",
        public=True,
        public_most=5000,
    )

    def __post_init__(self) -> None:
        check(self)

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Play the column with the greatest expected result, the first of equals."""
        values, seen = self.values(position, limit)
        best = max(values, key=lambda column: values[column])
        policy = tuple(float(column == best) for column in range(position.rules.columns))
        columns = tuple(ColumnAnalysis(each, value=float(value), expected=value) for each, value in values.items())
        return Decision(best, float(values[best]), policy, Analysis(columns, nodes=seen), (best,))

    def values(self, position: Position, limit: Limit = WITHOUT_LIMIT) -> tuple[dict[int, Fraction], int]:
        """The exact expected result of every open column, and how many positions that took."""
        search = _Expectimax(position.to_move, min(self.positions, limit.nodes or self.positions), limit)
        return {column: search.value(position.play(column)) for column in position.legal_columns()}, len(search.known) + 1


class _Expectimax:
    """We maximise, the other side draws lots; each position is worked out once."""

    def __init__(self, us: int, most: int, limit: Limit) -> None:
        self.us, self.most, self.stop = us, most, limit.stop
        self.known: dict[Position, Fraction] = {}

    def value(self, position: Position) -> Fraction:
        if position in self.known:
            return self.known[position]
        outcome = position.outcome()
        if outcome is not None:
            value = Fraction(outcome.score(self.us))
        else:
            values = [self.value(position.play(column)) for column in position.legal_columns()]
            value = max(values) if position.to_move == self.us else sum(values, Fraction(0)) / len(values)
        if self.stop is not None and self.stop.is_set():
            raise UserError("expectimax-random was stopped, and it is exact or nothing")
        if len(self.known) + 1 >= self.most:
            raise UserError(
                f"expectimax-random is for positions with few empty cells; this one leads to more than {self.most} others"
            )
        self.known[position] = value
        return value
