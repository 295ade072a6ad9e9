"""Who can be asked to play over the web: graded levels, and agents by their specs, as far as strangers may set them.

A spec from outside may name only the agents and options listed here: none that starts programs, reads files, takes memory or
cannot be interrupted.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from fourlab.agent import Agent
from fourlab.agents import registry
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules

if TYPE_CHECKING:  # which imports the compiler
    from fourlab.agents.minimax.negamax import Negamax

_SEARCH = ("simulations", "seconds", "c")
OPTIONS: dict[str, tuple[str, ...]] = {
    "alphazero": (*_SEARCH, "method", "fpu", "batch", "proving", "temperature", "faithful"),
    "dqn": ("epsilon",),
    "expectimax-random": (),
    "guided": (*_SEARCH, "depth", "epsilon", "rollouts", "solver"),
    "mcts": (
        *_SEARCH,
        *("ucb", "scale", "draw", "expansion", "terminal", "tie", "final", "final_tie", "temperature", "opponent"),
        *("credit", "draw_credit", "rollouts", "solver", "transpositions"),
    ),
    "minimax": ("depth", "evaluation", "tie", "faithful"),
    "negamax": ("depth", "ties"),
    "perfect": ("choice", "mistakes", "book"),
    "random": (),
    "rules": ("otherwise",),
    "textbook": ("simulations", "c"),
    "value": (),
}
"""Agents, and what may be set."""
MOST = {("negamax", "depth"): 5, ("textbook", "simulations"): 2000, ("minimax", "depth"): 12, ("alphazero", "batch"): 64}
"""What would otherwise take long without looking at the clock."""
MOST_NEGAMAX = 500_000
"""Positions that negamax may look at, which cannot be interrupted; on wide boards it looks less far ahead."""
ONE_BOARD = {"alphazero", "dqn", "guided", "value"}
"""Agents whose network knows only the usual board."""
XRAY = {"mcts", "alphazero"}
"""Agents whose search can be watched."""


@dataclass(frozen=True)
class Level:
    """A graded opponent."""

    name: str
    spec: str
    about: str
    strength: str
    """As measured; docs/web.md tells how."""
    elsewhere: str | None = None
    """Who plays on boards that the agent does not know."""


LEVELS = (
    Level("Newcomer", "random", "drops discs anywhere", "73 % of moves right"),
    Level("Beginner", "rules:otherwise=random", "takes a win, blocks yours, else anywhere", "81 % of moves right"),
    Level("Casual", "rules", "takes a win, blocks yours, else the centre", "84 % of moves right"),
    Level("Club", "mcts:simulations=60", "looks a little ahead", "88 % of moves right"),
    Level("Strong", "minimax:depth=6", "sees everything for six discs", "92 % of moves right"),
    Level("Expert", "mcts:simulations=1000", "plays a thousand games in its head", "91 % of moves right"),
    Level(
        "Master", "alphazero:simulations=1000", "taught itself by playing itself", "98 % of moves right", "mcts:simulations=50000"
    ),
    Level("Perfect", "perfect:choice=random", "never makes a mistake", "100 % of moves right"),
)
"""From the easiest to the hardest; a move is right if it gives away neither a win nor a draw."""


def spec_of(asked: str, rules: Rules = CLASSIC) -> str:
    """The spec that is meant: of a level, or what was asked for if that is allowed; raises UserError."""
    if asked.startswith("level:"):
        number = asked.removeprefix("level:")
        if not (number.isdecimal() and len(number) < 3 and 1 <= int(number) <= len(LEVELS)):
            raise UserError(f"levels are level:1 to level:{len(LEVELS)}, not {asked!r}")
        level = LEVELS[int(number) - 1]
        return level.spec if level.elsewhere is None or rules == CLASSIC else level.elsewhere
    name, options = registry.parse_spec(asked)
    base = base_of(name)
    if base not in OPTIONS:
        raise UserError(f"agent {name!r} cannot be asked here; agents are {', '.join(names())}")
    allowed = (*OPTIONS[base], *(("faithful",) if is_faithful(name) else ()))
    for option, value in options.items():
        if option not in allowed:
            listed = f"its options here are {', '.join(allowed)}" if allowed else "it has no options here"
            raise UserError(f"option {option!r} of agent {name!r} cannot be set here; {listed}")
        most = MOST.get((base, option))
        if most is not None and not (value.isdecimal() and len(value) < 6 and int(value) <= most):
            raise UserError(f"option {option} of agent {name!r} may be at most {most} here, not {value!r}")
    return asked


def make(asked: str, rules: Rules, megabytes: int) -> Agent:
    """Build the agent, with bounded memory and time."""
    name, options = registry.parse_spec(spec_of(asked, rules))
    base = base_of(name)
    if base in ONE_BOARD and rules != CLASSIC:
        raise UserError(f"agent {name!r} knows only the board {CLASSIC}, not {rules}")
    bounds = {"mcts": ("memory", megabytes), "perfect": ("megabytes", megabytes), "expectimax-random": ("positions", 5000)}
    if base in bounds:
        option, most = bounds[base]
        options[option] = str(most)
    agent = registry.make(f"{name}:" + ",".join(f'{option}="{value}"' for option, value in options.items()))
    if base == "negamax":
        negamax = cast("Negamax", agent)
        deepest = math.floor(math.log(MOST_NEGAMAX) / math.log(max(rules.columns, 2))) - 1
        return replace(negamax, depth=min(negamax.depth, max(deepest, 0)))
    return agent


def names() -> list[str]:
    """The agents and presets that may be asked."""
    return sorted([*OPTIONS, *(name for name in registry.PRESETS if base_of(name) in OPTIONS)])


def base_of(name: str) -> str:
    """The agent behind a name."""
    found = registry.preset(name)
    return name if found is None else registry.parse_spec(found.spec)[0]


def is_faithful(name: str) -> bool:
    """Whether the name is a document's agent, which can be asked to be as it was coded."""
    found = registry.preset(name)
    return found is not None and found.faithful is not None
