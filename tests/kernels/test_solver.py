"""The solver beside brute force, and its bounds when it is not allowed to finish."""

from functools import cache

import numpy as np
import pytest

from fourlab import Position
from fourlab.kernels.solver import solve
from fourlab.kernels.table import HIGHEST, LOWEST, mix, probe, store

STOP = np.zeros(1, np.uint8)


def bounds(position: Position, most_nodes: int = 1 << 60, table: np.ndarray | None = None) -> tuple[int, int, int]:
    """The bounds and the nodes spent."""
    nodes = np.zeros(1, np.int64)
    table = np.zeros(4 << 14, np.int64) if table is None else table
    lower, upper = solve(position.own, position.mask, -99, 99, position.rules.geometry, table, most_nodes, STOP, nodes)
    return lower, upper, int(nodes[0])


@cache
def score(position: Position) -> int:
    """Pons's score by brute force: half the discs the winner has left when it wins, the winning one included."""
    best = -100
    for column in position.legal_columns():
        after = position.play(column)
        outcome = after.outcome()
        if outcome is None:
            best = max(best, -score(after))
        elif outcome.winner is None:
            best = max(best, 0)
        else:
            left = position.rules.columns * position.rules.rows - position.ply
            best = max(best, (left + 1) // 2)
    return best


def random_positions(board: str, plies: int, count: int) -> list[Position]:
    rng, found = np.random.default_rng(3), []
    while len(found) < count:
        position = Position(board=board)
        while position.ply < plies and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            found.append(position)
    return found


@pytest.mark.parametrize(
    ("board", "plies", "count"),
    [("4x4x4", 4, 150), ("4x4x3", 1, 20), ("5x4x4", 9, 60), ("6x4x5", 14, 40), ("7x6x4", 32, 100), ("3x5x3", 2, 60)],
)
def test_the_score_is_that_of_brute_force(board: str, plies: int, count: int) -> None:
    for position in random_positions(board, plies, count):
        assert bounds(position)[:2] == (score(position), score(position)), position


def test_a_shared_table_never_changes_a_score() -> None:
    """A tiny table full of other positions: what is stored names its position exactly."""
    table = np.zeros(4 << 6, np.int64)
    for position in random_positions("5x4x4", 8, 40):
        assert bounds(position, table=table)[:2] == bounds(position)[:2]


def test_mirror_images_have_the_same_score() -> None:
    for position in random_positions("7x6x4", 22, 30):
        assert bounds(position)[:2] == bounds(position.mirror())[:2]


def test_node_counts_repeat() -> None:
    for position in random_positions("7x6x4", 18, 5):
        assert bounds(position) == bounds(position)


def test_an_interrupted_search_claims_only_what_it_knows() -> None:
    for position in random_positions("7x6x4", 20, 20):
        exact, _, nodes = bounds(position)
        for most in (0, nodes // 4, nodes // 2):
            lower, upper, spent = bounds(position, most)
            assert lower <= exact <= upper
            assert spent <= most
            assert lower < upper or spent == nodes or nodes == 0 or most == 0 or lower == exact


def test_a_stop_flag_ends_the_search() -> None:
    nodes = np.zeros(1, np.int64)
    position = Position()
    table, stop = np.zeros(4 << 10, np.int64), np.ones(1, np.uint8)
    lower, upper = solve(position.own, position.mask, -99, 99, position.rules.geometry, table, 1 << 60, stop, nodes)
    assert lower < upper
    assert nodes[0] == 0


@pytest.mark.parametrize("bits", [12, 20, 49, 62])
def test_keys_are_mixed_one_to_one(bits: int) -> None:
    keys = range(1 << 12) if bits == 12 else [int(k) for k in np.random.default_rng(1).integers(1 << bits, size=5000)]
    mixed = {mix(key, bits) for key in keys}
    assert len(mixed) == len(set(keys))
    assert all(0 <= each < 1 << bits for each in mixed)


def test_the_table_returns_what_it_keeps_and_nothing_else() -> None:
    table, rng = np.zeros(4 << 4, np.int64), np.random.default_rng(2)
    stored: dict[int, tuple[int, int]] = {}
    for _ in range(500):
        mixed, lower, upper = int(rng.integers(1 << 40)), int(rng.integers(-30, 0)), int(rng.integers(0, 30))
        store(table, mixed, lower, upper, int(rng.integers(1 << 30)))
        stored[mixed] = (lower, upper)
        assert probe(table, mixed) == (lower, upper)
    kept = [mixed for mixed in stored if probe(table, mixed) != (LOWEST, HIGHEST)]
    assert len(kept) == 64
    assert all(probe(table, mixed) == stored[mixed] for mixed in kept)


def test_costly_entries_outlive_cheap_ones() -> None:
    table = np.zeros(4, np.int64)
    for mixed in (1, 2, 3):
        store(table, mixed, 0, 0, 1 << 20)
    for mixed in range(10, 60):
        store(table, mixed, 0, 0, 1)
    assert all(probe(table, mixed) == (0, 0) for mixed in (1, 2, 3, 59))
