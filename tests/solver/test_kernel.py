"""The solver's kernel: it agrees with brute force, and interrupted searches give valid bounds."""

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.game import bitboard as bits
from fourlab.game.geometry import Geometry
from fourlab.solver.kernel import (
    CHILD,
    COUNT,
    MIXED_,
    NOT_SHARED,
    RANKS,
    defer_busy,
    frame_size,
    mark,
    solve,
    unmark,
)
from fourlab.solver.table import new_table
from tests.solver.brute_force import random_positions, score
from tests.strategies import FULL

NEVER_STOP = np.zeros(1, np.uint8)
EXACT_SCORE, WINNER_ONLY = (-40, 40), (-1, 1)


def bounds(
    position: Position,
    max_nodes: int = 1 << 60,
    table: np.ndarray | None = None,
    window: tuple[int, int] = EXACT_SCORE,
    busy: np.ndarray = NOT_SHARED,
) -> tuple[int, int, int]:
    """Return the bounds and the nodes spent."""
    nodes = np.zeros(1, np.int64)
    table = new_table(4 << 14) if table is None else table
    g = position.rules.geometry
    lower, upper = solve(
        position.own, position.mask, -40, 40, window, g, table, busy, max_nodes, NEVER_STOP, nodes
    )
    return lower, upper, int(nodes[0])


def all_scores(g: Geometry) -> dict[tuple[int, int], int | None]:
    """Return the scores of all positions of a board by brute force, None for won games."""
    scores: dict[tuple[int, int], int | None] = {}

    def visit(own: int, mask: int) -> int | None:
        if (own, mask) not in scores:
            left = g.columns * g.rows - mask.bit_count()
            if bits.has_line(own ^ mask, g.height, g.in_a_row):
                scores[own, mask] = None
            else:
                best = 0 if left == 0 else -100
                for column in range(g.columns):
                    if cell := bits.landing(mask, column, g):
                        after = visit(own ^ mask, mask | cell)
                        best = max(best, (left + 1) // 2 if after is None else -after)
                scores[own, mask] = best
        return scores[own, mask]

    visit(0, 0)
    return scores


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("board", "plies", "count"),
    [
        ("4x4x3", 1, 20),
        ("5x4x4", 9, 100),
        ("6x4x5", 14, 40),
        ("7x6x4", 32, 100),
        ("3x5x3", 2, 60),
        ("5x5x4", 14, 40),
        ("12x4x4", 40, 20),
    ],
)
def test_scores_agree_with_brute_force(board: str, plies: int, count: int) -> None:
    for position in random_positions(board, plies, count if FULL else count // 4):
        true = score(position)
        assert bounds(position)[:2] == (true, true), position
        lower, upper, _ = bounds(position, window=WINNER_ONLY)
        assert lower <= true <= upper
        assert lower > 0 or upper < 0 or lower == upper == 0


def test_all_positions_of_4x4_agree_with_brute_force() -> None:
    g = Rules(4, 4).geometry
    table = new_table(4 << 16)
    nodes = np.zeros(1, np.int64)
    scores = all_scores(g)
    assert len(scores) == 161_029
    assert scores[0, 0] == 0
    for (own, mask), true in scores.items():
        if true is not None and mask != g.cells:
            assert solve(
                own, mask, -40, 40, EXACT_SCORE, g, table, NOT_SHARED, 1 << 60, NEVER_STOP, nodes
            ) == (
                true,
                true,
            )


def test_a_shared_table_never_changes_a_score() -> None:
    """Even in a tiny table full of other positions, entries are never confused."""
    table = new_table(4 << 6)
    for position in random_positions("5x4x4", 8, 40):
        assert bounds(position, table=table)[:2] == bounds(position)[:2]


def test_mirror_images_have_the_same_score() -> None:
    for position in random_positions("7x6x4", 20, 30):
        assert bounds(position)[:2] == bounds(position.mirror())[:2]


def test_node_counts_repeat() -> None:
    positions = random_positions("7x6x4", 16, 8)
    assert [bounds(position) for position in positions] == [
        bounds(position) for position in positions
    ]


def test_marks_of_another_thread_change_the_order_and_never_a_score() -> None:
    changed = 0
    for position in random_positions("7x6x4", 16, 12):
        lower, upper, nodes = bounds(position)
        # An interrupted search leaves its marks, as if its thread were still searching.
        busy = np.zeros(1 << 12, np.int64)
        bounds(position, nodes // 3, busy=busy)
        changed += bool(busy.any())
        marked = busy.copy()
        assert bounds(position, busy=marked)[:2] == (lower, upper)
    assert changed > 3


def test_positions_that_another_thread_searches_come_last() -> None:
    g = Position().rules.geometry
    frame = np.zeros(frame_size(g), np.int64)
    first = RANKS + g.columns + MIXED_
    frame[COUNT] = 4
    frame[RANKS : RANKS + 4] = (3, 1, 0, 2)  # the numbers of the children, best first
    frame[first : first + 4 * CHILD : CHILD] = (10, 11, 12, 13)  # their mixed keys
    busy = np.zeros(16, np.int64)
    for mixed in (13, 11):
        mark(busy, mixed)
    defer_busy(frame, 0, g, busy)
    assert frame[RANKS : RANKS + 4].tolist() == [0, 2, 3, 1]
    unmark(busy, 13)
    assert busy.tolist() == [0] * 11 + [11] + [0] * 4
    for mixed in (10, 12, 13):
        mark(busy, mixed)
    defer_busy(frame, 0, g, busy)
    # If all are being searched, help with one of them.
    assert sorted(frame[RANKS : RANKS + 4].tolist()) == [0, 1, 2, 3]


def test_the_bounds_of_an_interrupted_search_contain_the_score() -> None:
    unfinished = 0
    for position in random_positions("7x6x4", 18, 30):
        exact, _, nodes = bounds(position)
        for max_nodes in (0, nodes // 4, nodes // 2, nodes - 1):
            lower, upper, spent = bounds(position, max_nodes)
            assert lower <= exact <= upper
            assert spent <= max(max_nodes, 0)
            unfinished += lower < upper
    assert unfinished > 30


def test_a_stop_flag_ends_the_search() -> None:
    nodes = np.zeros(1, np.int64)
    position = Position()
    table = new_table(4 << 10)
    stop = np.ones(1, np.uint8)
    g = position.rules.geometry
    lower, upper = solve(
        position.own,
        position.mask,
        -40,
        40,
        EXACT_SCORE,
        g,
        table,
        NOT_SHARED,
        1 << 60,
        stop,
        nodes,
    )
    assert lower < upper
    assert nodes[0] == 0
