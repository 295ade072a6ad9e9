"""`fourlab agents`: list the agents."""

import inspect
from typing import Annotated, Any

import typer

from fourlab.agents import registry
from fourlab.cli.options import JsonOption, print_json
from fourlab.errors import UserError
from fourlab.options import as_text

INDENT = " " * 19
"""Lines about an agent begin two columns right of its description."""


def agents(
    name: Annotated[str | None, typer.Argument(help="Show only this agent.")] = None,
    json: JsonOption = False,
) -> None:
    """List the agents and their options.

    An agent is written NAME or NAME:OPTION=VALUE,OPTION=VALUE wherever a command takes one. An
    agent in a Python file of your own is FILE.py:NAME or FILE.py:NAME,OPTION=VALUE.

    Example: fourlab agents mcts
    """
    if name:
        rows = [_describe(name)]
    else:
        rows = [_describe_or_excuse(listed) for listed in registry.names()]
    if json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['name']:16} {row['about']}")
        if row["preset_of"]:
            print(f"{INDENT}= {row['preset_of']}")
            if row["elsewhere"]:
                print(f"{INDENT}on other boards = {row['elsewhere']}")
            if row["faithful"]:
                print(f"{INDENT}faithful=1: {row['faithful']}")
            continue
        for option in row["options"]:
            default = as_text(option["default"])
            # An option such as `seconds` names its unit already.
            unit = f", in {option['unit']}" if option["unit"] not in ("", option["name"]) else ""
            kind = f"({option['type']}{unit})"
            print(f"{INDENT}{option['name']}={default}  {kind} {option['about']}")


def _describe_or_excuse(name: str) -> dict[str, Any]:
    """Describe an agent; one broken plug-in must not hide the other agents."""
    try:
        return _describe(name)
    except UserError as error:
        return {
            "name": name,
            "about": f"unusable: {error}",
            "preset_of": None,
            "faithful": None,
            "elsewhere": None,
            "options": [],
        }


def _describe(name: str) -> dict[str, Any]:
    preset = registry.preset(name)
    options = [
        {
            "name": option.name,
            "type": option.allowed_values,
            "unit": option.unit,
            "default": None if option.default is inspect.Parameter.empty else option.default,
            "about": option.help,
            "json_schema": option.schema,
        }
        for option in registry.options_of(name)
    ]
    return {
        "name": name,
        "about": registry.about(name),
        "preset_of": preset and preset.spec,
        "faithful": preset and preset.faithful,
        "elsewhere": preset and preset.elsewhere,
        "options": options,
    }
