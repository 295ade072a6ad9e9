"""Atomic operations on the elements of an array that threads share.

In plain Python they run as written here, under the GIL; in kernels they are atomic instructions
(`_instructions.py`).
"""

import numpy as np


def atomic_add(array: np.ndarray, index: int, amount: int) -> int:
    """Add to an element and return its previous value."""
    # Sequentially consistent in kernels, like everything under the GIL.
    before = int(array[index])
    array[index] = before + amount
    return before


def atomic_replace(array: np.ndarray, index: int, expected: int, value: int) -> int:
    """Compare and swap: write `value` if the element is `expected`; return its previous value."""
    before = int(array[index])
    if before == expected:
        array[index] = value
    return before
