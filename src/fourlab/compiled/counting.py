"""Count move sequences (perft) and distinct positions, the standard tests of move generation."""

from collections.abc import Iterator

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import from_key, has_line, key, landing, landings
from fourlab.game.geometry import Geometry, geometry_of


@kernel
def perft(own: int, mask: int, g: Geometry, depth: int) -> int:
    """Return the number of ways to play exactly `depth` more discs; finished games do not continue.

    The position must not be over.
    """
    if depth == 0:
        return 1
    # The last disc need not be played: every column that is not full is one way.
    if depth == 1:
        return popcount(landings(mask, g))
    count = 0
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell != 0 and not has_line(own | cell, g.height, g.in_a_row):
            count += perft(mask ^ own, mask | cell, g, depth - 1)
    return count


def distinct(own: int, mask: int, g: Geometry) -> Iterator[int]:
    """Yield the number of distinct positions after 0, 1, 2, … more discs, until every game is over.

    Finished games are counted once but not continued. The position must not be over.
    """
    keys = np.array([key(own, mask, g)], np.int64)
    unfinished = keys
    while len(keys):
        yield len(keys)
        # Remove duplicates by sorting, which needs no set of Python integers. No key is 0, so the
        # first one always differs from its predecessor. The 7x6 board has 4,531,985,219,092
        # positions in all (OEIS A212693 lists them by ply).
        keys = np.sort(children(unfinished, g))
        keys = keys[np.diff(keys, prepend=0) != 0]
        unfinished = keys[is_unfinished(keys, g)]


@kernel
def children(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """Return the keys after every legal move in every position, duplicates included."""
    # At most one child per column; the array is cut to its length at the end.
    child_keys = np.empty(len(keys) * g.columns, np.int64)
    count = 0
    for i in range(len(keys)):
        own, mask = from_key(int(keys[i]), g)
        for column in range(g.columns):
            cell = landing(mask, column, g)
            if cell != 0:
                child_keys[count] = key(mask ^ own, mask | cell, g)
                count += 1
    return child_keys[:count]


@kernel
def is_unfinished(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """Return which positions are not won, bool[keys]; full boards count as not won."""
    unfinished_marks = np.empty(len(keys), np.bool_)
    for i in range(len(keys)):
        own, mask = from_key(int(keys[i]), g)
        # The side to move owns `own`; a finished game was won by the other side.
        unfinished_marks[i] = not has_line(mask ^ own, g.height, g.in_a_row)
    return unfinished_marks


def warm_up_perft() -> None:
    """Compile `perft`."""
    perft(0, 0, geometry_of(7, 6, 4), 3)


def warm_up_distinct() -> None:
    """Compile the kernels of `distinct`."""
    sum(distinct(0, 0, geometry_of(3, 2, 3)))
