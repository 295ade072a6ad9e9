"""`fourlab resume`: go on with any run that was stopped or killed."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.cli.options import (
    DEFAULT_HOME,
    AccuracyOption,
    AddressOption,
    ExecutorOption,
    HomeOption,
    JsonOption,
    QuietOption,
    WorkersOption,
    print_json,
)
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.jobs.job import Job
    from fourlab.jobs.run import Run


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, its name or a part of it, or last.")],
    games: Annotated[int | None, typer.Option(min=1, help="Extend a match or tournament to this many games.")] = None,
    accuracy: AccuracyOption = False,
    workers: WorkersOption = None,
    executor: ExecutorOption = None,
    address: AddressOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped or killed, of whatever kind; a complete one shows its results.

    Matches, tournaments, trainings, studies, books and data sets end with the same results as if they
    had never been stopped. --accuracy adds the exact truth to games.
    """
    from fourlab.cli.working import Desk, conduct_of
    from fourlab.jobs.kinds import job_of
    from fourlab.jobs.run import find_run

    found = find_run(home, run)
    job = job_of(found)
    found.check(job.extent)
    job = _changed(job, found, games, accuracy)
    job.check()
    conduct, options = conduct_of(workers, executor, address)
    if accuracy:
        options = (*options, "--accuracy")
    results = Desk(home, conduct=conduct, quiet=quiet, resume_options=options).work_on(job, found)
    _print(found, results, json)


def _changed(job: "Job", run: "Run", games: int | None, accuracy: bool) -> "Job":
    """The job with more games, or with the exact truth."""
    from fourlab.arena.job import TournamentJob
    from fourlab.jobs.job import Extendable

    if games is not None:
        if not isinstance(job, Extendable):
            raise UserError(_refused("--games", run))
        job = job.with_games(games)
    if accuracy:
        if not isinstance(job, TournamentJob):
            raise UserError(_refused("--accuracy", run))
        job = replace(job, accuracy=True)
    return job


def _refused(option: str, run: "Run") -> str:
    return f"{option} is for matches and tournaments; {run.folder} is a run of kind {run.config['kind']!r}"


def _print(run: "Run", results: dict[str, Any], json: bool) -> None:
    kind = run.config["kind"]
    if kind in ("match", "tournament"):
        from fourlab.cli.match import print_games

        print_games(run, results, json)
    elif kind == "reproduce":
        from fourlab.cli.study import print_findings

        print_findings(run, results, list(results["experiments"]), json)
    elif kind == "chess":
        from fourlab.cli.chess import print_chess

        print_chess(run, results, json)
    elif json:
        print_json({"run": str(run.folder), **results})
    else:
        for line in (results["headline"], *results.get("lines", ())):
            print(line)
        if run.report_file.exists():
            print(f"report: {run.report_file}")
