"""The rules of a game: the board size and the length of a winning line."""

import re
from dataclasses import dataclass
from functools import cached_property

from fourlab.errors import UserError
from fourlab.game.geometry import MAX_BITS, Geometry, geometry_of


@dataclass(frozen=True)
class Rules:
    """A board size and the length of a winning line, written COLUMNSxROWSxINAROW."""

    columns: int = 7
    rows: int = 6
    in_a_row: int = 4

    def __post_init__(self) -> None:
        if self.columns < 1 or self.rows < 1:
            raise UserError(f"a board needs at least one column and one row, not {self}")
        if self.in_a_row < 3:
            raise UserError(f"at least three in a row must win, not {self.in_a_row}")
        # A line longer than the board is allowed: then every game is a draw. Compiled code shifts
        # by multiples of this number, so it is bounded nevertheless.
        if self.in_a_row > MAX_BITS:
            raise UserError(f"no board has room for {self.in_a_row} in a row")
        if (self.rows + 1) * self.columns > MAX_BITS:
            raise UserError(
                f"board {self} is too large: (rows + 1) * columns may be at most {MAX_BITS}"
            )

    @classmethod
    def parse(cls, text: str) -> "Rules":
        """Read rules written as 7x6x4, or as 7x6 for four in a row."""
        # The digits are bounded: int() refuses texts of thousands of digits with an error of its
        # own.
        match = re.fullmatch(r"(\d{1,3})x(\d{1,3})(?:x(\d{1,9}))?", text.strip().lower())
        if match is None:
            raise UserError(
                f"a board is written COLUMNSxROWSxINAROW, for example 7x6x4, not {text!r}"
            )
        columns, rows, in_a_row = match.groups()
        return cls(int(columns), int(rows), int(in_a_row or 4))

    @cached_property
    def geometry(self) -> Geometry:
        """The board's bit layout."""
        return geometry_of(self.columns, self.rows, self.in_a_row)

    def from_centre(self, column: int) -> float:
        """Return the distance of a column from the middle of the board, in columns."""
        # On an even number of columns the middle lies between two of them.
        return abs(column - (self.columns - 1) / 2)

    def __str__(self) -> str:
        return f"{self.columns}x{self.rows}x{self.in_a_row}"


CLASSIC = Rules()
"""Seven columns, six rows, four in a row."""
