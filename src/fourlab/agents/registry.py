"""Build agents from specs such as `mcts:simulations=200,c=2`.

A spec is a name, optionally followed by options. An agent's options are the fields of its class
(`fourlab.options`). To add an agent, add one line to AGENTS or, from another package, an entry
point in the group `fourlab.agents`. An agent of the user's own needs neither: `file.py:Name` is an
agent in a file (`own_files`), `own:NAME` one in this process (`own`).
"""

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fourlab import options
from fourlab.agent import Agent
from fourlab.agents import own_agent, own_files
from fourlab.agents.levels import LEVELS, ByBoard, Level, level_name, level_of, number_of
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC
from fourlab.nets.pattern_files import shipped_boards
from fourlab.options import Option
from fourlab.shipped import is_there


@dataclass(frozen=True)
class Entry:
    """Where an agent's class is, and the facts needed before the class is imported."""

    factory: str
    """Import string `module:class`: building a random agent must not import onnxruntime."""
    public: bool = False
    """Whether web clients may use it: it starts no programs and opens no files that they name."""
    one_board: bool = False
    """Whether it plays only boards that it was trained on (`fourlab.agent.Learned`)."""
    patterns: bool = False
    """Whether these are the boards for which pattern networks come with Fourlab, not just 7x6."""
    xray: bool = False
    """Whether its search can be watched (`fourlab.agent.Searcher`)."""
    programs: tuple[str, ...] = ()
    """Patterns of options, `option=value`, that name a program which the agent runs.

    `fourlab.agents.programs` refuses them in files unless the user allows them.
    """
    repeatable: bool = True
    """Whether it plays the same game again from the same seed: no person, no outside program."""


AGENTS = {
    "alphazero": Entry(
        "fourlab.agents.alphazero.agent:AlphaZero", public=True, one_board=True, xray=True
    ),
    "anytime": Entry("fourlab.agents.anytime:Anytime", public=True, one_board=True, patterns=True),
    "dqn": Entry("fourlab.agents.dqn.agent:Dqn", public=True, one_board=True),
    "engine": Entry("fourlab.engines.program:Engine", repeatable=False, programs=("cmd=*",)),
    "expectimax-random": Entry(
        "fourlab.agents.minimax.expectimax_random:ExpectimaxRandom", public=True
    ),
    "guided": Entry("fourlab.agents.mcts.guided:Guided", public=True, one_board=True),
    "human": Entry("fourlab.agents.simple.human:Human", repeatable=False),
    "kaggle": Entry(
        "fourlab.bridges.kaggle.player:Kaggle",
        repeatable=False,
        # Other values of `agent` are names in Kaggle's package.
        programs=(
            "file=*",
            "agent=*.py",
            "agent=*.tar.gz",
            "agent=*.tgz",
            "agent=*/*",
            r"agent=*\*",
        ),
    ),
    "mcts": Entry("fourlab.agents.mcts.agent:MCTS", public=True, xray=True),
    "minimax": Entry("fourlab.agents.minimax.agent:Minimax", public=True),
    "negamax": Entry("fourlab.agents.minimax.negamax:Negamax", public=True),
    "onnx": Entry(
        "fourlab.bridges.onnx_player:Onnx", one_board=True, repeatable=False, programs=("file=*",)
    ),
    "openspiel-mcts": Entry("fourlab.bridges.openspiel_mcts:OpenSpielMCTS"),
    "patterns": Entry(
        "fourlab.agents.patterns.agent:PatternPlayer", public=True, one_board=True, patterns=True
    ),
    "perfect": Entry("fourlab.agents.perfect:Perfect", public=True),
    "q": Entry("fourlab.agents.q.agent:Q", one_board=True),
    "random": Entry("fourlab.agents.simple.random:Random", public=True),
    "rules": Entry("fourlab.agents.simple.rules:RulesOfThumb", public=True),
    "sb3": Entry(
        "fourlab.bridges.sb3_player:StableBaselines",
        one_board=True,
        repeatable=False,
        programs=("file=*",),
    ),
    "textbook": Entry("fourlab.agents.mcts.textbook:Textbook", public=True),
    "value": Entry("fourlab.agents.value.agent:Value", public=True, one_board=True),
}


@dataclass(frozen=True)
class Preset:
    """A named spec; options written after the name override those of the spec."""

    spec: str
    about: str
    faithful: str | None = None
    """For the reports' agents: the options that `faithful=1` sets to reproduce the original."""
    network: str = ""
    """A network that may be missing (`ONLY_IN_THE_REPOSITORY`); the preset is then not listed."""
    public: bool = False
    """Whether web clients may use it although they may not use its agent."""
    level: Level | None = None
    """The level, if it is one: it has no options, and on other boards it has other specs."""


# The constants of the reports' programs. c = 1.414… is the square root of 2, as in UCB1 (Auer et
# al., 2002).
_BHAT = (
    "mcts:c=1.4142135623730951,scale=wins,draw=0,expansion=all,ties=last,final=visits,"
    "final_ties=first,rollouts=uniform,proofs=0"
)

_ARYA_LISTED = "faithful=1,batch=1,fpu=0,proofs=0,temperature=1.25"

PRESETS = {
    "arya-examples": Preset(
        "rules:otherwise=random",
        "Arya: wins, else blocks, else plays at random; generated the test examples",
    ),
    "arya-alphamcts-10": Preset(
        "alphazero:net=arya-alphamcts-10-1,simulations=1000,method=puct,solver_nodes=0",
        "Arya: AlphaMCTS after 10 epochs, 1,000 games, with 1,000 simulations per move",
        _ARYA_LISTED,
        network="arya-alphamcts-10-1",
    ),
    "arya-alphamcts-50": Preset(
        "alphazero:net=arya-alphamcts-50-1,simulations=1000,method=puct,solver_nodes=0",
        "Arya: AlphaMCTS after 50 epochs, 5,000 games, with 1,000 simulations per move",
        _ARYA_LISTED,
        network="arya-alphamcts-50-1",
    ),
    "arya-q": Preset(
        "q:table=arya,ties=random",
        "Arya: the Q-table of 3,000,000 games of self-play, as far as 10 discs",
        "table=arya-faithful",
        public=True,
    ),
    "arya-vanilla": Preset(
        "mcts:seconds=1,clock=cpu,c=1.4142135623730951,scale=wins,final_ties=random,reuse=moves,"
        "rollouts=uniform,proofs=0",
        "Arya: the vanilla tree search, one CPU second per move",
        faithful="credit=leaf,draw_credit=leaf,draw=0",
    ),
    "arya-minimax": Preset(
        "minimax:depth=4",
        "Arya: minimax at depth 4 (or depth=6); faithful=1 is the one in the graphical version",
        "faithful=1",
    ),
    "bhat-mc40": Preset(
        f"{_BHAT},simulations=40",
        "Bhat: MC40, 40 simulations per move; bhat-mcN has N",
        "terminal=past-wins",
    ),
    "bhat-mc200": Preset(
        f"{_BHAT},simulations=200",
        "Bhat: MC200, 200 simulations per move",
        faithful="terminal=past-wins",
    ),
    "gao": Preset(
        "mcts:simulations=500,c=1.4142135623730951,scale=wins,draw=0,opponent=random,final=mean,"
        "rollouts=uniform,proofs=0",
        "Gao: 500 simulations per move against a random opponent "
        "(the code is not public, so faithful=1 changes nothing)",
        faithful="",
    ),
    "sewell": Preset(
        "mcts:simulations=5,c=1.4142135623730951,opponent=negamax-random-ties,reuse=games,"
        "final=mean,final_ties=random,rollouts=uniform,proofs=0",
        "SeWell: 5 simulations per move, one tree for all games against negamax",
        faithful="opponent=negamax",
    ),
    "sewell-guided": Preset(
        "guided:net=sewell,simulations=5,c=1.4142135623730951,depth=none,epsilon=0.25,"
        "rollouts=uniform,proofs=0",
        "SeWell: rollouts played by the network, 5 simulations per move; "
        "unlike the original, the tree has both sides' moves",
        faithful="epsilon=1",
    ),
    "vannucci-abril": Preset(
        "mcts:simulations=2048,c=2,opponent=random,final=mean,final_ties=random,rollouts=uniform,"
        "proofs=0",
        "Vannucci & Abril: 2048 simulations per move against a random opponent",
        faithful="ucb=log-ratio,opponent=random-frozen",
    ),
}
"""The agents of the five reports as described there; `faithful=1` reproduces their code."""


def preset(name: str) -> Preset | None:
    """Return the preset of a name, or None.

    `bhat-mcN` has N simulations per move; `bhat-mc0` is a random agent. `level-N` is a level.
    """
    if name in PRESETS:
        return PRESETS[name]
    if (level := level_of(name)) is not None:
        about = f"{level.name}: {level.about_on(CLASSIC)}, {level.strength_on(CLASSIC)}"
        return Preset(level.spec, about, level=level)
    if match := re.fullmatch(r"bhat-mc(\d{1,7})", name):
        # Without simulations Bhat's search has no visits to compare, and its program passed.
        if int(match[1]) == 0:
            return Preset(
                "random",
                "Bhat: MC0, no simulations and so a random column (the original passed)",
                "",
            )
        return Preset(
            f"{_BHAT},simulations={int(match[1])}",
            f"Bhat: MC{match[1]}, {int(match[1])} simulations per move",
            "terminal=past-wins",
        )
    return None


ENTRY_POINTS = "fourlab.agents"
MAX_SPEC = 10_000
"""Longest spec, in characters; the command of an engine may be long."""
SYNTAX = "options are written name:option=value,option=value"
LIVE = "own:"
"""How the specs of objects in this process begin."""
LIVE_AGENTS: dict[str, Any] = {}
"""Functions, classes and objects of this process by their specs (`fourlab.agents.own`)."""
SHOWN = 200
"""Characters of a spec that an error message quotes."""


def make(spec: str, /, **values: Any) -> Agent:
    """Build the agent of a spec; raise UserError that lists the valid names or options.

    `values` are options as Python values, which override those of the spec.
    """
    name, texts = parse_spec(spec)
    if (named := preset(name)) is None:
        return _build(name, texts, spec, values)
    if named.level is not None:
        if texts or values:
            raise UserError(f"agent {name!r} has no options; write {named.spec} to change its own")
        return ByBoard(named.level, make)
    base, preset_texts = parse_spec(named.spec)
    if named.faithful is not None and "faithful" in {*texts, *values}:
        given = values.pop("faithful", None)
        text = texts.pop("faithful", "") if given is None else str(given)
        try:
            is_faithful = options.read_bool(text)
        except ValueError:
            raise UserError(
                f"option faithful of agent {name!r} must be 0 or 1, not {text!r}"
            ) from None
        if is_faithful:
            # Options written by the user still override those of `faithful`.
            preset_texts |= parse_spec(f"{base}:{named.faithful}")[1]
    # Rename first: an option under an older name must override the preset's, too.
    return _build(base, {**preset_texts, **current_names(name, texts)}, spec, values)


def spec_of(agent: object) -> str | None:
    """Return the spec that builds an agent equal to this one; None if there is none."""
    kind = type(agent)
    home = f"{kind.__module__}:{kind.__qualname__}"
    name = next((name for name, entry in AGENTS.items() if entry.factory == home), None)
    if name is None:
        return None
    texts = []
    for option in options.options_of(kind).values():
        value = getattr(agent, option.name, option.default)
        if value != option.default:
            words = option.separator.join(value) if isinstance(value, tuple) else value
            text = options.as_text(words)
            texts.append(
                f'{option.name}="{text}"' if {*text} & {*'," '} else f"{option.name}={text}"
            )
    spec = f"{name}:{','.join(texts)}" if texts else name
    try:
        return spec if make(spec) == agent else None
    except UserError:  # a value that cannot be written
        return None


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split `name:option=value,option="va,lue"` into the name and the texts of the options."""
    if len(spec) > MAX_SPEC:
        raise UserError(f"an agent is written with at most {MAX_SPEC} characters, not {len(spec)}")
    spec = spec.strip()
    if (number := number_of(spec)) is not None:
        return level_name(number), {}
    if spec.startswith(LIVE):
        return spec, {}
    name, _, rest = spec.partition(":")
    if own_files.file_of(spec):
        name, rest = own_files.split_name(spec)
    texts: dict[str, str] = {}
    # By hand and not by a regular expression, which could take cubic time on a hostile text.
    while rest:
        option, equals, value = rest.partition("=")
        option, value = option.strip(), value.lstrip()
        is_quoted = value.startswith('"')
        if is_quoted:
            text, quote, after = value[1:].partition('"')
            gap, _, after = after.partition(",")
            is_valid = quote and not gap.strip()
        else:
            text, _, after = value.partition(",")
            text = text.strip()
            is_valid = '"' not in text
        if not (equals and option.isidentifier() and is_valid):
            raise UserError(
                f"cannot read {_shortened(rest)} in agent {_shortened(spec)}; "
                f"{own_files.SYNTAX if own_files.file_of(spec) else SYNTAX}"
            )
        if option in texts:
            raise UserError(f"option {option!r} is given twice in agent {_shortened(spec)}")
        texts[option] = text
        rest = after
    return name.strip(), texts


def current_names(name: str, texts: dict[str, str]) -> dict[str, str]:
    """Return an agent's options with old names replaced; unknown names are kept."""
    return options.renamed(options_of(name), texts, f"agent {name!r}")


def _shortened(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def names() -> list[str]:
    """Return the sorted names of agents, presets and entry points, then the levels."""
    levels = [level_name(number + 1) for number in range(len(LEVELS))]
    return [*sorted({*AGENTS, *listed_presets(), *_entry_points()}), *levels]


def listed_presets() -> list[str]:
    """Return the names of the presets whose networks are there."""
    return [
        name
        for name, named in PRESETS.items()
        if not named.network or is_there("fourlab.nets", f"weights/{named.network}.onnx")
    ]


def about(name: str) -> str:
    """Return a one-line description of an agent or preset."""
    if (named := preset(name)) is not None:
        return named.about
    if is_own(name):
        return (inspect.getdoc(own_thing(name)) or "").partition("\n")[0]
    return (inspect.getdoc(factory_of(name)) or "").partition("\n")[0]


def kernels_of(name: str) -> tuple[str, ...]:
    """Return the kernel groups that an agent or preset declares; imports its class."""
    named = preset(name)
    specs: tuple[str, ...] = (name,)
    if named is not None:
        specs = (named.spec,) if named.level is None else named.level.all_specs
    groups = [
        group for spec in specs for group in getattr(factory_of(parse_spec(spec)[0]), "kernels", ())
    ]
    return tuple(dict.fromkeys(groups))


def boards_of(name: str) -> tuple[str, ...]:
    """Return the boards that one of AGENTS plays with what comes with Fourlab; () for any board."""
    entry = AGENTS[name]
    if not entry.one_board:
        return ()
    return shipped_boards() if entry.patterns else (str(CLASSIC),)


def options_of(name: str) -> list[Option]:
    """Return the options of an agent, with a preset's values as defaults."""
    named = preset(name)
    if named is not None and named.level is not None:
        return []
    base, texts = parse_spec(named.spec) if named else (name, {})
    factory = factory_of(base)
    if not isinstance(factory, type):  # a function of the user's own
        return []
    values = options.from_texts(factory, texts, f"agent {base!r}")
    return [
        replace(option, default=values.get(key, option.default))
        for key, option in options.options_of(factory).items()
    ]


def _build(name: str, texts: dict[str, str], spec: str, given: Mapping[str, Any]) -> Agent:
    if is_own(name):
        return _build_own(name, texts, given)
    factory = factory_of(name)
    owner = f"agent {name!r}"
    values = options.from_texts(factory, texts, owner) | options.resolved(
        options.options_of(factory), given, owner
    )
    try:
        return factory(**values)  # type: ignore[no-any-return]
    # Ours are complete sentences; others get the spec in front.
    except UserError:
        raise
    except (TypeError, ValueError) as error:
        raise UserError(f"agent {spec!r}: {error}") from None


def is_own(name: str) -> bool:
    """Return whether a spec, or its name, is that of an agent of the user's own."""
    return name.startswith(LIVE) or bool(own_files.file_of(name))


def own_thing(name: str) -> Any:
    """Return the user's function, class or object with this name; raise UserError if none."""
    if not name.startswith(LIVE):
        return own_files.load(name)
    if name not in LIVE_AGENTS:
        raise UserError(
            f"{name} is an object of a Python program, which this process does not have; resume "
            "from Python: call the same function again with the object"
        )
    return LIVE_AGENTS[name]


def _build_own(name: str, texts: dict[str, str], given: Mapping[str, Any]) -> Agent:
    thing = own_thing(name)
    title = name.removeprefix(LIVE) if name.startswith(LIVE) else own_files.title_of(name)
    if not isinstance(thing, type):
        if texts or given:
            kind = "a function" if inspect.isfunction(thing) else "an object"
            raise UserError(f"{name} is {kind}, which has no options")
    else:
        values = options.from_texts(thing, texts, f"agent {name!r}")
        thing = own_agent.build(thing, {**values, **given}, title)
    return own_agent.wrap(thing, title)


def factory_of(name: str) -> Callable[..., Any]:
    """Import the class of an agent by its name, ours or from an entry point."""
    if name in AGENTS:
        module, _, attribute = AGENTS[name].factory.partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    if is_own(name):
        thing = own_thing(name)
        return thing if isinstance(thing, type) else lambda: thing
    outside = _entry_points()
    if number_of(name) is not None:
        raise UserError(
            f"there is no {name}; levels are {level_name(1)} to {level_name(len(LEVELS))}"
        )
    if name not in outside:
        raise UserError(
            f"there is no agent {name!r}{options.perhaps(name, names())}; "
            f"agents are {', '.join(names())}"
        )
    try:
        factory = outside[name].load()
    except Exception as error:  # importing a third-party package may fail in any way
        raise UserError(
            f"agent {name!r} comes from another package and cannot be loaded: {error!r}"
        ) from None
    if not (isinstance(factory, type) and hasattr(factory, "decide")):
        raise UserError(
            f"agent {name!r} comes from another package and is not a class with a method decide"
        )
    return factory


def _entry_points() -> dict[str, Any]:
    # Slow to import, and needed only for names that are not ours.
    from importlib.metadata import entry_points

    # Entry points are not loaded here: importing them runs other people's code.
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
