"""Counting: paths of play (perft) and distinct positions, the classic proofs that the rules are right."""

from collections.abc import Iterator

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import from_key, has_line, key, landing, landings
from fourlab.game.geometry import Geometry, geometry_of


@kernel
def perft(own: int, mask: int, g: Geometry, depth: int) -> int:
    """Count the ways to play exactly `depth` more discs; a finished game cannot be continued.

    The position must not be over.
    """
    if depth == 0:
        return 1
    if depth == 1:
        return popcount(landings(mask, g))
    count = 0
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell != 0 and not has_line(own | cell, g.height, g.in_a_row):
            count += perft(mask ^ own, mask | cell, g, depth - 1)
    return count


def distinct(own: int, mask: int, g: Geometry) -> Iterator[int]:
    """Yield the number of distinct positions after 0, 1, 2, … more discs, until no game goes on.

    Ended games count but are not continued. The position must not be over.
    """
    keys = np.array([key(own, mask, g)], np.int64)
    unfinished = keys
    while len(keys):
        yield len(keys)
        keys = np.sort(children(unfinished, g))
        keys = keys[np.diff(keys, prepend=0) != 0]
        unfinished = keys[goes_on(keys, g)]


@kernel
def children(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """Play every legal column of every position; positions reached twice appear twice."""
    found = np.empty(len(keys) * g.columns, np.int64)
    count = 0
    for i in range(len(keys)):
        own, mask = from_key(int(keys[i]), g)
        for column in range(g.columns):
            cell = landing(mask, column, g)
            if cell != 0:
                found[count] = key(mask ^ own, mask | cell, g)
                count += 1
    return found[:count]


@kernel
def goes_on(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """Mark the positions whose last disc has not won; a full board has no children, so it needs no mark."""
    marks = np.empty(len(keys), np.bool_)
    for i in range(len(keys)):
        own, mask = from_key(int(keys[i]), g)
        marks[i] = not has_line(mask ^ own, g.height, g.in_a_row)
    return marks


def warm_up_perft() -> None:
    """Count a few games."""
    perft(0, 0, geometry_of(7, 6, 4), 3)


def warm_up_distinct() -> None:
    """Count the positions of a tiny board."""
    sum(distinct(0, 0, geometry_of(3, 2, 3)))
