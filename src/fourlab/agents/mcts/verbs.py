"""The tree of Monte Carlo tree search and its verbs: choose, expand, simulate, back up.

Nodes are blocks of three parts (`nodes.py`): VISITS, SUMS in points, and LEADS. A column's visits
are FULL if it is full, 0 if it is untried, and LOST + visits or DRAWN + visits if it is proven, so
that one comparison shows which columns can be chosen. Block 0 is never used. The root is block 1,
unless the caller searches a subtree.

A tree node is a column of its parent's block: its first visit plays a rollout, its second gives it
a block of its own. A tree takes about 0.3 blocks per simulation, 25 bytes on seven columns.

An opponent that is part of the transition (`opponent` > 0) uses the same tree, but at its nodes
nothing is maximised: the reply is sampled at every visit (RANDOM), or sampled or computed once and
kept (FROZEN, NEGAMAX).
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts.nodes import (
    CLOSED,
    DRAW,
    DRAWN,
    LOSS,
    MAX_BLOCKS,
    UNPROVEN,
    WIN,
    Nodes,
    add_points,
    add_visits,
    edge_of,
    in_python,
    leads_at,
    leads_of,
    new_edge,
    node_of,
    opposite,
    points_of,
    proof_of,
    prove,
    result_of,
    set_leads,
    settled,
    visits_of,
)
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.atomic import atomic_add, atomic_replace
from fourlab.compiled.board import has_line, key, landing, landings
from fourlab.compiled.lines import first_line
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.compiled.patterns import Patterns, value_of
from fourlab.compiled.random import advance, below
from fourlab.compiled.rollouts import rollout, rollout_against_negamax, rollout_with_wins_and_blocks
from fourlab.compiled.threats import non_losing, winning_cells
from fourlab.game.geometry import Geometry

PARTS = 3
"""Words per column of a block: VISITS, SUMS and LEADS (nodes.py)."""
FULL = -(2**31)
"""The visits of a full column.

A column has at most MAX_VISITS visits, so FULL < LOST + visits < DRAWN <= DRAWN + visits < 0.
"""
# Integers, so that threads can add results atomically and sums are exact in any order.
POINTS = 4
"""A win is +4 points and a loss -4; a draw is worth any whole number of points between."""

WON = 64
"""The points of a win where leaves are evaluated and not rolled out, for results in fractions."""

# 2^28 wins are 2^30 points; the offsets LOST and DRAWN are -2^30 and -2^29.
MAX_VISITS = 2**28
"""Callers end a search here, so that visits keep clear of the offsets and sums fit into int32.

Where a win is more than POINTS, it is earlier by that factor."""

MAX_SAMPLES = 4096
"""Attempts to sample an open column."""

FIRST, LAST, ANY = 0, 1, 2
"""Ways to break ties; ANY is uniformly random."""
PLAYER, RANDOM, FROZEN, NEGAMAX = 0, 1, 2, 3
"""Opponents: one that maximises in the tree, or a part of the transition."""

# Tables for the upper confidence bound of small visit counts; index 0 stands in for 1.
# 256 KB of logarithms, 16 KB of each inverse. Those of 1/n and 1/sqrt(n) made the search a tenth
# faster (docs/explanation/speed.md).
LOGS = np.log(np.maximum(np.arange(1 << 16), 1)).astype(np.float32)
INVERSES = (1 / np.maximum(np.arange(1 << 12), 1)).astype(np.float32)
INVERSE_ROOTS = (1 / np.sqrt(np.maximum(np.arange(1 << 12), 1))).astype(np.float32)


class Tree(NamedTuple):
    """The nodes of a tree, shared by all its threads, and what belongs to the whole tree."""

    nodes: Nodes
    counts: np.ndarray  # int64[3]: visits of the root, points its side to move has won and lost
    # Only where transpositions are merged; otherwise they have no columns.
    keys: np.ndarray  # int64[2, slots]: position keys and their blocks
    merged: np.ndarray  # int32[2, blocks]: visits and proof of each block


class Switches(NamedTuple):
    """The settings of a search; the defaults are plain UCT."""

    c: float = 1.4
    """Exploration constant, for results from -1 to +1."""
    log_ratio: bool = False
    """Vannucci & Abril: the bound has c * sqrt(log(N / n)) in place of c * sqrt(log(N) / n)."""
    expand_all: bool = False
    """Bhat: a new node gets all its children at once, and the rollout starts from one of them."""
    past_wins: bool = False
    """Bhat: play continues after a win, and the first line from the top left decides the game."""
    won: int = POINTS
    """The points of a win."""
    draw: int = 0
    """The points of a draw, for both sides. Where leaves are evaluated it must be 0."""
    draw_leaf_wins: bool = False
    """Arya: a drawn rollout counts as a win for the side that moved to the leaf."""
    leaf_wins: bool = False
    """Arya: a decided rollout counts as a win for the side that moved to the leaf, whoever won."""
    tie: int = ANY
    """Which of equally good columns to select: FIRST, LAST or ANY."""
    opponent: int = PLAYER
    """PLAYER, or an opponent that is part of the transition: RANDOM, FROZEN or NEGAMAX."""
    random_ties: bool = False
    """Whether negamax breaks ties at random, as Kaggle's does since March 2020."""
    wins_and_blocks: bool = False
    """Rollouts win at once if they can, otherwise block a win."""
    solver: bool = False
    """Back up proven results and never search them again."""
    shared: bool = False
    """Other threads search the same tree: create nodes and mark proofs atomically."""


def new_tree(blocks: int, slots: int, g: Geometry) -> Tree:
    """Allocate a tree; `slots` is a power of two if transpositions are merged, otherwise 0."""
    size = PARTS * g.columns
    words = np.empty(blocks * size, np.int32)  # pages cost memory once touched
    # Only now, so that memory which cannot be had is refused.
    words = words[: MAX_BLOCKS * size]
    keys = np.zeros((2, slots), np.int64)
    merged = np.zeros((2, blocks if slots else 0), np.int32)
    return in_python(tree_in)(words, g)._replace(keys=keys, merged=merged)


@kernel
def tree_in(words: np.ndarray, g: Geometry) -> Tree:
    """Return a tree whose memory is int32[blocks * PARTS * columns]; its root is not initialised.

    Block 0 is reserved, so that 0 can mean "no node", and block 1 is the root, so `used` starts
    at 2.
    """
    used = np.full(1, 2, np.int64)
    return Tree(
        Nodes(words, words.view(np.float32), used, g.columns, PARTS * g.columns),
        counts=np.zeros(3, np.int64),
        keys=np.zeros((2, 0), np.int64),
        merged=np.zeros((2, 0), np.int32),
    )


@kernel
def new_block(nodes: Nodes, block: int, mask: int, g: Geometry) -> None:
    """Initialise a block: open columns untried, full columns marked."""
    for column in range(g.columns):
        edge = edge_of(nodes, block, column)
        if landing(mask, column, g):
            new_edge(nodes, edge, 0, 0)
        else:
            new_edge(nodes, edge, FULL, settled(0, CLOSED))


# Inlined: as a call with all its arguments it costs 7 % of a search.
@inlined_kernel
def choose(nodes: Nodes, block: int, n: int, s: Switches, state: int) -> tuple[int, bool, int]:
    """Select an untried column, or the one with the greatest upper confidence bound.

    The bound of a column with v of the block's `n` visits is sum / v + c * sqrt(log n / v). Returns
    the column (-1 if none can be chosen), whether one is a proven draw, and the random state.
    """
    columns = nodes.columns
    first = edge_of(nodes, block, 0)
    untried, drawn = 0, False
    # After more visits all columns have been tried, unless the tree was full in the meantime.
    if n <= columns:
        for column in range(columns):
            untried += visits_of(nodes, first + column) == 0
    if untried == 0:
        # Another thread may have marked the edge that leads here since it was selected: n < 0.
        n = max(n, 1)
        log_n = LOGS[np.uint64(n)] if n < len(LOGS) else np.float32(math.log(n))
        spread = np.float32(s.c) * np.float32(math.sqrt(log_n))
        best, chosen, equals = np.float32(-1e30), -1, 0
        for column in range(columns):
            v = visits_of(nodes, first + column)
            if v <= 0:  # untried, full or proven
                untried += v == 0
                drawn |= DRAWN <= v < 0
                continue
            total = np.float32(points_of(nodes, first + column)) * np.float32(1 / s.won)
            if s.log_ratio:
                log_v = LOGS[np.uint64(v)] if v < len(LOGS) else np.float32(math.log(v))
                root = np.float32(math.sqrt(max(log_n - log_v, np.float32(0))))
                bound = total / np.float32(v) + np.float32(s.c) * root
            elif v < len(INVERSES) and s.c != 0:
                bound = total * INVERSES[np.uint64(v)] + spread * INVERSE_ROOTS[np.uint64(v)]
            else:  # for c = 0, too: equal means must tie, so they are divided exactly
                bound = (total + spread * np.float32(math.sqrt(np.float32(v)))) / np.float32(v)
            if bound > best:
                best, chosen, equals = bound, column, 1
            elif bound == best and s.tie == LAST:
                chosen = column
            elif bound == best and s.tie == ANY:
                equals += 1
                state = advance(state)
                if below(equals, state) == 0:  # the k-th of the equals with probability 1/k
                    chosen = column
        if untried == 0:
            return chosen, drawn, state
    skip = 0
    if s.tie == LAST:
        skip = untried - 1
    elif s.tie == ANY:
        state = advance(state)
        skip = below(untried, state)
    chosen = -1  # it stays -1 if other threads have tried them all in the meantime
    for column in range(columns):
        v = visits_of(nodes, first + column)
        drawn |= DRAWN <= v < 0
        if v == 0:
            if skip == 0:
                chosen = column
            skip -= 1
    return chosen, drawn, state


@kernel
def random_column(nodes: Nodes, block: int, state: int) -> tuple[int, int]:
    """Sample uniformly from the columns that are neither full nor marked as proven.

    If there is none, this returns the first column.
    """
    # On a board of 31 columns, one of which is open, 4,096 samples miss it once in 10^58 times.
    for _ in range(MAX_SAMPLES):
        state = advance(state)
        column = below(nodes.columns, state)
        if visits_of(nodes, edge_of(nodes, block, column)) >= 0:
            return column, state
    return 0, state


@kernel
def examine(own: int, mask: int, g: Geometry, s: Switches) -> int:
    """Return WIN, DRAW or LOSS for the side that has just moved, UNPROVEN if a search is needed."""
    if s.past_wins:
        return DRAW - first_line(own, mask, g) if mask == g.cells else UNPROVEN
    if has_line(own, g.height, g.in_a_row):
        return WIN
    if mask == g.cells:
        return DRAW
    # One ply ahead, by a bit operation instead of a search.
    if s.solver and winning_cells(own ^ mask, mask, g) & landings(mask, g):
        return LOSS  # the side to move wins at once
    return UNPROVEN


@inlined_kernel
def evaluate(
    own: int, mask: int, p: Patterns, indices: np.ndarray, g: Geometry, s: Switches
) -> tuple[int, int]:
    """Evaluate a position that is not over by patterns, for the side to move.

    Returns points, and a proof or UNPROVEN. Patterns cannot see what a threat forces, so forced
    replies are played first: as long as a single move does not lose at once, it is played. This
    may show the exact result.
    """
    if winning_cells(own, mask, g) & landings(mask, g):
        return s.won, WIN
    sign, proof = 1, UNPROVEN
    while True:
        # The side to move cannot win at once: not at first, nor after a move that does not lose.
        moves = non_losing(mask, winning_cells(own ^ mask, mask, g), g)
        if moves == 0:
            proof = DRAW if mask == g.cells else LOSS
            break
        if moves & (moves - 1):
            break
        mask |= moves
        own = (own | moves) ^ mask
        sign = -sign
    if proof != UNPROVEN:
        proof = proof if sign > 0 else opposite(proof)
        return s.won * result_of(proof), proof
    return sign * math.floor(s.won * value_of(own, mask, p, g, indices) + 0.5), UNPROVEN


@kernel
def has_room(nodes: Nodes) -> bool:
    """Return whether a block is free."""
    return bool(nodes.used[0] < len(nodes.words) // nodes.size)


@kernel
def expand(
    tree: Tree, edge: int, own: int, mask: int, g: Geometry, s: Switches, ours: bool, state: int
) -> tuple[int, int]:
    """Give the position after an edge a block, or find the block that it shares.

    `ours` means that the side to move at the root has just moved. Returns the block, 0 if none was
    free, and the random state.
    """
    nodes, keys, used = tree.nodes, tree.keys, tree.nodes.used
    slot = -1
    if keys.shape[1] > 0:
        position_key = key(own, mask, g)
        slot = find_slot(keys[0], position_key)
        if keys[0, slot] == position_key:
            set_leads(nodes, edge, keys[1, slot])
            return keys[1, slot], state
        # Not atomic: trees with merged transpositions have one thread.
        keys[0, slot] = position_key
        keys[1, slot] = used[0]
    block = atomic_add(used, 0, 1) if s.shared else used[0]
    if not s.shared:
        used[0] += 1
    # Another thread took the last block after `has_room` was asked.
    elif block >= len(nodes.words) // nodes.size:
        atomic_add(used, 0, -1)
        return 0, state
    new_block(nodes, block, mask, g)
    if slot >= 0:
        # From now on the block counts its own visits, by whichever path they come.
        tree.merged[0, block] = visits_of(nodes, edge)
        tree.merged[1, block] = UNPROVEN
    if s.opponent >= FROZEN and ours:
        state = freeze_reply(nodes, block, own, mask, g, s, state)
    if s.shared:
        # If another thread was faster, use its block; ours stays unused.
        before = atomic_replace(nodes.words, leads_at(nodes, edge), 0, block)
        return (before if before != 0 else block), state
    set_leads(nodes, edge, block)
    return block, state


@kernel
def find_slot(keys: np.ndarray, position_key: int) -> int:
    """Return the slot of a key in an open-addressing table, or the empty slot for it.

    The table's length is a power of two, and at least half of it is empty. Key 0 marks empty slots.
    """
    # Fibonacci hashing: 2^64 divided by the golden ratio, without the top bit to fit int64.
    # Only bits 20 to 63 of the product count, so overflow in compiled code changes nothing.
    slot = ((position_key * 0x1E3779B97F4A7C15) >> 20) & (len(keys) - 1)
    while keys[slot] != 0 and keys[slot] != position_key:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@kernel
def freeze_reply(
    nodes: Nodes, block: int, own: int, mask: int, g: Geometry, s: Switches, state: int
) -> int:
    """Fix the opponent's reply in its block: mark every other column as full."""
    if s.opponent == NEGAMAX:
        # Depth 4 is Kaggle's default, as in the rollouts.
        _, reply, state = kaggle_negamax(own, mask, g, 4, s.random_ties, state)
    else:
        reply, state = random_column(nodes, block, state)
    for column in range(g.columns):
        if column != reply:
            new_edge(nodes, edge_of(nodes, block, column), FULL, settled(0, CLOSED))
    return state


@kernel
def simulate(
    own: int, mask: int, g: Geometry, s: Switches, others_turn: bool, state: int
) -> tuple[int, int]:
    """Play a rollout; returns the result for the side to move, and the random state.

    `others_turn` means that the opponent of the side to move at the root is to move.
    """
    # `first_line` is for the side that has just moved, the result for the side to move.
    if s.past_wins:
        result = first_line(own ^ mask, mask, g)
        if result != 0:
            return -result, state
    if s.opponent == NEGAMAX:
        return rollout_against_negamax(own, mask, g, s.random_ties, others_turn, state)
    if s.wins_and_blocks:
        return rollout_with_wins_and_blocks(own, mask, g, state)
    result, _, state = rollout(own, mask, g, state)
    return result, state


@inlined_kernel
def back_up(
    nodes: Nodes, path: np.ndarray, depth: int, result: int, rolled_out: bool, s: Switches
) -> int:
    """Add a result, in points, to every edge of the path, alternating its sign.

    `result` is from the point of view of the side that played the last edge. The lowest bit of a
    path entry says that the node has a proven draw: its side to move will not do worse, so it backs
    up a draw in place of a loss. Returns the result for the side to move at the root.
    """
    # Arya's fault: whoever won, the side that moved to the leaf gets the win.
    if rolled_out and s.leaf_wins and result != 0:
        result = s.won
    for level in range(depth - 1, -1, -1):
        points = result if result != 0 else s.draw
        if rolled_out and s.draw_leaf_wins and result == 0 and level == depth - 1:
            points = s.won
        entry = path[np.uint64(level)]
        add_visits(nodes, entry >> 1, 1)
        add_points(nodes, entry >> 1, points)
        result = 0 if entry & 1 and result < 0 else -result
    return -result


@kernel
def back_up_proof(tree: Tree, path: np.ndarray, depth: int, proof: int) -> bool:
    """Back up a proof of the path's last edge; return whether it reaches the root.

    `proof` is from the point of view of the side that played the edge. Nodes that transpositions
    share have their own record of it, since other paths lead to them, too.
    """
    highest = prove(tree.nodes, path, depth, proof, True)
    if tree.keys.shape[1] > 0:
        # Level 0 is the root, which no transposition shares; a node's proof is that of the edge
        # before.
        for level in range(max(highest, 1), depth):
            block = node_of(tree.nodes, path[level] >> 1)
            tree.merged[1, block] = proof_of(leads_of(tree.nodes, path[level - 1] >> 1))
    return highest == 0
