"""The transposition table: stored bounds, replacement and growth."""

import numpy as np
import pytest

from fourlab import Rules
from fourlab.solver.table import (
    HIGHEST,
    LOWEST,
    copy_entries,
    fewest_words,
    mix,
    new_table,
    probe,
    store,
    table_for,
)


@pytest.mark.parametrize("bits", [12, 20, 49, 63])
def test_keys_are_mixed_one_to_one(bits: int) -> None:
    if bits == 12:
        keys = list(range(1 << 12))
    else:
        keys = np.random.default_rng(1).integers(1 << bits, size=5000).tolist()
    mixed_keys = {mix(key, bits) for key in keys}
    assert len(mixed_keys) == len(set(keys))
    assert all(0 <= mixed < 1 << bits for mixed in mixed_keys)


def filled(words: int, bits: int) -> tuple[np.ndarray, dict[int, tuple[int, int]]]:
    """Return a table with random entries, and what was stored in it."""
    table = new_table(words)
    rng = np.random.default_rng(2)
    stored: dict[int, tuple[int, int]] = {}
    for _ in range(500):
        mixed = int(rng.integers(1 << bits))
        lower = int(rng.integers(-31, 0))
        upper = int(rng.integers(0, 31))
        store(table, mixed, lower, upper, int(rng.integers(1 << 40)))
        stored[mixed] = (lower, upper)
        assert probe(table, mixed) == (lower, upper)
    return table, stored


def test_the_table_returns_stored_bounds_and_nothing_else() -> None:
    table, stored = filled(64, 40)
    kept = [mixed for mixed in stored if probe(table, mixed) != (LOWEST, HIGHEST)]
    assert len(kept) == 64
    assert all(probe(table, mixed) == stored[mixed] for mixed in kept)


@pytest.mark.parametrize("bits", [49, 63])
def test_the_smallest_table_never_confuses_keys(bits: int) -> None:
    table, stored = filled(fewest_words(bits), bits)
    for mixed, bounds in stored.items():
        assert probe(table, mixed) in (bounds, (LOWEST, HIGHEST))
    for mixed in np.random.default_rng(5).integers(1 << bits, size=2000):
        if int(mixed) not in stored:
            assert probe(table, int(mixed)) == (LOWEST, HIGHEST)


def test_a_board_gets_a_table_that_its_keys_fit() -> None:
    assert len(table_for(Rules().geometry, 64)) == 64
    largest = Rules(9, 6).geometry
    assert len(table_for(largest, 64)) == fewest_words(largest.columns * largest.height) > 64
    assert len(table_for(largest, 1 << 20)) == 1 << 20


def test_all_entries_are_copied_into_a_larger_table() -> None:
    table, stored = filled(64, 49)
    larger = new_table(1024)
    middle = len(table) // 3
    copy_entries(table, larger, 0, middle)
    copy_entries(table, larger, middle, len(table))
    kept = [mixed for mixed in stored if probe(table, mixed) != (LOWEST, HIGHEST)]
    assert [probe(larger, mixed) for mixed in kept] == [stored[mixed] for mixed in kept]
    assert np.count_nonzero(larger) == 64


def test_bounds_of_one_position_are_intersected() -> None:
    table = new_table(64)
    store(table, 77, -3, HIGHEST, 5)
    store(table, 77, LOWEST, 4, 5)
    assert probe(table, 77) == (-3, 4)


def test_entries_with_more_work_outlive_others() -> None:
    table = new_table(4)
    for mixed in (1, 2, 3):
        store(table, mixed, 0, 0, 1 << 20)
    for mixed in range(10, 60):
        store(table, mixed, 0, 0, 1)
    assert all(probe(table, mixed) == (0, 0) for mixed in (1, 2, 3, 59))


@pytest.mark.parametrize("words", [4, 1 << 15, 1 << 18, 1 << 20])
def test_buckets_do_not_straddle_cache_lines(words: int) -> None:
    table = new_table(words)
    assert len(table) == words
    assert table.ctypes.data % 64 == 0
    assert not table.any()
