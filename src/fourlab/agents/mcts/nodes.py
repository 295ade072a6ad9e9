"""The nodes of a search tree as arrays, for UCT, guided search and network search.

A node is a block of `size` 32-bit words. Its parts lie one after another, each with one word per
column of the board. Seven columns:

    word       0        7       14       21        28
    block b    | VISITS | SUMS  | LEADS  | PRIORS  | value |
               ^ edge_of(nodes, b, 0)

    VISITS   int32: visits of the column
    SUMS     sum of its results, from the point of view of the side that plays it:
             int32 points in UCT and guided search, float32 from -1 to +1 in network search
    LEADS    int32: the child's block, or a proof
    PRIORS   float32: prior probability from a network; only in network search, as is
    value    float32: the network's value of the position, for its side to move

An edge, a column of a node, is named by the index of its visits; the functions below find the other
parts. A path is the list of edges from the root to a leaf. Its entries are 2 * edge + flag; the
flag is UCT's and means that the node has a proven draw.

LEADS is 0 if the column has no child yet, the child's block, or negative if something is proven:
-(8 * block + proof), with block 0 if there is no child. A proof is WIN, DRAW or LOSS from the point
of view of the side that plays the column, CLOSED for a full column, or PENDING while a network
evaluates the position after it. Block 0 is never a child, so 0 is unambiguous.

The parts are read with unsigned indices, so that Numba does not test for negative ones. These
functions cost nothing, but `Nodes` as an argument does: a kernel that is not inlined gets more than
twenty numbers for it. Verbs of the innermost loops are therefore `inlined_kernel`s
(docs/measurements.md).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.atomic import atomic_replace

Function = TypeVar("Function", bound=Callable[..., Any])

VISITS, SUMS, LEADS, PRIORS, VALUE = 0, 1, 2, 3, 4
"""The parts of a block. VISITS is at an edge itself, the others that many times `columns` later."""

# All below 8: a proof takes the three lowest bits of a negative LEADS.
UNPROVEN, WIN, DRAW, LOSS, CLOSED, PENDING = 0, 1, 2, 3, 4, 5
"""The proof of a column. WIN < DRAW < LOSS, so the best of several results is the least."""

# Visits are at most 2^28 (verbs.MAX_VISITS), so marked visits of the two kinds do not overlap.
LOST = -(2**30)
DRAWN = -(2**29)
"""UCT adds these to the visits of columns that are proven to be lost or drawn (verbs.py)."""


MAX_BLOCKS = 2**28
"""A tree has fewer blocks, so that LEADS with a proof fits into 32 bits."""


class Nodes(NamedTuple):
    """The blocks of one tree, or of several trees."""

    words: np.ndarray  # int32[blocks * size]
    numbers: np.ndarray  # float32[blocks * size]: the same memory
    used: np.ndarray  # int64[trees]: blocks in use
    columns: int  # of the board
    size: int  # words per block


def in_python(function: Function) -> Function:
    """Return the plain Python function of a kernel, to call it from Python without compiling it."""
    plain: Function = getattr(function, "py_func", function)
    return plain


# Indices.


@inlined_kernel
def edge_of(nodes: Nodes, block: int, column: int) -> int:
    """Return the edge of a column: the index of its visits."""
    return block * nodes.size + column


@inlined_kernel
def node_of(nodes: Nodes, edge: int) -> int:
    """Return the block that an edge belongs to."""
    return edge // nodes.size


@inlined_kernel
def sum_at(nodes: Nodes, edge: int) -> int:
    """Return the index of an edge's sum of results."""
    return edge + SUMS * nodes.columns


@inlined_kernel
def leads_at(nodes: Nodes, edge: int) -> int:
    """Return the index of where an edge leads."""
    return edge + LEADS * nodes.columns


# The parts of an edge.


@inlined_kernel
def visits_of(nodes: Nodes, edge: int) -> int:
    """Return VISITS; in UCT it is negative if the column is full or proven."""
    visits: int = nodes.words[np.uint64(edge)]
    return visits


@inlined_kernel
def points_of(nodes: Nodes, edge: int) -> int:
    """Return SUMS in points (UCT and guided search)."""
    points: int = nodes.words[np.uint64(sum_at(nodes, edge))]
    return points


@inlined_kernel
def sum_of(nodes: Nodes, edge: int) -> np.float32:
    """Return SUMS as a number (network search)."""
    total: np.float32 = nodes.numbers[np.uint64(sum_at(nodes, edge))]
    return total


@inlined_kernel
def leads_of(nodes: Nodes, edge: int) -> int:
    """Return LEADS."""
    return int(nodes.words[np.uint64(leads_at(nodes, edge))])


@inlined_kernel
def prior_of(nodes: Nodes, edge: int) -> np.float32:
    """Return PRIORS (network search)."""
    prior: np.float32 = nodes.numbers[np.uint64(edge + PRIORS * nodes.columns)]
    return prior


@inlined_kernel
def value_of(nodes: Nodes, block: int) -> np.float32:
    """Return the network's value of a node, -1 to +1 for its side to move (network search)."""
    # One word after the last part, as if it were column 0 of a part VALUE.
    value: np.float32 = nodes.numbers[np.uint64(edge_of(nodes, block, VALUE * nodes.columns))]
    return value


@inlined_kernel
def add_visits(nodes: Nodes, edge: int, visits: int) -> None:
    """Add to VISITS."""
    nodes.words[np.uint64(edge)] += visits


@inlined_kernel
def add_points(nodes: Nodes, edge: int, points: int) -> None:
    """Add to SUMS in points (UCT and guided search)."""
    nodes.words[np.uint64(sum_at(nodes, edge))] += points


@inlined_kernel
def add_to_sum(nodes: Nodes, edge: int, result: np.float32) -> None:
    """Add to SUMS as a number (network search)."""
    nodes.numbers[np.uint64(sum_at(nodes, edge))] += result


@inlined_kernel
def set_leads(nodes: Nodes, edge: int, leads: int) -> None:
    """Write LEADS."""
    nodes.words[np.uint64(leads_at(nodes, edge))] = leads


@inlined_kernel
def set_prior(nodes: Nodes, edge: int, prior: np.float32) -> None:
    """Write PRIORS (network search)."""
    nodes.numbers[np.uint64(edge + PRIORS * nodes.columns)] = prior


@inlined_kernel
def set_value(nodes: Nodes, block: int, value: np.float32) -> None:
    """Write the network's value of a node (network search)."""
    nodes.numbers[np.uint64(edge_of(nodes, block, VALUE * nodes.columns))] = value


@inlined_kernel
def new_edge(nodes: Nodes, edge: int, visits: int, leads: int) -> None:
    """Initialise an edge."""
    nodes.words[np.uint64(edge)] = visits
    # 0 and 0.0 have the same bits, so this is an empty sum of points and of numbers.
    nodes.words[np.uint64(sum_at(nodes, edge))] = 0
    set_leads(nodes, edge, leads)


# Proofs.


@inlined_kernel
def settled(block: int, proof: int) -> int:
    """Encode a block (0 for none) and a proof as LEADS."""
    # Example: a proven draw that leads to block 5 is -42. int32 holds this for up to 2^28 blocks.
    return -(8 * block + proof)


@inlined_kernel
def proof_of(leads: int) -> int:
    """Decode the proof from LEADS, UNPROVEN if there is none."""
    return -leads & 7 if leads < 0 else UNPROVEN


@inlined_kernel
def block_of(leads: int) -> int:
    """Decode the child's block from LEADS, 0 if there is none."""
    return leads if leads >= 0 else -leads >> 3


@inlined_kernel
def opposite(proof: int) -> int:
    """Return a proof from the other side's point of view."""
    # WIN and LOSS change places, DRAW, half of their sum, stays.
    return WIN + LOSS - proof


@inlined_kernel
def result_of(proof: int) -> int:
    """Return +1, 0 or -1 for WIN, DRAW or LOSS."""
    return DRAW - proof


@kernel
def conclusion(nodes: Nodes, block: int) -> int:
    """Return what a node's columns prove for the side that moved to it, UNPROVEN if nothing.

    One winning column is enough; any other result needs all columns proven.
    """
    # The rules of MCTS-Solver (Winands et al., 2008), for draws as well. If every column loses, the
    # side that moved here wins. The loop has no early end, since a winning column may come last.
    proof = WIN
    for column in range(nodes.columns):
        column_proof = proof_of(leads_of(nodes, edge_of(nodes, block, column)))
        if column_proof == WIN:
            return LOSS
        if column_proof == DRAW and proof == WIN:
            proof = DRAW
        elif not DRAW <= column_proof <= CLOSED:  # UNPROVEN or PENDING
            proof = UNPROVEN
    return proof


@kernel
def prove(nodes: Nodes, path: np.ndarray, depth: int, proof: int, marking: bool) -> int:
    """Back up a proof of a path's last edge as far as it reaches.

    `proof` is from the point of view of the side that played the edge. With `marking` the visits of
    lost and drawn columns are marked, so that UCT's `choose` passes over them. Returns the level of
    the highest node that is proven now: 0 is the root, `depth` means none.
    """
    for level in range(depth - 1, -1, -1):
        edge = path[level] >> 1
        # A win proves its node whatever the other columns are: they need not be read.
        if proof == WIN:
            proof = LOSS
        else:
            if marking:
                mark(nodes, edge, LOST if proof == LOSS else DRAWN)
            proof = conclusion(nodes, node_of(nodes, edge))
            if proof == UNPROVEN:
                return level + 1
        # From here on `proof` is that of the edge before, which leads to this node.
        if level > 0:
            settle(nodes, path[level - 1] >> 1, proof)
    return 0


@kernel
def settle(nodes: Nodes, edge: int, proof: int) -> None:
    """Record the proof of an edge that leads to a block; another thread may do the same."""
    # A negative LEADS has its proof already.
    leads = leads_of(nodes, edge)
    if leads > 0:
        atomic_replace(nodes.words, leads_at(nodes, edge), leads, settled(leads, proof))


@kernel
def mark(nodes: Nodes, edge: int, offset: int) -> None:
    """Add LOST or DRAWN to an edge's visits, exactly once even if other threads do the same."""
    while True:
        # Negative visits are marked already. If another thread adds a visit between reading and
        # writing, the exchange fails and is tried again.
        visits = int(visits_of(nodes, edge))
        if visits < 0 or atomic_replace(nodes.words, edge, visits, visits + offset) == visits:
            return


@kernel
def copy_subtree(nodes: Nodes, root: int, to: Nodes, first: int, whole: bool) -> int:
    """Copy a subtree breadth-first into `to`, its root as block `first`; returns the next block.

    If it is not to be `whole`, proven columns keep their proof but not what is below them, since
    they are never searched again.
    """
    # The copies are the queue of the breadth-first walk: those from `scanned` on still have the
    # block numbers of `nodes`, those before it have the numbers of `to`.
    copy_block(nodes, root, to, first)
    scanned, next_block = first, first + 1
    while scanned < next_block:
        for column in range(nodes.columns):
            edge = edge_of(to, scanned, column)
            leads = leads_of(to, edge)
            block = block_of(leads)
            if block > 0 and (whole or leads > 0):
                copy_block(nodes, block, to, next_block)
                set_leads(
                    to, edge, next_block if leads > 0 else settled(next_block, proof_of(leads))
                )
                next_block += 1
            elif block > 0:
                set_leads(to, edge, settled(0, proof_of(leads)))
        scanned += 1
    return next_block


# Pruning in place, in slices between which the caller looks at the clock. A child's block is always
# greater than its parent's, so one pass in ascending order finds a subtree, and another moves it to
# the front without overwriting what it has not moved yet.


@kernel
def number_subtree(
    nodes: Nodes,
    places: np.ndarray,  # int32[blocks]: new numbers; 0 for blocks that are not in the subtree
    begin: int,
    end: int,
    next_place: int,
) -> int:
    """Number the blocks of a subtree from `begin` to `end`; returns the next number.

    The caller has set the place of the subtree's root to any number but 0.
    """
    for block in range(begin, end):
        if places[block] == 0:
            continue
        places[block] = next_place
        next_place += 1
        for column in range(nodes.columns):
            child = block_of(leads_of(nodes, edge_of(nodes, block, column)))
            if child > 0:
                places[child] = 1  # numbered when its turn comes
    return next_place


@kernel
def move_blocks(nodes: Nodes, places: np.ndarray, begin: int, end: int) -> None:
    """Move the numbered blocks from `begin` to `end` to their places."""
    for block in range(begin, end):
        if places[block] == 0:
            continue
        for column in range(nodes.columns):
            edge = edge_of(nodes, block, column)
            leads = leads_of(nodes, edge)
            child = block_of(leads)
            if child > 0:
                place = int(places[child])
                set_leads(nodes, edge, place if leads > 0 else settled(place, proof_of(leads)))
        copy_block(nodes, block, nodes, int(places[block]))


@kernel
def copy_block(nodes: Nodes, block: int, to: Nodes, copy: int) -> None:
    """Copy one block; a slice assignment would take two seconds to compile."""
    for word in range(nodes.size):
        to.words[edge_of(to, copy, word)] = nodes.words[edge_of(nodes, block, word)]
