"""`fourlab agents`: list the agents."""

from typing import Annotated

import typer

from fourlab.agents.listing import describe, list_agents
from fourlab.cli.options import JsonOption, print_json


def agents(
    name: Annotated[str | None, typer.Argument(help="Show only this agent.")] = None,
    json: JsonOption = False,
) -> None:
    """List the agents and their options.

    An agent is written NAME or NAME:OPTION=VALUE,OPTION=VALUE wherever a command takes one. An
    agent in a Python file of your own is FILE.py:NAME or FILE.py:NAME,OPTION=VALUE.

    Example: fourlab agents mcts
    """
    listed = [describe(name)] if name else list(list_agents())
    if json:
        print_json([agent.to_dict() for agent in listed])
        return
    print("\n".join(map(str, listed)))
