"""Guided search: the tree search of `mcts.py`, its rollouts played or judged by an evaluator that lives outside.

An evaluator is quick only with many positions at once, so simulations are made in batches, by three kernels in turn:

    gather     walks down the tree many times and lists the leaves, each game still to be played
    play_on    plays all games on until each is over or asks the evaluator; Python hands it on and calls again
    hand_up    credits the results

The tree is `mcts.py`'s, and so are the verbs. A walk counts as a loss until its result is known, so that the next one goes
elsewhere (virtual loss). Results are fractions from -1 to +1, but the tree's sums are whole numbers: here a win is WON points,
FINE times as many as there. `choose` only compares sums and c, so with a c that is FINE times as large it chooses alike.
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts.nodes import proof_of, result_of, settled
from fourlab.agents.mcts.verbs import (
    MOST_VISITS,
    POINTS,
    Switches,
    Tree,
    choose,
    edge_of,
    examine,
    leads_of,
    new_block,
    new_tree,
    prove,
    sums_of,
)
from fourlab.compiled._jit import kernel
from fourlab.compiled.board import landing, landings
from fourlab.compiled.random import advance, below
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

FINE = 64
WON = FINE * POINTS
MOST_SIMULATIONS = MOST_VISITS // FINE
"""Beyond this the sums would overflow."""
COINS = 1 << 30
"""Chances are whole numbers of this many."""

OVER, GOING_ON, CHOOSING, JUDGED = 0, 1, 2, 3


class Games(NamedTuple):
    """The leaves of a batch and the games played from them."""

    paths: np.ndarray  # int64[batch, cells + 1]: the columns chosen on the way, as in `mcts.search`
    lengths: np.ndarray  # int64[batch]: how many these are
    own: np.ndarray  # int64[batch]: the side to move's discs
    mask: np.ndarray  # int64[batch]: all discs
    plies: np.ndarray  # int64[batch]: discs played since the leaf
    status: np.ndarray  # int64[batch]: OVER, GOING_ON, or what it asks the evaluator: CHOOSING a column, or to be JUDGED
    results: np.ndarray  # float64[batch]: of finished games, for the side to move at the leaf
    asked_own: np.ndarray  # int64[batch * columns]: positions for the evaluator, those of one game side by side
    asked_mask: np.ndarray  # int64[batch * columns]


class Policy(NamedTuple):
    """How games are played from the leaves."""

    depth: int
    """After so many plies a game is judged by the evaluator; -1 if it is played to its end."""
    random: int
    """The chance, in COINS, to play a random column and not the best for the evaluator."""
    wins_and_blocks: bool
    """Win at once if possible, else block."""
    by_logits: bool
    """The best column is the one with the greatest logit, else the one that leads to the worst value for the other side."""


def new_games(batch: int, g: Geometry) -> Games:
    """Room for a batch."""
    paths, results = np.zeros((batch, g.columns * g.rows + 1), np.int64), np.zeros(batch)
    lengths, own, mask, plies, status = np.zeros((5, batch), np.int64)
    asked_own, asked_mask = np.zeros((2, batch * g.columns), np.int64)
    return Games(paths, lengths, own, mask, plies, status, results, asked_own, asked_mask)


@kernel
def gather(
    tree: Tree,  # with a block for every walk
    root_own: int,
    root_mask: int,
    g: Geometry,
    s: Switches,
    walks: int,
    games: Games,
    state: int,
) -> tuple[int, bool, int]:
    """Walk down from the root, block 1; credit results that are known at once and list the leaves that are not.

    Returns how many leaves there are, whether the root is proven, which ends the walks, and the random state.
    """
    words, used, counts, columns = tree.words, tree.used, tree.counts, g.columns
    leaves = 0
    for _ in range(walks):
        block, own, mask, depth, n, proof = 1, root_own, root_mask, 0, counts[0], 0
        path = games.paths[leaves]
        while True:
            # 1. Select a column of this block.
            column, drawn, state = choose(words, block, columns, n, s, state)
            edge = edge_of(block, column, columns)
            path[depth] = 2 * edge + drawn
            depth += 1
            n = words[edge]
            words[edge] += 1
            words[sums_of(edge, columns)] -= WON
            cell = landing(mask, column, g)
            own |= cell
            mask |= cell
            leads = words[leads_of(edge, columns)]
            # 2. The first visit finds out whether the result is known, the second expands.
            if n == 0:
                _, proof = examine(own, mask, g, s)
                words[leads_of(edge, columns)] = settled(0, proof)
                break
            if leads == 0:
                leads = used[0]
                used[0] += 1
                new_block(words, leads, mask, g)
                words[leads_of(edge, columns)] = leads
            if leads < 0:
                proof = proof_of(leads)
                break
            block = leads
            own ^= mask
        counts[0] += 1
        # 3. Back up what is known, else list the leaf.
        if proof:
            back_up(words, path, depth, columns, WON * result_of(proof))
            if s.solver and prove(tree, path, depth, columns, proof):
                return leaves, True, state
        else:
            games.own[leaves], games.mask[leaves], games.lengths[leaves] = own ^ mask, mask, depth
            games.plies[leaves], games.status[leaves] = 0, GOING_ON
            leaves += 1
    return leaves, False, state


@kernel
def play_on(
    games: Games,
    leaves: int,
    g: Geometry,
    p: Policy,
    values: np.ndarray,  # float32[asked]: the evaluator's answers, in the order in which was asked
    logits: np.ndarray,  # float32[asked, columns]
    state: int,
) -> tuple[int, int]:
    """Play every game on from the evaluator's answers until it is over or asks again.

    Returns how many positions are asked, none when all games are over, and the random state.
    """
    asked, answered = 0, 0
    for game in range(leaves):
        own, mask, plies, status = games.own[game], games.mask[game], games.plies[game], games.status[game]
        cell, result = 0, 0.0
        if status == OVER:
            continue
        if status == JUDGED:
            status, result = OVER, float(values[answered])
            answered += 1
        elif status == CHOOSING:
            cell, answered, state = best_cell(mask, g, p, values, logits, answered, state)
            status = GOING_ON
        while status == GOING_ON:
            if cell != 0:
                mask |= cell
                own = (own | cell) ^ mask
                plies += 1
            status, result, cell, state = next_cell(own, mask, plies, g, p, state)
        games.own[game], games.mask[game], games.plies[game], games.status[game] = own, mask, plies, status
        if status == OVER:
            games.results[game] = -result if plies & 1 else result
        elif status == JUDGED or p.by_logits:
            games.asked_own[asked], games.asked_mask[asked] = own, mask
            asked += 1
        else:
            asked = ask_children(games, asked, own, mask, g)
    return asked, state


@kernel
def next_cell(own: int, mask: int, plies: int, g: Geometry, p: Policy, state: int) -> tuple[int, float, int, int]:
    """Say how a game goes on: OVER, CHOOSING, JUDGED, or GOING_ON.

    Returns that, the result for the side to move if it is over, the cell to play, which does not win, if it goes on, and the
    random state.
    """
    if mask == g.cells:
        return OVER, 0.0, 0, state
    playable = landings(mask, g)
    wins = winning_cells(own, mask, g) & playable
    if wins and p.wins_and_blocks:
        return OVER, 1.0, 0, state
    if plies == p.depth:
        return JUDGED, 0.0, 0, state
    cell = 0
    if p.wins_and_blocks:
        forced = winning_cells(own ^ mask, mask, g) & playable
        cell = forced & -forced  # the lowest of them: two threats cannot both be met
    if cell == 0 and p.random < COINS:
        state = advance(state)
        if below(COINS, state) >= p.random:
            if wins:  # a finished position cannot be judged
                return OVER, 1.0, 0, state
            if playable & (playable - 1):
                return CHOOSING, 0.0, 0, state
            cell = playable
    while cell == 0:
        state = advance(state)
        cell = landing(mask, below(g.columns, state), g)
    if cell & wins:
        return OVER, 1.0, 0, state
    return GOING_ON, 0.0, cell, state


@kernel
def ask_children(games: Games, asked: int, own: int, mask: int, g: Geometry) -> int:
    """List the positions after every open column, seen by the other side; returns how many are now asked."""
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell != 0:
            games.asked_own[asked], games.asked_mask[asked] = own ^ mask, mask | cell
            asked += 1
    return asked


@kernel
def best_cell(
    mask: int, g: Geometry, p: Policy, values: np.ndarray, logits: np.ndarray, answered: int, state: int
) -> tuple[int, int, int]:
    """Choose the best column for the evaluator, one of equals by lot; returns its cell, the answers used and the random state."""
    best, chosen, equals = 0.0, 0, 0
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell == 0:
            continue
        worth = logits[answered, column] if p.by_logits else -values[answered]
        if not p.by_logits:
            answered += 1
        if chosen == 0 or worth > best:
            best, chosen, equals = worth, cell, 1
        elif worth == best:
            equals += 1
            state = advance(state)
            if below(equals, state) == 0:
                chosen = cell
    return chosen, answered + p.by_logits, state


@kernel
def hand_up(words: np.ndarray, games: Games, leaves: int, g: Geometry) -> None:
    """Credit the results of all games: what the side to move at a leaf won, the side that moved there lost."""
    for leaf in range(leaves):
        points = math.floor(WON * min(max(games.results[leaf], -1.0), 1.0) + 0.5)
        back_up(words, games.paths[leaf], games.lengths[leaf], g.columns, -points)


@kernel
def back_up(words: np.ndarray, path: np.ndarray, depth: int, columns: int, points: int) -> None:
    """Credit every column of a path in place of the loss it counted as; `points` are for the side that played the last one.

    As in `mcts.back_up`, a side that has a proven draw will not do worse.
    """
    for level in range(depth - 1, -1, -1):
        words[sums_of(path[level] >> 1, columns)] += WON + points
        points = 0 if path[level] & 1 and points < 0 else -points


def warm_up() -> None:
    """Make one simulation whose rollout asks no evaluator."""
    board = geometry_of(7, 6, 4)
    tree = new_tree(20, 0, board)
    games = new_games(1, board)
    policy = Policy(-1, COINS, True, False)
    values, logits = np.zeros(0, np.float32), np.zeros((0, 7), np.float32)
    new_block(tree.words, 1, 0, board)
    leaves, _, state = gather(tree, 0, 0, board, Switches(), 1, games, 1)
    play_on(games, leaves, board, policy, values, logits, state)
    hand_up(tree.words, games, leaves, board)
