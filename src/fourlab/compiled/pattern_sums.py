"""Sums over all look-ups of a pattern network: the innermost loops of an evaluation.

`compiled/patterns.py` explains indices and steps. Slices of arrays count references, which costs
more than a whole row of additions, so these functions take whole arrays: `indices` are those of
several positions, one per level.

A submission to Kaggle that is not compiled has NumPy do these loops.
"""

from typing import TYPE_CHECKING

import numpy as np

from fourlab.compiled._jit import inlined_kernel

if TYPE_CHECKING:
    from fourlab.compiled.patterns import Patterns


@inlined_kernel
def add_step(
    p: "Patterns", column: int, code: int, indices: np.ndarray, before: int, after: int
) -> None:
    """Write the indices after a disc, which gives its column a new code, to level `after`."""
    for i in range(indices.shape[1]):
        indices[after, i] = indices[before, i] + p.steps[column, code, i]


@inlined_kernel
def total(p: "Patterns", side: int, indices: np.ndarray, level: int) -> int:
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
    p: "Patterns", side: int, column: int, code: int, indices: np.ndarray, before: int
) -> int:
    """Return the sum after a disc that has not been added to the indices."""
    weights = 0
    for i in range(indices.shape[1]):
        index = np.uint32(indices[before, i] + p.steps[column, code, i])
        weights += int(p.weights[side, index])
    return weights
