"""`fourlab train …`: agents that learn, one command for each kind, made from its settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.agents.alphazero.settings import TRAINING as ALPHAZERO
from fourlab.agents.dqn.settings import TRAINING as DQN
from fourlab.agents.q.settings import TRAINING as Q
from fourlab.agents.value.settings import TRAINING as VALUE
from fourlab.cli.generated import Given, with_settings
from fourlab.cli.options import print_json
from fourlab.cli.running import HERE, USUAL, Running, Workers
from fourlab.options import read_assignment, read_toml
from fourlab.training.kind import Training

TRAININGS: dict[str, Training[Any]] = {each.name: each for each in (ALPHAZERO, DQN, Q, VALUE)}

app = typer.Typer(
    help="Train agents that learn; every training can be stopped and resumed.",
    rich_markup_mode=None,
)


def _command(training: Training[Any]) -> Callable[..., None]:
    presets = ", ".join(training.presets)
    preset_option = typer.Option(help=f"Settings to begin with: {presets}; default {training.usual}.")
    faithful_option = typer.Option("--faithful", help="A report's settings as they were coded, faults included.")
    config_option = typer.Option(metavar="FILE", help="Settings as TOML: NAME = VALUE, perhaps a preset.")
    set_option = typer.Option("--set", metavar="NAME=VALUE", help="Change a setting, as in a TOML file; may be repeated.")

    def train(
        preset: Annotated[str | None, preset_option] = None,
        faithful: Annotated[bool, faithful_option] = False,
        config: Annotated[Path | None, config_option] = None,
        change: Annotated[list[str] | None, set_option] = None,
        given: Annotated[dict[str, Any], Given(training.settings, ("faithful",))] = {},  # noqa: B006 - is never used
        workers: Workers = HERE,
        running: Running = USUAL,
    ) -> None:
        settings = read_toml(config) if config is not None else {}
        for each in change or []:
            settings |= read_assignment(each)
        settings |= given
        if preset is not None:
            settings["preset"] = preset
        if faithful:
            settings["faithful"] = True
            settings.setdefault("preset", training.usual)
        _train(training, settings, workers, running)

    train.__doc__ = f"""{training.help.rstrip()}

    A preset has all settings; a file, --set and the options below change some. `fourlab settings
    {training.name}` lists them with their defaults.
    """
    return with_settings(train, left_out=() if training.in_parallel else ("workers",))


def _train(training: Training[Any], settings: dict[str, Any], workers: Workers, running: Running) -> None:
    training.check_packages()
    run, results = running.desk(workers).work(training.job(settings))
    if running.json:
        print_json({"run": str(run.folder), **results})
    else:
        print_results(results)
        print(f"report: {run.report_file}")


def print_results(results: dict[str, Any]) -> None:
    """Say what came of a training."""
    print(results["headline"])
    for line in results.get("lines", ()):
        print(line)


for _name, _training in TRAININGS.items():
    app.command(_name)(_command(_training))
