"""The layout of a search node: its parts, where a column leads, and what is proven of it.

A node is a block of numbers. Its parts lie one after another, each with one number per column:

    VISITS   visits of the column
    SUMS     sum of its results, from the point of view of the side that plays it
    LEADS    the child's block, or a proof
    PRIORS   prior probability from a network, in searches that have one

`LEADS` is 0 if the column has no child yet, the child's block, or negative if something is proven:
-(8 * block + proof), with block 0 if there is no child. A proof is WIN, DRAW or LOSS from the point
of view of the side that plays the column, CLOSED for a full column (UCT marks its visits instead),
or PENDING while a network evaluates the position after it. Block 0 is never a child, so 0 is
unambiguous.

These functions are compiled into their callers; no cost was measured (docs/measurements.md).
"""

from collections.abc import Callable
from typing import Any, TypeVar

from fourlab.compiled._jit import kernel

Function = TypeVar("Function", bound=Callable[..., Any])

VISITS, SUMS, LEADS, PRIORS = 0, 1, 2, 3

UNPROVEN, WIN, DRAW, LOSS, CLOSED, PENDING = 0, 1, 2, 3, 4, 5
"""The proof of a column. WIN < DRAW < LOSS, so the best of several results is the least."""


def in_python(function: Function) -> Function:
    """Return the plain Python function of a kernel, to call it from Python without compiling it."""
    plain: Function = getattr(function, "py_func", function)
    return plain


@kernel
def place(part: int, column: int, columns: int) -> int:
    """Return the index of a column's part within its block."""
    return part * columns + column


@kernel
def settled(block: int, proof: int) -> int:
    """Encode a block (0 for none) and a proof as LEADS."""
    return -(8 * block + proof)


@kernel
def proof_of(leads: int) -> int:
    """Decode the proof from LEADS, UNPROVEN if there is none."""
    return -leads & 7 if leads < 0 else UNPROVEN


@kernel
def block_of(leads: int) -> int:
    """Decode the child's block from LEADS, 0 if there is none."""
    return leads if leads >= 0 else -leads >> 3


@kernel
def opposite(proof: int) -> int:
    """Return a proof from the other side's point of view."""
    return WIN + LOSS - proof


@kernel
def result_of(proof: int) -> int:
    """Return +1, 0 or -1 for WIN, DRAW or LOSS."""
    return DRAW - proof
