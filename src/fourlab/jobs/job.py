"""Jobs: long-running work as values, with progress events and a way to stop.

`runner.begin` finds or creates the run folder of a job, and `runner.work` does the work. The
results of a job depend only on its configuration and on what it has stored, so a job that is
stopped or killed at any moment and then resumed ends with the same results as an uninterrupted one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from fourlab.jobs.executors import Executor, check, make_executor
from fourlab.jobs.run import Run
from fourlab.processors import usable_processors


@dataclass(frozen=True)
class Progress:
    """The progress of a job, as terminals, notebooks and the Lab page show it."""

    done: int
    total: int | None
    """None if the total is unknown."""
    unit: str
    """What is counted: games, positions, epochs."""
    stage: str = ""
    """The current stage, for jobs with several."""
    text: str = ""
    """The latest figures, in a few words."""


@dataclass(frozen=True)
class Note:
    """A remark for the user that is not progress."""

    text: str


Event = Progress | Note


@dataclass(frozen=True)
class Conduct:
    """Where the work of a job runs; has no influence on the results."""

    workers: int = field(default_factory=usable_processors)
    executor: str | None = None
    """local (processes), threads or ray; None for the job's default."""
    address: str | None = None
    """The address of a Ray cluster."""

    def __post_init__(self) -> None:
        check(self.executor or "local", self.workers, self.address)


class Session:
    """The executors, event subscribers and stop flag of a job while it is worked on."""

    def __init__(
        self,
        conduct: Conduct | None = None,
        on_event: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self.conduct = conduct or Conduct()
        # Changed only by the thread that works on the job; `stop` may come from a signal handler.
        self._subscribers = [on_event]
        self._executors: list[Executor] = []
        self.last: Progress | None = None
        """The latest progress event."""
        self.stopped = False
        """Whether the job should stop as soon as the items in progress are finished."""

    def subscribe(self, on_event: Callable[[Event], None]) -> None:
        """Call `on_event` with every event from now on."""
        self._subscribers.append(on_event)

    def unsubscribe(self, on_event: Callable[[Event], None]) -> None:
        """Stop calling `on_event`."""
        self._subscribers.remove(on_event)

    def emit(self, event: Event) -> None:
        """Pass an event to all subscribers."""
        if isinstance(event, Progress):
            self.last = event
        for on_event in self._subscribers:
            on_event(event)

    def note(self, text: str) -> None:
        """Emit a remark that is not progress."""
        self.emit(Note(text))

    def executor(self, keep_alive: bool = False) -> Executor:
        """Return the executor chosen in `conduct`; it stops when the session stops."""
        name = self.conduct.executor or "local"
        return self.use(make_executor(name, self.conduct.workers, self.conduct.address, keep_alive))

    def use(self, executor: Executor) -> Executor:
        """Stop this executor, too, when the session stops; returns it."""
        # In this order: a stop between the two lines reaches the executor, perhaps twice.
        self._executors.append(executor)
        if self.stopped:
            executor.stop()
        return executor

    def stop(self) -> None:
        """Finish the items in progress and start no new ones."""
        self.stopped = True
        for executor in self._executors:
            executor.stop()

    def abort(self) -> None:
        """Abandon the items in progress as well; a resumed job does them again."""
        self.stopped = True
        for executor in self._executors:
            executor.abort()

    @property
    def can_abort(self) -> bool:
        """Whether items are in progress on executors, which can abandon them."""
        return bool(self._executors)

    def close(self) -> None:
        """Release the workers of all executors."""
        for executor in self._executors:
            executor.close()
        self._executors.clear()


@runtime_checkable
class Extendable(Protocol):
    """A job whose number of games can be raised."""

    @property
    def games(self) -> int:
        """The number of games in total."""
        ...

    def with_games(self, games: int) -> "Job":
        """Return the same job with `games` games in total."""
        ...


@runtime_checkable
class Producing(Protocol):
    """A job that writes a file outside its run folder."""

    @property
    def product(self) -> Path | None:
        """The file, None if it writes none."""
        ...

    def with_product(self, file: Path) -> "Job":
        """Return the same job with another file."""
        ...


class Job(Protocol):
    """Long-running work. A new kind of job needs one line in `kinds.KINDS`."""

    extent: ClassVar[frozenset[str]]
    """Configuration keys that say how much is done or where the product is written.

    They are not part of a run's identity: raising one of them extends a finished run.
    """

    @property
    def name(self) -> str:
        """The name of a new run."""
        ...

    @property
    def config(self) -> dict[str, Any]:
        """The configuration in types that TOML and JSON share, `kind` first."""
        ...

    def check(self) -> None:
        """Raise UserError if the job cannot run; called before its run folder is created."""
        ...

    def extended(self, config: dict[str, Any]) -> "Job":
        """Return this job, extended to at least as much as an existing run's `config` asks for."""
        ...

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Do what is missing, and write the results and the report.

        Returns the results, or None if the session was stopped before the end. Results of jobs that
        are neither games nor studies have a `headline`: one line for people.
        """
        ...
