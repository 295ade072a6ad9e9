"""`fourlab verify`: check a run for damage, and repair its games."""

from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import (
    DEFAULT_HOME,
    AllowProgramsOption,
    HomeOption,
    JsonOption,
    QuietOption,
    RunArgument,
    print_json,
)
from fourlab.errors import UserError
from fourlab.terminal import one_line

if TYPE_CHECKING:
    from fourlab.arena.store import StoredGame
    from fourlab.arena.verify import Verification
    from fourlab.jobs.job import Job
    from fourlab.jobs.run import Run

SHOWN = 20
"""Damaged games that are listed by number."""


def verify(
    name: RunArgument,
    repair: Annotated[
        bool, typer.Option("--repair", help="Replay damaged games, and rewrite the report.")
    ] = False,
    allow_programs: AllowProgramsOption = False,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Check a run for damage, and repair its games.

    Compares every file and every game of a run with the hashes that were stored with them. This
    finds damage and careless edits, not somebody who recomputes the hashes. With --repair, damaged
    games are played again where that gives the same game; games under a time limit, of outside
    programs or of racing threads cannot be repeated and are marked as lost. The damaged file is
    kept. The exit code is 1 if there is damage.

    Example: fourlab verify last
    """
    from fourlab.arena.verify import verify as check
    from fourlab.jobs.run import find_run

    run = find_run(home, name)
    verification = check(run)
    if json and not repair:
        print_json({"run": str(run.folder), **verification.as_data()})
    else:
        _print(run, verification)
    if verification.is_sound:
        return
    if not repair:
        raise typer.Exit(1)
    _repair(run, verification, quiet, allow_programs)
    print(f"repaired: {run.folder}")


def _print(run: "Run", verification: "Verification") -> None:
    from fourlab.jobs.seal import SEAL_FILE

    for file in verification.files:
        again = " (written again by --repair)" if file.is_rewritten else ""
        print(f"{one_line(file)}{again}")
    for name, flaws in verification.flaws.items():
        for flaw in flaws[:SHOWN]:
            print(one_line(f"{name}: {flaw}"))
        if len(flaws) > SHOWN:
            print(f"{name}: and {len(flaws) - SHOWN} more games")
    checked = f"{verification.games} games compared with their hashes"
    files = "all files with the run's seal"
    if not verification.is_sealed:
        files = "no other files, since the run has no seal"
    elif any(item.file == SEAL_FILE for item in verification.files):
        files = "no other files, since its seal is damaged"
    verdict = "sound" if verification.is_sound else "damaged"
    print(f"{run.folder}: {verdict} ({checked}, {files})")


def _repair(run: "Run", verification: "Verification", quiet: bool, allow_programs: bool) -> None:
    """Rebuild damaged databases, then resume the run, which plays the games that are missing."""
    from fourlab.arena.job import TournamentJob
    from fourlab.arena.verify import salvage, unrepairable
    from fourlab.cli.running import Running
    from fourlab.jobs.kinds import job_of
    from fourlab.jobs.seal import discard, unseal

    beyond_repair = unrepairable(verification)
    if beyond_repair is not None:
        raise UserError(f"{beyond_repair} and cannot be made again; restore it from a copy")
    job = job_of(run, allow_programs)
    run.check(job.extent)
    with run.locked():
        for name in verification.flaws:
            if not (run.folder / name).is_file():
                print(f"{name}: it is missing, and all its games are played again")
                continue
            total = len(job.tournament) if isinstance(job, TournamentJob) else 0
            damaged = salvage(run.folder / name, total, lambda number: _lost(job, number))
            noun = "game" if damaged == 1 else "games"
            print(f"{name}: {damaged} damaged {noun}; the old file is {name}.damaged")
        unseal(run.folder)
        for item in verification.files:
            discard(run.folder, item)
    Running(quiet=quiet).desk().work_on(job, run)


def _lost(job: "Job", number: int) -> "StoredGame | None":
    """Return the row for a damaged game, None if it can be played again."""
    from fourlab.agents.players import is_repeatable
    from fourlab.arena.job import TournamentJob
    from fourlab.arena.verify import lost_game

    if not isinstance(job, TournamentJob):
        return None
    game = job.tournament.game(number)
    players = (job.tournament.players[game.red], job.tournament.players[game.yellow])
    if all(is_repeatable(player) for player in players):
        return None
    return lost_game(job.tournament, number)
