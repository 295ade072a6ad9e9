"""Agents that play over the web: graded levels, and specs with options that strangers may set.

A spec from outside may name only public agents and set only public options: none that starts
programs, reads files, takes memory or cannot be interrupted. Agents declare that in the registry,
options on their fields.
"""

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from fourlab.agent import Agent
from fourlab.agents import registry
from fourlab.agents.levels import LEVELS, level_of
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules
from fourlab.options import Option, as_text

if TYPE_CHECKING:  # which imports the compiler
    from fourlab.agents.minimax.negamax import Negamax

MOST_NEGAMAX = 500_000
"""Node limit of negamax, which cannot be interrupted; on wide boards its depth is reduced."""


MOST_KEPT = 4
"""Agents of the server's owner that a worker keeps with their processes."""
MOST_REMEMBERED = 256
"""Agents and presets whose options are kept: listing them costs more than the rest of a request."""


def spec_of(agent: str, rules: Rules = CLASSIC) -> str:
    """Return the spec of a level, or the spec itself if it is allowed; raise UserError."""
    if (level := level_of(agent)) is not None:
        return level.spec_on(rules)
    if agent.startswith("level:"):
        raise UserError(f"levels are level:1 to level:{len(LEVELS)}, not {agent!r}")
    name, given = registry.parse_spec(agent)
    if not _is_public(name):
        raise UserError(f"agent {name!r} cannot play here; agents are {', '.join(names())}")
    allowed = {option.name: option for option in options_for(name)}
    for option, text in registry.current_names(name, given).items():
        if option == "faithful" and is_faithful(name):
            continue
        if option not in allowed:
            options = f"its options here are {', '.join(allowed)}"
            listed = options if allowed else "it has no options here"
            raise UserError(f"option {option!r} of agent {name!r} cannot be set here; {listed}")
        allowed[option].check(_value(allowed[option], text))
    return agent


@lru_cache(maxsize=MOST_REMEMBERED)
def _options_of(name: str) -> tuple[Option, ...]:
    return tuple(registry.options_of(name))


@lru_cache(maxsize=MOST_REMEMBERED)
def options_for(name: str) -> tuple[Option, ...]:
    """Return the options that strangers may set, with their public ranges."""
    public = []
    for option in _options_of(name):
        if option.public:
            most = option.most if option.public_most is None else option.public_most
            public.append(replace(option, most=most))
    return tuple(public)


def _value(option: Option, text: str) -> Any:
    try:
        return option.read(text)
    except ValueError:
        return text  # the check refuses it


def make(agent: str, rules: Rules, megabytes: int) -> Agent:
    """Make an agent with limited memory and time."""
    name, given = registry.parse_spec(spec_of(agent, rules))
    given = registry.current_names(name, given)
    base = base_of(name)
    if (boards := registry.boards_of(base)) and str(rules) not in boards:
        noun = "board" if len(boards) == 1 else "boards"
        raise UserError(f"agent {name!r} knows only the {noun} {', '.join(boards)}, not {rules}")
    for option in _options_of(name):
        # Every option for memory is in MB; none of them is public, so none is in the request.
        if option.unit == "MB":
            given[option.name] = str(megabytes)
        elif (
            option.name not in given
            and option.public_most is not None
            and option.default > option.public_most
        ):
            given[option.name] = as_text(option.public_most)
    options = ",".join(f'{option}="{value}"' for option, value in given.items())
    made = registry.make(f"{name}:{options}")
    if base == "negamax":
        negamax = cast("Negamax", made)
        # A search of d plies visits up to columns ** (d + 1) nodes, because negamax prunes nothing.
        deepest = math.floor(math.log(MOST_NEGAMAX) / math.log(max(rules.columns, 2))) - 1
        return replace(negamax, depth=min(negamax.depth, max(deepest, 0)))
    return made


def make_own(spec: str) -> Agent:
    """Make an agent of the server's owner; one with a process keeps it for the next request."""
    return registry.make(spec) if registry.is_own(spec) else _kept(spec)


@lru_cache(maxsize=MOST_KEPT)
def _kept(spec: str) -> Agent:
    return registry.make(spec)


AGENTS = sorted(name for name, entry in registry.AGENTS.items() if entry.public)
"""The agents that may play here, as may their presets."""


def names() -> list[str]:
    """Return the agents and presets that may play here."""
    return sorted([*AGENTS, *filter(_is_public, registry.listed_presets())])


def _is_public(name: str) -> bool:
    """Return whether an agent or preset, named or one of a family such as bhat-mcN, may play."""
    entry = registry.AGENTS.get(base_of(name))
    preset = registry.preset(name)
    return (entry is not None and entry.public) or (preset is not None and preset.public)


def base_of(name: str) -> str:
    """Return the agent of a preset, or the name itself."""
    preset = registry.preset(name)
    return name if preset is None else registry.parse_spec(preset.spec)[0]


def is_faithful(name: str) -> bool:
    """Return whether a preset has a faithful form, with the faults of its report."""
    preset = registry.preset(name)
    return preset is not None and preset.faithful is not None
