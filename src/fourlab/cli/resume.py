"""`fourlab resume`: resume any run that was stopped or killed."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import (
    DEFAULT_HOME,
    AccuracyOption,
    AddressOption,
    AllowProgramsOption,
    ExecutorOption,
    HomeOption,
    JsonOption,
    QuietOption,
    RunArgument,
    WorkersOption,
)
from fourlab.cli.running import print_results
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.jobs.job import Job
    from fourlab.jobs.run import Run


def resume(
    name: RunArgument,
    games: Annotated[
        int | None, typer.Option(min=1, help="Extend a match or tournament to this many games.")
    ] = None,
    accuracy: AccuracyOption = False,
    workers: WorkersOption = None,
    executor: ExecutorOption = None,
    address: AddressOption = None,
    allow_programs: AllowProgramsOption = False,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Resume a run that was stopped or killed.

    Works for matches, tournaments, trainings, studies, books and data sets. They end with the same
    results as an uninterrupted run; a complete run prints its results. --accuracy adds the exact
    values to the games of a match or tournament. A run whose agents are programs needs
    --allow-programs, since its folder may come from somebody else.
    """
    from fourlab.cli.working import Desk, conduct_of
    from fourlab.jobs.kinds import job_of
    from fourlab.jobs.run import find_run

    run = find_run(home, name)
    job = job_of(run, allow_programs)
    run.check(job.extent)
    job = _changed(job, run, games, accuracy)
    job.check()
    conduct, options = conduct_of(workers, executor, address)
    if accuracy:
        options = (*options, "--accuracy")
    desk = Desk(home, conduct=conduct, quiet=quiet, resume_options=options)
    results = desk.work_on(job, run)
    print_results(run, results, json)


def _changed(job: "Job", run: "Run", games: int | None, accuracy: bool) -> "Job":
    """Return the job with more games, or with exact values; raise UserError if it has no games."""
    from fourlab.arena.job import TournamentJob
    from fourlab.jobs.job import Extendable

    if games is not None:
        if not isinstance(job, Extendable):
            raise UserError(_refusal("--games", run))
        job = job.with_games(games)
    if accuracy:
        if not isinstance(job, TournamentJob):
            raise UserError(_refusal("--accuracy", run))
        job = replace(job, accuracy=True)
    return job


def _refusal(option: str, run: "Run") -> str:
    kind = run.config["kind"]
    return f"{option} is for matches and tournaments; {run.folder} is a run of kind {kind!r}"
