"""Options of every command that does long work: who works, and where the run is kept."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import (
    DEFAULT_HOME,
    AddressOption,
    ExecutorOption,
    HomeOption,
    JsonOption,
    QuietOption,
    RunOption,
    WorkersOption,
)

if TYPE_CHECKING:
    from fourlab.cli.working import Desk


@dataclass(frozen=True)
class Workers:
    """Where the work is done; makes no difference to the result."""

    workers: WorkersOption = None
    executor: ExecutorOption = None
    address: AddressOption = None


HERE = Workers()


@dataclass(frozen=True)
class Running:
    """Where the run is kept and what is shown of it."""

    name: Annotated[str | None, typer.Option(help="What the run is called.")] = None
    run: RunOption = None
    home: HomeOption = DEFAULT_HOME
    quiet: QuietOption = False
    json: JsonOption = False

    def desk(self, workers: Workers = HERE, *more: str) -> "Desk":
        """Where the job is worked on; `more` are options that resuming needs."""
        from fourlab.cli.working import Desk, conduct_of

        conduct, options = conduct_of(workers.workers, workers.executor, workers.address)
        return Desk(self.home, self.run, self.name, conduct, self.quiet, (*options, *more))


USUAL = Running()
