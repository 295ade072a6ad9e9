"""Kaggle's negamax player, with its scores as they are in ConnectX; four plies by default.

Every node is checked for a win at once. At the maximum depth, a column scores as much as a win at
this point of the game would, plus one point for every own disc left, right, above or below the
landing cell (below only if the cell is above the second row). That such estimates count as much as
wins is a flaw of the original, reproduced here because people play against it. There is no
alpha-beta pruning.
"""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import landing, landings
from fourlab.compiled.random import advance
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of


@kernel
def kaggle_negamax(
    own: int, mask: int, g: Geometry, depth: int, random_ties: bool, state: int
) -> tuple[int, int, int]:
    """Return twice the score, the column (-1 on a full board) and the random state.

    Among equal scores the first column wins or, with `random_ties`, each later one replaces it with
    probability one half. The search keeps its own stack, because Numba cannot load a recursive
    kernel from its cache when another kernel calls it.
    """
    # The path from the root, one entry per level: the position, the best score so far (doubled, so
    # that it is an integer) and its column, and the column to try next, -1 for a new node and
    # g.columns for one that is done.
    owns, masks = np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64)
    scores, chosen, tried = (
        np.empty(depth + 1, np.int64),
        np.empty(depth + 1, np.int64),
        np.empty(depth + 1, np.int64),
    )
    level = 0
    owns[0], masks[0], tried[0] = own, mask, -1
    while True:
        own, mask = owns[level], masks[level]
        if tried[level] < 0:  # the node is new
            scores[level], chosen[level] = enter(own, mask, g)
            tried[level] = 0 if chosen[level] < 0 and mask != g.cells else g.columns
        if tried[level] == g.columns:
            # The node is done: back up its score, which has the opposite sign for its parent.
            if level == 0:
                return scores[0], chosen[0], state
            level -= 1
            score, column = -scores[level + 1], tried[level]
        else:
            column = tried[level]
            cell = landing(mask, column, g)
            if cell == 0:
                tried[level] += 1
                continue
            if level < depth:
                level += 1
                owns[level], masks[level], tried[level] = mask ^ own, mask | cell, -1
                continue
            # Twice the score of a win at this point, plus two for every neighbour.
            score = (
                g.columns * g.rows + 1 - popcount(mask) + 2 * own_neighbours(own, cell, column, g)
            )
        if score > scores[level]:
            scores[level], chosen[level] = score, column
        elif score == scores[level] and random_ties:
            state = advance(state)
            if (state ^ (state >> 32)) & 1:
                chosen[level] = column
        tried[level] += 1


@kernel
def enter(own: int, mask: int, g: Geometry) -> tuple[int, int]:
    """Return twice the score and the column of a node before its children are searched.

    A full board scores 0 without a column, and a win at once has its column; otherwise the score is
    below all others and there is no column.
    """
    size = g.columns * g.rows
    if mask == g.cells:
        return 0, -1
    wins = winning_cells(own, mask, g) & landings(mask, g)
    if wins:
        for column in range(g.columns):
            if landing(mask, column, g) & wins:
                return size + 1 - popcount(mask), column
    return -2 * size, -1


@kernel
def own_neighbours(own: int, cell: int, column: int, g: Geometry) -> int:
    """Count own discs left, right, above, and below if the cell is in the third row or higher."""
    second_row_or_lower = cell & ((3 * g.bottom) & g.cells)
    neighbours = (cell << 1) & g.cells
    if column > 0:
        neighbours |= cell >> g.height
    if column < g.columns - 1:
        neighbours |= cell << g.height
    if second_row_or_lower == 0:
        neighbours |= cell >> 1
    return popcount(own & neighbours)


def warm_up() -> None:
    """Compile the kernels: search one ply."""
    kaggle_negamax(0, 0, geometry_of(7, 6, 4), 1, False, 1)
