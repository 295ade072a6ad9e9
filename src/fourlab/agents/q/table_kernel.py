"""A table of learned values: open addressing, keys and values side by side, so that looking up costs one cache line.

One piece of memory is seen as two arrays, `words` (int64) and `numbers` (float32). A slot is `width` words:

    word 0        the key of a position, 0 while the slot is empty
    word 1 …      numbers: one value, or one for each column; then as many counts of updates, if they are wanted

and the very last word, behind the slots, counts the keys. A place is the index of a slot's word 0 in `words`; its first
number is `numbers[2 * place + 2]`. Slots are a power of two; a key belongs to the slot that the top bits of key * ODD name, or
to the next one that is free. Nothing is ever removed, so a place stays good until the table grows.
"""

from typing import NamedTuple

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.game.geometry import Geometry

ODD = 0x1E3779B97F4A7C15
LANES = 8
"""So many games may be under way at a time."""


class Layout(NamedTuple):
    """How to read a table. The arrays are not in here: taking them out of a tuple would cost more than a look into them."""

    values: int
    """How many values a key has: one, or one for each column."""
    width: int
    """Words a slot."""
    shift: int
    """64 less the binary logarithm of the number of slots."""
    mirrored: bool
    """Whether a position and its mirror image share a slot."""
    initial: float
    """What every value is before anything is learned."""


def layout_of(slots: int, values: int, counted: bool, mirrored: bool, initial: float) -> Layout:
    """Lay out a table of so many slots, a power of two, perhaps with a count for each value."""
    width = 1 + (values * (2 if counted else 1) + 1) // 2
    # What is looked up and not found must equal what is kept and not yet learned, to the last bit.
    return Layout(values, width, 65 - slots.bit_length(), mirrored, float(np.float32(initial)))


@inlined_kernel
def home(key: int, t: Layout) -> int:
    """The place where a key belongs, unless others have taken it."""
    return (((key * ODD) >> t.shift) & ((1 << (64 - t.shift)) - 1)) * t.width


@inlined_kernel
def find(key: int, words: np.ndarray, t: Layout) -> int:
    """The place of a key, or of the empty slot where it would go."""
    place = home(key, t)
    while True:
        found = words[np.uint64(place)]
        if found == key or found == 0:
            return place
        place += t.width
        if place == len(words) - 1:
            place = 0


@inlined_kernel
def enter(key: int, words: np.ndarray, numbers: np.ndarray, t: Layout) -> int:
    """The place of a key, which is given a slot with initial values if it has none; there must be room."""
    place = find(key, words, t)
    is_new = words[np.uint64(place)] == 0
    words[np.uint64(place)] = key
    words[len(words) - 1] += is_new
    for number in range(t.values if is_new else 0):
        numbers[np.uint64(2 * place + 2 + number)] = t.initial
    return place


@inlined_kernel
def is_full(words: np.ndarray, t: Layout, g: Geometry) -> bool:
    """Whether the next games could fill more than three fifths of the slots; beyond that, looking up becomes slow."""
    return 5 * (int(words[len(words) - 1]) + LANES * g.columns * g.rows) > 3 << (64 - t.shift)


@kernel
def fill(keys: np.ndarray, contents: np.ndarray, words: np.ndarray, numbers: np.ndarray, t: Layout) -> None:
    """Enter keys, int64[n], none of them twice, with all their numbers, float32[n, values and counts]."""
    for i in range(len(keys)):
        place = enter(int(keys[i]), words, numbers, t)
        for j in range(contents.shape[1]):
            numbers[2 * place + 2 + j] = contents[i, j]


@kernel
def copy_slots(words: np.ndarray, larger: np.ndarray, t: Layout) -> None:
    """Take everything along into a larger table, whose layout is given."""
    for place in range(0, len(words) - 1, t.width):
        if words[place] != 0:
            to = find(int(words[place]), larger, t)
            for word in range(t.width):
                larger[to + word] = words[place + word]
    larger[len(larger) - 1] = words[len(words) - 1]
