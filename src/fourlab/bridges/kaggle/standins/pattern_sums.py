"""Replaces compiled/pattern_sums.py where nothing is compiled: NumPy adds whole rows at a time."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fourlab.compiled.patterns import Patterns


def add_step(
    p: "Patterns", column: int, code: int, indices: np.ndarray, before: int, after: int
) -> None:
    """Write the indices after a disc, which gives its column a new code, to level `after`."""
    np.add(indices[before], p.steps[column, code], out=indices[after])


def total(p: "Patterns", side: int, indices: np.ndarray, level: int) -> int:
    """Return the sum of the weights: the position's value for red, before scale and tanh."""
    return int(p.weights[side].take(indices[level]).sum())


def total_after(
    p: "Patterns", side: int, column: int, code: int, indices: np.ndarray, before: int
) -> int:
    """Return the sum after a disc that has not been added to the indices."""
    return int(p.weights[side].take(indices[before] + p.steps[column, code]).sum())
