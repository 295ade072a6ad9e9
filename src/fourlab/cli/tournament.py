"""`fourlab tournament` and `fourlab resume`: many agents from a file, and runs that were stopped."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.cli.match import check_agents, finish, read_openings
from fourlab.cli.options import (
    DEFAULT_HOME,
    AccuracyOption,
    AddressOption,
    HomeOption,
    JsonOption,
    QuietOption,
    RunOption,
    WorkersOption,
)
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.arena.tournament import Tournament
    from fourlab.jobs.run import Run

ExecutorChoice = Annotated[str | None, typer.Option("--executor", help="Where games are played: local or ray.")]
CONDUCT = {"name": str, "workers": int, "executor": str, "address": str, "accuracy": bool}
"""Settings of a tournament's file that do not change what comes out."""


def tournament(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Who plays, and how.")],
    accuracy: AccuracyOption = False,
    workers: WorkersOption = None,
    executor: ExecutorChoice = None,
    address: AddressOption = None,
    run: RunOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
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
    from fourlab.arena.tournament import read
    from fourlab.cli.live import Conduct
    from fourlab.jobs.run import open_run

    data = _read_toml(file)
    told = {name: data.pop(name) for name in CONDUCT if name in data}
    for name, value in told.items():
        if not isinstance(value, CONDUCT[name]) or (CONDUCT[name] is int and isinstance(value, bool)):
            raise UserError(f"{file}: {name} cannot be {value!r}")
    if isinstance(asked := data.get("openings"), str):
        openings = read_openings(asked, file.parent, None)
        data["openings"] = openings if isinstance(openings, str) else list(openings)
    try:
        planned = read(data)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    conduct = Conduct(
        workers or told.get("workers") or os.cpu_count() or 1,
        executor or told.get("executor", "local"),
        address or told.get("address"),
        accuracy or told.get("accuracy", False),
        quiet,
    )
    check_agents(planned)
    name = told.get("name") or file.stem
    finish(open_run(home, name, {"kind": "tournament", **planned.as_data()}, run, conduct.note), planned, conduct, json)


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, its name or a part of it, or last.")],
    accuracy: AccuracyOption = False,
    workers: WorkersOption = None,
    executor: ExecutorChoice = None,
    address: AddressOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped, be it games or a training; a complete one shows its result.

    --accuracy adds the exact truth to games.
    """
    from fourlab.cli import train
    from fourlab.cli.live import Conduct
    from fourlab.jobs.run import find_run

    found = find_run(home, run)
    found.check()
    if found.config.get("kind") in train.KINDS:
        if accuracy or workers or executor or address:
            raise UserError(f"{found.folder} is a training, which has no such options; go on with: fourlab resume {found.folder}")
        return train.resume(found, quiet, json)
    planned = planned_in(found)
    check_agents(planned)
    finish(found, planned, Conduct(workers or os.cpu_count() or 1, executor or "local", address, accuracy, quiet), json)


def planned_in(run: "Run") -> "Tournament":
    """The tournament that a run plays."""
    from fourlab.arena.tournament import read

    config = dict(run.config)
    if (kind := config.pop("kind", None)) not in ("match", "tournament"):
        raise UserError(f"{run.folder} is a run of kind {kind!r}, not a match or a tournament")
    return read(config)


def _read_toml(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{file} is not TOML: {error}") from None
