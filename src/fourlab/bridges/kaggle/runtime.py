"""The code of a submission: import the Fourlab modules that the file contains and ask their agents.

The modules are imported twice. As plain Python they play from the first move on. Where Numba is
installed, a thread imports them again with their kernels compiled, which takes some seconds, and
those play from then on. On boards that the agents do not know, and without NumPy, a simple player
answers.
"""

import contextlib
import ctypes
import importlib
import importlib.abc
import importlib.util
import logging
import random
import re
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

NAME = "submission"
"""The package under which the modules are imported, so that no other submission shares them."""
BOOK, PROOF, SEARCH = "book", "proof", "search"
"""Roles of agents: one that answers at once, one of which only proven answers count and which may
use overtime, and one that answers in the time of a move."""
AGENTS: list[tuple[str, str, dict[str, Any], str]] = []
"""The agents in the order in which they are asked: module, class, options, role.

The next agent is asked if one does not know the position, or has not proven what it must. The last
one gets all the time of the move that is left.
"""
MODULES: dict[str, str] = {}
"""Sources by the name of the module."""
PLAIN: dict[str, str] = {}
"""Modules that replace some of them in plain Python; empty if there is nothing to compile."""
TIME_SHARE = 0.8
"""The share of a move's time limit that is used; the rest is a reserve for a busy machine."""
USUAL_SECONDS = 2.0
"""Kaggle's time for a move, if the configuration does not say."""
PROOF_SHARE = 0.6
"""The share of the time for a proof, besides overtime."""
RESERVE = 10.0
"""Seconds of overtime that are left for a busy machine."""
OVERTIME_SHARE = 1 / 3
"""The share of the other overtime that one move may use: the first ones that are not in the book
are the hardest."""
BEYOND_BOOKS = "4444443335"
"""A position that is in no opening book, so that the solver must search it."""
PLAYERS: "list[Player]" = []
"""Players that are ready, the fastest one last."""
COMPILER = threading.Thread()
"""Prepares the compiled player."""
TROUBLE: list[str] = []
"""Errors that were survived, for tests of the file."""


class Sources(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules under another name."""

    def __init__(self, package: str, modules: dict[str, str]) -> None:
        self.package = package
        self.modules = modules

    def original(self, name: str) -> str:
        """Return the name of a module in Fourlab."""
        return "fourlab" + name.removeprefix(self.package)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the specification of a module that is in this file, for Python's import system."""
        if name.partition(".")[0] != self.package or self.original(name) not in self.modules:
            return None
        inside = f"{self.original(name)}."
        is_package = any(module.startswith(inside) for module in self.modules)
        return importlib.util.spec_from_loader(name, self, is_package=is_package)

    def exec_module(self, module: ModuleType) -> None:
        """Run a module, its imports of Fourlab's modules renamed."""
        source = self.modules[self.original(module.__name__)]
        # Only import statements are renamed; no module spells its package in any other way.
        renamed = re.sub(
            r"^( *)(from|import) fourlab\b", rf"\1\2 {self.package}", source, flags=re.MULTILINE
        )
        exec(compile(renamed, module.__name__, "exec"), module.__dict__)


class Question(NamedTuple):
    """What Kaggle asks, checked."""

    board: list[int]
    """Cells from the top left, row by row: 0 empty, 1 and 2 the sides."""
    mark: int
    """The side to move."""
    columns: int
    rows: int
    in_a_row: int
    seconds: float
    """The time limit for the move."""
    overtime: float = 0.0
    """Seconds of overtime that the move may use, too."""


def read(observation: Any, configuration: Any) -> Question:
    """Read an observation and a configuration, which have attributes, items or both."""

    def value(source: Any, name: str, default: Any) -> Any:
        given = source.get(name) if isinstance(source, dict) else getattr(source, name, None)
        return default if given is None else given

    return Question(
        board=[int(cell) for cell in value(observation, "board", [])],
        mark=int(value(observation, "mark", 1)),
        columns=int(value(configuration, "columns", 7)),
        rows=int(value(configuration, "rows", 6)),
        in_a_row=int(value(configuration, "inarow", 4)),
        seconds=TIME_SHARE * float(value(configuration, "actTimeout", USUAL_SECONDS)),
        overtime=OVERTIME_SHARE
        * max(float(value(observation, "remainingOverageTime", 0.0)) - RESERVE, 0.0),
    )


class Player:
    """The agents of one copy of the modules."""

    def __init__(self, kind: str, modules: dict[str, str]) -> None:
        self.package = f"{NAME}_{kind}"
        if not any(
            isinstance(finder, Sources) and finder.package == self.package
            for finder in sys.meta_path
        ):
            sys.meta_path.append(Sources(self.package, modules))
        self.random = importlib.import_module("numpy").random
        self.contract = self.module("fourlab.agent")
        self.rules = self.module("fourlab.game.rules").Rules
        self.game = self.module("fourlab.game.position").Position
        self.refusal = self.module("fourlab.errors").UserError
        self.agents = [
            getattr(self.module(module), name)(**options) for module, name, options, _ in AGENTS
        ]

    def module(self, name: str) -> Any:
        """Import a module of Fourlab's."""
        return importlib.import_module(self.package + name.removeprefix("fourlab"))

    def position(self, question: Question) -> Any:
        """Return the position; raise UserError for a board that Fourlab does not know."""
        columns = question.columns
        starts = range(0, len(question.board), columns)
        grid = [question.board[start : start + columns] for start in starts]
        rules = self.rules(columns, question.rows, question.in_a_row)
        return self.game(grid, rules, to_move=question.mark - 1, check_counts=False)

    def book_column(self, position: Any) -> int | None:
        """Ask the agents that answer at once; None if the position is not in a book."""
        for agent in self.with_role(BOOK):
            with contextlib.suppress(self.refusal):
                return int(agent.decide(position).column)
        return None

    def column(self, position: Any, seconds: float, overtime: float) -> int:
        """Ask the other agents in turn; raise what the last one raises."""
        deadline = time.perf_counter() + seconds + overtime
        for agent in self.with_role(PROOF):
            left = deadline - time.perf_counter() - (1 - PROOF_SHARE) * seconds
            with contextlib.suppress(self.refusal):
                decision = self.decision(agent, position, left)
                if decision.proven is not None or decision.analysis.from_book:
                    return int(decision.column)
        agents = self.with_role(SEARCH)
        for place, agent in enumerate(agents, start=1):
            left = min(seconds, deadline - time.perf_counter())
            try:
                return int(self.decision(agent, position, left).column)
            except self.refusal:
                if place == len(agents):
                    raise
        raise self.refusal("there is no agent")

    def with_role(self, role: str) -> list[Any]:
        """Return the agents with a role."""
        pairs = zip(self.agents, AGENTS, strict=True)
        return [agent for agent, described in pairs if described[3] == role]

    def decision(self, agent: Any, position: Any, seconds: float) -> Any:
        """Ask one agent; kernels watch the flag, which is set when the time is up."""
        seconds = max(seconds, 0.01)  # a limit must be greater than 0
        stop = self.contract.Stop()
        # In plain Python, one call of a kernel may outlast the limit; the flag ends it.
        timer = threading.Timer(seconds, stop.set)
        timer.daemon = True
        timer.start()
        # Seeded by Python's generator, so that whoever seeds that one can repeat a game.
        rng = self.random.default_rng(random.getrandbits(64))
        try:
            return agent.decide(position, self.contract.Limit(seconds=seconds, stop=stop), rng)
        finally:
            timer.cancel()

    def warm_up(self) -> None:
        """Have everything compiled."""
        for agent in self.with_role(PROOF) + self.with_role(SEARCH):
            self.decision(agent, self.game(BEYOND_BOOKS), 0.05)


def prepare(kind: str, modules: dict[str, str]) -> None:
    """Make a player; whatever is missing or broken, the file still plays."""
    try:
        if kind == "compiled":
            importlib.import_module("numba")
            logging.getLogger(f"{NAME}_{kind}.kernels").disabled = True
        player = Player(kind, modules)
        if kind == "compiled":
            player.warm_up()
        PLAYERS.append(player)
    except Exception as error:
        is_missing = isinstance(error, ModuleNotFoundError) and error.name in ("numpy", "numba")
        if not is_missing:
            TROUBLE.append(repr(error))


def completes_line(
    board: list[int], columns: int, rows: int, in_a_row: int, column: int, row: int, mark: int
) -> bool:
    """Return whether a disc of a side on this cell would be part of a line; row 0 is at the top."""
    for right, down in ((1, 0), (0, 1), (1, 1), (1, -1)):
        length = 1
        for sign in (1, -1):
            x, y = column + sign * right, row + sign * down
            while 0 <= x < columns and 0 <= y < rows and board[y * columns + x] == mark:
                length += 1
                x, y = x + sign * right, y + sign * down
        if length >= in_a_row:
            return True
    return False


def simple_column(question: Question) -> int:
    """Win, else block, else play near the centre, not below a winning cell of the other side."""
    # Marks are 1 and 2, so 3 - mark is the other side. Rows count from the top.
    board, mark, columns, rows, in_a_row = question[:5]
    landing = {}
    for column in sorted(range(columns), key=lambda column: abs(2 * column - columns + 1)):
        empty = [row for row in range(rows) if board[row * columns + column] == 0]
        if empty:
            landing[column] = max(empty)
    for side in (mark, 3 - mark):
        for column, row in landing.items():
            if completes_line(board, columns, rows, in_a_row, column, row, side):
                return column
    for column, row in landing.items():
        above = row - 1
        # At the top there is no cell above in which the other side could win.
        if row == 0 or not completes_line(board, columns, rows, in_a_row, column, above, 3 - mark):
            return column
    return next(iter(landing))


def use_one_thread() -> None:
    """Let NumPy multiply matrices in one thread: more would only wait for each other.

    Environment variables come too late, since Kaggle's own program has loaded NumPy.
    """
    numpy = importlib.import_module("numpy")
    for library in Path(str(numpy.__file__)).parent.parent.glob("numpy.libs/*openblas*"):
        names = ctypes.CDLL(str(library))  # loaded already, so this only finds it
        for prefix in ("scipy_", ""):
            for suffix in ("64_", ""):
                with contextlib.suppress(AttributeError):
                    names[f"{prefix}openblas_set_num_threads{suffix}"](1)


# In Fourlab itself, where this module is only read and tested, the list is empty.
if AGENTS:
    with contextlib.suppress(ImportError, OSError):
        use_one_thread()
    prepare("plain", {**MODULES, **PLAIN})
    if PLAYERS and PLAIN:
        COMPILER = threading.Thread(target=prepare, args=("compiled", MODULES), daemon=True)
        COMPILER.start()


def known_column(question: Question) -> int | None:
    """Return the column of a book; None if no book has the position."""
    # The first player has loaded its books; the last one, just compiled, has not.
    for player in PLAYERS[:1]:
        try:
            return player.book_column(player.position(question))
        except player.refusal:  # a board of more than 62 bits, say
            break
        except Exception as error:
            TROUBLE.append(repr(error))
    return None


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column; Kaggle calls the last function of a file."""
    question = read(observation, configuration)
    column = known_column(question)
    if column is not None:
        return column
    started = time.perf_counter()
    overtime = question.overtime if any(role == PROOF for *_, role in AGENTS) else 0.0
    if overtime and COMPILER.is_alive():
        # Compiled code proves hundreds of times as much.
        COMPILER.join(overtime)
        overtime = max(overtime - (time.perf_counter() - started), 0.0)
        started = time.perf_counter()
    # A copy, because the thread that compiles adds a player and trouble removes one.
    for player in reversed(list(PLAYERS)):
        try:
            position = player.position(question)
        except player.refusal:  # a board of more than 63 bits, say
            break
        try:
            left = question.seconds - (time.perf_counter() - started)
            return player.column(position, left, overtime)
        except Exception as error:  # another player's move is better than a lost game
            TROUBLE.append(repr(error))
            PLAYERS.remove(player)
    return simple_column(question)
