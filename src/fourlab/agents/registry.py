"""From a spec such as `mcts:simulations=200,c=2` to a player.

A spec is a name, or a name and options. An agent's options are the parameters of its class; what can be given, its type
and its default are read off the signature, so an agent is added by one line in AGENTS or, from another package, by an
entry point in the group `fourlab.agents`.
"""

import ast
import contextlib
import difflib
import functools
import importlib
import inspect
import itertools
import math
import re
import textwrap
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fourlab.agent import Agent
from fourlab.errors import UserError

AGENTS = {
    "alphazero": "fourlab.agents.alphazero.agent:AlphaZero",
    "dqn": "fourlab.agents.dqn.agent:Dqn",
    "engine": "fourlab.engines.program:Engine",
    "expectimax-random": "fourlab.agents.minimax.expectimax_random:ExpectimaxRandom",
    "guided": "fourlab.agents.mcts.guided:Guided",
    "human": "fourlab.agents.simple.human:Human",
    "kaggle": "fourlab.bridges.kaggle.player:Kaggle",
    "mcts": "fourlab.agents.mcts.agent:MCTS",
    "minimax": "fourlab.agents.minimax.agent:Minimax",
    "negamax": "fourlab.agents.minimax.negamax:Negamax",
    "openspiel-mcts": "fourlab.bridges.openspiel_mcts:OpenSpielMCTS",
    "perfect": "fourlab.agents.perfect:Perfect",
    "q": "fourlab.agents.q.agent:Q",
    "random": "fourlab.agents.simple.random:Random",
    "rules": "fourlab.agents.simple.rules:RulesOfThumb",
    "textbook": "fourlab.agents.mcts.textbook:Textbook",
    "value": "fourlab.agents.value.agent:Value",
}
"""Name to import string, so that choosing a random player never loads what a network needs."""


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
_UNIONS = (types.UnionType, typing.Union)


@dataclass(frozen=True)
class Option:
    """One setting of an agent."""

    name: str
    type: str
    default: Any
    about: str


def make(spec: str) -> Agent:
    """Build the agent that a spec names; an error lists what could have been written."""
    name, options = parse_spec(spec)
    if (found := preset(name)) is None:
        return _build(name, options, spec)
    base, preset_options = parse_spec(found.spec)
    if found.faithful is not None and "faithful" in options:
        text = options.pop("faithful")
        if text.lower() not in _BOOLS:
            raise UserError(f"option faithful of agent {name!r} must be 0 or 1, not {text!r}")
        if _BOOLS[text.lower()]:
            preset_options |= parse_spec(f"{base}:{found.faithful}")[1]
    return _build(base, {**preset_options, **options}, spec)


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split `name:option=value,option="va,lue"` into its name and options."""
    name, _, rest = spec.strip().partition(":")
    options: dict[str, str] = {}
    while rest:
        match = re.match(r'\s*([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|([^,"]*))\s*(?:,|$)', rest)
        if match is None:
            raise UserError(f"cannot read {rest!r} in agent {spec!r}; options are written name:option=value,option=value")
        option, quoted, plain = match.groups()
        if option in options:
            raise UserError(f"option {option!r} is given twice in agent {spec!r}")
        options[option] = quoted if quoted is not None else plain.strip()
        rest = rest[match.end() :]
    return name.strip(), options


def names() -> list[str]:
    """Every name that `make` accepts: agents, presets, entry points."""
    return sorted({*AGENTS, *PRESETS, *_entry_points()})


def about(name: str) -> str:
    """One line on an agent or preset."""
    if (found := preset(name)) is not None:
        return found.about
    return (inspect.getdoc(_factory(name)) or "").partition("\n")[0]


def kernels_of(name: str) -> tuple[str, ...]:
    """Return the groups of kernels that an agent or preset declares; this imports its class."""
    found = preset(name)
    factory = _factory(name if found is None else parse_spec(found.spec)[0])
    return tuple(getattr(factory, "kernels", ()))


def options_of(name: str) -> list[Option]:
    """The options of an agent; of a preset, those of its agent with the preset's values as defaults."""
    found = preset(name)
    base, given = parse_spec(found.spec) if found else (name, {})
    factory = _factory(base)
    docs = _field_docs(factory)
    return [
        Option(
            name,
            _type_name(hint),
            _convert(given[name], hint) if name in given else parameter.default,
            docs.get(name, ""),
        )
        for name, (parameter, hint) in _spec_parameters(factory).items()
    ]


def _build(name: str, options: dict[str, str], spec: str) -> Agent:
    factory = _factory(name)
    parameters = _spec_parameters(factory)
    values: dict[str, Any] = {}
    for option, text in options.items():
        if option not in parameters:
            listed = f"its options are {', '.join(parameters)}" if parameters else "it has no options"
            raise UserError(f"agent {name!r} has no option {option!r}{_perhaps(option, parameters)}; {listed}")
        _, hint = parameters[option]
        try:
            values[option] = _convert(text, hint)
        except ValueError:
            raise UserError(f"option {option} of agent {name!r} must be {_type_name(hint)}, not {text!r}") from None
    try:
        return factory(**values)  # type: ignore[no-any-return]
    except UserError:
        raise
    except (TypeError, ValueError) as error:
        raise UserError(f"agent {spec!r}: {error}") from None


def _factory(name: str) -> Callable[..., Any]:
    """Import the class behind a name."""
    if name in AGENTS:
        module, _, attribute = AGENTS[name].partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    outside = _entry_points()
    if name not in outside:
        raise UserError(f"there is no agent {name!r}{_perhaps(name, names())}; agents are {', '.join(names())}")
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


@functools.cache  # typing takes its time, and a server asks often
def _spec_parameters(factory: Callable[..., Any]) -> dict[str, tuple[inspect.Parameter, Any]]:
    """The parameters that can be written in a spec, those of plain types, each with its type."""
    try:
        hints = typing.get_type_hints(factory.__init__)
    except NameError as error:
        raise UserError(f"the options of {factory.__name__} have types that cannot be found: {error}") from None
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: (parameter, hints.get(name, str))
        for name, parameter in inspect.signature(factory).parameters.items()
        if parameter.kind in named and _is_plain(hints.get(name, str))
    }


def _is_plain(hint: Any) -> bool:
    if typing.get_origin(hint) in _UNIONS:
        return all(part is types.NoneType or _is_plain(part) for part in typing.get_args(hint))
    return hint in (int, float, bool, str) or typing.get_origin(hint) is typing.Literal


def _convert(text: str, hint: Any) -> Any:
    """Read a value as its type; raises ValueError."""
    if hint is types.NoneType:
        if text.lower() != "none":
            raise ValueError
        return None
    if typing.get_origin(hint) in _UNIONS:
        parts = sorted(typing.get_args(hint), key=lambda part: part is str)  # a text would take everything
        for part in parts:
            with contextlib.suppress(ValueError):
                return _convert(text, part)
        raise ValueError
    if typing.get_origin(hint) is typing.Literal:
        meant = {str(value): value for value in typing.get_args(hint)}
        if text not in meant:
            raise ValueError
        return meant[text]
    if hint is bool:
        if text.lower() not in _BOOLS:
            raise ValueError
        return _BOOLS[text.lower()]
    value = hint(text)
    if hint is float and not math.isfinite(value):
        raise ValueError
    return value


_BOOLS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def _type_name(hint: Any) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(str(value) for value in typing.get_args(hint))
    if typing.get_origin(hint) in _UNIONS:
        return " or ".join(_type_name(part) for part in typing.get_args(hint))
    words = {int: "a whole number", float: "a number", bool: "0 or 1", str: "a text", types.NoneType: "none"}
    return words.get(hint, str(hint))


def _field_docs(factory: Callable[..., Any]) -> dict[str, str]:
    """The lines written under the fields of a class, for the help."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(factory)))
    except (OSError, TypeError, SyntaxError):
        return {}
    docs: dict[str, str] = {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    for field, below in itertools.pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(doc))):
                docs[name] = " ".join(doc.split())
    return docs


def _perhaps(word: str, candidates: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(candidates), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
