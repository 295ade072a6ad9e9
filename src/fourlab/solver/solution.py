"""The solution of a position: proven bounds of its score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fourlab import display
from fourlab.agent import Exact
from fourlab.game import drawing
from fourlab.game.outcome import Result
from fourlab.game.position import Position

if TYPE_CHECKING:
    from fourlab.reporting.figures import Figure


CLOSED = -128
"""The score of a full column: the lowest int8, which no score reaches."""


class Bounds(NamedTuple):
    """Proven bounds of the scores of many positions, as arrays; `Solution` has those of one."""

    lower: np.ndarray
    upper: np.ndarray
    nodes: np.ndarray
    """Nodes searched for each."""


@dataclass(frozen=True)
class Solution:
    """Proven bounds of a position's score, from the point of view of the side to move.

    Scores are on Pascal Pons's scale: 0 is a draw, n > 0 a win with the n-th last of one's own
    discs (1: with the very last), -n a loss to the opponent's n-th last disc. Equal bounds prove
    the score; bounds with the same sign prove the winner.
    """

    lower: int
    upper: int
    left: int
    """The number of empty cells."""
    nodes: int = 0
    """Nodes searched; 0 if the answer came from the book or could be seen at once."""
    seconds: float = 0.0
    book: bool = False
    """Whether the score came from the book."""
    position: Position | None = field(default=None, compare=False, repr=False)
    """The position, if it is known."""
    columns: "Mapping[int, Solution]" = field(default_factory=dict, compare=False, repr=False)
    """The solutions of the legal columns by index, counted from 0, if they were asked for."""

    @property
    def score(self) -> int | None:
        """The score; None if it is not proven."""
        return self.lower if self.lower == self.upper else None

    @property
    def result(self) -> Result | None:
        """The result for the side to move; None if it is not proven."""
        # It is proven if both bounds lie on one side of 0, or both are 0.
        lowest = Result.of_score(self.lower)
        return lowest if lowest == Result.of_score(self.upper) else None

    @property
    def least(self) -> int | None:
        """The lowest score with which the result is kept; None if it is not proven.

        A win at once must not be missed, and a loss at once is avoided.
        """
        highest = (self.left + 1) // 2
        if self.result is None or self.lower == highest:
            return None if self.result is None else highest
        return 1 - self.left // 2 if self.result < 0 else int(self.result)

    @property
    def plies(self) -> int | None:
        """Discs until the end of the game with best play by both sides; None if not proven."""
        return None if self.score is None else plies_to_end(self.score, self.left)

    @property
    def exact(self) -> Exact | None:
        """The proven result; None if there is none."""
        return None if self.result is None else Exact(self.result, self.plies)

    def for_the_other(self) -> "Solution":
        """Return the solution one ply earlier, from the point of view of the side that moved."""
        return Solution(
            -self.upper, -self.lower, self.left + 1, self.nodes, self.seconds, self.book
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the solution as JSON data; columns count from 1."""
        result = self.result
        data: dict[str, Any] = {
            "says": str(self),
            "result": None if result is None else int(result),
            "score": self.score,
            "lower": self.lower,
            "upper": self.upper,
            "plies": self.plies,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "book": self.book,
        }
        if self.position is not None:
            data = {"position": self.position.write(), **data}
        if self.columns:
            data["columns"] = {
                str(column + 1): solution.to_dict() for column, solution in self.columns.items()
            }
        return data

    def to_pandas(self) -> display.DataFrame:
        """Return one row per solved column, or a single row without them."""
        if not self.columns:
            return display.data_frame([self.to_dict()])
        rows = self.to_dict()["columns"]
        return display.data_frame({"column": int(name), **row} for name, row in rows.items())

    def plot(self) -> "Figure":
        """Draw the scores of the columns, as a matplotlib figure."""
        # By name: submissions to Kaggle have the solver, but no figures.
        figures: Any = import_module("fourlab.reporting.figures")
        figures.require("plot()")
        columns = {f"column {column + 1}": value for column, value in self.columns.items()}
        # A score that is not proven is drawn in the middle of its bounds.
        scores = {
            name: ((solution.lower + solution.upper) / 2, solution.lower, solution.upper)
            for name, solution in (columns or {"position": self}).items()
        }
        figure: Figure = figures.estimates(scores, "score for the side to move")
        figures.in_notebooks(figure)
        return figure

    def _repr_html_(self) -> str:
        parts = [] if self.position is None else [display.picture(drawing.svg(self.position))]
        words = display.paragraph(self)
        if self.columns:
            rows = [(column + 1, solution) for column, solution in self.columns.items()]
            words += display.table(("column", "exact value"), rows)
        return display.beside(*parts, words)

    def __str__(self) -> str:
        if self.result is None:
            if self.lower == 0:
                return "draws at least"
            return "draws at most" if self.upper == 0 else "not proven"
        word = self.result.verdict
        return word if self.result == 0 or self.plies is None else f"{word} in {self.plies}"


def plies_to_end(score: int, left: int) -> int:
    """Return the discs until the end of a game with this score and `left` empty cells."""
    # Example: 7 empty cells, score 3. The highest score, 4, would be a win with the next disc, so
    # this one is a disc of each side later: 2 * (4 - 3) + 1 = 3 plies.
    if score > 0:
        return 2 * ((left + 1) // 2 - score) + 1
    return left if score == 0 else 2 * (left // 2 + score) + 2
