"""The tree of Monte Carlo tree search, and its verbs: choose, expand, simulate, back up, prove.

The nodes are blocks (`nodes.py`) of one flat int32 array, three numbers per column: VISITS, SUMS in
points, and LEADS. An edge is the place of a column's visits in that array; its sum is `columns` and
where it leads 2 * `columns` further on. The innermost loop uses unsigned indices, so that no index is
tested for being negative.

`visits` is FULL for a full column, 0 for an untried one, and LOST or DRAWN + visits for one that is proven, so that one
comparison tells which columns can be chosen. Block 0 is never used; the root is block 1 unless the caller searches a subtree.

A node is a column of its parent's block: its first visit plays a rollout, its second gives it a block of its own. So a tree
takes about 0.3 blocks a simulation, 25 bytes on seven columns.

Opponents inside the transition (`opponent` > 0) use the same tree, but at the other side's nodes nothing is maximised: the
reply is drawn at every pass (RANDOM), or drawn or computed once and kept (FROZEN, NEGAMAX).
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts.nodes import (
    DRAW,
    LEADS,
    LOSS,
    SUMS,
    UNPROVEN,
    WIN,
    block_of,
    proof_of,
    settled,
)
from fourlab.compiled._jit import kernel
from fourlab.compiled.atomic import atomic_add, atomic_replace
from fourlab.compiled.board import has_line, key, landing, landings
from fourlab.compiled.lines import first_line
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.compiled.random import advance, below
from fourlab.compiled.rollouts import rollout, rollout_against_negamax, rollout_with_wins_and_blocks
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry

FULL = -(2**31)
LOST = -(2**30)
DRAWN = -(2**29)
"""Visits of a full column, and what proven columns have added to theirs: FULL < lost < DRAWN <= drawn < 0."""
POINTS = 4
"""A win is +4 points, a loss -4; a draw may be worth any whole number of points between."""

MOST_VISITS = 2**28
"""Beyond this the sums would overflow; who calls the search ends it there."""

FIRST, LAST, ANY = 0, 1, 2
PLAYER, RANDOM, FROZEN, NEGAMAX = 0, 1, 2, 3

LOGS = np.log(np.maximum(np.arange(1 << 16), 1)).astype(np.float32)
INVERSES = (1 / np.maximum(np.arange(1 << 12), 1)).astype(np.float32)
INVERSE_ROOTS = (1 / np.sqrt(np.maximum(np.arange(1 << 12), 1))).astype(np.float32)


class Tree(NamedTuple):
    """The arrays of a tree."""

    words: np.ndarray  # int32[blocks * 3 * columns]: the nodes
    used: np.ndarray  # int64[1]: blocks in use, shared by all threads
    counts: np.ndarray  # int64[3]: visits of the root, and how many of these its side to move won and lost
    keys: np.ndarray  # int64[2, slots]: keys and their blocks where transpositions are merged, else int64[2, 0]
    nodes: np.ndarray  # int32[2, blocks]: visits and proof of each block where transpositions are merged


class Switches(NamedTuple):
    """How to search; by default plain UCT."""

    c: float = 1.4
    """Exploration, for results from -1 to +1."""
    log_ratio: bool = False
    """Document 000's bound: c * sqrt(log(N / n)) in place of c * sqrt(log(N) / n)."""
    expand_all: bool = False
    """Document 001: a new node gets all its children at once and the rollout starts from one of them."""
    past_wins: bool = False
    """Document 001: won positions are played on, and scored by the first line found from the top left."""
    draw: int = 0
    """Points of a draw, for both sides."""
    draw_leaf_wins: bool = False
    """Document 004: a drawn rollout counts as a win for the side that moved to the leaf."""
    leaf_wins: bool = False
    """Document 004: a decided rollout counts as a win for the side that moved to the leaf, whoever won."""
    tie: int = ANY
    """Which of equally good columns to follow: FIRST, LAST or ANY."""
    opponent: int = PLAYER
    """PLAYER, or the other side as part of the transition: RANDOM, FROZEN, NEGAMAX."""
    random_ties: bool = False
    """Whether negamax draws lots between equal scores, as Kaggle's does since March 2020."""
    wins_and_blocks: bool = False
    """Rollouts win at once if they can, else block."""
    solver: bool = False
    """Back up proven results and never search them again."""
    shared: bool = False
    """Other threads search the same tree: make nodes and marks atomically."""


def new_tree(blocks: int, slots: int, g: Geometry) -> Tree:
    """Room for a tree of so many blocks, and slots if transpositions are merged: a power of two, else 0."""
    return Tree(
        words=np.empty(blocks * 3 * g.columns, np.int32),  # untouched pages cost nothing
        used=np.array([2]),
        counts=np.zeros(3, np.int64),
        keys=np.zeros((2, slots), np.int64),
        nodes=np.zeros((2, blocks if slots else 0), np.int32),
    )


@kernel
def edge_of(block: int, column: int, columns: int) -> int:
    """Return the place of a column's visits."""
    return block * 3 * columns + column


@kernel
def sums_of(edge: int, columns: int) -> int:
    """Return the place of its sum of results."""
    return edge + SUMS * columns


@kernel
def leads_of(edge: int, columns: int) -> int:
    """Return the place of where it leads."""
    return edge + LEADS * columns


@kernel
def node_of(edge: int, columns: int) -> int:
    """Return the block that an edge belongs to."""
    return edge // (3 * columns)


@kernel
def new_block(words: np.ndarray, block: int, mask: int, g: Geometry) -> None:
    """Clear a block: open columns untried, full ones closed."""
    for column in range(g.columns):
        edge = edge_of(block, column, g.columns)
        words[edge] = 0 if landing(mask, column, g) else FULL
        words[sums_of(edge, g.columns)] = 0
        words[leads_of(edge, g.columns)] = 0


@kernel
def choose(words: np.ndarray, block: int, columns: int, n: int, s: Switches, state: int) -> tuple[int, bool, int]:
    """Choose an untried column if there is one, else the one with the greatest upper confidence bound; -1 if all are proven.

    Also tells whether there is a proven draw among the columns.
    The bound is sum / v + c * sqrt(log n / v); inverses and inverse roots of small v are looked up. Unsigned indices spare
    the test for negative ones.
    """
    visits_at = np.uint64(edge_of(block, 0, columns))
    sums_at = np.uint64(sums_of(edge_of(block, 0, columns), columns))
    untried, drawn = 0, False
    if n <= columns:  # a node visited more often has tried all its columns, unless its tree was full for a while
        for column in range(columns):
            untried += words[visits_at + np.uint64(column)] == 0
    if untried == 0:
        log_n = LOGS[np.uint64(n)] if n < len(LOGS) else np.float32(math.log(n))
        spread = np.float32(s.c) * np.float32(math.sqrt(log_n))
        best, chosen, equals = np.float32(-1e30), -1, 0
        for column in range(columns):
            v = words[visits_at + np.uint64(column)]
            if v <= 0:  # closed or proven
                untried += v == 0
                drawn |= DRAWN <= v < 0
                continue
            total = np.float32(words[sums_at + np.uint64(column)]) * np.float32(1 / POINTS)
            if s.log_ratio:
                log_v = LOGS[np.uint64(v)] if v < len(LOGS) else np.float32(math.log(v))
                bound = total / np.float32(v) + np.float32(s.c) * np.float32(math.sqrt(max(log_n - log_v, np.float32(0))))
            elif v < len(INVERSES) and s.c != 0:  # without exploration equal means must tie, so they are divided exactly
                bound = total * INVERSES[np.uint64(v)] + spread * INVERSE_ROOTS[np.uint64(v)]
            else:
                bound = (total + spread * np.float32(math.sqrt(np.float32(v)))) / np.float32(v)
            if bound > best:
                best, chosen, equals = bound, column, 1
            elif bound == best:
                if s.tie == LAST:
                    chosen = column
                elif s.tie == ANY:  # each of k equals is kept with chance 1/k
                    equals += 1
                    state = advance(state)
                    if below(equals, state) == 0:
                        chosen = column
        if untried == 0:
            return chosen, drawn, state
    wanted = 0
    if s.tie == LAST:
        wanted = untried - 1
    elif s.tie == ANY:
        state = advance(state)
        wanted = below(untried, state)
    chosen = -1
    for column in range(columns):
        v = words[visits_at + np.uint64(column)]
        drawn |= DRAWN <= v < 0
        if v == 0:
            if wanted == 0:
                chosen = column
            wanted -= 1
    return chosen, drawn, state  # -1 here if other threads were faster; the caller starts again


@kernel
def any_open(words: np.ndarray, block: int, columns: int, state: int) -> tuple[int, int]:
    """Choose any column that is not closed, all with the same chance."""
    while True:
        state = advance(state)
        column = below(columns, state)
        if words[edge_of(block, column, columns)] >= 0:
            return column, state


@kernel
def examine(own: int, mask: int, g: Geometry, s: Switches) -> tuple[int, int]:
    """Say what is known of a position for the side that has just moved: its result and WIN, DRAW or LOSS, or 0 and 0."""
    if s.past_wins:
        if mask == g.cells:
            result = first_line(own, mask, g)
            return result, DRAW - result
        return 0, 0
    if has_line(own, g.height, g.in_a_row):
        return 1, WIN
    if mask == g.cells:
        return 0, DRAW
    if s.solver and winning_cells(own ^ mask, mask, g) & landings(mask, g):
        return -1, LOSS  # the other side wins at once
    return 0, 0


@kernel
def has_room(tree: Tree, columns: int) -> bool:
    """Return whether there is a block left."""
    return bool(tree.used[0] < len(tree.words) // (3 * columns))


@kernel
def expand(tree: Tree, edge: int, own: int, mask: int, g: Geometry, s: Switches, ours: bool, state: int) -> tuple[int, int]:
    """Give the position after a column a block of its own, or find the one it has.

    Returns where the column now leads; 0 if there was no block left.
    """
    words, used, keys = tree.words, tree.used, tree.keys
    where = leads_of(edge, g.columns)
    slot = -1
    if keys.shape[1] > 0:
        wanted = key(own, mask, g)
        slot = find_slot(keys[0], wanted)
        if keys[0, slot] == wanted:
            words[where] = keys[1, slot]
            return keys[1, slot], state
        keys[0, slot], keys[1, slot] = wanted, used[0]
    block = atomic_add(used, 0, 1) if s.shared else used[0]
    if not s.shared:
        used[0] += 1
    elif block >= len(words) // (3 * g.columns):
        atomic_add(used, 0, -1)
        return 0, state
    new_block(words, block, mask, g)
    if slot >= 0:
        tree.nodes[0, block], tree.nodes[1, block] = words[edge], UNPROVEN
    if s.opponent >= FROZEN and ours:
        state = freeze_reply(words, block, own, mask, g, s, state)
    if s.shared:
        before = atomic_replace(words, where, 0, block)  # another thread may have been faster
        return (before if before != 0 else block), state
    words[where] = block
    return block, state


@kernel
def find_slot(keys: np.ndarray, wanted: int) -> int:
    """Find the key in an open-addressing table, or the empty slot where it belongs; its length is a power of two."""
    slot = ((wanted * 0x1E3779B97F4A7C15) >> 20) & (len(keys) - 1)
    while keys[slot] != 0 and keys[slot] != wanted:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@kernel
def freeze_reply(words: np.ndarray, block: int, own: int, mask: int, g: Geometry, s: Switches, state: int) -> int:
    """Let the opponent reply once and for all: close every other column of its block."""
    if s.opponent == NEGAMAX:
        _, reply, state = kaggle_negamax(own, mask, g, 4, s.random_ties, state)
    else:
        reply, state = any_open(words, block, g.columns, state)
    for column in range(g.columns):
        if column != reply:
            words[edge_of(block, column, g.columns)] = FULL
    return state


@kernel
def simulate(own: int, mask: int, g: Geometry, s: Switches, others_turn: bool, state: int) -> tuple[int, int]:
    """Play the game to its end and return the result for the side to move."""
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


@kernel
def back_up(words: np.ndarray, path: np.ndarray, depth: int, columns: int, result: int, rolled_out: bool, s: Switches) -> int:
    """Credit every column of the path; `result` is for the side that played the last one.

    A side that has a proven draw will not do worse, so a node hands up a draw in place of a loss. Returns the result for
    the side to move at the root.
    """
    if rolled_out and s.leaf_wins and result != 0:
        result = 1
    for level in range(depth - 1, -1, -1):
        points = POINTS * result if result != 0 else s.draw
        if rolled_out and s.draw_leaf_wins and result == 0 and level == depth - 1:
            points = POINTS
        marked = path[np.uint64(level)]
        edge = np.uint64(marked >> 1)
        words[edge] += 1
        words[np.uint64(sums_of(marked >> 1, columns))] += points
        result = 0 if marked & 1 and result < 0 else -result
    return -result


@kernel
def prove(tree: Tree, path: np.ndarray, depth: int, columns: int, proof: int) -> bool:
    """Draw conclusions from a proven last column of the path, upwards as far as they go; tell whether the root is proven.

    A winning column proves its node; otherwise a node is proven when all its columns are.
    """
    for level in range(depth - 1, -1, -1):
        edge = path[level] >> 1
        block = node_of(edge, columns)
        if proof != WIN:
            mark(tree.words, edge, LOST if proof == LOSS else DRAWN)
            proof = conclusion(tree.words, block, columns)
            if proof == UNPROVEN:
                return False
        else:
            proof = LOSS
        if level == 0:
            return True
        if tree.keys.shape[1] > 0:
            tree.nodes[1, block] = proof
        settle(tree.words, path[level - 1] >> 1, columns, proof)
    return False


@kernel
def conclusion(words: np.ndarray, block: int, columns: int) -> int:
    """What a node's columns prove for the side that moved to it: WIN, DRAW, LOSS or UNPROVEN."""
    proof = WIN
    for column in range(columns):
        edge = edge_of(block, column, columns)
        if words[edge] == FULL:
            continue
        its_proof = proof_of(words[leads_of(edge, columns)])
        if its_proof == WIN:
            return LOSS
        if its_proof == UNPROVEN:
            proof = UNPROVEN
        elif its_proof == DRAW and proof != UNPROVEN:
            proof = DRAW
    return proof


@kernel
def settle(words: np.ndarray, edge: int, columns: int, proof: int) -> None:
    """Note what is proven of a column that leads to a block."""
    where = leads_of(edge, columns)
    leads = int(words[where])
    if leads > 0:
        atomic_replace(words, where, leads, settled(leads, proof))


@kernel
def mark(words: np.ndarray, edge: int, offset: int) -> None:
    """Take a proven column out of the search, once, whatever other threads do."""
    while True:
        visits = int(words[edge])
        if visits < 0 or atomic_replace(words, edge, visits, visits + offset) == visits:
            return


@kernel
def copy_subtree(words: np.ndarray, root: int, columns: int, copy: np.ndarray) -> int:
    """Copy the blocks below a root into another array, the root as block 1; returns the blocks then in use."""
    size = 3 * columns
    copy_block(words, root, copy, 1, size)
    used, scanned = 2, 1
    while scanned < used:
        for where in range(scanned * size + LEADS * columns, (scanned + 1) * size):
            leads = copy[where]
            block = block_of(leads)
            if block > 0:
                copy_block(words, int(block), copy, used, size)
                copy[where] = used if leads > 0 else settled(used, proof_of(leads))
                used += 1
        scanned += 1
    return used


@kernel
def copy_block(words: np.ndarray, block: int, copy: np.ndarray, to: int, size: int) -> None:
    """Copy one block. (Compiling a slice assignment takes two seconds, for its error message.)"""
    for word in range(size):
        copy[to * size + word] = words[block * size + word]
