"""Additions and exchanges that several threads may make at once on one array.

As plain Python they are what follows, under the GIL; in kernels they are atomic instructions
(`_instructions.py`).
"""

import numpy as np


def atomic_add(array: np.ndarray, index: int, amount: int) -> int:
    """Add to one number and return what it was before."""
    before = int(array[index])
    array[index] = before + amount
    return before


def atomic_replace(array: np.ndarray, index: int, expected: int, value: int) -> int:
    """Write the value if the number is what was expected; return what it was before."""
    before = int(array[index])
    if before == expected:
        array[index] = value
    return before
