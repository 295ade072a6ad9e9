"""`fourlab settings`: describe the settings of a training."""

from typing import Annotated, Any

import typer

from fourlab.agents.trainings import TRAININGS, training_named
from fourlab.cli.options import JsonOption, print_json
from fourlab.options import as_data, as_text, options_of, resolved, schema_of


def settings(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="TRAINING", help=f"One of {', '.join(TRAININGS)} (default: list them)."
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SETTING", help="Show only these settings (default: all)."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Show the values of this preset.")] = None,
    faithful: Annotated[
        bool,
        typer.Option(
            "--faithful", help="Show a report's preset as its author coded it, faults included."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show the settings and presets of a training.

    Every setting is shown with its value, range, unit and help. To change settings, use the
    options of `fourlab train`, --set NAME=VALUE, or a TOML file.

    Examples:

      fourlab settings q --preset bhat

      fourlab settings alphazero games simulations
    """
    if name is None:
        for training in TRAININGS.values():
            presets = ", ".join(training.presets)
            print(f"{training.name:10} presets {presets}; {training.help.splitlines()[0]}")
        return
    training = training_named(name)
    options = options_of(training.settings)
    # Old names and misspelt ones are treated as they are in --set.
    chosen = resolved(options, dict.fromkeys(names or options), f"training {name!r}")
    # Without a preset, the values are those with which the training starts by default.
    preset = preset or training.default_preset
    values = training.preset(preset, faithful)
    if json:
        schema = schema_of(training.settings, chosen)
        data = {key: value for key, value in as_data(values).items() if key in chosen}
        print_json({"presets": list(training.presets), "values": data, "schema": schema})
        return
    print(f"presets: {', '.join(training.presets)} (these are the values of {preset})")
    for key in chosen:
        option = options[key]
        unit = f", in {option.unit}" if option.unit not in ("", key) else ""
        print(f"{key} = {_as_toml(getattr(values, key))}  ({option.allowed_values}{unit})")
        print(f"    {option.full_help}")


def _as_toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_as_toml(item) for item in value)}]"
    return f'"{value}"' if isinstance(value, str) else as_text(value)
