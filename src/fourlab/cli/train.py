"""`fourlab train …`: one command per training, generated from its settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.agents.programs import refuse_programs
from fourlab.agents.trainings import TRAININGS
from fourlab.cli.generated import Given, with_settings
from fourlab.cli.options import AllowProgramsOption
from fourlab.cli.running import DEFAULT_RUNNING, DEFAULT_WORKERS, Running, Workers, print_results
from fourlab.options import options_of, read_assignment, renamed
from fourlab.parsing import read_toml
from fourlab.training.kind import Training

app = typer.Typer(
    help="""Train agents that learn.

    Every training can be stopped and resumed. `fourlab settings alphazero` lists what can be set.

    Example: fourlab train alphazero --preset smoke
    """,
    rich_markup_mode=None,
)


def _renamed(training: Training[Any], values: dict[str, Any], source: str) -> dict[str, Any]:
    """Replace old names, so that a value overrides one that has another spelling."""
    return renamed(options_of(training.settings).values(), values, source)


def _command(training: Training[Any]) -> Callable[..., None]:
    """Return the command of a training, with one option for every setting."""
    presets = ", ".join(training.presets)
    preset_option = typer.Option(
        help=f"Settings to start from: {presets} (default {training.default_preset})."
    )
    faithful_option = typer.Option(
        "--faithful", help="Use a report's settings as its author coded them, faults included."
    )
    config_option = typer.Option(
        metavar="FILE", help="TOML file of settings: NAME = VALUE, optionally a preset."
    )
    set_option = typer.Option(
        "--set", metavar="NAME=VALUE", help="Change a setting, as in a TOML file; can be repeated."
    )
    given_options = Given(training.settings, without=("faithful",))

    # `with_settings` always passes `given`, so its mutable default is never used.
    def train(
        preset: Annotated[str | None, preset_option] = None,
        faithful: Annotated[bool, faithful_option] = False,
        config: Annotated[Path | None, config_option] = None,
        change: Annotated[list[str] | None, set_option] = None,
        given: Annotated[dict[str, Any], given_options] = {},  # noqa: B006
        allow_programs: AllowProgramsOption = False,
        workers: Workers = DEFAULT_WORKERS,
        running: Running = DEFAULT_RUNNING,
    ) -> None:
        # Later sources override earlier ones: file, --set, options.
        assigned: dict[str, Any] = {}
        for assignment in change or []:
            assigned |= read_assignment(assignment)
        typed = _renamed(training, assigned, "--set") | given
        settings: dict[str, Any] = {}
        if config is not None:
            settings = _renamed(training, read_toml(config), str(config))
            effective = {name: value for name, value in settings.items() if name not in typed}
            refuse_programs(effective, config, allow_programs)
        settings |= typed
        if preset is not None:
            settings["preset"] = preset
        # A faithful preset is another preset, so the file or the options need not name one.
        if faithful:
            settings["faithful"] = True
            settings.setdefault("preset", training.default_preset)
        training.check_packages()  # torch may be missing; say so before a run folder is made
        run, results = running.desk(workers).work(training.job(settings))
        print_results(run, results, running.json)

    train.__doc__ = f"""{training.help.rstrip()}

    A preset sets everything; a file, --set and the options below change single settings. `fourlab
    settings {training.name}` lists them with their defaults.
    """
    return with_settings(train, left_out=() if training.in_parallel else ("workers",))


for _name, _training in TRAININGS.items():
    app.command(_name)(_command(_training))
