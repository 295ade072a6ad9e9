"""Single machine instructions that Python has no operator for.

As plain Python they are what follows; in kernels they are the instructions themselves
(`_instructions.py`).
"""

import numpy as np


def popcount(bits: int) -> int:
    """Count the ones."""
    return int(bits).bit_count()


def bit_length(bits: int) -> int:
    """Count the binary digits of a number that is not negative."""
    return int(bits).bit_length()


def prefetch(array: np.ndarray, index: int) -> None:
    """Ask the memory for a word that will be read soon."""
