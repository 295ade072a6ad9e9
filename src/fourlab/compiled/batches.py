"""Many games in lockstep: a move in every position of an array.

Positions are two arrays int64[games], `own` and `mask`, with the layout of game/bitboard.py.
"""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.board import has_line, landing, landings, mirror
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

ONGOING, DRAWN, WON = 0, 1, 2
"""The states of a game after a move. The side that moved cannot have lost."""


@kernel
def play_columns(own: np.ndarray, mask: np.ndarray, columns: np.ndarray, g: Geometry) -> np.ndarray:
    """Play a column in every game, in place, and return the new states, int64[games].

    The columns must not be full. `own` then holds the discs of the other side.
    """
    states = np.zeros(len(own), np.int64)
    for i in range(len(own)):
        cell = landing(mask[i], columns[i], g)
        discs = own[i] | cell
        # Change sides: what is not own belongs to the opponent, who moves next.
        own[i] ^= mask[i]
        mask[i] |= cell
        if has_line(discs, g.height, g.in_a_row):
            states[i] = WON
        elif mask[i] == g.cells:
            states[i] = DRAWN
    return states


@kernel
def open_columns(mask: np.ndarray, g: Geometry) -> np.ndarray:
    """Return which columns are not full, bool[games, columns]."""
    open_ = np.zeros((len(mask), g.columns), np.bool_)
    for i in range(len(mask)):
        for column in range(g.columns):
            open_[i, column] = landing(mask[i], column, g) != 0
    return open_


@kernel
def urgent_columns(own: np.ndarray, mask: np.ndarray, central: bool, g: Geometry) -> np.ndarray:
    """Return the columns among which the agent `rules` chooses, bool[games, columns].

    These are the columns that win at once; if there are none, those that block the opponent's win;
    if there are none, all that are not full. If `central`, only the ones nearest the centre remain.
    """
    urgent = np.zeros((len(mask), g.columns), np.bool_)
    for i in range(len(mask)):
        landing_cells = landings(mask[i], g)
        # The same rules as `agents/simple/rules.py`, on bits.
        cells = landing_cells & winning_cells(own[i], mask[i], g)
        if not cells:
            cells = landing_cells & winning_cells(own[i] ^ mask[i], mask[i], g)
        if not cells:
            cells = landing_cells
        nearest = 2 * g.columns  # twice the distance from the centre
        for column in range(g.columns):
            # Distances are doubled, so that they are integers on boards with an even number of
            # columns.
            if (cells >> column * g.height) & ((1 << g.rows) - 1):
                urgent[i, column] = True
                nearest = min(nearest, abs(2 * column - g.columns + 1))
        if central:
            for column in range(g.columns):
                urgent[i, column] &= abs(2 * column - g.columns + 1) == nearest
    return urgent


@kernel
def mirror_moves(
    own: np.ndarray, mask: np.ndarray, columns: np.ndarray, which: np.ndarray, g: Geometry
) -> None:
    """Mirror the positions and columns selected by `which`, bool[games], in place."""
    for i in range(len(own)):
        if which[i]:
            own[i] = mirror(own[i], g)
            mask[i] = mirror(mask[i], g)
            columns[i] = g.columns - 1 - columns[i]


def warm_up() -> None:
    """Compile the kernels: make a move in one game and mirror it."""
    board = geometry_of(7, 6, 4)
    own, mask, columns = (np.zeros(1, np.int64) for _ in range(3))
    open_columns(mask, board)
    urgent_columns(own, mask, True, board)
    mirror_moves(own, mask, columns, np.ones(1, np.bool_), board)
    play_columns(own, mask, columns, board)
