"""The two sides and the three ways a game can end."""

from enum import Enum

RED, YELLOW = 0, 1
SIDE_NAMES = ("red", "yellow")


class Outcome(Enum):
    """How a game ended; the value is the score in red's view."""

    RED_WINS = 1
    DRAW = 0
    YELLOW_WINS = -1

    @property
    def winner(self) -> int | None:
        """The side that won, None for a draw."""
        return {1: RED, 0: None, -1: YELLOW}[self.value]

    def score(self, side: int) -> int:
        """The result as one side sees it: +1 won, 0 drawn, -1 lost."""
        score: int = self.value
        return score if side == RED else -score

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")
