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

from math import tanh
from typing import NamedTuple

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import landing
from fourlab.compiled.pattern_sums import add_step, total, total_after
from fourlab.compiled.threats import non_losing, winning_cells
from fourlab.game.geometry import Geometry, geometry_of

__all__ = [
    "UNIT",
    "Patterns",
    "add_step",
    "code_of",
    "evaluate_positions",
    "fill_indices",
    "key_after",
    "red_key",
    "total",
    "total_after",
    "value_of",
]

UNIT = 1 << 10
"""Weights in files are int16; this much is 1 before tanh."""


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
    places: np.ndarray
    """int32[columns, codes, look-ups]: what a column of each code adds to the indices, which are
    the sum over all columns."""


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
    code = code_of(key, 0, g)
    for i in range(indices.shape[1]):
        indices[level, i] = p.places[0, code, i]
    for column in range(1, g.columns):
        code = code_of(key, column, g)
        for i in range(indices.shape[1]):
            indices[level, i] += p.places[column, code, i]


@inlined_kernel
def value_of(own: int, mask: int, p: Patterns, g: Geometry, indices: np.ndarray) -> float:
    """Return the value of a position, -1 to +1 for the side to move; writes indices to level 0.

    The weights are those of files, in units of 1 / UNIT.
    """
    side = popcount(mask) & 1
    fill_indices(red_key(own, mask, g), p, g, indices, 0)
    for_red = tanh(total(p, side, indices, 0) / UNIT)
    return for_red if side == 0 else -for_red


@kernel
def evaluate_positions(
    own: np.ndarray,  # int64[positions]: discs of the side to move
    mask: np.ndarray,  # int64[positions]: all discs
    p: Patterns,
    g: Geometry,
    values: np.ndarray,  # float32[positions], written
    after: np.ndarray,  # float32[positions, columns], written
) -> None:
    """Write the values of positions and of what follows each column, for the side to move.

    No game may be over. What can be read off the board is exact: a win with the next disc, a win of
    the opponent with the disc after that, a draw with the last disc. Full columns have -1.
    """
    indices = np.empty((1, len(p.start)), np.int32)
    for i in range(len(own)):
        here, discs = int(own[i]), int(mask[i])
        values[i] = value_of(here, discs, p, g, indices)
        key = red_key(here, discs, g)
        is_red = popcount(discs) & 1 == 0
        wins = winning_cells(here, discs, g)
        safe = non_losing(discs, winning_cells(here ^ discs, discs, g), g)
        for column in range(g.columns):
            cell = landing(discs, column, g)
            after[i, column] = -1
            if cell & wins:
                after[i, column] = values[i] = 1
            elif cell & safe and cell | discs == g.cells:
                after[i, column] = 0
            elif cell & safe:
                code = code_of(key_after(key, cell, is_red), column, g)
                side = 1 if is_red else 0
                for_red = tanh(total_after(p, side, column, code, indices, 0) / UNIT)
                after[i, column] = for_red if is_red else -for_red


def warm_up() -> None:
    """Compile or load the kernel that Python calls: evaluate the empty board."""
    steps = np.zeros((3, 8, 1), np.int32)
    p = Patterns(np.zeros(1, np.int32), steps, np.zeros((2, 1), np.int16), steps)
    zero, values = np.zeros(1, np.int64), np.zeros(1, np.float32)
    evaluate_positions(zero, zero, p, geometry_of(3, 2, 3), values, np.zeros((1, 3), np.float32))
