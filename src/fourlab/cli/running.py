"""Options of every command that does long work: its workers, and where the run is stored."""

from dataclasses import dataclass
from typing import Annotated, Any

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
    as_arguments,
    print_json,
)
from fourlab.cli.standings import print_chess, print_summary
from fourlab.cli.working import Desk
from fourlab.jobs.job import Conduct
from fourlab.jobs.run import Run
from fourlab.terminal import in_one_line


@dataclass(frozen=True)
class Workers:
    """Where the work is done; has no influence on the results."""

    workers: WorkersOption = None
    executor: ExecutorOption = None
    address: AddressOption = None


DEFAULT_WORKERS = Workers()


@dataclass(frozen=True)
class Running:
    """Where the run is stored and how it is shown."""

    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None
    run: RunOption = None
    home: HomeOption = DEFAULT_HOME
    quiet: QuietOption = False
    json: JsonOption = False

    def desk(self, workers: Workers = DEFAULT_WORKERS, *resume_options: str) -> Desk:
        """Return the desk that works on the command's job.

        `resume_options` are added to the command that resumes the run.
        """
        # Raises UserError for an unknown executor, before a run folder is made.
        number = Conduct().workers if workers.workers is None else workers.workers
        conduct = Conduct(number, workers.executor, workers.address)
        options = as_arguments({f"--{name}": value for name, value in vars(workers).items()})
        return Desk(self, conduct, (*options, *resume_options))


DEFAULT_RUNNING = Running()


def print_results(run: Run, results: dict[str, Any], json: bool) -> None:
    """Print the results of a run in the form of its kind, and where to read more."""
    if json:
        print_json({"run": str(run.folder), **results})
        return
    results = in_one_line(results)
    kind = run.config["kind"]
    if kind in ("match", "tournament"):
        print_summary(results)
        games = f"fourlab games {run.folder} lists the games"
        print(f"run: {run.folder} (report.html shows it; {games})")
        return
    if kind == "chess":
        print_chess(results)
        print(f"run: {run.folder}")
        return
    if kind == "reproduce":
        from fourlab.studies.findings import in_words  # only studies need it

        print("\n".join(in_words(results)))
    else:
        print("\n".join([results["headline"], *results.get("lines", ())]))
    if run.report_file.exists():
        print(f"report: {run.report_file}")
