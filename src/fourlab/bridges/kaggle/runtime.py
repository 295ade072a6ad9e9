"""How a submission plays: it imports Fourlab's modules, which it contains as text, and asks their agents.

The modules are imported twice. As plain Python they play from the first move on. Where Numba is
installed, a thread imports them again with their kernels compiled, which takes some seconds, and
those play from then on. On boards that the agents do not know, and without NumPy, a simple player
answers.
"""

import importlib
import importlib.abc
import importlib.util
import logging
import re
import sys
import threading
import time
from types import ModuleType
from typing import Any

NAME = "submission"
"""The package under which the modules are imported, so that no other submission shares them."""
AGENTS: list[tuple[str, str, dict[str, Any], bool]] = []
"""Who is asked, in this order: module, class, options, and whether only a proven answer counts.

The next one is asked if an agent does not know the board or has proven nothing; the last one has
all the time that is left.
"""
MODULES: dict[str, str] = {}
"""Sources by the name of the module."""
PLAIN: dict[str, str] = {}
"""What stands for some of them if nothing is compiled; empty if nothing can be."""
TIME_SHARE = 0.8
"""The part of a move's time that is used; the rest is for a busy machine."""
USUAL_SECONDS = 2.0
"""Kaggle's time for a move, if the configuration does not say."""
FIRST_SHARE = 0.6
"""The part of the time of an agent after whom another may be asked."""
BEYOND_BOOKS = "4444443335"
"""Moves to a position of which everything must be searched."""
PLAYERS: "list[Player]" = []
"""Those that are ready; the last one is the fastest."""
TROUBLE: list[str] = []
"""What went wrong, for whoever examines the file."""


class Sources(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules under another name."""

    def __init__(self, package: str, modules: dict[str, str]) -> None:
        self.package = package
        self.modules = modules

    def original(self, name: str) -> str:
        """Return the name of a module in Fourlab."""
        return "fourlab" + name.removeprefix(self.package)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Tell Python's import system that a module is here."""
        if name.partition(".")[0] != self.package or self.original(name) not in self.modules:
            return None
        inside = f"{self.original(name)}."
        is_package = any(each.startswith(inside) for each in self.modules)
        return importlib.util.spec_from_loader(name, self, is_package=is_package)

    def exec_module(self, module: ModuleType) -> None:
        """Run a module, its imports of Fourlab's modules renamed."""
        source = self.modules[self.original(module.__name__)]
        renamed = re.sub(r"^( *)(from|import) fourlab\b", rf"\1\2 {self.package}", source, flags=re.MULTILINE)
        exec(compile(renamed, module.__name__, "exec"), module.__dict__)


class Player:
    """The agents as one copy of the modules has them."""

    def __init__(self, kind: str, modules: dict[str, str]) -> None:
        self.package = f"{NAME}_{kind}"
        if not any(isinstance(finder, Sources) and finder.package == self.package for finder in sys.meta_path):
            sys.meta_path.append(Sources(self.package, modules))
        self.contract = self.module("fourlab.agent")
        self.rules = self.module("fourlab.game.rules").Rules
        self.game = self.module("fourlab.game.position").Position
        self.refusal = self.module("fourlab.errors").UserError
        self.agents = [getattr(self.module(module), name)(**options) for module, name, options, _ in AGENTS]

    def module(self, name: str) -> Any:
        """Import a module of Fourlab's."""
        return importlib.import_module(self.package + name.removeprefix("fourlab"))

    def position(self, observation: Any, configuration: Any) -> Any:
        """Return the position that Kaggle describes."""
        columns, board = configuration.columns, list(observation.board)
        rows = [board[start : start + columns] for start in range(0, len(board), columns)]
        rules = self.rules(columns, configuration.rows, configuration.inarow)
        return self.game(rows, rules, to_move=observation.mark - 1, check_counts=False)

    def column(self, position: Any, seconds: float) -> int:
        """Ask the agents; raises what the last one raises."""
        until = time.perf_counter() + seconds
        last = len(self.agents) - 1
        for place, agent in enumerate(self.agents):
            left = max(until - time.perf_counter(), 0.01)
            only_proven = AGENTS[place][3]
            try:
                decision = self.decision(agent, position, left * FIRST_SHARE if only_proven else left)
            except self.refusal:
                if place == last:
                    raise
                continue
            if place == last or not only_proven or decision.proven is not None or decision.analysis.from_book:
                return int(decision.column)
        raise self.refusal("there is no agent")

    def decision(self, agent: Any, position: Any, seconds: float) -> Any:
        """Ask one agent; kernels watch the flag, which is set when the time is up."""
        stop = self.contract.Stop()
        timer = threading.Timer(seconds, stop.set)
        timer.daemon = True
        timer.start()
        try:
            return agent.decide(position, self.contract.Limit(seconds=seconds, stop=stop))
        finally:
            timer.cancel()

    def warm_up(self) -> None:
        """Have everything compiled."""
        for agent in self.agents:
            self.decision(agent, self.game(BEYOND_BOOKS), 0.05)


def prepare(kind: str, modules: dict[str, str]) -> None:
    """Make a player; whatever is missing or broken, the file still plays."""
    try:
        player = Player(kind, modules)
        if kind == "compiled":
            player.warm_up()
        PLAYERS.append(player)
    except ImportError:
        pass  # there is no NumPy, or no Numba
    except Exception as error:
        TROUBLE.append(repr(error))


def compile_in_background() -> None:
    """Make the fast player, if there is Numba."""
    if PLAYERS and PLAIN and importlib.util.find_spec("numba") is not None:
        logging.getLogger("fourlab.kernels").disabled = True
        threading.Thread(target=prepare, args=("compiled", MODULES), daemon=True).start()


def completes_line(board: list[int], columns: int, rows: int, in_a_row: int, column: int, row: int, mark: int) -> bool:
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


def simple_column(observation: Any, configuration: Any) -> int:
    """Win, or else block, or else play near the centre, not below a cell where the other side wins."""
    columns, rows = configuration.columns, configuration.rows
    board, mark = list(observation.board), observation.mark
    landing = {}
    for column in sorted(range(columns), key=lambda each: abs(2 * each - columns + 1)):
        empty = [row for row in range(rows) if board[row * columns + column] == 0]
        if empty:
            landing[column] = max(empty)
    for side in (mark, 3 - mark):
        for column, row in landing.items():
            if completes_line(board, columns, rows, configuration.inarow, column, row, side):
                return column
    for column, row in landing.items():
        if row == 0 or not completes_line(board, columns, rows, configuration.inarow, column, row - 1, 3 - mark):
            return column
    return next(iter(landing))


if AGENTS:
    prepare("plain", {**MODULES, **PLAIN})
    compile_in_background()


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column; Kaggle calls the last function of a file."""
    seconds = TIME_SHARE * float(getattr(configuration, "actTimeout", USUAL_SECONDS))
    if PLAYERS:
        player = PLAYERS[-1]
        try:
            position = player.position(observation, configuration)
        except player.refusal:  # a board of more than 62 bits, say
            return simple_column(observation, configuration)
        try:
            return player.column(position, seconds)
        except Exception as error:  # a simple move is better than a lost game
            TROUBLE.append(repr(error))
    return simple_column(observation, configuration)
