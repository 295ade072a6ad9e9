"""Entries of the pattern search's transposition table: a result in one word.

bits 24 and up   score + OFFSET
bits 16 to 23    depth
bits  8 to 15    generation
bits  2 to  7    best column
bits  0 and 1    kind: what the score is
"""

from fourlab.compiled._jit import inlined_kernel

OFFSET = 1 << 22
"""Scores are smaller in size."""


@inlined_kernel
def packed(score: int, kind: int, depth: int, column: int, generation: int) -> int:
    """Return a result as one word."""
    return (
        ((score + OFFSET) << 24) | (max(depth, 0) << 16) | (generation << 8) | (column << 2) | kind
    )


@inlined_kernel
def entry_score(word: int) -> int:
    """Return the score of a packed result."""
    return (word >> 24) - OFFSET


@inlined_kernel
def entry_depth(word: int) -> int:
    """Return the depth of a packed result."""
    return (word >> 16) & 255


@inlined_kernel
def entry_generation(word: int) -> int:
    """Return the generation of a packed result."""
    return (word >> 8) & 255


@inlined_kernel
def entry_column(word: int) -> int:
    """Return the best column of a packed result."""
    return (word >> 2) & 63


@inlined_kernel
def entry_kind(word: int) -> int:
    """Return what the score of a packed result is."""
    return word & 3
