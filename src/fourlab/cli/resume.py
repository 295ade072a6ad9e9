"""`fourlab resume`: resume any run that was stopped or killed."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fourlab.cli.generated import with_settings
from fourlab.cli.options import (
    DEFAULT_HOME,
    AccuracyOption,
    AllowProgramsOption,
    HomeOption,
    JsonOption,
    QuietOption,
    RunArgument,
)
from fourlab.cli.running import DEFAULT_WORKERS, Running, Workers, print_results
from fourlab.errors import UserError
from fourlab.jobs.job import Extendable, Job
from fourlab.jobs.kinds import job_of
from fourlab.jobs.run import Run, find_run


@with_settings
def resume(
    name: RunArgument,
    games: Annotated[
        int | None,
        typer.Option(min=1, help="Extend a match, of chess too, or tournament to this many games."),
    ] = None,
    accuracy: AccuracyOption = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write a book, data set or chess games."
        ),
    ] = None,
    workers: Workers = DEFAULT_WORKERS,
    allow_programs: AllowProgramsOption = False,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Resume a run that was stopped or killed.

    Works for every kind of run: matches, of chess too, tournaments, trainings, studies, books and
    data sets. They end with the same results as an uninterrupted run; a complete run prints its
    results. --accuracy adds the exact values to the games of a match or tournament. A run whose
    agents are programs needs --allow-programs, and a run that was not begun here and writes a file
    outside its folder needs --output, since the folder may come from somebody else.

    Example: fourlab resume last
    """
    run = find_run(home, name)
    job = job_of(run, allow_programs, output)
    # Its configuration must not have been edited, except for the extent, which --games changes.
    run.check(job.extent)
    job = _changed(job, run, games, accuracy)
    job.check()
    options = ["--accuracy"] if accuracy else []
    results = Running(home=home, quiet=quiet).desk(workers, *options).work_on(job, run)
    print_results(run, results, json)


def _changed(job: Job, run: Run, games: int | None, accuracy: bool) -> Job:
    """Return the job with more games, or with exact values; raise UserError if it has no games."""
    from fourlab.arena.job import TournamentJob  # imports NumPy

    if games is not None:
        if not isinstance(job, Extendable):
            raise UserError(_refusal("--games", "matches, of chess too, and tournaments", run))
        job = job.with_games(games)
    if accuracy:
        if not isinstance(job, TournamentJob):
            raise UserError(_refusal("--accuracy", "matches and tournaments", run))
        job = replace(job, accuracy=True)
    return job


def _refusal(option: str, kinds: str, run: Run) -> str:
    return f"{option} is for {kinds}; {run.folder} is a run of kind {run.config['kind']!r}"
