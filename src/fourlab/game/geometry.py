"""The bit layout of a board, computed once per board size."""

from typing import NamedTuple

# Boards of 7x7 (56 bits) and 9x6 (63 bits) fit, 8x7 (64 bits) does not.
MAX_BITS = 63
"""Boards are signed 64-bit integers, and all of them are positive: with 63 bits, the sign bit is
free. A key needs the guard bits too, but no more, since sums never carry out of a guard bit."""

_EVERY_OTHER = 0x1555555555555555
"""Bits 0, 2, 4, …, 60."""


class Geometry(NamedTuple):
    """The bit layout of one board size, as plain integers that compiled code accepts too.

    Bit `column * height + row` is a cell; row 0 is at the bottom. `bitboard.py` draws the layout.
    """

    columns: int
    rows: int
    in_a_row: int
    height: int
    """Bits per column: one per row and a guard bit on top that is never set."""
    bottom: int
    """Bitboard of the lowest cell of every column."""
    cells: int
    """Bitboard of all cells, without the guard bits."""
    # For zugzwang: if nobody is forced elsewhere, red gets the cells of odd rows and yellow those
    # of even rows (Allis, 1988). See `solver/strategies.py`.
    odd_rows: int
    """Bitboard of the first, third, fifth, … row, counted from 1 at the bottom as players do."""


def geometry_of(columns: int, rows: int, in_a_row: int) -> Geometry:
    """Return the layout of a board; the caller has checked that it fits into MAX_BITS."""
    height = rows + 1
    bottom = sum(1 << column * height for column in range(columns))
    return Geometry(
        columns,
        rows,
        in_a_row,
        height,
        bottom,
        # Multiplying by `bottom` copies a pattern of one column into all columns.
        cells=bottom * ((1 << rows) - 1),
        odd_rows=bottom * (_EVERY_OTHER & ((1 << rows) - 1)),
    )
