"""`fourlab train alphazero`: a network that learns by playing itself."""

import tomllib
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.agents.alphazero.settings import PRESETS, settings_of
from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, QuietOption, RunOption
from fourlab.cli.training import begin, refuse_another, require_torch
from fourlab.errors import UserError


def alphazero(
    preset: Annotated[str | None, typer.Option(help=f"Settings to begin with: {', '.join(PRESETS)}; default laptop.")] = None,
    faithful: Annotated[bool, typer.Option("--faithful", help="A document's settings as they were, faults included.")] = False,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings as TOML: NAME = VALUE, perhaps a preset.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; may be repeated.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Workers for self-play; makes no difference to the result.")] = 2,
    executor: Annotated[str, typer.Option(help="Where they work: threads, local (processes) or ray.")] = "threads",
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster.")] = None,
    name: Annotated[str | None, typer.Option(help="What the run is called.")] = None,
    run: RunOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Train a network by self-play (AlphaMCTS): games by search with the network, the network from the games.

    Settings come from a preset, then a file, then --set. The run's folder gets alphazero.onnx for playing,
    alphazero-fp32.safetensors and .json for training on, the curves and a report.

    Example: fourlab train alphazero --preset laptop --set games=100000
    """
    require_torch()
    given = _read(config) if config is not None else {}
    if preset is not None:
        given["preset"] = preset
    for each in change or []:
        given |= _assignment(each)
    settings = settings_of(given, faithful)
    configuration = {"kind": "train-alphazero", **asdict(settings)}
    refuse_another(run, configuration)
    from fourlab.agents.alphazero.training import AlphaZeroTrainee

    called = name or f"alphazero-{given.get('preset', 'laptop')}{'-faithful' if faithful else ''}"
    with closing(_executor(executor, workers, address)) as pool:
        begin(called, configuration, AlphaZeroTrainee(settings, pool), run, home, quiet, json)


def _executor(name: str, workers: int, address: str | None) -> Any:
    if name not in ("threads", "local", "ray"):
        raise UserError(f"there is no executor {name!r}; executors are threads, local, ray")
    if address is not None and name != "ray":
        raise UserError("an address is for the executor ray")
    if name == "threads":
        from fourlab.jobs.executors.threads import Threads

        return Threads(workers)
    from fourlab.jobs.executors import executor

    return executor(name, workers, address, staying=True)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not TOML: {error}") from None


def _assignment(text: str) -> dict[str, Any]:
    """NAME=VALUE, the value as in TOML or else as text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"a setting is changed by NAME=VALUE, not {text!r}") from None
        return {name.strip(): value.strip()}
