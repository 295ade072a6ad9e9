"""Load a submission and call it the way Kaggle does.

The file is executed in an empty namespace; the last callable in it is the agent. Meanwhile, modules
can be imported from its folder. The agent is called with an observation and a configuration whose
values are both attributes and items.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from fourlab.game.position import Position

USUAL = {
    "episodeSteps": 1000,
    "actTimeout": 2,
    "runTimeout": 1200,
    "columns": 7,
    "rows": 6,
    "inarow": 4,
    "agentTimeout": 60,
    "timeout": 2,
}
"""The configuration of ConnectX. Times are in seconds; no game reaches episodeSteps (states of the
game) or runTimeout (for a whole game)."""
BANK = 60
"""Seconds of overtime that an agent has in the whole game."""
Submission = Callable[..., Any]


class Struct(dict[str, Any]):
    """A dictionary whose values are attributes too."""

    def __init__(self, **values: Any) -> None:
        super().__init__(values)
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.__dict__[name] = value


def load(source: str, folder: str | None = None) -> Submission:
    """Return the agent of a submission; raise whatever its code raises.

    Modules beside it are in `folder`; it must import them now, not when it is asked for a column.
    """
    # Like Kaggle: an empty namespace, in which __name__ is not "__main__" and __file__ is missing.
    namespace: dict[str, Any] = {}
    code = compile(source, "<submission>", "exec")
    if folder is not None:
        sys.path.append(folder)
    exec(code, namespace)
    if folder is not None:
        sys.path.pop()  # whatever the file has appended, as Kaggle does
    del namespace["__builtins__"]
    functions = [value for value in namespace.values() if callable(value)]
    if not functions:
        raise ValueError("there is no function in it")
    # Dictionaries keep their order, so the last value is what the file defined last.
    return functions[-1]  # type: ignore[no-any-return]


def ask(
    agent: Submission,
    cells: Sequence[int],
    mark: int,
    step: int,
    bank: float = BANK,
    **configuration: Any,
) -> Any:
    """Ask an agent for a column.

    `cells` are listed from the top left: 0 is empty, 1 and 2 are the sides. `mark` is the side to
    move, `step` the number of discs on the board.
    """
    return call(agent, cells, mark, step, bank, Struct(**{**USUAL, **configuration}))


def call(
    agent: Submission,
    cells: Sequence[int],
    mark: int,
    step: int,
    bank: float,
    configuration: Struct,
) -> Any:
    """Call an agent with a complete configuration; otherwise as `ask`."""
    observation = Struct(board=list(cells), mark=mark, step=step, remainingOverageTime=bank)
    arguments = [observation, configuration]
    if hasattr(agent, "__code__"):  # some agents take the observation only
        arguments = arguments[: agent.__code__.co_argcount]
    return agent(*arguments)


def ask_about(agent: Submission, position: Position, bank: float = BANK, **times: float) -> Any:
    """Ask an agent for a column of a position; `times` are entries of the configuration."""
    rules = position.rules
    board = {"columns": rules.columns, "rows": rules.rows, "inarow": rules.in_a_row}
    mark = 1 + position.to_move
    return ask(agent, cells_of(position), mark, position.ply, bank, **board, **times)


def cells_of(position: Position) -> list[int]:
    """Return the cells in Kaggle's order: row by row from the top left."""
    return [cell for row in position.grid() for cell in row]
