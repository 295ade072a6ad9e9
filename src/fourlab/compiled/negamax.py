"""Kaggle's negamax player, with its scores as they are in ConnectX; four plies by default.

Every node is checked for a win at once. At the maximum depth, a column scores as much as a win at
this point of the game would, plus one point for every own disc left, right, above or below the
landing cell (below only if the cell is above the second row). That such estimates count as much as
wins is a flaw of the original, reproduced here because people play against it. There is no
alpha-beta pruning.
"""

from fourlab.compiled._jit import inlined_kernel, kernel
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
    probability one half.
    """
    best, chosen = enter(own, mask, g)
    if chosen >= 0 or mask == g.cells:
        return best, chosen, state
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell == 0:
            continue
        if depth > 0:
            reply, _, state = kaggle_negamax(
                mask ^ own, mask | cell, g, depth - 1, random_ties, state
            )
            score = -reply
        else:
            # Twice the score of a win at this point, plus two for every neighbour.
            score = (
                g.columns * g.rows + 1 - popcount(mask) + 2 * own_neighbours(own, cell, column, g)
            )
        best, chosen, state = better(score, column, best, chosen, random_ties, state)
    return best, chosen, state


@inlined_kernel
def better(
    score: int, column: int, best: int, chosen: int, random_ties: bool, state: int
) -> tuple[int, int, int]:
    """Return the better of a column and the best one so far, and the random state."""
    if score > best:
        return score, column, state
    if score == best and random_ties:
        state = advance(state)
        # A coin: the lowest bit of the generator's output.
        if (state ^ (state >> 32)) & 1:
            return best, column, state
    return best, chosen, state


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
                # Kaggle's score of a win is (size + 1 - discs) / 2: quicker wins score more.
                # Doubled here.
                return size + 1 - popcount(mask), column
    return -2 * size, -1


@kernel
def own_neighbours(own: int, cell: int, column: int, g: Geometry) -> int:
    """Count own discs left, right, above, and below if the cell is in the third row or higher."""
    # 3 * bottom has the two lowest bits of every column. On a board of one row the second is a
    # guard bit, hence the mask.
    second_row_or_lower = cell & ((3 * g.bottom) & g.cells)
    # The cell above is always empty when a disc lands, but the original counts it.
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
    board = geometry_of(7, 6, 4)
    kaggle_negamax(0, 0, board, 1, False, 1)
    best, chosen = enter(0, 0, board)
    better(0, 0, best, chosen, False, 1)
