"""What the transposition table keeps, and what it never does."""

import numpy as np
import pytest

from fourlab.solver.table import HIGHEST, LOWEST, copy_entries, fewest_words, mix, new_table, probe, store


@pytest.mark.parametrize("bits", [12, 20, 49, 62])
def test_keys_are_mixed_one_to_one(bits: int) -> None:
    keys = range(1 << 12) if bits == 12 else [int(k) for k in np.random.default_rng(1).integers(1 << bits, size=5000)]
    mixed = {mix(key, bits) for key in keys}
    assert len(mixed) == len(set(keys))
    assert all(0 <= each < 1 << bits for each in mixed)


def filled(words: int, bits: int) -> tuple[np.ndarray, dict[int, tuple[int, int]]]:
    table, rng = new_table(words), np.random.default_rng(2)
    stored: dict[int, tuple[int, int]] = {}
    for _ in range(500):
        mixed, lower, upper = int(rng.integers(1 << bits)), int(rng.integers(-31, 0)), int(rng.integers(0, 31))
        store(table, mixed, lower, upper, int(rng.integers(1 << 40)))
        stored[mixed] = (lower, upper)
        assert probe(table, mixed) == (lower, upper)
    return table, stored


def test_the_table_returns_what_it_keeps_and_nothing_else() -> None:
    table, stored = filled(64, 40)
    kept = [mixed for mixed in stored if probe(table, mixed) != (LOWEST, HIGHEST)]
    assert len(kept) == 64
    assert all(probe(table, mixed) == stored[mixed] for mixed in kept)


@pytest.mark.parametrize("bits", [49, 62])
def test_the_smallest_table_names_every_key(bits: int) -> None:
    table, stored = filled(fewest_words(bits), bits)
    for mixed, known in stored.items():
        assert probe(table, mixed) in (known, (LOWEST, HIGHEST))
    for mixed in np.random.default_rng(5).integers(1 << bits, size=2000):
        if int(mixed) not in stored:
            assert probe(table, int(mixed)) == (LOWEST, HIGHEST)


def test_a_larger_table_knows_what_the_smaller_one_knew() -> None:
    table, stored = filled(64, 49)
    larger = new_table(1024)
    copy_entries(table, larger)
    kept = [mixed for mixed in stored if probe(table, mixed) != (LOWEST, HIGHEST)]
    assert [probe(larger, mixed) for mixed in kept] == [stored[mixed] for mixed in kept]
    assert np.count_nonzero(larger) == 64


def test_bounds_of_one_position_are_joined() -> None:
    table = new_table(64)
    store(table, 77, -3, HIGHEST, 5)
    store(table, 77, LOWEST, 4, 5)
    assert probe(table, 77) == (-3, 4)


def test_costly_entries_outlive_cheap_ones() -> None:
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
