"""Single machine instructions that Python has no operator for.

In plain Python they run as written here; in kernels they are the instructions themselves
(`_instructions.py`).
"""

import numpy as np


def popcount(bits: int) -> int:
    """Return the number of set bits."""
    return int(bits).bit_count()


def bit_length(bits: int) -> int:
    """Return the number of binary digits of a non-negative integer, 0 for 0."""
    return int(bits).bit_length()


def prefetch(array: np.ndarray, index: int) -> None:
    """Start loading an element into the cache; does nothing in plain Python."""
