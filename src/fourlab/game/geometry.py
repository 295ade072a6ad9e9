"""The numbers that describe a board's bit layout, made once per board size."""

from typing import NamedTuple

MAX_BITS = 62
"""Boards are signed 64-bit integers; two bits are left free so that sums and keys stay positive."""

_EVERY_OTHER = 0x1555555555555555


class Geometry(NamedTuple):
    """One board size as plain integers, understood by Python and by compiled code alike.

    Bit `column * height + row` is one cell, row 0 at the bottom; `bitboard.py` draws the layout.
    """

    columns: int
    rows: int
    in_a_row: int
    height: int
    """Bits per column: the rows and one guard bit on top that no disc ever covers."""
    bottom: int
    """The lowest cell of every column."""
    cells: int
    """Every cell a disc can cover."""
    odd_rows: int
    """The cells of the first, third, fifth … row, counted from the bottom as players do."""


def geometry_of(columns: int, rows: int, in_a_row: int) -> Geometry:
    """Lay out a board; the caller has checked that it fits into MAX_BITS."""
    height = rows + 1
    bottom = sum(1 << column * height for column in range(columns))
    return Geometry(
        columns, rows, in_a_row, height, bottom, bottom * ((1 << rows) - 1), bottom * (_EVERY_OTHER & ((1 << rows) - 1))
    )
