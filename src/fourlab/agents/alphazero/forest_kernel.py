"""Kernels that grow many search trees in step, guided by a network outside the kernels.

A network is fast only on large batches, so all trees advance together by two kernels in turn:

    gather    simulates in every tree; backs up results that need no network, queues other leaves
    expand    turns every queued leaf into a node with the network's answer and backs up its value

The nodes of all trees are blocks of one array (`agents/mcts/nodes.py`), with PRIORS and the
network's value.

Tree t owns the blocks from t * size on; the first is its root, which is never a child. While a leaf
is queued, its simulation counts as a loss on the whole path, so that further simulations go
elsewhere (virtual loss). The network is never asked about immediate wins, forced replies, columns
that lose at once and the last few cells: those are read off the board. A position and its mirror
image share an evaluation.
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.alphazero.choosing import (
    FIX_FINISHED,
    FIX_PRIORS,
    Switches,
    choose_as_listed,
    choose_by_improved_policy,
    choose_by_puct,
    choose_by_schedule,
    schedule,
)
from fourlab.agents.alphazero.leaves import (
    Cache,
    canonical_key,
    immediate_result,
    new_cache,
    slot_of,
    solve_ending,
    solve_leaf,
)
from fourlab.agents.mcts.nodes import (
    CLOSED,
    DRAW,
    LOSS,
    PENDING,
    UNPROVEN,
    VALUE,
    WIN,
    Nodes,
    add_to_sum,
    add_visits,
    conclusion,
    copy_subtree,
    edge_of,
    leads_of,
    new_edge,
    opposite,
    prior_of,
    proof_of,
    prove,
    result_of,
    set_leads,
    set_prior,
    set_value,
    settled,
)
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import key, landing, mirror
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

BACKED_UP, QUEUED, COLLIDED = 0, 1, 2
"""How a simulation ended; see `simulate`."""
SOLVED_CELLS = 8
"""With at most this many empty cells, solving is faster than asking the network."""


class Trees(NamedTuple):
    """The state of every tree."""

    own: np.ndarray  # int64[trees]: discs of the side to move at the root
    mask: np.ndarray  # int64[trees]: all discs at the root
    done: np.ndarray  # int64[trees]: simulations made, the root's evaluation included
    goal: np.ndarray  # int64[trees]: simulations to be made
    proof: np.ndarray  # int64[trees]: WIN, DRAW or LOSS for the root's side to move, once proven
    noise: np.ndarray  # float32[trees, columns]: Gumbel or Dirichlet noise for the root


class Queue(NamedTuple):
    """The leaves that wait for the network."""

    paths: np.ndarray  # int64[leaves, cells + 1]: the way to every leaf, as in nodes.py
    lengths: np.ndarray  # int64[leaves]: edges in every path
    trees: np.ndarray  # int64[leaves]: the tree of every leaf
    safe: np.ndarray  # int64[leaves]: the cells that do not lose at once
    own: np.ndarray  # int64[leaves]: positions for the network, possibly mirrored
    mask: np.ndarray  # int64[leaves]
    flipped: np.ndarray  # bool[leaves]: whether the position for the network is mirrored


class Forest(NamedTuple):
    """Trees that grow in step."""

    nodes: Nodes
    trees: Trees
    queue: Queue
    size: int
    """Blocks per tree."""


def new_forest(trees: int, size: int, leaves: int, g: Geometry) -> Forest:
    """Return empty trees of `size` blocks with up to `leaves` queued leaves per tree."""
    # Words per block: four parts and the value.
    block = VALUE * g.columns + 1
    words = np.zeros(trees * size * block, np.int32)
    # The rows of one array, as contiguous views.
    used, own, mask, done, goal, proof = np.zeros((6, trees), np.int64)
    noise = np.zeros((trees, g.columns), np.float32)
    lengths, leaf_trees, safe, leaf_own, leaf_mask = np.zeros((5, trees * leaves), np.int64)
    paths = np.zeros((trees * leaves, g.columns * g.rows + 1), np.int64)
    flipped = np.zeros(trees * leaves, np.bool_)
    return Forest(
        Nodes(words, words.view(np.float32), used, g.columns, block),
        Trees(own, mask, done, goal, proof, noise),
        Queue(paths, lengths, leaf_trees, safe, leaf_own, leaf_mask, flipped),
        size,
    )


@kernel
def gather(
    f: Forest, leaves: int, g: Geometry, s: Switches, left_at: np.ndarray, cache: Cache
) -> int:
    """Simulate in every tree until `leaves` of its leaves are queued or its goal is reached.

    Returns the number of leaves queued in all trees. `left_at` is Gumbel search's schedule.
    """
    trees = f.trees
    queued = 0
    for tree in range(len(trees.done)):
        waiting = 0
        while (
            waiting < leaves
            and trees.done[tree] < trees.goal[tree]
            and trees.proof[tree] == UNPROVEN
        ):
            # Nothing can be simulated below a root that is queued itself.
            if f.nodes.used[tree] == 0 and waiting > 0:
                break
            status = simulate(f, tree, queued, g, s, left_at, cache)
            # The best path ends at a queued leaf: more simulations would only distort the tree.
            if status == COLLIDED:
                break
            if status == QUEUED:
                waiting += 1
                queued += 1
    return queued


@inlined_kernel
def simulate(
    f: Forest, tree: int, leaf: int, g: Geometry, s: Switches, left_at: np.ndarray, cache: Cache
) -> int:
    """Make one simulation; `leaf` is the queue entry to fill if the network is needed.

    Returns BACKED_UP, QUEUED, or COLLIDED if the path ended at a leaf that is queued already, in
    which case the simulation is undone.
    """
    nodes, trees, queue = f.nodes, f.trees, f.queue
    path = queue.paths[leaf]
    own, mask = int(trees.own[tree]), int(trees.mask[tree])
    block, edge, depth = tree * f.size, -1, 0
    # Counted at once, so that `gather` stops at the goal while results are pending.
    trees.done[tree] += 1
    proof = UNPROVEN  # for the side that moved last
    if nodes.used[tree] > 0:
        while True:
            # 1. Select a column of this block and count it as lost (virtual loss).
            if depth == 0 and s.gumbel:
                column = choose_by_schedule(
                    nodes, block, trees.noise[tree], int(trees.done[tree]) - 1, s, left_at
                )
            elif s.gumbel:
                column = choose_by_improved_policy(nodes, block, s)
            elif s.faithful:
                column = choose_as_listed(nodes, block, s)
            else:
                column = choose_by_puct(nodes, block, s)
            edge = edge_of(nodes, block, column)
            path[depth] = 2 * edge  # the flag of nodes.py stays 0
            depth += 1
            add_visits(nodes, edge, 1)
            # Chaslot et al. (2008) use virtual losses for threads, here they serve batches.
            add_to_sum(nodes, edge, np.float32(-1))
            # Play the disc and swap sides: the opponent's discs become `own`.
            cell = landing(mask, column, g)
            own, mask = (own | cell) ^ (mask | cell), mask | cell
            leads = leads_of(nodes, edge)
            if proof_of(leads) == PENDING:
                trees.done[tree] -= 1
                undo(nodes, path, depth)
                return COLLIDED
            if leads < 0:
                proof = proof_of(leads)
                break
            if leads == 0:
                break
            block = leads
    # 2. At a new position, look for an exact result.
    safe = 0
    if proof == UNPROVEN:
        # `result` is for the side to move, `proof` for the side that moved last. Only
        # positions below the root are solved: a root needs statistics of its columns.
        result, safe = immediate_result(own, mask, g, s)
        if (
            result == UNPROVEN
            and s.proving
            and depth > 0
            and popcount(mask) + SOLVED_CELLS >= g.columns * g.rows
        ):
            result = DRAW - solve_ending(own, mask, g)
        elif result == UNPROVEN and s.proving and depth > 0 and s.solver_nodes > 0:
            result = solve_leaf(own, mask, g, s, cache)
        if result != UNPROVEN and depth == 0:
            add_proven_root(f, tree, own, mask, result, g)
            return BACKED_UP
        if result != UNPROVEN and s.faithful and not s.proving and s.fixed != FIX_FINISHED:
            # Arya's search asks the network about finished games too. A negative `safe` is the
            # LEADS of the proven column, which `add_node` writes.
            safe = settled(0, opposite(result))
        elif result != UNPROVEN:
            proof = opposite(result)
            set_leads(nodes, edge, settled(0, proof))
            if s.proving and prove(nodes, path, depth, proof, False) == 0:
                trees.proof[tree] = opposite(conclusion(nodes, tree * f.size))
    if proof != UNPROVEN:
        back_up(nodes, path, depth, np.float32(result_of(proof)))
        return BACKED_UP
    # 3. Evaluate the leaf: from the cache, or later by the network.
    name, flipped = key(own, mask, g), False
    if not s.faithful:
        name, flipped = canonical_key(own, mask, g)
    slot = slot_of(name, cache)
    if cache.keys[slot] == name:
        add_node(f, tree, path, depth, safe, mask, cache.answers[slot], flipped, g, s)
        return BACKED_UP
    queue.trees[leaf] = tree
    queue.lengths[leaf] = depth
    queue.safe[leaf] = safe
    queue.flipped[leaf] = flipped
    queue.own[leaf] = mirror(own, g) if flipped else own
    queue.mask[leaf] = mirror(mask, g) if flipped else mask
    # A root in the queue has no edge; `gather` waits for it.
    if depth > 0:
        set_leads(nodes, edge, settled(0, PENDING))
    return QUEUED


@kernel
def expand(
    f: Forest,
    leaves: int,
    logits: np.ndarray,  # float32[leaves, columns]
    values: np.ndarray,  # float32[leaves], for the side to move
    g: Geometry,
    s: Switches,
    cache: Cache,
) -> None:
    """Turn the queued leaves into nodes with the network's answers, and cache the answers."""
    queue = f.queue
    for leaf in range(leaves):
        name = key(int(queue.own[leaf]), int(queue.mask[leaf]), g)
        slot = slot_of(name, cache)
        cache.keys[slot] = name
        answer = cache.answers[slot]
        for column in range(g.columns):
            answer[column] = logits[leaf, column]
        answer[g.columns] = values[leaf]
        tree, mask, flipped = queue.trees[leaf], int(queue.mask[leaf]), queue.flipped[leaf]
        if flipped:
            # The queue has the image that the network sees, the tree the position itself.
            mask = mirror(mask, g)
        path, depth, safe = queue.paths[leaf], queue.lengths[leaf], int(queue.safe[leaf])
        add_node(f, tree, path, depth, safe, mask, answer, flipped, g, s)


@inlined_kernel
def add_node(
    f: Forest,
    tree: int,
    path: np.ndarray,
    depth: int,
    safe: int,
    mask: int,
    answer: np.ndarray,  # float32[columns + 1]: the network's logits and value
    flipped: bool,
    g: Geometry,
    s: Switches,
) -> None:
    """Turn the leaf at the end of a path into a node and back up its value."""
    nodes, columns = f.nodes, g.columns
    value = min(max(answer[columns], np.float32(-1)), np.float32(1))
    # A finished game in Arya's search: `safe` is the LEADS of the column (see `simulate`).
    if safe < 0:
        set_leads(nodes, path[depth - 1] >> 1, safe)
        back_up(nodes, path, depth, -value)
        return
    block = tree * f.size + nodes.used[tree]
    first = edge_of(nodes, block, 0)
    nodes.used[tree] += 1
    # 1. Columns are full, lose at once, or are open with a prior.
    for column in range(columns):
        cell = landing(mask, column, g)
        leads = 0 if cell & safe else settled(0, LOSS if cell else CLOSED)
        new_edge(nodes, first + column, 0, leads)
    if s.faithful:
        set_listed_priors(f, tree, block, mask, answer, g, s)
    else:
        set_priors(nodes, block, answer, flipped)
    # 2. Store the value and link the node to its parent.
    set_value(nodes, block, value)
    if depth > 0:
        set_leads(nodes, path[depth - 1] >> 1, block)
    elif s.noise > 0 and not s.faithful:
        mix_noise(nodes, block, f.trees.noise[tree], np.float32(s.noise))
    # `value` is for the side to move here, back_up wants it for the side that moved last.
    back_up(nodes, path, depth, -value)


@inlined_kernel
def set_priors(nodes: Nodes, block: int, answer: np.ndarray, flipped: bool) -> None:
    """Set the priors of a new node: a softmax over its open columns, 0 for the others."""
    first, columns = edge_of(nodes, block, 0), nodes.columns
    # `answer` is for the image that was evaluated: a flipped one is read from right to left.
    greatest, total = np.float32(-1e30), np.float32(0)
    for column in range(columns):
        if leads_of(nodes, first + column) == 0:
            greatest = max(greatest, answer[columns - 1 - column if flipped else column])
    for column in range(columns):
        prior = np.float32(0)
        if leads_of(nodes, first + column) == 0:
            prior = np.float32(
                math.exp(answer[columns - 1 - column if flipped else column] - greatest)
            )
        set_prior(nodes, first + column, prior)
        total += prior
    for column in range(columns):
        set_prior(nodes, first + column, prior_of(nodes, first + column) / total)


@kernel
def set_listed_priors(
    f: Forest, tree: int, block: int, mask: int, answer: np.ndarray, g: Geometry, s: Switches
) -> None:
    """Set the priors of a new node as Arya's search does.

    At the root noise is mixed into the softmax over all columns, of which the open ones are kept
    and normalised. Below, the softmax is over the columns that are open at the root, and its
    numbers go from left to right to the columns that are open here. With FIX_PRIORS, it is over
    these.
    """
    nodes, columns = f.nodes, g.columns
    first, root_mask = edge_of(nodes, block, 0), int(f.trees.mask[tree])
    is_root = block == tree * f.size
    if s.fixed == FIX_PRIORS and not is_root:
        root_mask = mask
    shares = np.zeros(columns)
    counted = 0
    greatest = -1e30
    for column in range(columns):
        if is_root or landing(root_mask, column, g):
            shares[counted] = answer[column]
            greatest = max(greatest, shares[counted])
            counted += 1
    total = 0.0
    for place in range(counted):
        shares[place] = math.exp(shares[place] - greatest)
        total += shares[place]
    for place in range(counted):
        shares[place] /= total
    if is_root:
        # `shares` has all columns here, from left to right.
        total = 0.0
        for column in range(columns):
            shares[column] = (1 - s.noise) * shares[column] + s.noise * f.trees.noise[tree, column]
            if landing(mask, column, g) == 0:
                shares[column] = 0.0
            total += shares[column]
        for column in range(columns):
            set_prior(nodes, first + column, np.float32(shares[column] / total))
        return
    place = 0
    for column in range(columns):
        prior = np.float32(0)
        # No column opens again, so there are at least as many numbers as columns.
        if landing(mask, column, g):
            prior = np.float32(shares[place])
            place += 1
        set_prior(nodes, first + column, prior)


@kernel
def root_leads(cell: int, wins: int, result: int) -> int:
    """Return the LEADS of one column of a proven root; a column that proves nothing has 0."""
    if cell == 0:
        return settled(0, CLOSED)
    if cell & wins:
        return settled(0, WIN)
    return settled(0, LOSS) if result == LOSS else 0


@kernel
def add_proven_root(f: Forest, tree: int, own: int, mask: int, result: int, g: Geometry) -> None:
    """Make a root whose result can be read off the board: its winning columns, or all lost."""
    # The network is not asked, so the priors are uniform and the value is the result.
    nodes, root, wins = f.nodes, tree * f.size, winning_cells(own, mask, g)
    nodes.used[tree] = 1
    f.trees.proof[tree] = result
    for column in range(g.columns):
        edge = edge_of(nodes, root, column)
        new_edge(nodes, edge, 0, root_leads(landing(mask, column, g), wins, result))
        set_prior(nodes, edge, np.float32(1 / g.columns))
    set_value(nodes, root, np.float32(result_of(result)))


@kernel
def mix_noise(nodes: Nodes, block: int, noise: np.ndarray, share: np.float32) -> None:
    """Mix noise into the priors of the open columns, unless all of it fell on other columns."""
    first = edge_of(nodes, block, 0)
    # AlphaGo Zero's noise at the root (Silver et al., 2017), normalised over the columns left.
    total = np.float32(0)
    for column in range(nodes.columns):
        if leads_of(nodes, first + column) == 0:
            total += noise[column]
    if total <= 0:
        return
    for column in range(nodes.columns):
        edge = first + column
        if leads_of(nodes, edge) == 0:
            kept = (np.float32(1) - share) * prior_of(nodes, edge)
            set_prior(nodes, edge, kept + share * noise[column] / total)


@inlined_kernel
def back_up(nodes: Nodes, path: np.ndarray, depth: int, value: np.float32) -> None:
    """Replace the virtual loss on a path by a result, given for the side that moved last."""
    for level in range(depth - 1, -1, -1):
        # 1 takes back the virtual loss; its visit stays and becomes that of the result.
        add_to_sum(nodes, path[level] >> 1, np.float32(1) + value)
        value = -value


@kernel
def undo(nodes: Nodes, path: np.ndarray, depth: int) -> None:
    """Remove a simulation's visits and virtual losses from its path."""
    for level in range(depth):
        add_visits(nodes, path[level] >> 1, -1)
        add_to_sum(nodes, path[level] >> 1, np.float32(1))


def warm_up() -> None:
    """Compile or load the kernels by growing a small tree with a uniform policy."""
    board = geometry_of(7, 6, 4)
    f = new_forest(1, 8, 1, board)
    cache = new_cache(2, board)
    left_at = schedule(board.columns, 4)
    logits = np.zeros((1, board.columns), np.float32)
    values = np.zeros(1, np.float32)
    f.trees.goal[0] = 5
    s = Switches(False, 2.0, 1.0, 0.2, 0.25, True)
    while leaves := gather(f, 1, board, s, left_at, cache):
        expand(f, leaves, logits, values, board, s, cache)
    copy_subtree(f.nodes, 0, new_forest(1, 8, 1, board).nodes, 0, False)
