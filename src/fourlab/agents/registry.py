"""From a spec such as `mcts:simulations=200,c=2` to a player.

A spec is a name, or a name and options. An agent's options are the fields of its class
(`fourlab.options`), so an agent is added by one line in AGENTS or, from another package, by an entry
point in the group `fourlab.agents`.
"""

import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fourlab import options
from fourlab.agent import Agent
from fourlab.errors import UserError
from fourlab.options import Option


@dataclass(frozen=True)
class Entry:
    """An agent: where its class is, and what must be known of it before the class is loaded."""

    factory: str
    """Import string, so that choosing a random player never loads what a network needs."""
    public: bool = False
    """Whether strangers may ask it over the web: it starts no programs and reads no files of theirs."""
    one_board: bool = False
    """Whether it plays only the board that it has learned on (`fourlab.agent.Learned`)."""
    xray: bool = False
    """Whether its search can be watched (`fourlab.agent.Searcher`)."""


AGENTS = {
    "alphazero": Entry("fourlab.agents.alphazero.agent:AlphaZero", public=True, one_board=True, xray=True),
    "dqn": Entry("fourlab.agents.dqn.agent:Dqn", public=True, one_board=True),
    "engine": Entry("fourlab.engines.program:Engine"),
    "expectimax-random": Entry("fourlab.agents.minimax.expectimax_random:ExpectimaxRandom", public=True),
    "guided": Entry("fourlab.agents.mcts.guided:Guided", public=True, one_board=True),
    "human": Entry("fourlab.agents.simple.human:Human"),
    "kaggle": Entry("fourlab.bridges.kaggle.player:Kaggle"),
    "mcts": Entry("fourlab.agents.mcts.agent:MCTS", public=True, xray=True),
    "minimax": Entry("fourlab.agents.minimax.agent:Minimax", public=True),
    "negamax": Entry("fourlab.agents.minimax.negamax:Negamax", public=True),
    "openspiel-mcts": Entry("fourlab.bridges.openspiel_mcts:OpenSpielMCTS"),
    "perfect": Entry("fourlab.agents.perfect:Perfect", public=True),
    "q": Entry("fourlab.agents.q.agent:Q", one_board=True),
    "random": Entry("fourlab.agents.simple.random:Random", public=True),
    "rules": Entry("fourlab.agents.simple.rules:RulesOfThumb", public=True),
    "textbook": Entry("fourlab.agents.mcts.textbook:Textbook", public=True),
    "value": Entry("fourlab.agents.value.agent:Value", public=True, one_board=True),
}


@dataclass(frozen=True)
class Preset:
    """A spec under a name of its own; options given with the name override the spec's."""

    spec: str
    about: str
    faithful: str | None = None
    """For the documents' agents: the options that `faithful=1` changes so that the agent does what their code does."""


_BHAT = (
    "mcts:c=1.4142135623730951,scale=wins,draw=0,expansion=all,tie=last,final=visits,final_tie=first,rollouts=uniform,solver=0"
)

PRESETS = {
    "arya-examples": Preset(
        "rules:otherwise=random", "document 004: the win-or-block-else-random player that made its test examples"
    ),
    "arya-vanilla": Preset(
        "mcts:seconds=1,clock=cpu,c=1.4142135623730951,scale=wins,final_tie=random,reuse=moves,rollouts=uniform,solver=0",
        "document 004: the vanilla search, one CPU second a move",
        faithful="credit=leaf,draw_credit=leaf,draw=0",
    ),
    "arya-minimax": Preset(
        "minimax:depth=4", "document 004: minimax at depth 4 (depth=6 also); faithful=1 is its window's", "faithful=1"
    ),
    "bhat-mc40": Preset(f"{_BHAT},simulations=40", "document 001: MC40; bhat-mcN is the same with any N", "terminal=past-wins"),
    "bhat-mc200": Preset(f"{_BHAT},simulations=200", "document 001: MC200", faithful="terminal=past-wins"),
    "gao": Preset(
        "mcts:simulations=500,c=1.4142135623730951,scale=wins,draw=0,opponent=random,final=mean,rollouts=uniform,solver=0",
        "document 002: 500 simulations against a random opponent (its code is not public: faithful=1 changes nothing)",
        faithful="",
    ),
    "sewell": Preset(
        "mcts:simulations=5,c=1.4142135623730951,opponent=negamax-random-ties,reuse=games,final=mean,final_tie=random,rollouts=uniform,solver=0",
        "document 003: 5 simulations a move, one tree for all games against negamax",
        faithful="opponent=negamax",
    ),
    "sewell-guided": Preset(
        "guided:net=sewell,simulations=5,c=1.4142135623730951,depth=none,epsilon=0.25,rollouts=uniform,solver=0",
        "document 003's rollouts guided by its network, 5 simulations a move; other than there, both sides are in the tree",
        faithful="epsilon=1",
    ),
    "vannucci-abril": Preset(
        "mcts:simulations=2048,c=2,opponent=random,final=mean,final_tie=random,rollouts=uniform,solver=0",
        "document 000: 2048 simulations against a random opponent",
        faithful="ucb=log-ratio,opponent=random-frozen",
    ),
}
"""The documents' agents are here as they were meant; `faithful=1` makes them as they were coded."""


def preset(name: str) -> Preset | None:
    """The preset of a name; bhat-mcN stands for one with N simulations, and MC0 for a random player."""
    if name in PRESETS:
        return PRESETS[name]
    if match := re.fullmatch(r"bhat-mc(\d{1,7})", name):
        if int(match[1]) == 0:
            return Preset("random", "document 001: MC0, which has nothing to go by (there it passed instead of moving)", "")
        return Preset(f"{_BHAT},simulations={int(match[1])}", f"document 001: MC{match[1]}", "terminal=past-wins")
    return None


ENTRY_POINTS = "fourlab.agents"


def make(spec: str) -> Agent:
    """Build the agent that a spec names; an error lists what could have been written."""
    name, given = parse_spec(spec)
    if (found := preset(name)) is None:
        return _build(name, given, spec)
    base, preset_options = parse_spec(found.spec)
    if found.faithful is not None and "faithful" in given:
        text = given.pop("faithful")
        try:
            is_faithful = options.read_bool(text)
        except ValueError:
            raise UserError(f"option faithful of agent {name!r} must be 0 or 1, not {text!r}") from None
        if is_faithful:
            preset_options |= parse_spec(f"{base}:{found.faithful}")[1]
    known = options.options_of(factory_of(base))
    own = options.resolved(known, given, f"agent {base!r}")
    return _build(base, {**preset_options, **own}, spec)


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split `name:option=value,option="va,lue"` into its name and options."""
    name, _, rest = spec.strip().partition(":")
    given: dict[str, str] = {}
    while rest:
        match = re.match(r'\s*([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|([^,"]*))\s*(?:,|$)', rest)
        if match is None:
            raise UserError(f"cannot read {rest!r} in agent {spec!r}; options are written name:option=value,option=value")
        option, quoted, plain = match.groups()
        if option in given:
            raise UserError(f"option {option!r} is given twice in agent {spec!r}")
        given[option] = quoted if quoted is not None else plain.strip()
        rest = rest[match.end() :]
    return name.strip(), given


def names() -> list[str]:
    """Every name that `make` accepts: agents, presets, entry points."""
    return sorted({*AGENTS, *PRESETS, *_entry_points()})


def about(name: str) -> str:
    """One line on an agent or preset."""
    if (found := preset(name)) is not None:
        return found.about
    return (inspect.getdoc(factory_of(name)) or "").partition("\n")[0]


def kernels_of(name: str) -> tuple[str, ...]:
    """Return the groups of kernels that an agent or preset declares; this imports its class."""
    found = preset(name)
    factory = factory_of(name if found is None else parse_spec(found.spec)[0])
    return tuple(getattr(factory, "kernels", ()))


def options_of(name: str) -> list[Option]:
    """The options of an agent; of a preset, those of its agent with the preset's values as defaults."""
    found = preset(name)
    base, given = parse_spec(found.spec) if found else (name, {})
    factory = factory_of(base)
    values = options.from_texts(factory, given, f"agent {base!r}")
    return [replace(each, default=values.get(option, each.default)) for option, each in options.options_of(factory).items()]


def _build(name: str, texts: dict[str, str], spec: str) -> Agent:
    factory = factory_of(name)
    values = options.from_texts(factory, texts, f"agent {name!r}")
    try:
        return factory(**values)  # type: ignore[no-any-return]
    except UserError:
        raise
    except (TypeError, ValueError) as error:
        raise UserError(f"agent {spec!r}: {error}") from None


def factory_of(name: str) -> Callable[..., Any]:
    """Import the class behind a name."""
    if name in AGENTS:
        module, _, attribute = AGENTS[name].factory.partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    outside = _entry_points()
    if name not in outside:
        raise UserError(f"there is no agent {name!r}{options.perhaps(name, names())}; agents are {', '.join(names())}")
    try:
        factory = outside[name].load()
    except Exception as error:  # whatever another package does wrong
        raise UserError(f"agent {name!r} comes from another package and cannot be loaded: {error!r}") from None
    if not (isinstance(factory, type) and hasattr(factory, "decide")):
        raise UserError(f"agent {name!r} comes from another package and is not a class with a method decide")
    return factory


def _entry_points() -> dict[str, Any]:
    from importlib.metadata import entry_points  # slow to import, and needed only for names we do not know

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
