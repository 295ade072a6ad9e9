"""From a spec to a submission for Kaggle ConnectX: one file, examined before it is believed.

The agents themselves are in `templates/`, each a plain module; here their settings are filled in.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fourlab.agent import is_unbounded
from fourlab.agents import registry
from fourlab.agents.alphazero.agent import DEFAULT_SIMULATIONS as NETWORK_SIMULATIONS
from fourlab.agents.mcts.agent import DEFAULT_SIMULATIONS
from fourlab.bridges.kaggle import opening, weights
from fourlab.bridges.kaggle.stitch import stitch
from fourlab.bridges.kaggle.submission import BANK, USUAL
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.solver.book import shipped_book
from fourlab.version import __version__

PATIENCE = 300
"""Seconds that an examination may take before it counts as hanging."""
MOVES = 20
"""Moves after the first that one side makes in a long game."""
MODES = ("with-numba", "without-numba")


@dataclass(frozen=True)
class Kind:
    """An agent that can be exported."""

    options: tuple[str, ...]
    """What may be set; everything else must be as it is by default."""
    settings: Callable[[Any], dict[str, Any]]
    """The agent's options as the template's settings."""
    wins: Callable[[Any], bool] = lambda agent: True
    """Whether it promises to take a win."""
    blocks: Callable[[Any], bool] = lambda agent: True
    """Whether it promises to block one."""


def _bounds(agent: Any, default: int) -> dict[str, Any]:
    simulations = default if agent.simulations is None and agent.seconds is None else agent.simulations
    return {"SIMULATIONS": simulations, "SECONDS": agent.seconds}


def _opening(agent: Any) -> dict[str, Any]:
    return {"BOOK": _shipped_opening()} if agent.book else {}


@cache
def _shipped_opening() -> str:
    book = shipped_book()
    return "" if book is None else opening.pack(opening.opening_of(book))


def _no(agent: Any) -> bool:
    return False


KINDS = {
    "alphazero": Kind(
        ("net", "simulations", "seconds", "method", "c", "fpu"),
        lambda agent: {
            **_bounds(agent, NETWORK_SIMULATIONS),
            **{"C": agent.c, "FPU": agent.fpu},
            **weights.settings_of(agent.net),
        },
    ),
    "dqn": Kind(("net",), lambda agent: weights.settings_of(agent.net), _no, _no),
    "mcts": Kind(
        ("simulations", "seconds", "c", "rollouts", "solver"),
        lambda agent: {
            **_bounds(agent, DEFAULT_SIMULATIONS),
            **{"C": agent.c, "WINS_AND_BLOCKS": agent.rollouts == "wins-and-blocks", "SOLVER": agent.solver},
        },
        *(lambda agent: bool(agent.solver),) * 2,
    ),
    "minimax": Kind(
        ("depth", "evaluation", "tie"),
        lambda agent: {"DEPTH": agent.depth, "EVALUATION": agent.evaluation, "TIE": agent.tie},
        blocks=lambda agent: bool(agent.depth >= 2),
    ),
    "perfect": Kind(("book",), _opening),
    "random": Kind((), lambda agent: {}, _no, _no),
    "rules": Kind(("otherwise",), lambda agent: {"OTHERWISE": agent.otherwise}),
    "value": Kind(("net",), lambda agent: weights.settings_of(agent.net), blocks=_no),
}
"""By the name of the agent, which is the template's too."""


@dataclass(frozen=True)
class Examined:
    """What an examination found."""

    numba: bool
    """Whether Numba was there."""
    first_move: float
    """Seconds from the start to the answer to the first move, loading included."""
    loading: float
    """Seconds of that for loading."""
    ready: float
    """Seconds until everything that goes on in the background, such as compiling, was done."""
    slowest: float
    """Seconds of the slowest later move with the full clock."""
    moves: int
    """Legal moves in whole games on several boards."""
    wins: int
    """How many wins were taken."""
    blocks: int
    """How many were blocked."""
    tactics: int
    """Of how many each."""


@dataclass(frozen=True)
class Exported:
    """A file that was written."""

    spec: str
    file: str
    bytes: int
    seconds_a_move: float
    """What Kaggle allows."""
    bank: float
    """Seconds that it allows beyond that in the whole game."""
    examined: tuple[Examined, ...]
    """With Numba, if it is installed, and without."""
    notes: tuple[str, ...]
    """What is other than in the lab."""


def export(spec: str, file: Path, begin: Callable[[], None] = lambda: None) -> Exported:
    """Write the submission of a spec, once it has passed its examinations; otherwise nothing is written.

    `begin` is called before the examinations, which take a while.
    """
    if not file.parent.is_dir():  # better said now than after the examinations
        raise UserError(f"cannot write {file}: there is no folder {file.parent}")
    if file.is_dir():
        raise UserError(f"cannot write {file}: it is a folder")
    name, agent = _agent(spec)
    source = source_of(spec).encode()
    begin()
    examined: dict[bool, Examined] = {}
    for mode in MODES:
        found = _examine(source, mode)
        _check(found, KINDS[name], agent, spec)
        examined[found.numba] = found  # a file that does not ask for Numba is examined twice in the same way
    write_atomically(file, source)
    return Exported(spec, str(file), len(source), USUAL["actTimeout"], BANK, tuple(examined.values()), tuple(_notes(name, agent)))


def source_of(spec: str) -> str:
    """The submission of a spec; the same spec gives the same file."""
    name, agent = _agent(spec)
    header = f"A player for Kaggle's ConnectX: {spec}\n\nWritten by Fourlab {__version__}; needs nothing but Python."
    header += " NumPy and Numba are used where they are installed.\n"
    return stitch(name, KINDS[name].settings(agent), header.replace("\\", "/").replace('"', "'"))


def _agent(spec: str) -> tuple[str, Any]:
    """The agent that a spec names, and its name in KINDS; refuses what cannot be exported."""
    name = registry.parse_spec(spec)[0]
    found = registry.preset(name)
    base = name if found is None else registry.parse_spec(found.spec)[0]
    if base not in KINDS and base in registry.names():
        raise UserError(f"agent {name!r} cannot be exported; these can: {', '.join(KINDS)}")
    agent: Any = registry.make(spec)
    for option in registry.options_of(base):
        if option.name not in KINDS[base].options and getattr(agent, option.name) != option.default:
            carried = ", ".join(KINDS[base].options) or "none"
            raise UserError(f"option {option.name} of {spec!r} cannot be exported; of agent {base!r} these can: {carried}")
    return base, agent


def _examine(source: bytes, mode: str) -> Examined:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "main.py"
        file.write_bytes(source)
        command = [sys.executable, "-m", "fourlab.bridges.kaggle.examine", str(file), mode]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise UserError(f"the file was not written: its examination {mode} did not end within {PATIENCE} s") from None
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise UserError(f"the file was not written: its examination {mode} failed: {last[:300]}") from None
    if "error" in found:
        raise UserError(f"the file was not written: {mode} it failed its examination: {found['error'][:300]}")
    return Examined(**found)


def _check(found: Examined, kind: Kind, agent: Any, spec: str) -> None:
    """Refuse what would lose on Kaggle by its clock, or does not do what the agent promises."""
    over = [max(seconds - USUAL["actTimeout"], 0) for seconds in (found.first_move, found.slowest)]
    if (late := over[0] + MOVES * over[1] - BANK) > 0:
        raise UserError(f"the file was not written: {spec} would need {late:.1f} s more than Kaggle's bank in a whole game")
    for what, promised, count in (("take", kind.wins, found.wins), ("block", kind.blocks, found.blocks)):
        if promised(agent) and count < found.tactics:
            raise UserError(f"the file was not written: {spec} did not {what} {found.tactics - count} of {found.tactics} wins")


def _notes(name: str, agent: Any) -> Iterator[str]:
    """What is other than in the lab."""
    if is_unbounded(agent):
        most = DEFAULT_SIMULATIONS if name == "mcts" else NETWORK_SIMULATIONS
        yield f"makes at most {most} simulations a move; {name}:seconds=2 uses the whole time instead"
    if name == "alphazero" and agent.method != "puct":
        yield "searches by PUCT, not by Gumbel's method"
    if name in ("alphazero", "dqn", "value"):
        yield "on boards that the network does not know, and where there is no NumPy, it searches by alpha-beta"
    if name == "perfect":
        yield "is perfect in the opening and wherever its search comes to an end in time; in between it guesses"
