"""Minimax to a fixed depth: alpha-beta with a transposition table and a heuristic evaluation.

The value is exactly that of plain minimax: pruning, move ordering and the table only save nodes.
Scores are integers from the side to move's point of view. A win scores WIN plus the number of cells
that are empty when the winning disc is dropped, that disc's cell included, so that quicker wins
score more. A draw scores 0.
"""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import key, landing, landings
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.table import mix

# Far above every heuristic score: 62 cells with at most some dozen lines each, and THREAT per cell.
WIN = 1_000_000
FULL_COLUMN = -(1 << 40)
"""The score of a full column, below that of every open one."""
THREAT = 20
"""Points for an empty cell that completes a line; a disc gets one per line through its cell."""
EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""What a table entry's score is: the value, a lower bound or an upper bound."""


@kernel
def minimax_columns(
    own: int,
    mask: int,
    g: Geometry,
    depth: int,
    cell_points: np.ndarray,  # int64[columns * height]: points of a disc in each cell; empty: none
    table: np.ndarray,  # int64[2, size], a power of two: keys; score << 8 | depth << 2 | kind
    counts: np.ndarray,  # int64[2]: nodes so far, nodes allowed; a timer may set the second to -1
    stop: np.ndarray,  # uint8[1]: another thread writes 1 to end the search
) -> np.ndarray:
    """Return the minimax score of every column for the side to move, `depth` plies deep.

    With empty `cell_points` there is no heuristic: unfinished games score 0. If the nodes or the
    time run out, or `stop` is set, counts[0] exceeds counts[1] and the scores are meaningless.
    """
    # Every column is searched with the full window, so that its score is exact and ties are known.
    scores = np.full(g.columns, FULL_COLUMN)
    balance = 0
    for cell in range(len(cell_points)):
        # own >> cell & 1 is 1 for a disc of the side to move; the difference is +1, -1 or 0.
        balance += cell_points[cell] * ((own >> cell & 1) - (((own ^ mask) >> cell) & 1))
    empty = g.columns * g.rows - popcount(mask)
    wins = winning_cells(own, mask, g)
    for column in range(g.columns):
        move = landing(mask, column, g)
        if move & wins:
            scores[column] = WIN + empty
        elif move:
            # The balance is updated along the path and changes its sign with the side to move.
            gained = balance + (cell_points[cell_number(move)] if len(cell_points) else 0)
            scores[column] = -minimax(
                mask ^ own,
                mask | move,
                g,
                depth - 1,
                -2 * WIN,
                2 * WIN,
                -gained,
                cell_points,
                table,
                counts,
                stop,
            )
    return scores


@kernel
def minimax(
    own: int,
    mask: int,
    g: Geometry,
    depth: int,
    alpha: int,
    beta: int,
    balance: int,  # points of the side to move's discs minus those of the opponent's
    cell_points: np.ndarray,
    table: np.ndarray,
    counts: np.ndarray,
    stop: np.ndarray,
) -> int:
    """Return the score for the side to move.

    The score is exact if it lies between alpha and beta. At or above beta it is a lower bound, at
    or below alpha an upper bound (fail-soft).
    """
    # 1. Count the node. Once the limit is exceeded the whole search unwinds.
    counts[0] += 1
    # Reading the flag rarely keeps it out of the inner loop's cost; 256 nodes take microseconds.
    if counts[0] & 255 == 0 and stop[0]:
        counts[1] = -1
    if mask == g.cells or counts[0] > counts[1]:
        return 0
    if depth <= 0:
        return evaluate(own, mask, balance, g) if len(cell_points) else 0
    # 2. Win at once if possible. Otherwise block: every other move loses to the next disc, the
    # worst possible score. At depth 1 that reply would not be seen, so all moves count.
    empty = g.columns * g.rows - popcount(mask)
    moves = landings(mask, g)
    if winning_cells(own, mask, g) & moves:
        return WIN + empty
    if depth >= 2:
        blocks = winning_cells(mask ^ own, mask, g) & moves
        if blocks:
            moves = blocks
    # 3. Look the position up. Only an entry of the same depth gives plain minimax's score.
    position_key = key(own, mask, g)
    # A direct-mapped table without buckets: a new entry replaces the old one. The key is stored in
    # full, so positions are never confused.
    slot = mix(position_key, g.columns * g.height) & (table.shape[1] - 1)
    if table[0, slot] == position_key and table[1, slot] >> 2 & 63 == depth:
        stored = int(table[1, slot]) >> 8
        kind = table[1, slot] & 3
        if (
            kind == EXACT
            or (kind == AT_LEAST and stored >= beta)
            or (kind == AT_MOST and stored <= alpha)
        ):
            return stored
    # 4. Search the columns from the centre outwards, until one refutes the opponent's last move.
    best = -2 * WIN
    floor = alpha
    for i in range(g.columns):
        column = ((g.columns - 1) >> 1) + ((i + 1) >> 1 if i & 1 else -(i >> 1))
        move = landing(mask, column, g) & moves
        if move == 0:
            continue
        gained = balance + (cell_points[cell_number(move)] if len(cell_points) else 0)
        score = -minimax(
            mask ^ own,
            mask | move,
            g,
            depth - 1,
            -beta,
            -floor,
            -gained,
            cell_points,
            table,
            counts,
            stop,
        )
        # Fail-soft alpha-beta: `best` may be below `floor`, and is then still an upper bound of the
        # value.
        if score > best:
            best = score
        if best > floor:
            floor = best
        if floor >= beta:
            break
    # 5. Store the score, unless the search was cut short.
    if counts[0] <= counts[1]:
        # Against the window at entry: alpha itself, not `floor`, decides whether the score is
        # exact.
        kind = AT_LEAST if best >= beta else AT_MOST if best <= alpha else EXACT
        table[0, slot] = position_key
        table[1, slot] = best << 8 | depth << 2 | kind
    return best


@kernel
def evaluate(own: int, mask: int, balance: int, g: Geometry) -> int:
    """Estimate the score of a position from its discs' cells and the threats of both sides."""
    # Threats count wherever they are, playable at once or not.
    threats = popcount(winning_cells(own, mask, g)) - popcount(winning_cells(mask ^ own, mask, g))
    return balance + THREAT * threats


@kernel
def cell_number(cell: int) -> int:
    """Return the index of the only bit that is set."""
    # Example: cell 0b1000 minus one is 0b0111, three bits.
    return popcount(cell - 1)


def lines_through_cells(g: Geometry) -> np.ndarray:
    """Return the number of lines through the cell of every bit; int64[columns * height]."""
    counts = np.zeros(g.columns * g.height, np.int64)
    # Steps between neighbouring bits: up a column, along a row, and the two diagonals.
    for step in (1, g.height, g.height - 1, g.height + 1):
        for start in range(len(counts)):
            cells = [start + i * step for i in range(g.in_a_row)]
            if all(cell < len(counts) and g.cells >> cell & 1 for cell in cells):
                counts[cells] += 1
    return counts


def warm_up() -> None:
    """Search a tiny board to depth 1, which loads or compiles the kernels."""
    minimax_columns(
        own=0,
        mask=0,
        g=geometry_of(3, 2, 3),
        depth=1,
        cell_points=np.zeros(0, np.int64),
        table=np.zeros((2, 1), np.int64),
        counts=np.array([0, 9]),
        stop=np.zeros(1, np.uint8),
    )
