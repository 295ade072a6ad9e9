"""The solver's kernel: it agrees with brute force, and interrupted searches give valid bounds."""

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.game import bitboard as bits
from fourlab.game.geometry import Geometry
from fourlab.solver.kernel import solve
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
    jitter: int = 0,
) -> tuple[int, int, int]:
    """Return the bounds and the nodes spent."""
    nodes = np.zeros(1, np.int64)
    table = new_table(4 << 14) if table is None else table
    g = position.rules.geometry
    lower, upper = solve(
        position.own, position.mask, -40, 40, window, g, table, jitter, max_nodes, NEVER_STOP, nodes
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
                own, mask, -40, 40, EXACT_SCORE, g, table, 0, 1 << 60, NEVER_STOP, nodes
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


def test_node_counts_repeat_and_jitter_changes_the_search() -> None:
    positions = random_positions("7x6x4", 16, 8)
    counts = [bounds(position) for position in positions]
    assert counts == [bounds(position) for position in positions]
    jittered = [bounds(position, jitter=3) for position in positions]
    scores = [(lower, upper) for lower, upper, _ in counts]
    assert [(lower, upper) for lower, upper, _ in jittered] == scores
    assert jittered != counts


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
        position.own, position.mask, -40, 40, EXACT_SCORE, g, table, 0, 1 << 60, stop, nodes
    )
    assert lower < upper
    assert nodes[0] == 0
