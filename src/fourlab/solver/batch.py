"""Batches: many positions that compiled code solves in one call from Python.

A batch is an int64 array with a row of numbers per position, which compiled code reads and writes:

    OWN, MASK      the position (`game/bitboard.py`)
    LOWER, UPPER   bounds of its score, which the search narrows
    NODES          nodes spent on it
    KIND           SEARCHED, IN_BOOK, or FULL_COLUMN for a move that cannot be played
"""

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import from_key, has_line, landing, mirror
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.kernel import NOT_SHARED, solve
from fourlab.solver.table import copy_entries, new_table

OWN, MASK, LOWER, UPPER, NODES, KIND, WIDTH = range(7)
SEARCHED, IN_BOOK, FULL_COLUMN = range(3)


@kernel
def solve_rows(
    rows: np.ndarray,  # int64[N, WIDTH]
    first: int,
    window: tuple[int, int],
    g: Geometry,
    table: np.ndarray,
    busy: np.ndarray,
    slice_nodes: int,
    max_nodes: int,
    room: int,
    stop: np.ndarray,
) -> tuple[int, int]:
    """Solve rows from `first` on, until their bounds meet inside the window (`kernel.solve`).

    Returns the index of the first row that is not solved, and the nodes spent. A row is interrupted
    when it has taken `slice_nodes` in this call, `max_nodes` in all calls, or when this call has
    spent `room`. No other row is begun after `slice_nodes`.
    """
    nodes = np.zeros(1, np.int64)
    for row in range(first, len(rows)):
        before = nodes[0]
        if row > first and (before >= min(slice_nodes, room) or stop[0]):
            return row, before
        lower, upper = int(rows[row, LOWER]), int(rows[row, UPPER])
        if not _is_open(lower, upper, window):
            continue
        allowed = min(slice_nodes, max_nodes - rows[row, NODES], room - before)
        lower, upper = solve(
            int(rows[row, OWN]),
            int(rows[row, MASK]),
            lower,
            upper,
            window,
            g,
            table,
            busy,
            before + allowed,
            stop,
            nodes,
        )
        rows[row, LOWER], rows[row, UPPER] = lower, upper
        rows[row, NODES] += nodes[0] - before
        if _is_open(lower, upper, window):
            return row, nodes[0]
    return len(rows), nodes[0]


def is_open(lower: int, upper: int, window: tuple[int, int]) -> bool:
    """Return whether bounds have not met inside the window."""
    return max(lower, window[0]) < min(upper, window[1])


_is_open = inlined_kernel(is_open)


@kernel
def read_keys(
    keys: np.ndarray,  # int64[N], possible keys (`keys.check_keys`)
    rows: np.ndarray,  # int64[N, WIDTH], output
    g: Geometry,
) -> int:
    """Write positions into rows, by their keys.

    Returns the index of the first position whose game is over, -1 if there is none.
    """
    for row in range(len(keys)):
        own, mask = from_key(int(keys[row]), g)
        if (
            mask == g.cells
            or has_line(own, g.height, g.in_a_row)
            or has_line(own ^ mask, g.height, g.in_a_row)
        ):
            return row
        write_position(rows, row, own, mask, g)
    return -1


@inlined_kernel
def write_position(rows: np.ndarray, row: int, own: int, mask: int, g: Geometry) -> None:
    """Write a position into a row, with the widest bounds."""
    left = g.columns * g.rows - popcount(mask)
    rows[row, OWN], rows[row, MASK] = own, mask
    rows[row, LOWER], rows[row, UPPER] = -(left >> 1), (left + 1) >> 1
    rows[row, NODES], rows[row, KIND] = 0, SEARCHED


@kernel
def list_moves(
    rows: np.ndarray,  # int64[N, WIDTH]
    order: np.ndarray,  # int64[columns]: the columns in the order of the moves
    g: Geometry,
    moves: np.ndarray,  # int64[N * columns, WIDTH], output
) -> None:
    """Write the positions after all moves, with bounds from the opponent's point of view."""
    for i in range(len(rows) * g.columns):
        own, mask = int(rows[i // g.columns, OWN]), int(rows[i // g.columns, MASK])
        cell = landing(mask, order[i % g.columns], g)
        write_position(moves, i, own ^ mask, mask | cell, g)
        if cell == 0:
            moves[i, LOWER], moves[i, UPPER], moves[i, KIND] = 0, 0, FULL_COLUMN
        elif has_line(own | cell, g.height, g.in_a_row):
            # The mover's highest possible score.
            left = g.columns * g.rows - popcount(mask)
            moves[i, LOWER], moves[i, UPPER] = -((left + 1) >> 1), -((left + 1) >> 1)
        elif mask | cell == g.cells:
            moves[i, LOWER], moves[i, UPPER] = 0, 0


@kernel
def look_up(
    rows: np.ndarray,
    plies: int,
    keys: np.ndarray,  # int64[entries]: canonical keys in ascending order
    scores: np.ndarray,  # int8[entries]
    g: Geometry,
) -> None:
    """Give rows that are in a book, which has positions of up to `plies` discs, their score."""
    for row in range(len(rows)):
        own, mask = int(rows[row, OWN]), int(rows[row, MASK])
        if popcount(mask) > plies or rows[row, LOWER] == rows[row, UPPER]:
            continue
        key = own + mask + g.bottom
        key = min(key, mirror(key, g))
        place = np.searchsorted(keys, key)
        if place < len(keys) and keys[place] == key:
            rows[row, LOWER], rows[row, UPPER] = scores[place], scores[place]
            rows[row, KIND] = IN_BOOK


def warm_up() -> None:
    """Compile the kernels: solve a tiny board, then copy the table into a larger one."""
    board = geometry_of(3, 2, 3)
    rows = np.zeros((1, WIDTH), np.int64)
    moves = np.zeros((board.columns, WIDTH), np.int64)
    read_keys(np.array([board.bottom]), rows, board)
    list_moves(rows, np.arange(board.columns), board, moves)
    look_up(rows, -1, np.zeros(0, np.int64), np.zeros(0, np.int8), board)
    table = new_table(64)
    no_limit = 1 << 60
    stop = np.zeros(1, np.uint8)
    solve_rows(moves, 0, (-40, 40), board, table, NOT_SHARED, no_limit, no_limit, no_limit, stop)
    copy_entries(table, new_table(128), 0, len(table))
