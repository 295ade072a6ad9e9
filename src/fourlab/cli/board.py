"""Draw a position on the terminal, in colour where the terminal supports it."""

import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from fourlab.cli.options import may_be_terminal
from fourlab.cli.terminal import console
from fourlab.game.drawing import cell_name
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = ("dim", "bold red", "bold yellow")
"""rich styles of an empty cell, a red disc and a yellow disc: the values of `Position.grid`."""


def plain_console(file: IO[str] | None = None, **options: Any) -> "Console":
    """Return a console that prints text unchanged: no markup, emoji codes or highlighting."""
    return console(file, soft_wrap=True, **options)


def print_board(position: Position, on: "Console | None" = None) -> None:
    """Draw the board, then one line with the side to move or the result.

    The cells of a winning line are in parentheses, so that they are visible without colour.
    """
    if on is None and not may_be_terminal(sys.stdout):  # rich is slow to import
        for line in _lines(position):
            print("".join(text for text, _ in line))
        print(status(position))
        return
    from rich.text import Text

    on = on or plain_console()
    for line in _lines(position):
        on.print(Text.assemble(*line))
    on.print(status(position))


def _lines(position: Position) -> Iterator[list[tuple[str, str]]]:
    """Yield the rows from the top, then the column numbers, as lists of (text, style)."""
    winning = set(position.winning_cells())
    for below_top, cells in enumerate(position.grid()):
        row = position.rules.rows - 1 - below_top  # the grid begins at the top, rows at the bottom
        line = [(" ", "")]
        for column, cell in enumerate(cells):
            disc = ".XO"[cell]
            text = f"({disc})" if (column, row) in winning else f" {disc} "
            line.append((text, _STYLES[cell]))
        yield line
    # Three characters per column leave room for parentheses and for numbers of two digits.
    numbers = "".join(f"{column + 1:^3}" for column in range(position.rules.columns))
    yield [(f" {numbers}", "dim")]


def status(position: Position) -> str:
    """Return the side to move, or how the game ended, in words."""
    outcome = position.outcome()
    if outcome is None:
        side = f"{SIDE_NAMES[position.to_move]} ({'XO'[position.to_move]})"
        return f"{side} to move, {position.ply} discs on the board"
    if outcome.winner is None:
        return "draw: the board is full"
    cells = " ".join(cell_name(column, row) for column, row in position.winning_cells())
    return f"{outcome} with {cells}"
