"""The hash table of learned values, compared with a dictionary."""

import numpy as np
import pytest

from fourlab.agents.q.table_kernel import (
    LANES,
    Layout,
    copy_slots,
    fill,
    find,
    home,
    insert,
    is_full,
    layout_of,
)
from fourlab.game.geometry import geometry_of

G = geometry_of(5, 4, 4)


def new(
    slots: int, values: int = 1, counted: bool = False, initial: float = 1.0
) -> tuple[np.ndarray, np.ndarray, Layout]:
    t = layout_of(slots, values, counted, False, initial)
    words = np.zeros(slots * t.width + 1, np.int64)
    return words, words.view(np.float32), t


def contents(words: np.ndarray, numbers: np.ndarray, t: Layout) -> dict[int, tuple[float, ...]]:
    """Return all entries of the table, read slot by slot."""
    entries = {}
    for place in range(0, len(words) - 1, t.width):
        if words[place]:
            first = 2 * place + 2
            entries[int(words[place])] = tuple(numbers[first : first + t.values].tolist())
    return entries


@pytest.mark.parametrize(
    ("values", "counted"), [(1, False), (1, True), (5, False), (5, True), (7, False)]
)
def test_the_table_holds_what_a_dictionary_holds(values: int, counted: bool) -> None:
    table = new(64, values, counted)
    rng = np.random.default_rng(1)
    plain: dict[int, list[float]] = {}
    keys = rng.integers(1, 1 << 30, size=40)
    for key in rng.choice(keys, size=300):
        place = insert(int(key), *table)
        row = plain.setdefault(int(key), [1.0] * values)
        number = int(rng.integers(values))
        row[number] = table[1][2 * place + 2 + number] = float(np.float32(rng.normal()))
    assert contents(*table) == {key: tuple(row) for key, row in plain.items()}
    assert table[0][-1] == len(plain)


def test_colliding_keys_take_the_next_slots_and_wrap_around() -> None:
    words, numbers, t = new(16)
    last = 15 * t.width
    colliding = [key for key in range(1, 2000) if home(key, t) == last][:5]
    places = [insert(key, words, numbers, t) for key in colliding]
    assert places == [last, *(slot * t.width for slot in range(4))]
    assert [find(key, words, t) for key in colliding] == places
    assert words[find(colliding[-1] + 10**6, words, t)] == 0


def test_looking_up_a_key_does_not_insert_it() -> None:
    words, _, t = new(16)
    assert words[find(77, words, t)] == 0
    assert not words.any()


def test_a_larger_table_has_the_entries_of_the_smaller_one() -> None:
    table = new(64, 5, True)
    rng = np.random.default_rng(2)
    keys = np.unique(rng.integers(1, 1 << 40, size=38))
    fill(keys, rng.normal(size=(len(keys), 10)).astype(np.float32), *table)
    larger = new(256, 5, True)
    copy_slots(table[0], larger[0], larger[2])
    assert contents(*larger) == contents(*table)
    assert larger[0][-1] == len(keys)
    counts = [larger[1][2 * find(int(key), larger[0], larger[2]) + 7] for key in keys]
    assert counts == [table[1][2 * find(int(key), table[0], table[2]) + 7] for key in keys]


def test_a_table_is_full_when_the_next_games_could_take_more_than_three_fifths() -> None:
    words, numbers, t = new(512)
    room = 3 * 512 // 5 - LANES * 20  # a game on this board has 20 discs
    for key in range(1, room + 1):
        assert not is_full(words, t, G)
        insert(key, words, numbers, t)
    assert not is_full(words, t, G)
    insert(10**6, words, numbers, t)
    assert is_full(words, t, G)


def test_the_initial_value_is_rounded_like_a_stored_one() -> None:
    words, numbers, t = new(16, initial=0.1)
    assert t.initial != 0.1
    assert numbers[2 * insert(77, words, numbers, t) + 2] == t.initial
