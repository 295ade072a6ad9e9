"""`fourlab tournament`: many agents from a file."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fourlab.cli.generated import with_settings
from fourlab.cli.match import note_repetitions, print_games
from fourlab.cli.options import AccuracyOption
from fourlab.cli.running import Running, Workers
from fourlab.errors import UserError
from fourlab.options import read_toml

CONDUCT = {"name": str, "workers": int, "executor": str, "address": str, "accuracy": bool}
"""Settings of a tournament's file that do not change what comes out."""


@with_settings
def tournament(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Who plays, and how.")],
    workers: Workers,
    running: Running,
    accuracy: AccuracyOption = False,
) -> None:
    """Let every agent of a file play every other; the table has Bradley-Terry ratings with intervals.

    \b
    A file:
        openings = "random:4"
        rounds = 20
        seed = 1
        agents = ["random", "rules", "mcts:simulations=200"]
    \b
    Agents can be tables with limits and names of their own:
        [[agents]]
        spec = "mcts"
        name = "quick"
        seconds = 0.01
    \b
    Also: boards = ["7x6x4", "5x4x4"], starts = "alternate" or "fixed", grace, [sprt] with elo0 and elo1 for two agents,
    and, changing nothing in the result: name, workers, executor, address, accuracy.
    """
    from fourlab.arena.job import TournamentJob
    from fourlab.arena.openings import read_openings
    from fourlab.arena.tournament import read

    data = read_toml(file)
    conduct = {name: data.pop(name) for name in CONDUCT if name in data}
    for name, value in conduct.items():
        if not isinstance(value, CONDUCT[name]) or (CONDUCT[name] is int and isinstance(value, bool)):
            raise UserError(f"{file}: {name} cannot be {value!r}")
    if isinstance(asked := data.get("openings"), str):
        openings = read_openings(asked, file.parent, None)
        data["openings"] = openings if isinstance(openings, str) else list(openings)
    try:
        planned = read(data)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    workers = Workers(
        conduct.get("workers") if workers.workers is None else workers.workers,
        workers.executor or conduct.get("executor"),
        workers.address or conduct.get("address"),
    )
    running = replace(running, name=running.name or conduct.get("name") or file.stem)
    accuracy = accuracy or conduct.get("accuracy", False)
    desk = running.desk(workers, *(["--accuracy"] if accuracy else []))
    job = TournamentJob(planned, "tournament", accuracy)
    note_repetitions(planned, desk)
    run, summary = desk.work(job)
    print_games(run, summary, running.json)
