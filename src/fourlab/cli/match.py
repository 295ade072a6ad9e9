"""`fourlab match`: play two agents against each other and print statistics."""

from typing import Annotated, Literal

import typer

from fourlab.agents.players import described
from fourlab.arena.match import MatchSettings
from fourlab.arena.tournament import Tournament
from fourlab.cli.generated import with_settings
from fourlab.cli.running import Running, Workers, print_results


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
    """Play a match between two agents.

    Prints which agent is stronger and how certain that is. Every opening is played twice with
    colours swapped, and statistics count such pairs. Games are stored as they end: the same
    command again resumes a stopped match, and with more --games it extends a finished one. The
    result does not depend on the number of workers.

    Example: fourlab match mcts:simulations=200 rules --games 200 --accuracy
    """
    tournament = settings.tournament(one, other, sprt)
    run_tournament(tournament, "match", settings.accuracy, workers, running)


def run_tournament(
    tournament: Tournament,
    kind: Literal["match", "tournament"],
    accuracy: bool,
    workers: Workers,
    running: Running,
) -> None:
    """Play the games of a match or tournament, and print its results."""
    from fourlab.arena.job import TournamentJob  # imports NumPy

    tournament = described(tournament)
    desk = running.desk(workers, *(["--accuracy"] if accuracy else []))
    job = TournamentJob(tournament, kind, accuracy)
    for note in tournament.notes():
        desk.note(note)
    run, summary = desk.work(job)
    print_results(run, summary, running.json)
