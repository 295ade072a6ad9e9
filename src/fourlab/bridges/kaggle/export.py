"""Export an agent as a submission for Kaggle ConnectX: one file, tested before it is written."""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fourlab import shipped
from fourlab.agent import Forfeit, is_unbounded
from fourlab.agents import anytime, registry
from fourlab.agents.alphazero.agent import DEFAULT_SIMULATIONS as NETWORK_SIMULATIONS
from fourlab.agents.levels import ByBoard
from fourlab.agents.mcts.agent import DEFAULT_SIMULATIONS
from fourlab.agents.patterns import agent as patterns
from fourlab.bridges.hosted import CODE, SOURCES
from fourlab.bridges.kaggle import replies, runtime, weights
from fourlab.bridges.kaggle.bundle import Part, bundle
from fourlab.bridges.kaggle.submission import BANK, USUAL
from fourlab.engines.process import Program
from fourlab.errors import UserError
from fourlab.files import check_target, write_atomically
from fourlab.game.rules import CLASSIC, Rules
from fourlab.nets.pattern_files import PACKAGE, shipped_file
from fourlab.version import __version__

MAX_SECONDS = 300
"""A test of a file that takes longer counts as hanging."""
MEGABYTES = 4096
"""Memory of a test and all that it starts (Linux)."""
EXAMINE = CODE.format("fourlab.bridges.kaggle.examine")
MOVES = 20
"""Moves after the first that one side makes in a long game."""
MODES = ("with-numba", "without-numba")
ENOUGH_SIMULATIONS = 100
"""With fewer simulations, a tree search does not promise to see every win and every block."""
BOARD = str(Rules(USUAL["columns"], USUAL["rows"], USUAL["inarow"]))
"""The board of Kaggle's competition."""
# No board has more than 62 cells: only the time limit ends this search.
SEARCH = Part("fourlab.agents.minimax.agent", "Minimax", {"depth": 62})
"""Alpha-beta with iterative deepening, for positions on which the exported agent has no answer."""
REPLIES = Part(replies.__name__, replies.Replies.__qualname__, {}, runtime.BOOK)
"""The book of what `perfect` replies."""


@dataclass(frozen=True)
class Kind:
    """An exportable agent: what it promises, which its file is tested for."""

    wins: Callable[[Any], bool] = lambda agent: True
    """Whether it takes every immediate win."""
    blocks: Callable[[Any], bool] = lambda agent: True
    """Whether it blocks every immediate win of the other side."""
    keeps: Callable[[Any], bool] = lambda agent: False
    """Whether it keeps every known result: with Numba, or in a position of its books."""


def _never(agent: Any) -> bool:
    return False


def _proves_tactics(agent: Any) -> bool:
    """Return whether a tree search proves results and has the simulations to try every reply."""
    has_simulations = agent.simulations is None or agent.simulations >= ENOUGH_SIMULATIONS
    return bool(agent.proofs) and has_simulations


KINDS = {
    "alphazero": Kind(),
    "anytime": Kind(),
    "dqn": Kind(_never, _never),
    "mcts": Kind(_proves_tactics, _proves_tactics),
    "minimax": Kind(blocks=lambda agent: bool(agent.depth >= 2)),
    "patterns": Kind(),
    "perfect": Kind(keeps=lambda agent: not agent.mistakes),
    "random": Kind(_never, _never),
    "rules": Kind(),
    "value": Kind(blocks=_never),
}
"""By the agent's name."""
PATTERNS = ("anytime", "patterns")
"""Agents with a pattern network."""
BOOKS = ("anytime", "perfect")
"""Agents with an opening book."""


@dataclass(frozen=True)
class Examined:
    """The results of one test of a file."""

    numba: bool
    """Whether the file searched with compiled code."""
    first_move: float
    """Seconds from the start to the first answer, loading included."""
    loading: float
    """Seconds of that for loading the file."""
    ready: float
    """Seconds until all background work, such as compiling, was done."""
    slowest: float
    """Seconds of the slowest later move with Kaggle's time limit."""
    moves: int
    """Legal moves in whole games on several boards."""
    wins: int
    """Immediate wins taken."""
    blocks: int
    """Immediate wins of the other side blocked."""
    tactics: int
    """The number of positions for each of the two."""
    solved: int
    """Positions with a known result."""
    mistakes: tuple[str, ...]
    """Those whose result it did not keep, with its column and those that keep it."""


@dataclass(frozen=True)
class Exported:
    """A file that was written."""

    spec: str
    file: str
    bytes: int
    seconds_a_move: float
    """Kaggle's time limit per move."""
    bank: float
    """Seconds of overtime in the whole game."""
    examined: tuple[Examined, ...]
    """The tests with Numba, if the file uses it, and without."""
    notes: tuple[str, ...]
    """Differences from the agent in the lab."""


def export(spec: str, file: Path, on_test: Callable[[], None] = lambda: None) -> Exported:
    """Test the submission of a spec and write it; write nothing if a test fails.

    `on_test` is called before the tests, which take up to a minute.
    """
    check_target(file)  # before the tests, not after them
    name, agent = _agent(spec)
    source = source_of(spec).encode()
    on_test()
    results: dict[bool, Examined] = {}
    for mode in MODES:
        result = _examine(source, mode)
        _check(result, name, agent, spec)
        results[result.numba] = result  # without kernels, both modes are the same test
    write_atomically(file, source)
    return Exported(
        spec,
        str(file),
        len(source),
        USUAL["actTimeout"],
        BANK,
        tuple(results.values()),
        tuple(_notes(name, agent)),
    )


def source_of(spec: str) -> str:
    """Return the submission of a spec; the same spec gives the same file."""
    name, agent = _agent(spec)
    # The header becomes a docstring in triple quotes, so quotes and backslashes are replaced below.
    header = (
        f"A player for Kaggle's ConnectX: {spec}\n\n"
        f"Written by Fourlab {__version__}, whose modules it contains. It needs Python 3.11 and\n"
        "NumPy, and is faster where Numba is installed.\n"
    )
    agent_class = type(agent)
    options = _options(name, agent)
    is_solver = name == "perfect"
    role = runtime.PROOF if is_solver else runtime.SEARCH
    parts = [Part(agent_class.__module__, agent_class.__qualname__, options, role)]
    if _has_replies(name, agent):
        parts.insert(0, REPLIES)
    files = dict(_files(name, agent))
    # A network knows one board, and a solver may prove nothing in time.
    if is_solver or _has_network(name):
        parts.append(SEARCH)
    return bundle(header.replace("\\", "/").replace('"', "'"), parts, files)


def _files(name: str, agent: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the files that an agent needs, by package and name."""
    if name in BOOKS and agent.book:
        book = shipped.read("fourlab.solver", "book.npz")
        if book is not None:
            yield "fourlab.solver/book.npz", book
    if _has_replies(name, agent):
        book = shipped.read(replies.PACKAGE, replies.FILE)
        if book is not None:
            yield f"{replies.PACKAGE}/{replies.FILE}", book
    if name in PATTERNS:
        # Whatever file they are from, in the submission they are those of the board.
        yield f"{PACKAGE}/{shipped_file(BOARD)}", weights.read_patterns(agent.file, BOARD)
    elif _has_network(name):
        form, numbers = weights.read(agent.net)
        yield "fourlab.nets/network.json", form
        yield "fourlab.nets/network.safetensors", numbers


def _has_replies(name: str, agent: Any) -> bool:
    """Return whether the agent always replies as the reply book does."""
    return name == "perfect" and agent.book and not agent.mistakes and agent.ties == "centre"


def _has_network(name: str) -> bool:
    has_net = any(option.name == "net" for option in registry.options_of(name))
    return has_net or name in PATTERNS


def _options(name: str, agent: Any) -> dict[str, Any]:
    """Return the options that differ from the defaults, and the lab's bound of a search."""
    options = {}
    for option in registry.options_of(name):
        value = getattr(agent, option.name)
        if value != option.default:
            options[option.name] = value
    # standins/network.py loads the only network of the file under any name.
    if "net" in options:
        options["net"] = "network"
    # The submission comes with the patterns of this file.
    if name in PATTERNS:
        options.pop("file", None)
    # The lab's default counts only without any limit, and Kaggle's time is one.
    bound = _default_bound(name, agent)
    if bound is not None:
        options[bound.unit] = bound.most
    return options


class Bound(NamedTuple):
    """The limit that the lab sets where the agent's options set none."""

    unit: str
    """The name of the option, which is also what is counted: simulations or nodes."""
    most: int


def _default_bound(name: str, agent: Any) -> Bound | None:
    """Return the lab's own bound of a search; None if the agent's options bound it."""
    if name in PATTERNS:
        # `anytime` has no depth.
        limits = (agent.seconds, agent.nodes, getattr(agent, "depth", None))
        if any(limit is not None for limit in limits):
            return None
        default = patterns.DEFAULT_NODES if name == "patterns" else anytime.DEFAULT_NODES
        return Bound("nodes", default)
    if not is_unbounded(agent):
        return None
    return Bound("simulations", DEFAULT_SIMULATIONS if name == "mcts" else NETWORK_SIMULATIONS)


def _agent(spec: str) -> tuple[str, Any]:
    """Return the agent of a spec and its name in KINDS; refuse one that cannot be exported."""
    name = registry.parse_spec(spec)[0]
    preset = registry.preset(name)
    base = name if preset is None else registry.parse_spec(preset.spec)[0]
    if base not in KINDS and base in registry.names():
        raise UserError(f"agent {name!r} cannot be exported; these can: {', '.join(KINDS)}")
    agent = registry.make(spec)
    for option in ("leaves=patterns", "net=patterns"):
        key, _, value = option.partition("=")
        if getattr(agent, key, None) == value:
            raise UserError(f"{base} with {option} cannot be exported; patterns and anytime can")
    # Kaggle plays the classic board, so the agent for other boards is not needed.
    return base, agent.agent_on(CLASSIC) if isinstance(agent, ByBoard) else agent


def _examine(source: bytes, mode: str) -> Examined:
    """Run the tests of examine.py on a submission in a separate process; return their results.

    The process and all that it starts have the limits of an engine, and MAX_SECONDS.
    """
    # A process of its own, because a file may crash, hang or change modules that we use.
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "main.py"
        file.write_bytes(source)
        # -P keeps modules in the current folder from being imported instead of Python's own.
        command = [sys.executable, "-P", "-c", EXAMINE, str(SOURCES), str(file), mode]
        last, ending = _last_line(command, mode)
    try:
        results = json.loads(last)
    except ValueError:
        results = None
    if not isinstance(results, dict) or not str(ending).startswith("exited with code 0"):
        raise UserError(f"the file was not written: its test {mode} failed: {ending}")
    if "error" in results:
        reason = results["error"][:300]
        raise UserError(f"the file was not written: it failed its test {mode}: {reason}")
    return Examined(**{**results, "mistakes": tuple(results["mistakes"])})


def _last_line(command: list[str], mode: str) -> tuple[str, Forfeit]:
    """Return the last line that a test prints, and how its process ended."""
    deadline = time.monotonic() + MAX_SECONDS
    program = Program(command, MEGABYTES)
    # The submission may print as well; the results are the last line.
    last = ""
    try:
        while (line := program.read_line(deadline)) is not None:
            last = line
    except Forfeit as ending:
        return last, ending
    finally:
        program.close()
    raise UserError(f"the file was not written: its test {mode} did not end within {MAX_SECONDS} s")


def _check(result: Examined, name: str, agent: Any, spec: str) -> None:
    """Refuse a file that would lose on time, or that does not do what the agent promises."""
    kind = KINDS[name]
    limit = USUAL["actTimeout"]
    # On Kaggle, time beyond the limit of a move is taken from a bank for the whole game.
    overtime = max(result.first_move - limit, 0) + MOVES * max(result.slowest - limit, 0)
    if overtime > BANK:
        raise UserError(
            f"the file was not written: {spec} would need {overtime - BANK:.1f} s more than"
            " Kaggle's bank in a whole game"
        )
    for verb, is_promised, count in (
        ("take", kind.wins, result.wins),
        ("block", kind.blocks, result.blocks),
    ):
        if is_promised(agent) and count < result.tactics:
            raise UserError(
                f"the file was not written: {spec} did not {verb} {result.tactics - count}"
                f" of {result.tactics} wins"
            )
    is_able = result.numba or _has_replies(name, agent)
    if kind.keeps(agent) and is_able and result.mistakes:
        raise UserError(
            f"the file was not written: {spec} did not keep {len(result.mistakes)} of"
            f" {result.solved} known results: {', '.join(result.mistakes)}"
        )


def _notes(name: str, agent: Any) -> Iterator[str]:
    """Yield the differences from the agent in the lab."""
    bound = _default_bound(name, agent)
    if bound is not None:
        yield (
            f"makes at most {bound.most:,} {bound.unit} per move;"
            f" {name}:seconds=2 uses the whole time instead"
        )
    if name in ("alphazero", "dqn", "value"):
        yield "NumPy evaluates its network; on boards unknown to the network, alpha-beta plays"
    if name in PATTERNS:
        yield (
            f"without Numba it searches less deeply; on boards other than {BOARD}, alpha-beta plays"
        )
    if name == "perfect":
        yield "where the solver proves nothing within the time limit, alpha-beta plays"
    yield "without NumPy, or on boards beyond 63 bits, it wins, blocks or plays near the centre"
