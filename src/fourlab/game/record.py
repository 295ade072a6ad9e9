"""The record of a game: its moves, its result and why it ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from fourlab.game.outcome import RED, YELLOW, Outcome
from fourlab.game.position import Position


class Cause(StrEnum):
    """Why a game ended."""

    NORMAL = "normal"
    """A winning line or a full board."""
    ILLEGAL = "illegal move"
    TIMEOUT = "timeout"
    CRASH = "crash"
    INTERRUPTED = "interrupted"
    """Neither side is at fault, and the game has no result."""


@dataclass(frozen=True)
class Thought:
    """What an agent reported about one of its moves."""

    value: float | None
    """The expected result from the point of view of the side that moved, -1 to +1."""
    visits: tuple[int, ...] | None
    """Visits per column of the board."""
    seconds: float
    """Wall-clock time of the move."""


@dataclass(frozen=True)
class Record:
    """One game from its start to its end."""

    start: Position
    columns: tuple[int, ...]
    """The columns played from `start`, counted from 0."""
    result: Outcome | None
    """None if the game was interrupted."""
    cause: Cause = Cause.NORMAL
    detail: str = ""
    """One line about what went wrong; empty for a normal end."""
    thoughts: tuple[Thought, ...] = ()
    """One per move, or none."""

    def positions(self) -> Iterator[Position]:
        """Yield every position of the game, beginning with the start."""
        position = self.start
        yield position
        for column in self.columns:
            # Records are written with columns from 1, so messages count from 1, too.
            position = position.play(column, named_from=1)
            yield position

    @property
    def at_fault(self) -> int | None:
        """The side that lost by an illegal move, a timeout or a crash; None if there is none."""
        if self.cause in (Cause.NORMAL, Cause.INTERRUPTED) or self.result is None:
            return None
        # A forfeit is scored as a win of the other side, so the loser is at fault.
        return YELLOW if self.result.winner == RED else RED
