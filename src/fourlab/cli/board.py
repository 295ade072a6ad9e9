"""A position on the terminal, in colour where the terminal has colours."""

import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from fourlab.cli.options import may_be_terminal
from fourlab.game.drawing import cell_name
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = ("dim", "bold red", "bold yellow")


def plain_console(file: IO[str] | None = None) -> "Console":
    """A console that prints texts as they are: no markup, no emoji codes, no guessing what is a number."""
    from rich.console import Console

    return Console(file=file, highlight=False, soft_wrap=True, markup=False, emoji=False)


def print_board(position: Position, console: "Console | None" = None) -> None:
    """Draw the board, then one line: who moves, or who won and where. A winning line is also in brackets."""
    if console is None and not may_be_terminal(sys.stdout):  # rich is slow to load
        for line in _lines(position):
            print("".join(text for text, _ in line))
        print(status(position))
        return
    from rich.text import Text

    console = console or plain_console()
    for line in _lines(position):
        console.print(Text.assemble(*line))
    console.print(status(position))


def _lines(position: Position) -> Iterator[list[tuple[str, str]]]:
    """The board from the top, then the columns' numbers: texts with their styles."""
    won = set(position.winning_cells())
    for below_top, cells in enumerate(position.grid()):
        row = position.rules.rows - 1 - below_top
        line = [(" ", "")]
        for column, cell in enumerate(cells):
            disc = ".XO"[cell]
            line.append((f"({disc})" if (column, row) in won else f" {disc} ", _STYLES[cell]))
        yield line
    numbers = "".join(f"{column + 1:^3}" for column in range(position.rules.columns))
    yield [(f" {numbers}", "dim")]


def status(position: Position) -> str:
    """Who moves, or how the game ended, in words."""
    outcome = position.outcome()
    if outcome is None:
        return f"{SIDE_NAMES[position.to_move]} ({'XO'[position.to_move]}) to move, {position.ply} discs on the board"
    if outcome.winner is None:
        return "draw: the board is full"
    cells = " ".join(cell_name(column, row) for column, row in position.winning_cells())
    return f"{outcome} with {cells}"
