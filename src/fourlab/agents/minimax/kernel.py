"""Minimax to a fixed depth: alpha-beta with a transposition table, and a guess where the depth ends.

The value returned is that of plain minimax, to the last point; the tricks only save nodes. A win counts WIN plus the cells
then empty, so that earlier wins are worth more; a draw counts 0.
"""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import key, landing, landings
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.table import mix

WIN = 1_000_000
CLOSED = -(1 << 40)
"""Stands for the value of a full column."""
THREAT = 20
"""What an empty cell that completes a line is worth in a guess; a disc is worth the lines through its cell."""
EXACT, AT_LEAST, AT_MOST = 0, 1, 2


@kernel
def minimax_columns(
    own: int,
    mask: int,
    g: Geometry,
    depth: int,
    worth: np.ndarray,  # int64[columns * height]: what a disc in each cell is worth; empty: nothing but results counts
    table: np.ndarray,  # int64[2, size], a power of two; keys, and value << 8 | depth << 2 | kind
    counts: np.ndarray,  # int64[2]: nodes so far, nodes allowed; a clock may set the second to -1
    stop: np.ndarray,  # uint8[1]
) -> np.ndarray:
    """The minimax value of every column for the side to move, looking `depth` discs ahead.

    If the nodes or the time run out or somebody says stop, counts[0] exceeds counts[1] and the values mean nothing.
    """
    values = np.full(g.columns, CLOSED)
    balance = 0
    for cell in range(len(worth)):
        balance += worth[cell] * ((own >> cell & 1) - (((own ^ mask) >> cell) & 1))
    left = g.columns * g.rows - popcount(mask)
    wins = winning_cells(own, mask, g)
    for column in range(g.columns):
        move = landing(mask, column, g)
        if move & wins:
            values[column] = WIN + left
        elif move:
            gained = balance + (worth[cell_number(move)] if len(worth) else 0)
            values[column] = -minimax(
                mask ^ own, mask | move, g, depth - 1, -2 * WIN, 2 * WIN, -gained, worth, table, counts, stop
            )
    return values


@kernel
def minimax(
    own: int,
    mask: int,
    g: Geometry,
    depth: int,
    alpha: int,
    beta: int,
    balance: int,
    worth: np.ndarray,
    table: np.ndarray,
    counts: np.ndarray,
    stop: np.ndarray,
) -> int:
    """The value for the side to move if it lies between alpha and beta, else a bound on that side of it.

    `balance` is the worth of its discs less that of the other side's.
    """
    counts[0] += 1
    if counts[0] & 255 == 0 and stop[0]:
        counts[1] = -1
    if mask == g.cells or counts[0] > counts[1]:
        return 0
    if depth <= 0:
        return guess(own, mask, balance, g) if len(worth) else 0
    left = g.columns * g.rows - popcount(mask)
    moves = landings(mask, g)
    if winning_cells(own, mask, g) & moves:
        return WIN + left
    if depth >= 2:
        blocks = winning_cells(mask ^ own, mask, g) & moves
        if blocks:
            moves = blocks  # anything else loses to the next disc, and nothing is worse
    name = key(own, mask, g)
    slot = mix(name, g.columns * g.height) & (table.shape[1] - 1)
    if table[0, slot] == name and table[1, slot] >> 2 & 63 == depth:
        known, kind = int(table[1, slot]) >> 8, table[1, slot] & 3
        if kind == EXACT or (kind == AT_LEAST and known >= beta) or (kind == AT_MOST and known <= alpha):
            return known
    best, floor = -2 * WIN, alpha
    for i in range(g.columns):
        column = ((g.columns - 1) >> 1) + ((i + 1) >> 1 if i & 1 else -(i >> 1))  # from the centre outwards
        move = landing(mask, column, g) & moves
        if move == 0:
            continue
        gained = balance + (worth[cell_number(move)] if len(worth) else 0)
        value = -minimax(mask ^ own, mask | move, g, depth - 1, -beta, -floor, -gained, worth, table, counts, stop)
        if value > best:
            best = value
        if best > floor:
            floor = best
        if floor >= beta:
            break
    if counts[0] <= counts[1]:
        kind = AT_LEAST if best >= beta else AT_MOST if best <= alpha else EXACT
        table[0, slot], table[1, slot] = name, best << 8 | depth << 2 | kind
    return best


@kernel
def guess(own: int, mask: int, balance: int, g: Geometry) -> int:
    """What a position may be worth: the discs' places, and the cells that would complete a line."""
    threats = popcount(winning_cells(own, mask, g)) - popcount(winning_cells(mask ^ own, mask, g))
    return balance + THREAT * threats


@kernel
def cell_number(cell: int) -> int:
    """Which bit a single bit is."""
    return popcount(cell - 1)


def lines_through_cells(g: Geometry) -> np.ndarray:
    """For every bit of the layout, how many lines could be made through that cell; int64[columns * height]."""
    counts = np.zeros(g.columns * g.height, np.int64)
    for step in (1, g.height, g.height - 1, g.height + 1):
        for start in range(len(counts)):
            cells = [start + i * step for i in range(g.in_a_row)]
            if all(cell < len(counts) and g.cells >> cell & 1 for cell in cells):
                counts[cells] += 1
    return counts


def warm_up() -> None:
    """Search one ply of a tiny board."""
    worth = np.zeros(0, np.int64)
    cache = np.zeros((2, 1), np.int64)
    minimax_columns(0, 0, geometry_of(3, 2, 3), 1, worth, cache, np.array([0, 9]), np.zeros(1, np.uint8))
