"""What executors do: work on items, and results or what became of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Lost:
    """There is no result: the item's process died or hung every time."""

    why: str
    side: int | None = None
    """Who was thinking, if known."""
    hung: bool = False
    """It did not die, it did not answer in time."""


class Pace:
    """How many items go into a batch: enough lest quick ones wait for messages, few enough lest results wait for each other."""

    def __init__(self, workers: int, batch_seconds: float, most: int) -> None:
        self.workers, self.batch_seconds, self.most = workers, batch_seconds, most
        self._seconds_an_item = batch_seconds  # begin with one

    def learn(self, seconds: float, items: int) -> None:
        """A batch took so long; a single quick item must not make the next batch huge."""
        self._seconds_an_item += 0.3 * (seconds / items - self._seconds_an_item)

    def size(self, waiting: int) -> int:
        """The next batch, if so many items wait; towards the end batches are small, so that all workers end together."""
        wished = int(self.batch_seconds / max(self._seconds_an_item, 1e-6))
        return max(1, min(wished, self.most, waiting // (4 * self.workers)))


class Watch(Protocol):
    """Somebody outside who knows how far the game is, in case its process dies or hangs."""

    def thinking(self, side: int, seconds: float | None) -> None:
        """A side begins to think, for at most so long."""
        ...

    def aborted(self) -> bool:
        """Whether the game is to be given up."""
        ...


class Unwatched:
    """Nobody is there."""

    def thinking(self, side: int, seconds: float | None) -> None:
        """Nobody hears it."""

    def aborted(self) -> bool:
        """Nobody gives up."""
        return False


class Work(Protocol):
    """What is done with an item, which is a number; `prepare` is called once in each process."""

    def __call__(self, number: int, watch: Any) -> Any:
        """Do it."""
        ...

    def prepare(self) -> None:
        """Get ready."""
        ...


class Executor(Protocol):
    """Does work on items, in any order, in any number of processes."""

    workers: int

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        """Yield results, or that they are `Lost`, as they come, some at a time; closing the iterator ends the work at once."""
        ...

    def stop(self) -> None:
        """Begin nothing new: what is in hand is finished, then `map` ends."""
        ...

    def abort(self) -> None:
        """Give up what is in hand, too."""
        ...

    def close(self) -> None:
        """There is no more work."""
        ...
