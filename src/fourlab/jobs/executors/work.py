"""The interfaces of executors and their work, and what executors share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class Lost:
    """Takes the place of a result: every worker that tried the item died or hung."""

    why: str
    side: int | None = None
    """The side that was thinking, if known."""
    hung: bool = False
    """The worker did not die, it exceeded its time limit."""


class Pace:
    """Chooses batch sizes from the measured time per item.

    Batches should be large enough that messages cost little, and small enough that results do not
    wait long for the rest of their batch.
    """

    def __init__(self, workers: int, batch_seconds: float, max_items: int) -> None:
        self.workers = workers
        self.batch_seconds = batch_seconds
        self.max_items = max_items
        # The first guess makes batches of one item.
        self._seconds_per_item = batch_seconds

    def learn(self, seconds: float, items: int) -> None:
        """Account for a batch of `items` that took `seconds`.

        The moving average keeps a single quick item from making the next batch huge.
        """
        # Exponential smoothing: 0.3 forgets nine tenths of the past in seven batches.
        self._seconds_per_item += 0.3 * (seconds / items - self._seconds_per_item)

    def size(self, waiting: int) -> int:
        """Return the size of the next batch if `waiting` items are left.

        Towards the end batches are small, so that all workers finish at about the same time.
        """
        # At least a microsecond per item: the clock may measure 0 for an instant batch.
        in_time = int(self.batch_seconds / max(self._seconds_per_item, 1e-6))
        return max(1, min(in_time, self.max_items, waiting // (4 * self.workers)))


class Watch:
    """Follows a game from outside its process, in case that process dies or hangs.

    This one does nothing; it is for games in the caller's own process.
    """

    def thinking(self, side: int, seconds: float | None) -> None:
        """Note that a side begins to think, for at most `seconds` if not None."""

    def aborted(self) -> bool:
        """Return whether the game should be abandoned."""
        return False


class Work(Protocol):
    """A function of item numbers; `prepare` is called once in each process."""

    def __call__(self, number: int, watch: Any) -> Any:
        """Return the result for one item."""
        ...

    def prepare(self) -> None:
        """Compile or load what all items need."""
        ...


@runtime_checkable
class Ordered(Protocol):
    """Work that may have to be done item by item in order, for example because it has a memory."""

    in_order: bool


def is_ordered(work: Work) -> bool:
    """Return whether one worker must do all items, in their order."""
    return isinstance(work, Ordered) and work.in_order


class Executor(Protocol):
    """Applies work to items, in any order unless it is `Ordered`, on any number of workers."""

    workers: int

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        """Yield batches of (item, result) as they arrive; a result may be `Lost`.

        Closing the iterator ends the work at once.
        """
        ...

    def stop(self) -> None:
        """Start no new items; `map` ends when those in progress are finished."""
        ...

    def abort(self) -> None:
        """Abandon the items in progress as well."""
        ...

    def close(self) -> None:
        """Release the workers."""
        ...


class StopFlags:
    """The part of an executor that stops and aborts by flags, which its `map` checks."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._stopped = False
        self._aborted = False

    def stop(self) -> None:
        """Start no new items."""
        self._stopped = True

    def abort(self) -> None:
        """Abandon the items in progress as well."""
        self._stopped = True
        self._aborted = True

    def close(self) -> None:
        """Do nothing: the workers need no release."""
