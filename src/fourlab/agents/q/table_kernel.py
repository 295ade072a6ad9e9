"""A hash table of learned values: open addressing, with key and values in one cache line.

One block of memory is seen as two arrays, `words` (int64) and `numbers` (float32). A slot is
`width` words:

    word 0        the key of a position, 0 while the slot is empty
    word 1 …      numbers: one value, or one per column; then as many update counts, if enabled

The very last word, behind the slots, is the number of keys. A place is the index of a slot's word 0
in `words`; its first number is `numbers[2 * place + 2]`. The number of slots is a power of two; a
key is hashed to a slot by the top bits of key * HASH_MULTIPLIER, and takes the next free slot if
that is taken (linear probing). Nothing is ever removed, so a place stays valid until the table
grows.
"""

from typing import NamedTuple

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.game.geometry import Geometry

# Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4): neighbouring
# keys end up far apart.
HASH_MULTIPLIER = 0x1E3779B97F4A7C15
"""2^64 divided by the golden ratio, rounded to odd; the top bit is cleared to fit int64."""
LANES = 8
"""Games of self-play that run at a time."""


class Layout(NamedTuple):
    """The layout of a table.

    The arrays are passed beside it: unpacking them from a tuple would cost more than a lookup.
    """

    values: int
    """Values per key: 1, or the number of columns."""
    width: int
    """Words per slot."""
    shift: int
    """64 minus the binary logarithm of the number of slots."""
    mirrored: bool
    """Whether a position and its mirror image share a slot."""
    initial: float
    """The value of everything before it is learned."""


def layout_of(slots: int, values: int, counted: bool, mirrored: bool, initial: float) -> Layout:
    """Return the layout of a table with `slots` slots, a power of two; `counted` adds counts."""
    # One word for the key; two float32 numbers per word, rounded up. One value without a count
    # makes slots of 16 bytes, four per cache line.
    width = 1 + (values * (2 if counted else 1) + 1) // 2
    # Rounded to float32, so that a value not in the table equals a stored initial one.
    return Layout(values, width, 65 - slots.bit_length(), mirrored, float(np.float32(initial)))


@inlined_kernel
def home(key: int, t: Layout) -> int:
    """Return the place that a key hashes to."""
    # The product wraps modulo 2**64, as intended. The shift of a signed number copies its sign, so
    # the upper bits are masked off. Example: 1024 slots have shift 54, and the top ten bits count.
    return (((key * HASH_MULTIPLIER) >> t.shift) & ((1 << (64 - t.shift)) - 1)) * t.width


@inlined_kernel
def find(key: int, words: np.ndarray, t: Layout) -> int:
    """Return the place of a key, or of the empty slot that it would take."""
    place = home(key, t)
    while True:
        stored = words[np.uint64(place)]
        if stored == key or stored == 0:
            return place
        # Linear probing: the next slot is mostly in the same cache line.
        place += t.width
        if place == len(words) - 1:
            place = 0


@inlined_kernel
def insert(key: int, words: np.ndarray, numbers: np.ndarray, t: Layout) -> int:
    """Return the place of a key, inserting it with initial values if it is new.

    There must be a free slot.
    """
    place = find(key, words, t)
    # Written without a branch around the stores; see the comment on reference counts in
    # `kernel.py`.
    is_new = words[np.uint64(place)] == 0
    words[np.uint64(place)] = key
    words[len(words) - 1] += is_new
    for number in range(t.values if is_new else 0):
        numbers[np.uint64(2 * place + 2 + number)] = t.initial
    return place


@inlined_kernel
def is_full(words: np.ndarray, t: Layout, g: Geometry) -> bool:
    """Return whether the next games could fill more than 3/5 of the slots.

    A higher load makes lookups slow.
    """
    # Room for LANES games of new positions, or for one game in which every column is looked up and
    # stored: the loop checks only when a game begins.
    new = max(LANES, g.columns) * g.columns * g.rows
    return 5 * (int(words[len(words) - 1]) + new) > 3 << (64 - t.shift)


@kernel
def fill(
    keys: np.ndarray, contents: np.ndarray, words: np.ndarray, numbers: np.ndarray, t: Layout
) -> None:
    """Insert distinct keys, int64[n], with their numbers, float32[n, values and counts]."""
    for i in range(len(keys)):
        place = insert(int(keys[i]), words, numbers, t)
        for j in range(contents.shape[1]):
            numbers[2 * place + 2 + j] = contents[i, j]


@kernel
def copy_slots(words: np.ndarray, larger: np.ndarray, t: Layout) -> None:
    """Copy all slots into a larger, empty table with layout `t`."""
    for place in range(0, len(words) - 1, t.width):
        if words[place] != 0:
            # The larger table uses more bits of the hash, so every slot moves.
            new_place = find(int(words[place]), larger, t)
            for word in range(t.width):
                larger[new_place + word] = words[place + word]
    larger[len(larger) - 1] = words[len(words) - 1]
