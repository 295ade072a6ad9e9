"""From a spec to a submission for Kaggle ConnectX: one file, examined before it is believed."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourlab import shipped
from fourlab.agent import is_unbounded
from fourlab.agents import registry
from fourlab.agents.alphazero.agent import DEFAULT_SIMULATIONS as NETWORK_SIMULATIONS
from fourlab.agents.mcts.agent import DEFAULT_SIMULATIONS
from fourlab.bridges.kaggle import weights
from fourlab.bridges.kaggle.bundle import Part, bundle
from fourlab.bridges.kaggle.submission import BANK, USUAL
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.version import __version__

PATIENCE = 300
"""Seconds that an examination may take before it counts as hanging."""
MOVES = 20
"""Moves after the first that one side makes in a long game."""
MODES = ("with-numba", "without-numba")
ENOUGH_SIMULATIONS = 100
"""A tree search of fewer does not promise to see every win and every block."""
SEARCH = Part("fourlab.agents.minimax.agent", "Minimax", {"depth": 62})
"""Alpha-beta, deeper and deeper while there is time: plays where the agent itself cannot."""


@dataclass(frozen=True)
class Kind:
    """An agent that can be exported: what it promises, and so is examined for."""

    wins: Callable[[Any], bool] = lambda agent: True
    """Whether it takes every win."""
    blocks: Callable[[Any], bool] = lambda agent: True
    """Whether it blocks every win of the other side."""


def _no(agent: Any) -> bool:
    return False


def _searches_enough(agent: Any) -> bool:
    """Whether a tree search proves wins and losses, and tries each column's replies."""
    return bool(agent.solver) and (agent.simulations is None or agent.simulations >= ENOUGH_SIMULATIONS)


KINDS = {
    "alphazero": Kind(),
    "dqn": Kind(_no, _no),
    "mcts": Kind(_searches_enough, _searches_enough),
    "minimax": Kind(blocks=lambda agent: bool(agent.depth >= 2)),
    "perfect": Kind(),
    "random": Kind(_no, _no),
    "rules": Kind(),
    "value": Kind(blocks=_no),
}
"""By the name of the agent."""


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
    header = (
        f"A player for Kaggle's ConnectX: {spec}\n\nWritten by Fourlab {__version__}, whose modules are in it. "
        "It needs NumPy, and is faster where Numba is installed.\n"
    )
    parts = [Part(type(agent).__module__, type(agent).__qualname__, _options(name, agent), only_proven=name == "perfect")]
    files: dict[str, bytes] = {}
    if name == "perfect" and agent.book and (book := shipped.read("fourlab.solver", "book.npz")) is not None:
        files["fourlab.solver/book.npz"] = book
    if any(option.name == "net" for option in registry.options_of(name)):
        files["fourlab.nets/network.json"], files["fourlab.nets/network.safetensors"] = weights.read(agent.net)
    if files or name == "perfect":
        parts.append(SEARCH)
    return bundle(header.replace("\\", "/").replace('"', "'"), parts, files)


def _options(name: str, agent: Any) -> dict[str, Any]:
    """The options that differ from the agent's own; whoever has no bound gets the lab's default."""
    options = {
        option.name: getattr(agent, option.name)
        for option in registry.options_of(name)
        if getattr(agent, option.name) != option.default
    }
    if "net" in options:
        options["net"] = "network"
    if is_unbounded(agent):
        options["simulations"] = DEFAULT_SIMULATIONS if name == "mcts" else NETWORK_SIMULATIONS
    return options


def _agent(spec: str) -> tuple[str, Any]:
    """The agent that a spec names, and its name in KINDS; refuses what cannot be exported."""
    name = registry.parse_spec(spec)[0]
    found = registry.preset(name)
    base = name if found is None else registry.parse_spec(found.spec)[0]
    if base not in KINDS and base in registry.names():
        raise UserError(f"agent {name!r} cannot be exported; these can: {', '.join(KINDS)}")
    return base, registry.make(spec)


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
    if name in ("alphazero", "dqn", "value"):
        yield "its network is computed by NumPy, and on boards that it does not know alpha-beta plays"
    if name == "perfect":
        yield "is perfect in the opening and wherever its search comes to an end in time; elsewhere alpha-beta plays"
    yield "without NumPy, and on boards of more than 62 bits, it wins, blocks or plays near the centre"
