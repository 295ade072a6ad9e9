"""Tree search whose rollouts are played, or cut short and evaluated, by an evaluator in Python.

An evaluator is fast only on many positions at once, so simulations run in batches, in three steps:

    gather          descends the tree many times and collects the leaves
    play_on         plays the games from the leaves until all are over or need the evaluator;
                    Python evaluates the positions they ask for and calls it again
    back_up_batch   adds the results to the tree

The tree and its verbs are those of `verbs.py`. A simulation counts as a loss until its result is
known, which diverts the next one (virtual loss). Results are fractions from -1 to +1, but the sums
in a tree are integers: here a win is WON points (`Switches.won`).
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts.nodes import (
    UNPROVEN,
    Nodes,
    add_points,
    add_visits,
    conclusion,
    edge_of,
    leads_of,
    proof_of,
    result_of,
    set_leads,
    settled,
    visits_of,
)
from fourlab.agents.mcts.verbs import (
    MAX_VISITS,
    POINTS,
    Switches,
    Tree,
    back_up_proof,
    choose,
    examine,
    new_block,
    new_tree,
)
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.board import landing, landings
from fourlab.compiled.random import advance, below
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

WON = 256
"""Results are stored in steps of 1 / WON."""
# 2^22 simulations of at most WON = 2^8 points are 2^30, which int32 holds.
MAX_SIMULATIONS = MAX_VISITS * POINTS // WON
"""Above this the int32 sums could overflow."""
# `random.below` takes at most 2^31.
COINS = 1 << 30
"""Probabilities are integers, in units of 1 / COINS."""

OVER, PLAYING, CHOOSING, EVALUATING = 0, 1, 2, 3
"""The status of a game; CHOOSING a column and EVALUATING the position need the evaluator."""


class Games(NamedTuple):
    """The leaves of a batch and the games played from them."""

    paths: np.ndarray  # int64[batch, cells + 1]: the path to each leaf, as in `kernel.search`
    lengths: np.ndarray  # int64[batch]: the length of each path
    own: np.ndarray  # int64[batch]: discs of the side to move
    mask: np.ndarray  # int64[batch]: all discs
    plies: np.ndarray  # int64[batch]: discs played since the leaf
    status: np.ndarray  # int64[batch]: OVER, PLAYING, CHOOSING or EVALUATING
    results: np.ndarray  # float64[batch]: of finished games, for the side to move at the leaf
    # Positions for the evaluator; those of one game are adjacent, in the order of its columns.
    query_own: np.ndarray  # int64[batch * columns]
    query_mask: np.ndarray  # int64[batch * columns]


class Policy(NamedTuple):
    """How games are played from the leaves."""

    depth: int
    """Plies after which the evaluator ends the game; -1 to play it to the end."""
    random: int
    """Probability of a random column in place of the evaluator's best, in units of 1 / COINS."""
    wins_and_blocks: bool
    """Win at once if possible, otherwise block a win."""
    by_logits: bool
    """Rate columns by the position's logits; otherwise by the values of the positions after."""


def new_games(batch: int, g: Geometry) -> Games:
    """Allocate the arrays of a batch."""
    paths = np.zeros((batch, g.columns * g.rows + 1), np.int64)
    lengths, own, mask, plies, status = np.zeros((5, batch), np.int64)
    results = np.zeros(batch)
    query_own, query_mask = np.zeros((2, batch * g.columns), np.int64)
    return Games(paths, lengths, own, mask, plies, status, results, query_own, query_mask)


@kernel
def gather(
    tree: Tree,  # with a free block for every simulation
    root_own: int,
    root_mask: int,
    g: Geometry,
    s: Switches,
    simulations: int,
    games: Games,
    state: int,
) -> tuple[int, bool, int]:
    """Descend from the root, block 1, once per simulation.

    Results that are proven are backed up at once; other leaves are collected in `games`. Returns
    the number of leaves, whether the root is proven (which ends the batch), and the random state.
    """
    nodes = tree.nodes
    leaves = 0
    for _ in range(simulations):
        path = games.paths[leaves]
        depth, proof, own, mask, state = descend(tree, root_own, root_mask, g, s, path, state)
        tree.counts[0] += 1
        # 3. Back up a proven result, otherwise collect the leaf.
        if proof:
            back_up(nodes, path, depth, WON * result_of(proof))
            if s.solver and back_up_proof(tree, path, depth, proof):
                return leaves, True, state
        else:
            games.own[leaves], games.mask[leaves] = own, mask
            games.plies[leaves], games.status[leaves] = 0, PLAYING
            games.lengths[leaves] = depth
            leaves += 1
    return leaves, False, state


@inlined_kernel
def descend(
    tree: Tree, own: int, mask: int, g: Geometry, s: Switches, path: np.ndarray, state: int
) -> tuple[int, int, int, int, int]:
    """Walk from the root to a leaf; write the path and add a virtual loss to each of its edges.

    Returns the length of the path, the leaf's proof from the point of view of the side that moved
    there, `own` of the side to move, `mask`, and the random state.
    """
    nodes = tree.nodes
    block, depth, n, proof = 1, 0, tree.counts[0], UNPROVEN
    while True:
        # 1. Select a column of this block.
        column, drawn, state = choose(nodes, block, n, s, state)
        if column < 0:
            # Every column is full or proven; then the node is, too.
            proof = conclusion(nodes, block)
            break
        edge = edge_of(nodes, block, column)
        path[depth] = 2 * edge + drawn
        depth += 1
        n = visits_of(nodes, edge)
        # The virtual loss (Chaslot et al., 2008), which `back_up` replaces by the result.
        add_visits(nodes, edge, 1)
        add_points(nodes, edge, -WON)
        cell = landing(mask, column, g)
        mask |= cell
        own = (own | cell) ^ mask
        leads = leads_of(nodes, edge)
        # 2. The first visit checks whether the result is certain, the second expands.
        if n == 0:
            proof = examine(own ^ mask, mask, g, s)
            set_leads(nodes, edge, settled(0, proof))  # 0 if it is unproven
            break
        # The result of the first visit may still be pending in this batch; expanding does not need
        # it.
        if leads == 0:
            leads = nodes.used[0]
            nodes.used[0] += 1
            new_block(nodes, leads, mask, g)
            set_leads(nodes, edge, leads)
        if leads < 0:
            proof = proof_of(leads)
            break
        block = leads
    return depth, proof, own, mask, state


@kernel
def play_on(
    games: Games,
    leaves: int,
    g: Geometry,
    p: Policy,
    values: np.ndarray,  # float32[queries]: the evaluator's answers to the last queries, in order
    logits: np.ndarray,  # float32[queries, columns]
    state: int,
) -> tuple[int, int]:
    """Continue every game with the evaluator's answers until it is over or needs another one.

    Returns the number of positions to evaluate, 0 when all games are over, and the random state.
    """
    queries, answered = 0, 0
    for game in range(leaves):
        own = games.own[game]
        mask = games.mask[game]
        plies = games.plies[game]
        status = games.status[game]
        cell, result = 0, 0.0
        if status == OVER:
            continue
        if status == EVALUATING:
            status = OVER
            result = float(values[answered])
            answered += 1
        elif status == CHOOSING:
            cell, answered, state = best_cell(mask, g, p, values, logits, answered, state)
            status = PLAYING
        while status == PLAYING:
            # No disc played here wins: `next_cell` reports a winning one as OVER.
            if cell != 0:
                mask |= cell
                own = (own | cell) ^ mask
                plies += 1
            status, result, cell, state = next_cell(own, mask, plies, g, p, state)
        games.own[game] = own
        games.mask[game] = mask
        games.plies[game] = plies
        games.status[game] = status
        if status == OVER:
            # After an odd number of plies the other side is to move than at the leaf.
            games.results[game] = -result if plies & 1 else result
        elif status == EVALUATING or p.by_logits:
            games.query_own[queries] = own
            games.query_mask[queries] = mask
            queries += 1
        else:
            queries = query_children(games, queries, own, mask, g)
    return queries, state


@kernel
def next_cell(
    own: int, mask: int, plies: int, g: Geometry, p: Policy, state: int
) -> tuple[int, float, int, int]:
    """Decide the next step of a game.

    Returns its status, the result for the side to move if it is OVER, the cell to play if it is
    PLAYING (a cell that does not win), and the random state.
    """
    if mask == g.cells:
        return OVER, 0.0, 0, state
    playable = landings(mask, g)
    wins = winning_cells(own, mask, g) & playable
    # Checked before the cut, so that a win at hand counts exactly and is not estimated.
    if wins and p.wins_and_blocks:
        return OVER, 1.0, 0, state
    if plies == p.depth:
        return EVALUATING, 0.0, 0, state
    cell = 0
    if p.wins_and_blocks:
        forced = winning_cells(own ^ mask, mask, g) & playable
        cell = forced & -forced  # the lowest bit; of two threats only one can be blocked
    if cell == 0 and p.random < COINS:
        state = advance(state)
        if below(COINS, state) >= p.random:
            if wins:  # the position after it is over, which no evaluator can rate
                return OVER, 1.0, 0, state
            # With a single open column there is nothing to ask.
            if playable & (playable - 1):
                return CHOOSING, 0.0, 0, state
            cell = playable
    while cell == 0:
        state = advance(state)
        cell = landing(mask, below(g.columns, state), g)
    if cell & wins:
        return OVER, 1.0, 0, state
    return PLAYING, 0.0, cell, state


@kernel
def query_children(games: Games, queries: int, own: int, mask: int, g: Geometry) -> int:
    """Add the positions after every open column to the queries; returns the number of queries."""
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell != 0:
            # After the column it is the opponent's turn: its discs, unchanged, are `own` there.
            games.query_own[queries] = own ^ mask
            games.query_mask[queries] = mask | cell
            queries += 1
    return queries


@kernel
def best_cell(
    mask: int,
    g: Geometry,
    p: Policy,
    values: np.ndarray,
    logits: np.ndarray,
    answered: int,
    state: int,
) -> tuple[int, int, int]:
    """Choose the evaluator's best column, at random among equals.

    Returns its cell, the number of answers used so far, and the random state.
    """
    best, chosen, equals = 0.0, 0, 0
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell == 0:
            continue
        # Values are from the point of view of the side to move after the column: the opponent.
        rating = logits[answered, column] if p.by_logits else -values[answered]
        if not p.by_logits:
            answered += 1
        if chosen == 0 or rating > best:
            best, chosen, equals = rating, cell, 1
        elif rating == best:
            equals += 1
            state = advance(state)
            if below(equals, state) == 0:
                chosen = cell
    return chosen, answered + p.by_logits, state


@kernel
def back_up_batch(nodes: Nodes, games: Games, leaves: int) -> None:
    """Back up the results of all games, clipped to -1 to +1 and rounded to points of 1 / WON."""
    for leaf in range(leaves):
        points = math.floor(WON * min(max(games.results[leaf], -1.0), 1.0) + 0.5)
        # A win of the side to move at the leaf is a loss of the side that moved there.
        back_up(nodes, games.paths[leaf], games.lengths[leaf], -points)


@kernel
def back_up(nodes: Nodes, path: np.ndarray, depth: int, points: int) -> None:
    """Replace the virtual loss of every edge of a path by points, alternating their sign.

    A win is WON `points`, a loss -WON. They are from the point of view of the side that played the
    last edge. As in `verbs.back_up`, a side that has a proven draw backs up nothing worse.
    """
    for level in range(depth - 1, -1, -1):
        # WON takes back the virtual loss; the visit stays.
        add_points(nodes, path[level] >> 1, WON + points)
        points = 0 if path[level] & 1 and points < 0 else -points


def warm_up() -> None:
    """Load or compile the kernels: run one simulation that needs no evaluator."""
    board = geometry_of(7, 6, 4)
    tree = new_tree(20, 0, board)
    games = new_games(1, board)
    policy = Policy(-1, COINS, True, False)
    values = np.zeros(0, np.float32)
    logits = np.zeros((0, 7), np.float32)
    new_block(tree.nodes, 1, 0, board)
    leaves, _, state = gather(tree, 0, 0, board, Switches(), 1, games, 1)
    play_on(games, leaves, board, policy, values, logits, state)
    back_up_batch(tree.nodes, games, leaves)
