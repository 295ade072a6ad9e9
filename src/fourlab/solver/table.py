"""A transposition table: what is already known of positions, in one array of 64-bit words.

A position's key is mixed into another number of as many bits, one to one. The low bits of that number choose a bucket of
four words, the others are stored, so a word names its position exactly and a wrong one is never believed:

    tag << 17  |  work << 12  |  lower bound + 32 << 6  |  31 - upper bound

An empty word therefore says: nothing known. `work` tells the nodes it took to find out, as a power of two. A new entry
replaces the cheapest of three, which moves to the fourth word; a cheap new entry goes to the fourth word itself. Several
threads may share a table without locks: words are read and written whole, and every one is true by itself.
"""

import mmap

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import bit_length

BUCKET = 4
LOWEST, HIGHEST = -32, 31
"""The bounds of a position of which nothing is known."""
MOST_TAG_BITS = 46
_HUGE_PAGE = 1 << 21
_MOST_WORK = 31
_ODD, _OTHER_ODD = 0x2545F4914F6CDD1D, 0x1B03738712FAD5C9


def new_table(words: int) -> np.ndarray:
    """An empty table of so many words, a power of two; its memory is released with the array.

    Buckets must not straddle cache lines, and with pages of two megabytes the solver runs a third faster.
    """
    size = 8 * words
    if size < _HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.frombuffer(mmap.mmap(-1, size), np.int64)
    memory = mmap.mmap(-1, size + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # shared memory gets no huge pages
    memory.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(memory, np.int64)
    start = -whole.ctypes.data % _HUGE_PAGE // 8
    return whole[start : start + words]


def fewest_words(bits: int) -> int:
    """The smallest table for keys of so many bits: what does not choose the bucket must fit into the tag."""
    return BUCKET << max(0, bits - MOST_TAG_BITS)


@inlined_kernel
def mix(key: int, bits: int) -> int:
    """Shuffle a key of so many bits, one to one."""
    all_bits = (1 << bits) - 1
    mixed = (int(key) * _ODD) & all_bits
    mixed ^= mixed >> (bits >> 1)
    mixed = (mixed * _OTHER_ODD) & all_bits
    return mixed ^ (mixed >> (bits >> 1))


@inlined_kernel
def bucket_of(table: np.ndarray, mixed: int) -> int:
    """The first word of a position's bucket."""
    return (mixed & ((len(table) >> 2) - 1)) << 2


@inlined_kernel
def tag_of(table: np.ndarray, mixed: int) -> int:
    """What a word says to name its position."""
    return mixed >> (bit_length(len(table)) - 3)


@inlined_kernel
def probe(table: np.ndarray, mixed: int) -> tuple[int, int]:
    """Look up the bounds of a position."""
    start, tag = bucket_of(table, mixed), tag_of(table, mixed)
    for word in range(start, start + BUCKET):
        entry = int(table[np.uint64(word)])
        if entry >> 17 == tag:
            return ((entry >> 6) & 63) - 32, 31 - (entry & 63)
    return LOWEST, HIGHEST


@inlined_kernel
def store(table: np.ndarray, mixed: int, lower: int, upper: int, nodes: int) -> None:
    """Add bounds of a position to those known, and that it took so many nodes to find them."""
    start, tag = bucket_of(table, mixed), tag_of(table, mixed)
    cheapest, least, place = start, 64, -1
    for word in range(start, start + BUCKET):
        old = int(table[np.uint64(word)])
        if old >> 17 == tag:
            place = word
            lower, upper = max(lower, ((old >> 6) & 63) - 32), min(upper, 31 - (old & 63))
            break
        if word < start + BUCKET - 1 and (old >> 12) & 31 < least:
            cheapest, least = word, (old >> 12) & 31
    work = min(bit_length(nodes), _MOST_WORK)
    if place < 0:
        last = start + BUCKET - 1
        if work >= least:
            table[np.uint64(last)] = table[np.uint64(cheapest)]
            place = cheapest
        else:
            place = last
    table[np.uint64(place)] = (tag << 17) | (work << 12) | ((lower + 32) << 6) | (31 - upper)


@kernel
def copy_entries(table: np.ndarray, larger: np.ndarray) -> None:
    """Take everything known along into a larger table."""
    shift = bit_length(len(table)) - 3
    for word in range(len(table)):
        entry = int(table[word])
        if entry != 0:
            mixed = ((entry >> 17) << shift) | (word >> 2)
            work = (entry >> 12) & 31
            store(larger, mixed, ((entry >> 6) & 63) - 32, 31 - (entry & 63), (1 << work) >> 1)
