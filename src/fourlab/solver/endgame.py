"""Perfect play from a position to the end of the game, as training data with exact targets."""

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
"""The result of a full column."""
MAX_NODES = 1 << 60
"""No limit: every search is completed."""


@kernel
def column_results(own: int, mask: int, g: Geometry, table: np.ndarray, results: np.ndarray) -> int:
    """Write the exact result of every column into `results` and return the best of them.

    Results are from the point of view of the side to move: 1 win, 0 draw, -1 loss, NO_COLUMN for a
    full column.
    """
    wins = winning_cells(own, mask, g) & landings(mask, g)
    # Nothing sets the stop flag: endgames of self-play have few empty cells, so searches are short.
    stop, nodes, best = np.zeros(1, np.uint8), np.zeros(1, np.int64), NO_COLUMN
    not_shared = np.zeros(0, np.int64)
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
                own ^ mask,
                mask | cell,
                -(left >> 1),
                (left + 1) >> 1,
                (-1, 1),
                g,
                table,
                not_shared,
                MAX_NODES,
                stop,
                nodes,
            )
            # The bounds are the opponent's. The window (-1, 1) proves only the sign, so 0 is exact.
            results[column] = -1 if lower > 0 else 1 if upper < 0 else 0
        best = max(best, results[column])
    return best


@kernel
def play_out(
    own: int,
    mask: int,
    g: Geometry,
    table: np.ndarray,  # the solver's transposition table
    owns: np.ndarray,  # int64[cells], output: `own` of the positions reached
    masks: np.ndarray,  # int64[cells], output: `mask` of the positions reached
    policies: np.ndarray,  # float32[cells, columns], output: uniform over the best columns
    state: int,
) -> tuple[int, int, int]:
    """Play from a position to the end, both sides choosing uniformly among their best columns.

    If a side can win at once, it does. Returns the number of positions reached, the result from the
    point of view of the side to move at the start, and the random state.
    """
    results = np.zeros(g.columns, np.int64)
    reached, first_result = 0, 0
    while mask != g.cells:
        best = column_results(own, mask, g, table, results)
        wins = winning_cells(own, mask, g)
        if wins & landings(mask, g):  # of the winning columns, keep those that win at once
            for column in range(g.columns):
                if not landing(mask, column, g) & wins:
                    results[column] = NO_COLUMN
        count = 0
        for column in range(g.columns):
            count += results[column] == best
        owns[reached], masks[reached] = own, mask
        for column in range(g.columns):
            policies[reached, column] = (
                np.float32(1 / count) if results[column] == best else np.float32(0)
            )
        # With best play by both sides the result stays the same, up to its sign, in all positions
        # reached.
        if reached == 0:
            first_result = best
        reached += 1
        # Choose one of the best columns, uniformly at random.
        state = advance(state)
        number, chosen = below(count, state), -1
        for column in range(g.columns):
            if results[column] == best:
                if number == 0:
                    chosen = column
                number -= 1
        cell = landing(mask, chosen, g)
        # A disc that wins ends the game; its position is not reached, since nobody is to move in
        # it.
        if wins & cell:
            break
        own, mask = own ^ mask, mask | cell
    return reached, first_result, state


def warm_up() -> None:
    """Compile the kernels: play the last disc of a game."""
    board = geometry_of(7, 6, 4)
    owns, masks = np.zeros((2, 42), np.int64)
    policies = np.zeros((42, board.columns), np.float32)
    last_cell = 1 << 6 * board.height + 5  # the top of the last column
    play_out(0, board.cells ^ last_cell, board, new_table(1 << 10), owns, masks, policies, 1)
