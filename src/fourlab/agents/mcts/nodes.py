"""The nodes of search trees: the parts of a node, where a column leads, and what is proven of it.

Every search keeps a node as a block of numbers, some for each column of the board. The parts lie one
after another, each with one number per column:

    VISITS   how often the column was played
    SUMS     the sum of its results, for the side that plays it
    LEADS    where it leads
    PRIORS   the probability that a network gives it, in searches with a network

`LEADS` is 0 for a column that leads nowhere yet, the number of a block, or negative for what is
settled: -(8 * block + proof), where the block is 0 if there is none. A proof is WIN, DRAW or LOSS as
the side that plays the column sees it, CLOSED for a full column (UCT marks its visits instead), or
PENDING while a network is asked about the position after it. Block 0 is never the child of another,
so 0 cannot be mistaken for one.

The functions are compiled into their callers; no cost was measured (docs/measurements.md).
"""

from collections.abc import Callable
from typing import Any, TypeVar

from fourlab.compiled._jit import kernel

Function = TypeVar("Function", bound=Callable[..., Any])

VISITS, SUMS, LEADS, PRIORS = 0, 1, 2, 3

UNPROVEN, WIN, DRAW, LOSS, CLOSED, PENDING = 0, 1, 2, 3, 4, 5
"""What is known of a column. WIN < DRAW < LOSS, so the best of several results is the least."""


def in_python(function: Function) -> Function:
    """Return one of these functions as Python reads it: called as a kernel it would be compiled for the call."""
    plain: Function = getattr(function, "py_func", function)
    return plain


@kernel
def place(part: int, column: int, columns: int) -> int:
    """Return where a part of a column is in its block."""
    return part * columns + column


@kernel
def settled(block: int, proof: int) -> int:
    """Return what LEADS is for a column of which something is proven."""
    return -(8 * block + proof)


@kernel
def proof_of(leads: int) -> int:
    """Return what is proven of a column that leads there, UNPROVEN if nothing is."""
    return -leads & 7 if leads < 0 else UNPROVEN


@kernel
def block_of(leads: int) -> int:
    """Return the block that a column leads to, proven or not; 0 if there is none."""
    return leads if leads >= 0 else -leads >> 3


@kernel
def opposite(proof: int) -> int:
    """Return the same result as the other side sees it."""
    return WIN + LOSS - proof


@kernel
def result_of(proof: int) -> int:
    """Return +1, 0 or -1 for WIN, DRAW or LOSS."""
    return DRAW - proof
