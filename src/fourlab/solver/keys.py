"""Checks of arrays of keys that were read from files, in steps that need little memory."""

from collections.abc import Iterator

import numpy as np

from fourlab.game import bitboard
from fourlab.game.geometry import Geometry

STEP = 1 << 15
"""Keys that are checked together."""


def steps(count: int) -> Iterator[slice]:
    """Yield slices that cover `count` rows."""
    for start in range(0, count, STEP):
        yield slice(start, start + STEP)


def check_keys(keys: np.ndarray, g: Geometry) -> None:
    """Raise ValueError unless all keys are possible on the board."""
    for part in steps(len(keys)):
        some = keys[part]
        if ((some <= 0) | (some >> g.columns * g.height != 0)).any():
            raise ValueError("it holds positions of another board")
        for column in range(g.columns):
            # Every column of a key has a bit above its discs.
            if not (some >> column * g.height & (1 << g.height) - 1).all():
                raise ValueError("it holds invalid positions")


def check_order(keys: np.ndarray) -> None:
    """Raise ValueError unless keys are in ascending order without repetition."""
    for part in steps(len(keys)):
        # One key before, to compare the parts with each other.
        if (np.diff(keys[max(part.start - 1, 0) : part.stop]) <= 0).any():
            raise ValueError("its positions are not sorted")


def check_canonical(keys: np.ndarray, g: Geometry) -> None:
    """Raise ValueError if a key is greater than that of the mirror image."""
    for part in steps(len(keys)):
        # Shifts work on whole arrays too.
        mirrored = bitboard.mirror(keys[part], g)  # type: ignore[arg-type]
        if (mirrored < keys[part]).any():
            raise ValueError("it shares values between mirror images and holds both")


def count_discs(keys: np.ndarray, g: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of discs of the side to move and of all discs, int64[N] each."""
    own = np.zeros(len(keys), np.int64)
    both = np.zeros(len(keys), np.int64)
    for column in range(g.columns):
        bits = keys >> column * g.height & (1 << g.height) - 1
        # frexp's exponent is the bit length: the highest 1 is above the discs.
        discs = np.frexp(bits.astype(np.float64))[1].astype(np.int64) - 1
        both += discs
        own -= 1  # the highest 1 is no disc
        for row in range(g.height):
            own += bits >> row & 1
    return own, both
