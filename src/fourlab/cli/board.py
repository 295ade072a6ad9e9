"""A position on the terminal, in colour where the terminal has colours."""

from typing import IO

from rich.console import Console
from rich.text import Text

from fourlab.game.draw import cell_name
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position

_STYLES = ("dim", "bold red", "bold yellow")


def plain_console(file: IO[str] | None = None) -> Console:
    """A console that prints texts as they are: no markup, no emoji codes, no guessing what is a number."""
    return Console(file=file, highlight=False, soft_wrap=True, markup=False, emoji=False)


def print_board(position: Position, console: Console | None = None) -> None:
    """Draw the board, then one line: who moves, or who won and where. A winning line is also in brackets."""
    console = console or plain_console()
    won = set(position.winning_cells())
    for below_top, cells in enumerate(position.grid()):
        line = Text(" ")
        for column, cell in enumerate(cells):
            mark = f"({'.XO'[cell]})" if (column, position.rules.rows - 1 - below_top) in won else f" {'.XO'[cell]} "
            line.append(mark, _STYLES[cell])
        console.print(line)
    numbers = "".join(f"{column + 1:^3}" for column in range(position.rules.columns))
    console.print(Text(f" {numbers}", "dim"))
    console.print(status(position))


def status(position: Position) -> str:
    """Who moves, or how the game ended, in words."""
    outcome = position.outcome()
    if outcome is None:
        return f"{SIDE_NAMES[position.to_move]} ({'XO'[position.to_move]}) to move, {position.ply} discs on the board"
    if outcome.winner is None:
        return "draw: the board is full"
    cells = " ".join(cell_name(column, row) for column, row in position.winning_cells())
    return f"{outcome} with {cells}"
