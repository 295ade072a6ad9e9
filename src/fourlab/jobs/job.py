"""Long work as a value: what it does, how far it is, and how it is stopped.

A job is found or begun in a run folder (`runner.begin`) and worked on (`runner.work`). Whatever it
does depends on its configuration and on what it has stored, so that work that was stopped or killed
at any moment ends with the same results as work that never was.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from fourlab.jobs.executors import Executor, check, executor
from fourlab.jobs.run import Run


@dataclass(frozen=True)
class Progress:
    """How far a job is: the event that terminals, notebooks and the Lab page show."""

    done: int
    total: int | None
    unit: str
    """What is counted: games, positions, epochs."""
    stage: str = ""
    """What is being done, where a job does one thing after another."""
    text: str = ""
    """The latest figures, in a few words."""


@dataclass(frozen=True)
class Note:
    """Something worth knowing that is not progress."""

    text: str


Event = Progress | Note


@dataclass(frozen=True)
class Conduct:
    """Where a job is worked on; nothing of it changes what comes out."""

    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    executor: str | None = None
    """local (processes), threads or ray; None for what suits the job."""
    address: str | None = None
    """Of a Ray cluster."""

    def __post_init__(self) -> None:
        check(self.executor or "local", self.workers, self.address)


class Session:
    """One sitting of work on a job: its executors, who hears of its progress, and whether to stop."""

    def __init__(
        self,
        conduct: Conduct | None = None,
        tell: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self.conduct = conduct or Conduct()
        self._listeners = [tell]
        self._executors: list[Executor] = []
        self.last: Progress | None = None
        """The latest progress."""
        self.stopped = False
        """Whether somebody wants the job to stop; it then finishes what is in hand."""

    def listen(self, tell: Callable[[Event], None]) -> None:
        """Tell somebody else, too."""
        self._listeners.append(tell)

    def ignore(self, tell: Callable[[Event], None]) -> None:
        """Tell somebody no more."""
        self._listeners.remove(tell)

    def tell(self, event: Event) -> None:
        """Tell everybody who listens."""
        if isinstance(event, Progress):
            self.last = event
        for listener in self._listeners:
            listener(event)

    def note(self, text: str) -> None:
        """Tell something that is not progress."""
        self.tell(Note(text))

    def executor(self, staying: bool = False) -> Executor:
        """The executor of the conduct, which stops when the session is stopped."""
        name = self.conduct.executor or "local"
        made = executor(name, self.conduct.workers, self.conduct.address, staying)
        return self.use(made)

    def use(self, made: Executor) -> Executor:
        """Stop this executor, too, when the session is stopped."""
        self._executors.append(made)
        if self.stopped:
            made.stop()
        return made

    def stop(self) -> None:
        """Begin nothing new and finish what is in hand."""
        self.stopped = True
        for each in self._executors:
            each.stop()

    def abort(self) -> None:
        """Give up what is in hand, too; it will be done again."""
        self.stopped = True
        for each in self._executors:
            each.abort()

    @property
    def can_abort(self) -> bool:
        """Whether what is in hand is in workers' hands, which can be told to give it up."""
        return bool(self._executors)

    def close(self) -> None:
        """There is no more work."""
        for each in self._executors:
            each.close()
        self._executors.clear()


@runtime_checkable
class Extendable(Protocol):
    """A job whose number of games can be raised."""

    def with_games(self, games: int) -> "Job":
        """The same with this many games in all."""
        ...


class Job(Protocol):
    """Long work. A kind of job is added by one line in `kinds.KINDS`."""

    extent: ClassVar[frozenset[str]]
    """Names in the configuration that say how much is done or where the product goes.

    They are not part of the identity of a run: with more of it, a finished run goes on.
    """

    @property
    def name(self) -> str:
        """What a new run is called."""
        ...

    @property
    def config(self) -> dict[str, Any]:
        """What is done, as TOML and JSON have it, `kind` first."""
        ...

    def check(self) -> None:
        """Refuse work that cannot be done, before a run is begun for it."""
        ...

    def extended(self, config: dict[str, Any]) -> "Job":
        """The job that does what this one asks for and at least as much as a run already has."""
        ...

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Do what is missing, and write the results and the report.

        Returns the results, or None if the session was stopped before the end. Results of jobs that
        are neither games nor studies have a `headline`: one line for people.
        """
        ...
