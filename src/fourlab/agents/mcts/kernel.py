"""Monte Carlo tree search with every report's variant as a switch: by one thread, or by several on one tree.

`verbs.py` has the tree and what is done in it.
"""

import numpy as np

from fourlab.agents.mcts.nodes import proof_of, result_of, settled
from fourlab.agents.mcts.verbs import (
    PLAYER,
    POINTS,
    RANDOM,
    Switches,
    Tree,
    any_open,
    back_up,
    choose,
    conclusion,
    copy_subtree,
    edge_of,
    examine,
    expand,
    has_room,
    leads_of,
    new_block,
    new_tree,
    node_of,
    prove,
    settle,
    simulate,
    sums_of,
)
from fourlab.compiled._jit import kernel
from fourlab.compiled.atomic import atomic_add
from fourlab.compiled.board import landing
from fourlab.game.geometry import Geometry, geometry_of

BATCH = 32
"""Simulations that a thread on a shared tree makes below one node before it goes elsewhere."""

RUNNING, PROVEN, STOPPED = 0, 1, 2
"""Why a search ended."""


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
) -> tuple[int, int, int]:
    """Run simulations until they are done, the root is proven or somebody says stop.

    When all blocks are used the tree stops growing and rollouts go on from its leaves.
    Returns the simulations done, why the search ended, and the random state.
    """
    words, counts, columns = tree.words, tree.counts, g.columns
    merging = tree.keys.shape[1] > 0
    # The columns chosen: twice the place in the tree, plus one where another column of the node is a proven draw.
    path = np.empty(columns * g.rows + 1, np.int64)
    for done in range(simulations):
        if stop[0]:
            return done, STOPPED, state
        block, own, mask, depth, n = root, root_own, root_mask, 0, counts[0]
        result, proof, rolled_out, drawn = 0, 0, False, False
        entering = s.expand_all and n == 0
        while True:
            # 1. Select a column of this block.
            if entering or (s.opponent == RANDOM and depth & 1):
                column, state = any_open(words, block, columns, state)
                drawn = False
            else:
                column, drawn, state = choose(words, block, columns, n, s, state)
            if column < 0:  # what all columns prove, or nothing; seen here only if another thread was faster
                proof = conclusion(words, block, columns)
                if depth == 0 and proof:
                    return done, PROVEN, state
                result = result_of(proof) if proof else 0
                break
            edge = edge_of(block, column, columns)
            path[np.uint64(depth)] = 2 * edge + drawn
            depth += 1
            n = words[np.uint64(edge)]
            cell = landing(mask, column, g)
            own |= cell
            mask |= cell
            leads = words[np.uint64(leads_of(edge, columns))]
            if leads == 0:
                # 2. A leaf. The first visit finds out whether the game is over, else simulates.
                if n == 0:
                    result, proof = examine(own, mask, g, s)
                    if proof:
                        words[leads_of(edge, columns)] = settled(0, proof)
                        break
                ours = depth & 1 == 1
                through = (s.expand_all and not entering) or (s.opponent != PLAYER and ours)
                if (n > 0 or through) and has_room(tree, columns):
                    # 3. A later visit expands it.
                    leads, state = expand(tree, edge, own ^ mask, mask, g, s, ours, state)
                    entering = s.expand_all
                if leads == 0:
                    result, state = simulate(own ^ mask, mask, g, s, ours, state)
                    result, rolled_out = -result, True
                    break
            if merging and leads > 0:
                if tree.nodes[1, leads]:
                    leads = settled(leads, tree.nodes[1, leads])
                    words[leads_of(edge, columns)] = leads
                else:
                    n = tree.nodes[0, leads]
            if leads < 0:
                proof = proof_of(leads)
                result = result_of(proof)
                break
            block = leads
            own ^= mask
        # 4. Back up.
        result = back_up(words, path, depth, columns, result, rolled_out, s)
        if merging:
            for level in range(1, depth):
                tree.nodes[0, node_of(path[level] >> 1, columns)] += 1
        counts[0] += 1
        counts[1] += result > 0
        counts[2] += result < 0
        if s.solver and proof and prove(tree, path, depth, columns, proof):
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
) -> tuple[int, int, int]:
    """Do what `search` does beside other threads on the same tree.

    Every simulation passes through the nodes near the root, and if each counted there the threads would spend their time
    passing those numbers to and fro. So a thread walks down through nodes with many visits, counting a batch of losses on
    its way to make others go elsewhere (virtual loss), searches below for the whole batch, and then hands the results up.
    Inside a batch nothing is locked: in the rare case that two threads meet there, a count may be lost.
    """
    words, counts, columns = tree.words, tree.counts, g.columns
    path = np.empty(columns * g.rows + 1, np.int64)
    mine = np.zeros(3, np.int64)
    below_here = Tree(words, tree.used, mine, tree.keys, tree.nodes)
    done = 0
    while done < simulations:
        batch = min(BATCH, simulations - done)
        # 1. Walk down while there is much below.
        block, own, mask, depth, n = root, root_own, root_mask, 0, counts[0]
        while True:
            column, drawn, state = choose(words, block, columns, n, s, state)
            if column < 0:
                break
            edge = edge_of(block, column, columns)
            leads = int(words[leads_of(edge, columns)])
            if words[edge] < 16 * BATCH or leads <= 0:
                break
            before = atomic_add(words, edge, batch)
            if before < 0:  # proven by another thread since we looked
                atomic_add(words, edge, -batch)
                break
            atomic_add(words, sums_of(edge, columns), -POINTS * batch)
            path[depth] = 2 * edge + drawn
            depth += 1
            n = before
            cell = landing(mask, column, g)
            mask |= cell
            own = (own | cell) ^ mask
            block = leads
        # 2. Search there.
        mine[0], mine[1], mine[2] = n, 0, 0
        searched, why, state = search(below_here, block, own, mask, g, s, batch, state, stop)
        done += searched
        # 3. Hand the results up: what the side to move below won, the side that moved there lost.
        won, lost = mine[2], mine[1]
        for level in range(depth - 1, -1, -1):
            edge = path[level] >> 1
            points = POINTS * (won - lost) + s.draw * (searched - won - lost)
            atomic_add(words, edge, searched - batch)
            atomic_add(words, sums_of(edge, columns), POINTS * batch + points)
            won, lost = (0 if path[level] & 1 else lost), won
        atomic_add(counts, 0, searched)
        if why == STOPPED:
            return done, STOPPED, state
        if why == PROVEN:
            if depth == 0:
                return done, PROVEN, state
            proof = conclusion(words, block, columns)
            if proof == 0:
                continue  # proven by columns that another thread is still writing down
            settle(words, path[depth - 1] >> 1, columns, proof)
            if prove(tree, path, depth, columns, proof):
                return done, PROVEN, state
    return done, RUNNING, state


def warm_up() -> None:
    """Search a little, then copy the tree."""
    _search_a_little(shared=False)


def warm_up_threads() -> None:
    """Search a little as one of several threads, then copy the tree."""
    _search_a_little(shared=True)


def _search_a_little(shared: bool) -> None:
    board = geometry_of(7, 6, 4)
    tree = new_tree(20, 0, board)
    new_block(tree.words, 1, 0, board)
    run = search_together if shared else search
    run(tree, 1, 0, 0, board, Switches(solver=True, shared=shared), 10, 1, np.zeros(1, np.uint8))
    copy_subtree(tree.words, 1, board.columns, np.zeros_like(tree.words))
