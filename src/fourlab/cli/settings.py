"""`fourlab settings`: what can be set in a training."""

from typing import Annotated, Any

import typer

from fourlab.cli.options import JsonOption, print_json
from fourlab.cli.train import TRAININGS
from fourlab.errors import UserError
from fourlab.options import as_data, as_text, options_of, perhaps, schema_of


def settings(
    training: Annotated[str | None, typer.Argument(help=f"One of {', '.join(TRAININGS)}; default all, listed.")] = None,
    preset: Annotated[str | None, typer.Option(help="Show the values of this preset.")] = None,
    faithful: Annotated[bool, typer.Option("--faithful", help="Of a report's preset, the values as they were coded.")] = False,
    json: JsonOption = False,
) -> None:
    """Show the settings of a training with defaults, ranges, units and help, and its presets.

    Settings are changed by options of `fourlab train`, by --set NAME=VALUE, or in a TOML file.

    Example: fourlab settings q --preset bhat
    """
    if training is None:
        for each in TRAININGS.values():
            print(f"{each.name:10} presets {', '.join(each.presets)}; {each.help.splitlines()[0]}")
        return
    if training not in TRAININGS:
        raise UserError(f"there is no training {training!r}{perhaps(training, TRAININGS)}; trainings are {', '.join(TRAININGS)}")
    chosen = TRAININGS[training]
    values = chosen.preset(preset or chosen.usual, faithful)
    if json:
        schema = schema_of(chosen.settings)
        print_json({"presets": list(chosen.presets), "values": as_data(values), "schema": schema})
        return
    print(f"presets: {', '.join(chosen.presets)} (these are the values of {preset or chosen.usual})")
    for name, option in options_of(chosen.settings).items():
        unit = f", in {option.unit}" if option.unit not in ("", name) else ""
        print(f"{name} = {_as_toml(getattr(values, name))}  ({option.wanted}{unit})\n    {option.help}")


def _as_toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_as_toml(each) for each in value)}]"
    return f'"{value}"' if isinstance(value, str) else as_text(value)
