"""Where a game is played in the terminal: the board, messages and questions.

On a terminal one board is drawn again and again in the same place. Everywhere else, and with
NO_COLOR, boards and messages follow each other as plain text.
"""

import os
import sys
from typing import IO, TYPE_CHECKING

from fourlab.cli.board import plain_console, print_board
from fourlab.game.position import Position
from fourlab.terminal import may_be_terminal

if TYPE_CHECKING:
    from rich.console import Console

MARGIN = 8
"""Lines besides the rows of the board that a redrawn board needs."""


class Table:
    """Prints boards and messages one below the other, and reads answers."""

    is_live = False
    """Whether one board is drawn again in the same place."""

    def __init__(self, stream: IO[str], is_plain: bool = False) -> None:
        # rich leaves bold and dim text as it is when colours are turned off.
        options = {"force_terminal": False} if is_plain else {}
        self.console: Console = plain_console(stream, **options)

    def draw(self, position: Position, heading: str = "", status: str = "") -> None:
        """Draw the board; a live one also has a heading above and a status below."""
        print_board(position, self.console)

    def announce(self, text: str) -> None:
        """Show a message that belongs to the position: what an agent played, a hint."""
        self.show(text)

    def forget(self) -> None:
        """Drop the announcements: a new move begins."""

    def show(self, text: str) -> None:
        """Show a line of text."""
        self.console.print(text)

    def ask(self, prompt: str) -> str:
        """Read a line; end the prompt's line if there is no more input."""
        self.console.print(prompt, end="")
        try:
            return input()
        except EOFError:
            self.show("")
            raise


class LiveTable(Table):
    """Draws one board, again and again in the same place, with the latest messages below it."""

    is_live = True

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream)
        self._announcements: list[str] = []
        self._rows = 0
        """Rows of the screen since the top of the board, up to the cursor."""

    def draw(self, position: Position, heading: str = "", status: str = "") -> None:
        """Replace the board and everything below it."""
        from rich.control import Control
        from rich.segment import ControlType

        if self._rows:
            up = (ControlType.CURSOR_UP, self._rows)
            # To the beginning of the line, and erase everything from there to the end.
            self.console.control(Control(up, ControlType.CARRIAGE_RETURN))
            self.console.file.write("\x1b[J")
        self._rows = 0
        if heading:
            self.show(heading)
        print_board(position, self.console)
        # The numbers of the columns and the line of the status are below the board.
        self._rows += position.rules.rows + 2
        for text in self._announcements:
            self.show(text)
        if status:
            self.show(status)

    def announce(self, text: str) -> None:
        """Keep a message for the next time that the board is drawn."""
        self._announcements.append(text)

    def forget(self) -> None:
        """Drop the announcements."""
        self._announcements.clear()

    def show(self, text: str) -> None:
        """Show a line of text, and count its rows."""
        super().show(text)
        self._rows += self._rows_of(text)

    def ask(self, prompt: str) -> str:
        """Read a line; what was typed takes rows, too."""
        answer = super().ask(prompt)
        self._rows += self._rows_of(prompt + answer)
        return answer

    def keep(self) -> None:
        """Leave everything on the screen: the next board is drawn below it."""
        self._rows = 0

    def _rows_of(self, text: str) -> int:
        return max(1, -(-len(text) // max(1, self.console.width)))


def table(stream: IO[str], rows: int) -> Table:
    """Return a live table if people and the stream are on a terminal that is high enough."""
    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    if is_plain or not (may_be_terminal(stream) and sys.stdin.isatty() and stream.isatty()):
        return Table(stream, is_plain)
    live = LiveTable(stream)
    can_redraw = live.console.is_terminal and live.console.height >= rows + MARGIN
    return live if can_redraw else Table(stream)
