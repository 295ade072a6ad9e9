"""Locate winning lines; `has_line` only says whether there is one."""

from fourlab.compiled._jit import kernel
from fourlab.game.geometry import Geometry


@kernel
def line_starts(discs: int, step: int, in_a_row: int) -> int:
    """Return the first cells of lines in one direction: `has_line` without its branches."""
    # Example: three in a row from bit 0 upwards (step 1) are 0b111. Pairs are 0b011, and the last
    # shift by one cell leaves 0b001, the lowest cell.
    run, length = discs & (discs >> min(step, 63)), 2
    while 2 * length < in_a_row:
        run &= run >> min(length * step, 63)
        length *= 2
    return run & (run >> min((in_a_row - length) * step, 63))


@kernel
def first_line(own: int, mask: int, g: Geometry) -> int:
    """Return whose line begins first when rows are read from the top: +1 `own`, -1 other, 0 none.

    A line begins at its left end, a vertical line at its top.
    """
    # Both sides can have lines only where games continue after a win, as in Bhat's code
    # (`terminal=past-wins`).
    mine, theirs = line_heads(own, g), line_heads(own ^ mask, g)
    if mine == 0 or theirs == 0:
        return (mine != 0) - (theirs != 0)
    # Reading order decides, as in a program that scans a board row by row and returns at the first
    # line.
    for row in range(g.rows - 1, -1, -1):
        for column in range(g.columns):
            cell = 1 << (column * g.height + row)
            if mine & cell:
                return 1
            if theirs & cell:
                return -1
    return 0


@kernel
def line_heads(discs: int, g: Geometry) -> int:
    """Return the left ends of all lines, and the tops of vertical ones."""
    # A vertical line starts at its lowest cell, and its top is in_a_row - 1 cells above.
    heads = line_starts(discs, 1, g.in_a_row) << (g.in_a_row - 1)
    for step in (g.height, g.height - 1, g.height + 1):
        heads |= line_starts(discs, step, g.in_a_row)
    return heads
