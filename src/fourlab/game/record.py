"""A finished game: who played, what was played, how it ended and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from fourlab.game.outcome import RED, YELLOW, Outcome
from fourlab.game.position import Position


class Cause(StrEnum):
    """Why a game ended."""

    NORMAL = "normal"
    """Four in a row, or a full board."""
    ILLEGAL = "illegal move"
    TIMEOUT = "timeout"
    CRASH = "crash"
    INTERRUPTED = "interrupted"
    """Nobody's fault; such a game has no result."""


@dataclass(frozen=True)
class Thought:
    """What an agent told about one move; nothing of it decides the game."""

    value: float | None
    """The expected result for the side that moved, -1 to +1."""
    visits: tuple[int, ...] | None
    """How often the search looked at each column."""
    seconds: float
    """How long the move took."""


@dataclass(frozen=True)
class Record:
    """One game from its start to its end."""

    start: Position
    columns: tuple[int, ...]
    """What was played from the start on, counted from 0."""
    result: Outcome | None
    """None if the game has no result."""
    cause: Cause = Cause.NORMAL
    detail: str = ""
    """What went wrong, in one line."""
    thoughts: tuple[Thought, ...] = ()
    """One for each column played."""

    def positions(self) -> Iterator[Position]:
        """Every position of the game, the start first."""
        position = self.start
        yield position
        for column in self.columns:
            position = position.play(column)
            yield position

    @property
    def at_fault(self) -> int | None:
        """The side that lost for another reason than the game; None if there is none."""
        if self.cause in (Cause.NORMAL, Cause.INTERRUPTED) or self.result is None:
            return None
        return YELLOW if self.result.winner == RED else RED
