"""Who can be asked to play over the web: graded levels, and agents by their specs, as far as strangers may set them.

A spec from outside may name only public agents and set only public options: none that starts
programs, reads files, takes memory or cannot be interrupted. Agents declare that in the registry,
options on their fields.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from fourlab.agent import Agent
from fourlab.agents import registry
from fourlab.agents.levels import LEVELS
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules
from fourlab.options import Option, as_text

if TYPE_CHECKING:  # which imports the compiler
    from fourlab.agents.minimax.negamax import Negamax

MOST_NEGAMAX = 500_000
"""Positions that negamax may look at, which cannot be interrupted; on wide boards it looks less far ahead."""


def spec_of(asked: str, rules: Rules = CLASSIC) -> str:
    """The spec that is meant: of a level, or what was asked for if that is allowed; raises UserError."""
    if asked.startswith("level:"):
        number = asked.removeprefix("level:")
        if not (number.isdecimal() and len(number) < 3 and 1 <= int(number) <= len(LEVELS)):
            raise UserError(f"levels are level:1 to level:{len(LEVELS)}, not {asked!r}")
        level = LEVELS[int(number) - 1]
        return level.spec if level.elsewhere is None or rules == CLASSIC else level.elsewhere
    name, given = registry.parse_spec(asked)
    entry = registry.AGENTS.get(base_of(name))
    if entry is None or not entry.public:
        raise UserError(f"agent {name!r} cannot be asked here; agents are {', '.join(names())}")
    allowed = {each.name: each for each in options_for(name)}
    for option, text in given.items():
        if option == "faithful" and is_faithful(name):
            continue
        if option not in allowed:
            listed = f"its options here are {', '.join(allowed)}" if allowed else "it has no options here"
            raise UserError(f"option {option!r} of agent {name!r} cannot be set here; {listed}")
        allowed[option].check(_value(allowed[option], text))
    return asked


def options_for(name: str) -> list[Option]:
    """The options of an agent that strangers may set, with the ranges in which they may."""
    return [
        each if each.public_most is None else replace(each, most=each.public_most)
        for each in registry.options_of(name)
        if each.public
    ]


def _value(option: Option, text: str) -> Any:
    try:
        return option.read(text)
    except ValueError:
        return text  # which the check refuses


def make(asked: str, rules: Rules, megabytes: int) -> Agent:
    """Build the agent, with bounded memory and time."""
    name, given = registry.parse_spec(spec_of(asked, rules))
    base = base_of(name)
    if registry.AGENTS[base].one_board and rules != CLASSIC:
        raise UserError(f"agent {name!r} knows only the board {CLASSIC}, not {rules}")
    for option in registry.options_of(name):
        if option.unit == "MB":
            given[option.name] = str(megabytes)
        elif option.name not in given and option.public_most is not None and option.default > option.public_most:
            given[option.name] = as_text(option.public_most)
    agent = registry.make(f"{name}:" + ",".join(f'{option}="{value}"' for option, value in given.items()))
    if base == "negamax":
        negamax = cast("Negamax", agent)
        deepest = math.floor(math.log(MOST_NEGAMAX) / math.log(max(rules.columns, 2))) - 1
        return replace(negamax, depth=min(negamax.depth, max(deepest, 0)))
    return agent


AGENTS = sorted(name for name, entry in registry.AGENTS.items() if entry.public)
"""The agents that may be asked; presets of them may be, too."""


def names() -> list[str]:
    """The agents and presets that may be asked."""
    return sorted([*AGENTS, *(name for name in registry.PRESETS if base_of(name) in AGENTS)])


def base_of(name: str) -> str:
    """The agent behind a name."""
    found = registry.preset(name)
    return name if found is None else registry.parse_spec(found.spec)[0]


def is_faithful(name: str) -> bool:
    """Whether the name is a document's agent, which can be asked to be as it was coded."""
    found = registry.preset(name)
    return found is not None and found.faithful is not None
