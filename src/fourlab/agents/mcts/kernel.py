"""Monte Carlo tree search (UCT) by one thread, or by several threads on one tree.

`verbs.py` has the tree and its verbs. The variants of the five reports are switches.
"""

import numpy as np

from fourlab.agents.mcts.nodes import (
    conclusion,
    edge_of,
    leads_of,
    move_blocks,
    node_of,
    number_subtree,
    opposite,
    proof_of,
    result_of,
    set_leads,
    settle,
    settled,
    sum_at,
    visits_of,
)
from fourlab.agents.mcts.verbs import (
    PLAYER,
    RANDOM,
    Switches,
    Tree,
    back_up,
    back_up_proof,
    choose,
    evaluate,
    examine,
    expand,
    has_room,
    new_block,
    new_tree,
    random_column,
    simulate,
)
from fourlab.compiled._jit import kernel
from fourlab.compiled.atomic import atomic_add
from fourlab.compiled.board import landing
from fourlab.compiled.patterns import Patterns
from fourlab.game.geometry import Geometry, geometry_of

# Tree parallelisation with virtual losses (Chaslot et al., 2008), in batches and without locks.
BATCH = 32
"""Simulations that a thread of a shared search runs below one node before it moves on."""

RUNNING, PROVEN, STOPPED = 0, 1, 2
"""Why a call ended: its simulations were done, the root was proven, or `stop` was set."""


@kernel
def search(
    tree: Tree,
    root: int,
    root_own: int,
    root_mask: int,
    g: Geometry,
    s: Switches,
    simulations: int,
    state: int,
    stop: np.ndarray,  # uint8[1]: another thread writes 1 to end the search
    patterns: Patterns | None,
) -> tuple[int, int, int]:
    """Run simulations until they are done, the root is proven or `stop` is set.

    When all blocks are used the tree stops growing, and rollouts start from its leaves. With
    `patterns` these evaluate the leaves in place of rollouts; Numba compiles this case separately.
    Within the loop `own` are the discs of the side whose column has just been selected, and results
    (in points) and proofs are from that side's point of view. Returns the simulations done, why the
    search ended, and the random state.
    """
    nodes, counts = tree.nodes, tree.counts
    merging = tree.keys.shape[1] > 0
    path = np.empty(g.columns * g.rows + 1, np.int64)
    if patterns is not None:
        indices = np.empty((1, len(patterns.start)), np.int32)
    for done in range(simulations):
        if stop[0]:
            return done, STOPPED, state
        # n, the visits of a block, are those of the edge that leads to it; the root has no such
        # edge.
        block, own, mask, depth, n = root, root_own, root_mask, 0, counts[0]
        result, proof, rolled_out, drawn = 0, 0, False, False
        # With expand_all the rollout of a new node starts from one of its children at random.
        entering = s.expand_all and n == 0
        while True:
            # 1. Select a column of this block.
            if entering or (s.opponent == RANDOM and depth & 1):
                column, state = random_column(nodes, block, state)
                drawn = False
            else:
                column, drawn, state = choose(nodes, block, n, s, state)
            if column < 0:
                # All columns are proven, or other threads have just tried the untried ones.
                proof = conclusion(nodes, block)
                if depth == 0 and proof:
                    return done, PROVEN, state
                result = s.won * result_of(proof) if proof else 0
                break
            edge = edge_of(nodes, block, column)
            path[np.uint64(depth)] = 2 * edge + drawn
            depth += 1
            n = visits_of(nodes, edge)
            cell = landing(mask, column, g)
            own |= cell
            mask |= cell
            leads = leads_of(nodes, edge)
            if leads == 0:
                # 2. A leaf. The first visit checks whether the result is certain.
                if n == 0:
                    proof = examine(own, mask, g, s)
                    if proof:
                        result = s.won * result_of(proof)
                        set_leads(nodes, edge, settled(0, proof))
                        break
                ours = depth & 1 == 1
                # A reply that is part of the transition belongs to the simulation of our move.
                expand_at_once = (s.expand_all and not entering) or (s.opponent != PLAYER and ours)
                if (n > 0 or expand_at_once) and has_room(nodes):
                    # 3. Expand, usually at the second visit.
                    leads, state = expand(tree, edge, own ^ mask, mask, g, s, ours, state)
                    entering = s.expand_all
                if leads == 0:
                    # 4. Simulate, or evaluate.
                    # Its result is for the side to move, here it is for the side that moved.
                    if patterns is None:
                        result, state = simulate(own ^ mask, mask, g, s, ours, state)
                        result = -s.won * result
                        rolled_out = True
                    else:
                        result, proof = evaluate(own ^ mask, mask, patterns, indices, g, s)
                        result = -result
                        if proof and s.solver:
                            proof = opposite(proof)
                            set_leads(nodes, edge, settled(0, proof))
                    break
            if merging and leads > 0:
                # The shared node may have been proven, or visited more often, by another path.
                if tree.merged[1, leads]:
                    leads = settled(leads, tree.merged[1, leads])
                    set_leads(nodes, edge, leads)
                else:
                    n = tree.merged[0, leads]
            if leads < 0:
                proof = proof_of(leads)
                result = s.won * result_of(proof)
                break
            block = leads
            own ^= mask
        # 5. Back up.
        result = back_up(nodes, path, depth, result, rolled_out, s)
        if merging:
            # The visits of the root, level 0, are in `counts`.
            for level in range(1, depth):
                tree.merged[0, node_of(nodes, path[level] >> 1)] += 1
        counts[0] += 1
        # For callers that add the results to edges above this root: `search_together` and
        # `Subtree`.
        counts[1] += max(result, 0)
        counts[2] += max(-result, 0)
        if s.solver and proof and back_up_proof(tree, path, depth, proof):
            return done + 1, PROVEN, state
    return simulations, RUNNING, state


@kernel
def search_together(
    tree: Tree,  # shared by all threads
    root: int,
    root_own: int,
    root_mask: int,
    g: Geometry,
    s: Switches,
    simulations: int,
    state: int,
    stop: np.ndarray,
    patterns: Patterns | None,
) -> tuple[int, int, int]:
    """Run simulations as one of several threads on the same tree; returns what `search` does.

    Every simulation passes through the nodes near the root. If every thread updated them each time,
    the threads would spend their time exchanging cache lines. So a thread descends through nodes
    with many visits, adding a batch of virtual losses on its way to divert the others, runs the
    whole batch below, and then backs up the results. Inside a batch nothing is atomic: in the rare
    case that two threads meet there, a visit may be lost.
    """
    nodes, counts = tree.nodes, tree.counts
    path = np.empty(g.columns * g.rows + 1, np.int64)
    batch_counts = np.zeros(3, np.int64)
    subtree = Tree(nodes, batch_counts, tree.keys, tree.merged)
    done = 0
    while done < simulations:
        batch = min(BATCH, simulations - done)
        # 1. Descend while the node has many visits.
        block, own, mask, depth, n = root, root_own, root_mask, 0, counts[0]
        while True:
            column, drawn, state = choose(nodes, block, n, s, state)
            if column < 0:
                break
            edge = edge_of(nodes, block, column)
            leads = leads_of(nodes, edge)
            # With fewer visits a whole batch of virtual losses would distort the choice.
            if visits_of(nodes, edge) < 16 * BATCH or leads <= 0:
                break
            before = atomic_add(nodes.words, edge, batch)
            if before < 0:  # another thread has proven it in the meantime
                atomic_add(nodes.words, edge, -batch)
                break
            atomic_add(nodes.words, sum_at(nodes, edge), -s.won * batch)
            path[depth] = 2 * edge + drawn
            depth += 1
            n = before
            cell = landing(mask, column, g)
            mask |= cell
            own = (own | cell) ^ mask
            block = leads
        # 2. Run the batch below that node.
        # Below, this node is a root, whose visits `search` expects in its counts.
        batch_counts[0], batch_counts[1], batch_counts[2] = n, 0, 0
        searched, why, state = search(subtree, block, own, mask, g, s, batch, state, stop, patterns)
        done += searched
        # 3. Back up. A win of the side to move below is a loss of the side that moved there.
        won, lost = batch_counts[2], batch_counts[1]
        for level in range(depth - 1, -1, -1):
            edge = path[level] >> 1
            # Of evaluated leaves nobody knows how many are drawn, but then `draw` is 0.
            drawn_games = searched - (won + lost) // s.won
            points = won - lost + s.draw * drawn_games
            # Take back the virtual losses, of which there were `batch`.
            atomic_add(nodes.words, edge, searched - batch)
            atomic_add(nodes.words, sum_at(nodes, edge), s.won * batch + points)
            # A side with a proven draw backs up draws in place of losses, as in `back_up`.
            won, lost = (0 if path[level] & 1 else lost), won
        atomic_add(counts, 0, searched)
        # Above level 0 is the side that moved to the root; its losses are the root's wins.
        atomic_add(counts, 1, lost)
        atomic_add(counts, 2, won)
        if why == STOPPED:
            return done, STOPPED, state
        if why == PROVEN:
            if depth == 0:
                return done, PROVEN, state
            proof = conclusion(nodes, block)
            if proof == 0:
                continue  # another thread has not finished recording its proof
            settle(nodes, path[depth - 1] >> 1, proof)
            if back_up_proof(tree, path, depth, proof):
                return done, PROVEN, state
    return done, RUNNING, state


def warm_up() -> None:
    """Load or compile the single-threaded search, and the pruning of trees."""
    _warm_up(shared=False)


def warm_up_threads() -> None:
    """Load or compile the search by several threads, and the pruning of trees."""
    _warm_up(shared=True)


def warm_up_patterns() -> None:
    """Load or compile the single-threaded search with patterns, and the pruning of trees."""
    _warm_up(shared=False, patterns=_one_pattern())


def warm_up_patterns_threads() -> None:
    """Load or compile the search with patterns by several threads, and the pruning of trees."""
    _warm_up(shared=True, patterns=_one_pattern())


def _one_pattern() -> Patterns:
    """Return a network of one look-up."""
    steps = np.zeros((7, 128, 1), np.int32)
    return Patterns(np.zeros(1, np.int32), steps, np.zeros((2, 1), np.int16), steps)


def _warm_up(shared: bool, patterns: Patterns | None = None) -> None:
    board = geometry_of(7, 6, 4)
    tree = new_tree(20, 0, board)
    new_block(tree.nodes, 1, 0, board)
    run = search_together if shared else search
    switches = Switches(solver=True, shared=shared)
    run(tree, 1, 0, 0, board, switches, 10, 1, np.zeros(1, np.uint8), patterns)
    places = np.zeros(20, np.int32)
    number_subtree(tree.nodes, places, 1, 2, 1)
    move_blocks(tree.nodes, places, 1, 2)
