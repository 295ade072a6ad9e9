"""Pattern values: the value of a position as a sum of table look-ups.

A pattern network (`nets/patterns.py`) looks at groups of cells. The state of a group is a number,
the index of a weight, and the sum of the weights of all groups is the value of the position for
red. There are two tables of weights, one for each side to move.

The *code* of a column is the column's part of `bitboard.key` with red's discs: the highest set bit
marks the first empty cell, the bits below it are red's discs. A disc changes the code of one
column, and with it the indices of the groups that have cells in this column, each by a number that
depends on the new code alone. So a search keeps the vector of all indices and adds a row of `steps`
to it with every disc; the sum itself is computed from the indices when a value is needed.
"""

from typing import NamedTuple

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.pattern_sums import add_step, total, total_after
from fourlab.game.geometry import Geometry

__all__ = [
    "Patterns",
    "add_step",
    "code_of",
    "fill_indices",
    "key_after",
    "red_key",
    "total",
    "total_after",
]


class Patterns(NamedTuple):
    """A pattern network as compiled code reads it."""

    start: np.ndarray
    """int32[look-ups]: the indices of the empty board."""
    steps: np.ndarray
    """int32[columns, codes, look-ups]: what a disc adds to the indices, by the new code of its
    column."""
    weights: np.ndarray
    """int16 or int32[2, entries]: a table for red to move and one for yellow to move. Integers, so
    that a sum does not depend on the order of its terms."""


@inlined_kernel
def code_of(key: int, column: int, g: Geometry) -> int:
    """Return the code of a column; `key` is that of red's discs."""
    return (key >> column * g.height) & ((1 << g.height) - 1)


@inlined_kernel
def key_after(key: int, cell: int, is_red: bool) -> int:
    """Return the key of red's discs after a disc has landed on a cell."""
    # Adding the cell moves the marker up by one; adding it again sets red's disc below the marker.
    return key + cell + (cell if is_red else 0)


@kernel
def red_key(own: int, mask: int, g: Geometry) -> int:
    """Return the key of red's discs."""
    red = own if popcount(mask) & 1 == 0 else own ^ mask
    return red + mask + g.bottom


@kernel
def fill_indices(key: int, p: Patterns, g: Geometry, indices: np.ndarray, level: int) -> None:
    """Write the indices of a position, int32[levels, look-ups]; `key` is that of red's discs."""
    for i in range(len(p.start)):
        indices[level, i] = p.start[i]
    for column in range(g.columns):
        code = code_of(key, column, g)
        # Replay the column from the bottom. After n discs the marker is bit n, and below it are the
        # lowest n bits of the code.
        marker = 2
        while marker <= code:
            add_step(p, column, marker | (code & (marker - 1)), indices, level, level)
            marker *= 2
