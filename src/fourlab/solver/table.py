"""The transposition table: proven bounds of scores in one array of 64-bit words.

A position's key is mixed into another number with as many bits. The low bits of the mixed key
select a bucket of four words, and the remaining bits are stored as the tag. Mixing is a bijection,
so bucket and tag identify the position: two positions are never confused. An entry is one word:

    bits 17 and up   tag
    bits 12 to 16    work: the bit length of the number of nodes that the entry took, at most 31
    bits  6 to 11    lower bound + 32
    bits  0 to  5    31 - upper bound

An empty word (0) thus has the bounds LOWEST and HIGHEST, which say nothing.

Replacement: the first three words of a bucket keep the entries with the most work, and the fourth
takes everything else. A new entry with at least as much work as the cheapest of the three replaces
it, and the cheapest moves to the fourth word; any other new entry goes to the fourth word.

Threads may share a table without locks. Words are read and written whole, and every entry is valid
on its own; a lost update costs time but never correctness.
"""

import mmap

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import bit_length
from fourlab.game.geometry import Geometry

BUCKET = 4
"""Words per bucket: 32 bytes, half a cache line."""
LOWEST, HIGHEST = -32, 31
"""The bounds of a position that is not in the table: no score is outside them."""
MAX_TAG_BITS = 46
"""The 64 bits of a word without the 17 below the tag and the sign bit."""
_HUGE_PAGE = 1 << 21
_MAX_WORK = 31
# Multiplying by an odd number modulo a power of two is a bijection.
# The first is the multiplier of xorshift* generators (Vigna, 2016).
_ODD, _OTHER_ODD = 0x2545F4914F6CDD1D, 0x1B03738712FAD5C9


def new_table(words: int) -> np.ndarray:
    """Return an empty table; `words` is a power of two. Its memory is released with the array.

    Memory maps start at a page boundary, so no bucket straddles two cache lines. With huge pages (2
    MiB) the solver is a third faster.
    """
    size = 8 * words
    if size < _HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.frombuffer(mmap.mmap(-1, size), np.int64)
    # The kernel gives huge pages to private mappings only, and only to aligned parts of them.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    memory = mmap.mmap(-1, size + _HUGE_PAGE, flags=flags)
    memory.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(memory, np.int64)
    # Words from the start of the mapping to the first multiple of 2 MiB.
    start = -whole.ctypes.data % _HUGE_PAGE // 8
    return whole[start : start + words]


def fewest_words(bits: int) -> int:
    """Return the size of the smallest table for keys of `bits` bits.

    The bits that do not select the bucket must fit into the tag.
    """
    return BUCKET << max(0, bits - MAX_TAG_BITS)


def table_for(g: Geometry, words: int) -> np.ndarray:
    """Return an empty table for a board, of `words` words or as many as its keys need."""
    return new_table(max(words, fewest_words(g.columns * g.height)))


@inlined_kernel
def mix(key: int, bits: int) -> int:
    """Map a key of `bits` bits to another number of `bits` bits, one to one."""
    # As in the finalisers of hash functions: a multiplication moves low bits up, a shift by half
    # moves high bits down. Both can be undone: an XOR with the upper half leaves the upper half as
    # it is.
    all_bits = (1 << bits) - 1
    mixed = (int(key) * _ODD) & all_bits
    mixed ^= mixed >> (bits >> 1)
    mixed = (mixed * _OTHER_ODD) & all_bits
    return mixed ^ (mixed >> (bits >> 1))


@inlined_kernel
def bucket_of(table: np.ndarray, mixed: int) -> int:
    """Return the index of the first word of a position's bucket."""
    # Example: a table of 2**15 words has 2**13 buckets, which the low 13 bits select.
    return (mixed & ((len(table) >> 2) - 1)) << 2


@inlined_kernel
def tag_of(table: np.ndarray, mixed: int) -> int:
    """Return the bits of a mixed key that do not select the bucket."""
    # bit_length(2**15) is 16, and 16 - 3 = 13 bits select the bucket.
    return mixed >> (bit_length(len(table)) - 3)


@inlined_kernel
def probe(table: np.ndarray, mixed: int) -> tuple[int, int]:
    """Return the bounds of a position, LOWEST and HIGHEST if it is not in the table."""
    # An empty word has tag 0. If it matches a position of tag 0, its bounds say nothing, as
    # intended.
    start, tag = bucket_of(table, mixed), tag_of(table, mixed)
    for word in range(start, start + BUCKET):
        # Unsigned indices spare the test for negative ones, which count from the end.
        entry = int(table[np.uint64(word)])
        if entry >> 17 == tag:
            return ((entry >> 6) & 63) - 32, 31 - (entry & 63)
    return LOWEST, HIGHEST


@inlined_kernel
def store(table: np.ndarray, mixed: int, lower: int, upper: int, nodes: int) -> None:
    """Store bounds that took `nodes` nodes to prove, intersected with the bounds already stored."""
    start, tag = bucket_of(table, mixed), tag_of(table, mixed)
    cheapest, least, place = start, 64, -1
    for word in range(start, start + BUCKET):
        old = int(table[np.uint64(word)])
        if old >> 17 == tag:
            place = word
            lower, upper = max(lower, ((old >> 6) & 63) - 32), min(upper, 31 - (old & 63))
            break
        # The fourth word is not protected, whatever work its entry took.
        if word < start + BUCKET - 1 and (old >> 12) & 31 < least:
            cheapest, least = word, (old >> 12) & 31
    # A logarithm is fine enough to compare the work of entries, and takes five bits.
    work = min(bit_length(nodes), _MAX_WORK)
    if place < 0:
        last = start + BUCKET - 1
        if work >= least:
            table[np.uint64(last)] = table[np.uint64(cheapest)]
            place = cheapest
        else:
            place = last
    table[np.uint64(place)] = (tag << 17) | (work << 12) | ((lower + 32) << 6) | (31 - upper)


@kernel
def copy_entries(table: np.ndarray, larger: np.ndarray, begin: int, end: int) -> None:
    """Copy the entries in words `begin` to `end` into a larger table."""
    shift = bit_length(len(table)) - 3  # the bits that select the bucket
    for word in range(begin, end):
        entry = int(table[word])
        if entry != 0:
            # Tag and bucket are the two parts of the mixed key, so the key need not be stored.
            mixed = ((entry >> 17) << shift) | (word >> 2)
            work = (entry >> 12) & 31
            # A number of nodes whose bit length is `work` again.
            store(larger, mixed, ((entry >> 6) & 63) - 32, 31 - (entry & 63), (1 << work) >> 1)
