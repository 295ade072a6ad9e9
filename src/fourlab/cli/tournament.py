"""`fourlab tournament`: play a round robin between agents, named here or in a TOML file."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.agents.programs import OPTION, refuse_programs
from fourlab.agents.registry import is_own
from fourlab.arena.match import TournamentSettings
from fourlab.arena.openings import read_openings
from fourlab.arena.tournament import read
from fourlab.cli.generated import with_settings
from fourlab.cli.match import run_tournament
from fourlab.cli.options import AllowProgramsOption
from fourlab.cli.running import Running, Workers
from fourlab.errors import UserError
from fourlab.parsing import read_toml

CONDUCT = {"name": str, "workers": int, "executor": str, "address": str, "accuracy": bool}
"""Keys of a tournament file that have no influence on the results, with their types."""


@with_settings
def tournament(
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT",
            help="Agents (fourlab agents), or a TOML file with agents and settings.",
        ),
    ],
    settings: TournamentSettings,
    workers: Workers,
    running: Running,
    allow_programs: AllowProgramsOption = False,
) -> None:
    """Play a round robin between agents.

    Prints a table of Bradley-Terry ratings with intervals, and a cross table. The same command
    again resumes a stopped tournament, and with more --games it extends a finished one.

    Example: fourlab tournament mcts rules level-3 --games 20

    Example: fourlab tournament league.toml

    \b
    A file has the settings, too:
        openings = "random:4"
        rounds = 20
        seed = 1
        agents = ["random", "rules", "mcts:simulations=200"]

    \b
    Agents can be tables with their own limits and names:
        [[agents]]
        spec = "mcts"
        name = "quick"
        seconds = 0.01

    Further keys: boards = ["7x6x4", "5x4x4"], starts = "alternate" or "fixed", grace, [sprt] with
    elo0 and elo1 for two agents; and, without influence on the results, name, workers, executor,
    address, accuracy. A file with agents that are programs, such as engine:cmd=..., or with the
    address of a cluster needs --allow-programs.
    """
    if (file := _file_of(agents)) is not None:
        _play_file(file, settings, workers, running, allow_programs)
        return
    planned = settings.tournament(agents)
    run_tournament(planned, "tournament", settings.accuracy, workers, running)


def _file_of(agents: list[str]) -> Path | None:
    """Return the file that stands in place of agents; None if these are agents."""
    files = [agent for agent in agents if agent.endswith(".toml")]
    if len(agents) == 1 and (files or (Path(agents[0]).exists() and not is_own(agents[0]))):
        return Path(agents[0])
    if files:
        raise UserError(f"{files[0]} is a tournament of its own; give it alone, or only agents")
    if len(agents) == 1:
        raise UserError(
            f"a tournament needs two agents or more, not only {agents[0]!r}, or a file such as "
            "league.toml; fourlab help tournament shows both"
        )
    return None


def _play_file(
    file: Path,
    settings: TournamentSettings,
    workers: Workers,
    running: Running,
    allow_programs: bool,
) -> None:
    """Play the tournament of a file, which has its own settings."""
    usual = TournamentSettings(accuracy=settings.accuracy)
    for field in fields(settings):
        if getattr(settings, field.name) != getattr(usual, field.name):
            raise UserError(
                f"{file} has its own settings; --{field.name} is for agents on the command line"
            )
    data = _read(file)
    conduct = _pop_conduct(data, file)
    refuse_programs(data, file, allow_programs)
    if conduct.get("address") and not (allow_programs or workers.address):
        # Workers of a cluster answer with pickled objects, which can run anything here.
        raise UserError(
            f"{file} names the cluster {conduct['address']!r}; use --address, or add {OPTION} "
            "if you trust it"
        )
    # Files of openings are relative to the tournament file, wherever the command is called.
    if isinstance(written := data.get("openings"), str):
        openings = read_openings(written, file.parent, None)
        data["openings"] = openings if isinstance(openings, str) else list(openings)
    try:
        planned = read(data)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    # Options on the command line override the file.
    workers = Workers(
        conduct.get("workers") if workers.workers is None else workers.workers,
        workers.executor or conduct.get("executor"),
        workers.address or conduct.get("address"),
    )
    running = replace(running, name=running.name or conduct.get("name") or file.stem)
    accuracy = settings.accuracy or conduct.get("accuracy", False)
    run_tournament(planned, "tournament", accuracy, workers, running)


def _read(file: Path) -> dict[str, Any]:
    if not file.exists():
        raise UserError(
            f"there is no file {str(file)!r}; fourlab help tournament shows what to write into one"
        )
    return read_toml(file)


def _pop_conduct(data: dict[str, Any], file: Path) -> dict[str, Any]:
    """Remove the keys of CONDUCT from a file's data and return them; check their types."""
    conduct = {name: data.pop(name) for name in CONDUCT if name in data}
    for name, value in conduct.items():
        is_bool = isinstance(value, bool)  # which Python counts as an int
        if not isinstance(value, CONDUCT[name]) or (CONDUCT[name] is int and is_bool):
            raise UserError(f"{file}: {name} cannot be {value!r}")
    return conduct
