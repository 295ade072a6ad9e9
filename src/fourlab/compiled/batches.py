"""Many games in step: a column is played in each of an array of positions.

Positions are two arrays int64[games], `own` and `mask`, as one position is two integers (game/bitboard.py).
"""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.board import has_line, landing, landings, mirror
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

GOES_ON, DRAWN, WON = 0, 1, 2
"""How a game stands after a move: nobody can lose by moving."""


@kernel
def play_columns(own: np.ndarray, mask: np.ndarray, columns: np.ndarray, g: Geometry) -> np.ndarray:
    """Play an open column in every game, in place, the other side being to move then; returns how each game stands."""
    stands = np.zeros(len(own), np.int64)
    for i in range(len(own)):
        cell = landing(mask[i], columns[i], g)
        stones = own[i] | cell
        own[i] ^= mask[i]
        mask[i] |= cell
        if has_line(stones, g.height, g.in_a_row):
            stands[i] = WON
        elif mask[i] == g.cells:
            stands[i] = DRAWN
    return stands


@kernel
def open_columns(mask: np.ndarray, g: Geometry) -> np.ndarray:
    """Tell which columns can be played: bool[games, columns]."""
    found = np.zeros((len(mask), g.columns), np.bool_)
    for i in range(len(mask)):
        for column in range(g.columns):
            found[i, column] = landing(mask[i], column, g) != 0
    return found


@kernel
def urgent_columns(own: np.ndarray, mask: np.ndarray, central: bool, g: Geometry) -> np.ndarray:
    """Tell among which columns the agent `rules` chooses: bool[games, columns].

    Those that win at once; if there are none, those that keep the other side from it; if there are none, all. If
    `central`, only the nearest to the centre of these.
    """
    found = np.zeros((len(mask), g.columns), np.bool_)
    for i in range(len(mask)):
        landing_cells = landings(mask[i], g)
        cells = landing_cells & winning_cells(own[i], mask[i], g)
        if not cells:
            cells = landing_cells & winning_cells(own[i] ^ mask[i], mask[i], g)
        if not cells:
            cells = landing_cells
        nearest = 2 * g.columns
        for column in range(g.columns):
            if (cells >> column * g.height) & ((1 << g.rows) - 1):
                found[i, column] = True
                nearest = min(nearest, abs(2 * column - g.columns + 1))
        if central:
            for column in range(g.columns):
                found[i, column] &= abs(2 * column - g.columns + 1) == nearest
    return found


@kernel
def mirror_moves(own: np.ndarray, mask: np.ndarray, columns: np.ndarray, which: np.ndarray, g: Geometry) -> None:
    """Exchange left and right, in place, in those positions and their columns that `which` says, bool[games]."""
    for i in range(len(own)):
        if which[i]:
            own[i] = mirror(own[i], g)
            mask[i] = mirror(mask[i], g)
            columns[i] = g.columns - 1 - columns[i]


def warm_up() -> None:
    """Make a move in one game, and mirror it."""
    board = geometry_of(7, 6, 4)
    own, mask, columns = (np.zeros(1, np.int64) for _ in range(3))
    open_columns(mask, board)
    urgent_columns(own, mask, True, board)
    mirror_moves(own, mask, columns, np.ones(1, np.bool_), board)
    play_columns(own, mask, columns, board)
