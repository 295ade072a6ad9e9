"""`fourlab match`: two agents, many games, and what can be concluded."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.arena.match import MatchSettings
from fourlab.cli.generated import with_settings
from fourlab.cli.options import print_json
from fourlab.cli.running import Running, Workers

if TYPE_CHECKING:
    from fourlab.arena.tournament import Tournament
    from fourlab.cli.working import Desk
    from fourlab.jobs.run import Run


@with_settings
def match(
    one: Annotated[str, typer.Argument(metavar="A", help="An agent (fourlab agents).")],
    other: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
    settings: MatchSettings,
    workers: Workers,
    running: Running,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="ELO0 ELO1", help="Stop when one of two Elo differences is accepted."),
    ] = None,
) -> None:
    """Let two agents play each other and say who is stronger, and how sure that is.

    Every opening is played twice with colours swapped, and statistics count such pairs. Games are
    stored as they end: the same command again resumes a stopped match, and with more --games it
    extends a finished one. The result does not depend on the number of workers.

    Example: fourlab match mcts:simulations=200 rules --games 200 --accuracy
    """
    from fourlab.arena.job import TournamentJob

    tournament = settings.tournament(one, other, sprt)
    desk = running.desk(workers, *(["--accuracy"] if settings.accuracy else []))
    job = TournamentJob(tournament, "match", settings.accuracy)
    note_repetitions(tournament, desk)
    run, summary = desk.work(job)
    print_games(run, summary, running.json)


def print_games(run: "Run", summary: dict[str, Any], json: bool) -> None:
    """Print what came of a match or tournament."""
    from fourlab.cli.standings import print_summary

    if json:
        print_json({"run": str(run.folder), **summary})
    else:
        print_summary(summary)
        print(f"run: {run.folder} (report.html shows it; fourlab games {run.folder} lists the games)")


def note_repetitions(tournament: "Tournament", desk: "Desk") -> None:
    """Say so if there are fewer openings than rounds: games of deterministic agents will repeat."""
    for board, starts in zip(tournament.boards, tournament.starts_on, strict=True):
        if 1 < len(starts) < tournament.all_rounds:
            desk.note(
                f"there are only {len(starts)} such openings on {board} for {tournament.all_rounds} rounds; they are repeated"
            )
