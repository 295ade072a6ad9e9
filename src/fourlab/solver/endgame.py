"""Games played to their end without a mistake, for learning from what is exactly known."""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import landing, landings
from fourlab.compiled.random import advance, below
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.kernel import solve
from fourlab.solver.table import new_table

NO_COLUMN = -2
NO_END = 1 << 60


@kernel
def column_results(own: int, mask: int, g: Geometry, table: np.ndarray, results: np.ndarray) -> int:
    """Find what every column leads to, 1, 0 or -1 for the side to move, NO_COLUMN where it is full; returns the best of them."""
    wins = winning_cells(own, mask, g) & landings(mask, g)
    stop, nodes, best = np.zeros(1, np.uint8), np.zeros(1, np.int64), NO_COLUMN
    for column in range(g.columns):
        results[column] = NO_COLUMN
        cell = landing(mask, column, g)
        if cell == 0:
            continue
        if cell & wins:
            results[column] = 1
        elif mask | cell == g.cells:
            results[column] = 0
        else:
            left = g.columns * g.rows - popcount(mask | cell)
            lower, upper = solve(
                own ^ mask, mask | cell, -(left >> 1), (left + 1) >> 1, (-1, 1), g, table, 0, NO_END, stop, nodes
            )
            results[column] = -1 if lower > 0 else 1 if upper < 0 else 0
        best = max(best, results[column])
    return best


@kernel
def play_out(
    own: int,
    mask: int,
    g: Geometry,
    table: np.ndarray,  # the solver's
    owns: np.ndarray,  # int64[cells]: positions met, as their side to move sees them
    masks: np.ndarray,  # int64[cells]
    policies: np.ndarray,  # float32[cells, columns]: the best columns share the chance
    state: int,
) -> tuple[int, int, int]:
    """Play a position to the end, each side always one of its best columns by lot, and one that wins at once if there is any.

    Returns how many positions were met, the result for the side to move at first, and the random state.
    """
    results = np.zeros(g.columns, np.int64)
    met, first = 0, 0
    while mask != g.cells:
        best = column_results(own, mask, g, table, results)
        wins = winning_cells(own, mask, g)
        if wins & landings(mask, g):  # why wait
            for column in range(g.columns):
                if not landing(mask, column, g) & wins:
                    results[column] = NO_COLUMN
        count = 0
        for column in range(g.columns):
            count += results[column] == best
        owns[met], masks[met] = own, mask
        for column in range(g.columns):
            policies[met, column] = np.float32(1 / count) if results[column] == best else np.float32(0)
        if met == 0:
            first = best
        met += 1
        state = advance(state)
        number, chosen = below(count, state), -1
        for column in range(g.columns):
            if results[column] == best:
                if number == 0:
                    chosen = column
                number -= 1
        cell = landing(mask, chosen, g)
        if wins & cell:
            break
        own, mask = own ^ mask, mask | cell
    return met, first, state


def warm_up() -> None:
    """Play the last disc of a game."""
    board = geometry_of(7, 6, 4)
    own, mask = np.zeros((2, 42), np.int64)
    full = board.cells ^ (1 << 6 * board.height + 5)  # one cell left
    policies = np.zeros((42, board.columns), np.float32)
    play_out(0, full, board, new_table(1 << 10), own, mask, policies, 1)
