"""The solution of a position: proven bounds of its score."""

from dataclasses import dataclass

from fourlab.agent import Exact
from fourlab.game.outcome import Result


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
