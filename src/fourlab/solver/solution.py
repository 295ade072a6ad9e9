"""What is known of a position's exact value."""

from dataclasses import dataclass

from fourlab.agent import Exact
from fourlab.game.outcome import Result


@dataclass(frozen=True)
class Solution:
    """Bounds of a position's score, for the side to move.

    A score is Pascal Pons's: 0 is a draw, n > 0 a win with the n-th last of one's own discs (1: with the very last), -n
    likewise a loss. Equal bounds are a proof; so are bounds of one sign, but only of who wins.
    """

    lower: int
    upper: int
    left: int
    """How many cells are empty."""
    nodes: int = 0
    """How many positions were looked at; 0 if the book or a glance was enough."""
    seconds: float = 0.0
    book: bool = False
    """Whether it was in the book."""

    @property
    def score(self) -> int | None:
        """The score, if it is proven."""
        return self.lower if self.lower == self.upper else None

    @property
    def result(self) -> int | None:
        """+1 win, 0 draw, -1 loss, if that is proven."""
        if self.lower > 0:
            return 1
        if self.upper < 0:
            return -1
        return 0 if self.lower == self.upper else None

    @property
    def plies(self) -> int | None:
        """How many more discs until the game is over, the winner hurrying and the loser holding out, if proven."""
        return None if self.score is None else plies_to_end(self.score, self.left)

    @property
    def exact(self) -> Exact | None:
        """The proven result, if there is one."""
        return None if self.result is None else Exact(self.result, self.plies)

    def for_the_other(self) -> "Solution":
        """The same before the last disc, for the side that played it."""
        return Solution(-self.upper, -self.lower, self.left + 1, self.nodes, self.seconds, self.book)

    def __str__(self) -> str:
        if self.result is None:
            words = {(True, False): "draws at least", (False, True): "draws at most"}
            return words.get((self.lower == 0, self.upper == 0), "not proven")
        word = Result(self.result).verdict
        return word if self.result == 0 or self.plies is None else f"{word} in {self.plies}"


def plies_to_end(score: int, left: int) -> int:
    """How many more discs a game takes whose side to move has this score, with so many empty cells."""
    if score > 0:
        return 2 * ((left + 1) // 2 - score) + 1
    return left if score == 0 else 2 * (left // 2 + score) + 2
