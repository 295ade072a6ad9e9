"""`fourlab agents`: who can play."""

import inspect
from typing import Annotated, Any

import typer

from fourlab.agents import registry
from fourlab.cli.options import JsonOption, print_json
from fourlab.errors import UserError
from fourlab.options import as_text


def agents(
    name: Annotated[str | None, typer.Argument(help="Show only this agent.")] = None,
    json: JsonOption = False,
) -> None:
    """List the agents with their options.

    An agent is written NAME or NAME:OPTION=VALUE,OPTION=VALUE wherever a command takes one.
    """
    chosen = [name] if name else registry.names()
    described = [_describe(each) for each in chosen] if name else [_describe_or_say_why_not(each) for each in chosen]
    if json:
        print_json(described)
        return
    for agent in described:
        print(f"{agent['name']:16} {agent['about']}")
        if agent["preset_of"]:
            print(f"{'':16}   = {agent['preset_of']}")
            if agent["faithful"]:
                print(f"{'':16}   faithful=1: {agent['faithful']}")
            continue
        for option in agent["options"]:
            default = as_text(option["default"])
            unit = f", in {option['unit']}" if option["unit"] not in ("", option["name"]) else ""
            print(f"{'':16}   {option['name']}={default}  ({option['type']}{unit}) {option['about']}")


def _describe_or_say_why_not(name: str) -> dict[str, Any]:
    """One broken agent of another package must not hide the others."""
    try:
        return _describe(name)
    except UserError as error:
        return {"name": name, "about": f"unusable: {error}", "preset_of": None, "faithful": None, "options": []}


def _describe(name: str) -> dict[str, Any]:
    preset = registry.preset(name)
    options = [
        {
            "name": option.name,
            "type": option.wanted,
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
        "options": options,
    }
