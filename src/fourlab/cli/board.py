"""Draw a position on the terminal, in colour where the terminal supports it."""

import sys
from typing import IO, TYPE_CHECKING, Any

from fourlab.game.drawing import status as status
from fourlab.game.drawing import text, text_lines
from fourlab.game.position import Position
from fourlab.terminal import console, may_be_terminal

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {None: "dim", 0: "dim", 1: "bold red", 2: "bold yellow"}
"""rich styles of numbers, of an empty cell, a red disc and a yellow disc."""


def plain_console(file: IO[str] | None = None, **options: Any) -> "Console":
    """Return a console that prints text unchanged: no markup, emoji codes or highlighting."""
    return console(file, soft_wrap=True, **options)


def print_board(position: Position, on: "Console | None" = None) -> None:
    """Draw the board, then one line with the side to move or the result.

    The cells of a winning line are in parentheses, so that they are visible without colour.
    """
    if on is None and not may_be_terminal(sys.stdout):  # rich is slow to import
        print(text(position))
        return
    from rich.text import Text

    on = on or plain_console()
    for line in text_lines(position):
        on.print(Text.assemble(*((piece, _STYLES[cell]) for piece, cell in line)))
    on.print(status(position))
