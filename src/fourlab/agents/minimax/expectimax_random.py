"""Exact play against a uniformly random opponent, in rational numbers.

It gives the exact values behind the figures of Vannucci & Abril.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Limit
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ExpectimaxRandom:
    """Exact expectimax against a uniformly random opponent, for positions with few empty cells."""

    positions: int = option(
        200_000,
        "Maximum number of positions to search; larger searches are refused.",
        least=1,
        most=100_000_000,
        unit="positions",
        public=True,
        public_most=5000,
    )

    def __post_init__(self) -> None:
        check(self)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Play the column with the greatest expected result, the leftmost of equals."""
        position = unfinished(position)
        values, nodes = self.values(position, limit)
        best = max(values, key=lambda column: values[column])
        policy = tuple(float(column == best) for column in range(position.rules.columns))
        columns = tuple(
            ColumnAnalysis(column, value=float(value), expected=value)
            for column, value in values.items()
        )
        return Decision(best, float(values[best]), policy, Analysis(columns, nodes=nodes), (best,))

    def values(
        self, position: Position, limit: Limit = UNLIMITED
    ) -> tuple[dict[int, Fraction], int]:
        """Return the exact expected result of every open column, and the positions searched."""
        max_positions = min(self.positions, limit.nodes or self.positions)
        search = _Expectimax(position.to_move, max_positions, limit.alarm())
        values = {
            column: search.value(position.play(column)) for column in position.legal_columns()
        }
        # The position itself is one, too.
        return values, len(search.values) + 1


class _Expectimax:
    """Expectimax with memory: `us` maximises, the other side plays uniformly at random."""

    def __init__(self, us: int, max_positions: int, is_over: Callable[[], bool]) -> None:
        self.us = us
        self.max_positions = max_positions
        self.is_over = is_over
        # By position key: numerator and denominator. Python's garbage collector does not look at
        # numbers and tuples of them; with objects it would stop the search for tenths of a second.
        self.values: dict[int, tuple[int, int]] = {}

    def value(self, position: Position) -> Fraction:
        """Return the expected result for us, -1 to +1."""
        if (ratio := self.values.get(position.key)) is not None:
            return Fraction(*ratio)
        if self.is_over():
            raise UserError("expectimax-random ran out of time; it has no approximate answer")
        outcome = position.outcome()
        if outcome is not None:
            value = Fraction(outcome.score(self.us))
        else:
            values = [self.value(position.play(column)) for column in position.legal_columns()]
            if position.to_move == self.us:
                value = max(values)
            else:
                # Fractions, so that the mean of thirds and sevenths is exact.
                value = sum(values, Fraction(0)) / len(values)
        if len(self.values) + 1 >= self.max_positions:
            raise UserError(
                "expectimax-random is for positions with few empty cells; "
                f"this one leads to more than {self.max_positions} others"
            )
        self.values[position.key] = value.as_integer_ratio()
        return value
