"""A transposition table: what is already known of positions, in one array of 64-bit words.

A position's key is mixed into another number of as many bits, one to one. The low bits of that number choose a bucket of
four words, the others are stored, so a word names its position exactly and a wrong one is never believed:

    tag << 20  |  work << 14  |  lower bound + 64 << 7  |  upper bound + 64

`work` is the logarithm of the nodes it took to find out. A new entry replaces the cheapest of three, which moves to the fourth
word; a cheap new entry goes to the fourth word itself.
"""

import numpy as np

from fourlab.kernels._jit import kernel

BUCKET = 4
LOWEST, HIGHEST = -64, 63
"""The bounds of a position of which nothing is known."""
_ODD, _OTHER_ODD = 0x2545F4914F6CDD1D, 0x1B03738712FAD5C9


@kernel
def mix(key: int, bits: int) -> int:
    """Shuffle a key of so many bits, one to one."""
    all_bits = (1 << bits) - 1
    mixed = (key * _ODD) & all_bits
    mixed ^= mixed >> (bits >> 1)
    mixed = (mixed * _OTHER_ODD) & all_bits
    return mixed ^ (mixed >> (bits >> 1))


@kernel
def probe(table: np.ndarray, mixed: int) -> tuple[int, int]:
    """Look up the bounds of a position."""
    buckets = len(table) // BUCKET  # a power of two
    start, tag = (mixed & (buckets - 1)) * BUCKET, mixed // buckets
    for word in range(start, start + BUCKET):
        entry = int(table[np.uint64(word)])
        if entry >> 20 == tag and entry != 0:
            return ((entry >> 7) & 127) - 64, (entry & 127) - 64
    return LOWEST, HIGHEST


@kernel
def store(table: np.ndarray, mixed: int, lower: int, upper: int, nodes: int) -> None:
    """Remember the bounds of a position and that it took so many nodes to find them."""
    buckets = len(table) // BUCKET
    start, tag = (mixed & (buckets - 1)) * BUCKET, mixed // buckets
    work = 0
    while nodes > 0:
        work += 1
        nodes >>= 1
    entry = (tag << 20) | (work << 14) | ((lower + 64) << 7) | (upper + 64)
    cheapest, least = start, 64
    for word in range(start, start + BUCKET):
        old = int(table[np.uint64(word)])
        if old == 0 or old >> 20 == tag:
            table[word] = entry
            return
        if word < start + BUCKET - 1 and (old >> 14) & 63 < least:
            cheapest, least = word, (old >> 14) & 63
    last = start + BUCKET - 1
    if work >= least:
        table[last] = table[cheapest]
        table[cheapest] = entry
    else:
        table[last] = entry
