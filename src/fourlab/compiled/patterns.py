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
from fourlab.game.geometry import Geometry

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


# Slices of arrays count references, which costs more than a whole row of additions. So these
# functions take whole arrays: `indices` are those of several positions, one per level.


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
def add_step(
    p: Patterns, column: int, code: int, indices: np.ndarray, before: int, after: int
) -> None:
    """Write the indices after a disc, which gives its column a new code, to level `after`."""
    for i in range(indices.shape[1]):
        indices[after, i] = indices[before, i] + p.steps[column, code, i]


@inlined_kernel
def total(p: Patterns, side: int, indices: np.ndarray, level: int) -> int:
    """Return the sum of the weights: the position's value for red, before scale and tanh.

    `side` is the side to move, 0 for red and 1 for yellow.
    """
    weights = 0
    for i in range(indices.shape[1]):
        # Unsigned, so that Numba does not test for indices that count from the end.
        weights += int(p.weights[side, np.uint32(indices[level, i])])
    return weights


@inlined_kernel
def total_after(
    p: Patterns, side: int, column: int, code: int, indices: np.ndarray, before: int
) -> int:
    """Return the sum after a disc that has not been added to the indices."""
    weights = 0
    for i in range(indices.shape[1]):
        index = np.uint32(indices[before, i] + p.steps[column, code, i])
        weights += int(p.weights[side, index])
    return weights


@inlined_kernel
def value_of(own: int, mask: int, p: Patterns, g: Geometry, indices: np.ndarray) -> float:
    """Return the value of a position, -1 to +1 for the side to move; writes indices to level 0.

    The weights are those of files, in units of 1 / UNIT.
    """
    side = popcount(mask) & 1
    fill_indices(red_key(own, mask, g), p, g, indices, 0)
    for_red = tanh(total(p, side, indices, 0) / UNIT)
    return for_red if side == 0 else -for_red
