"""The two sides and the three ways a game can end."""

from enum import Enum, IntEnum

# A side is an index: of SIDE_NAMES, of (red, yellow) bitboards, and the parity of the ply at which
# it moves.
RED, YELLOW = 0, 1
SIDE_NAMES = ("red", "yellow")


class Outcome(Enum):
    """How a game ended; the value is the result from red's point of view."""

    RED_WINS = 1
    DRAW = 0
    YELLOW_WINS = -1

    @property
    def winner(self) -> int | None:
        """The winning side; None for a draw."""
        return {1: RED, 0: None, -1: YELLOW}[self.value]

    @property
    def winner_name(self) -> str:
        """The name of the winning side, or "draw"."""
        return "draw" if self.winner is None else SIDE_NAMES[self.winner]

    def score(self, side: int) -> "Result":
        """Return the result from one side's point of view."""
        return Result(self.value if side == RED else -self.value)

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


class Result(IntEnum):
    """A result from one side's point of view; the value is what it counts."""

    LOSS = -1
    DRAW = 0
    WIN = 1

    @property
    def word(self) -> str:
        """The noun: win, draw or loss."""
        return self.name.lower()

    @property
    def verdict(self) -> str:
        """The result as a statement about the side to move: wins, draw or loses."""
        return ("draw", "wins", "loses")[self]  # index -1, a loss, is the last

    @classmethod
    def of_word(cls, word: str) -> "Result":
        """Return the result named by a noun; raises KeyError for any other word."""
        return cls[word.upper()]

    @classmethod
    def of_score(cls, score: int) -> "Result":
        """Return the result that a solver's score stands for: its sign."""
        return cls((score > 0) - (score < 0))

    def __neg__(self) -> "Result":
        # IntEnum would return a plain int.
        return Result(-int(self))
