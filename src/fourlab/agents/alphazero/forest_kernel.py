"""Kernels that grow many search trees in step, guided by a network outside the kernels.

A network is fast only on large batches, so all trees advance together by two kernels in turn:

    gather    simulates in every tree; backs up results that need no network, queues other leaves
    expand    turns every queued leaf into a node with the network's answer and backs up its value

All nodes are blocks (`agents/mcts/nodes.py`) of one array, seen as int32 (`words`: VISITS, LEADS)
and as float32 (`numbers`: SUMS of results from -1 to +1, PRIORS). The last number of a block is the
network's value of the position, -1 to +1 for the side to move.

Tree t owns the blocks from t * size on; the first is its root. While a leaf is queued, its
simulation counts as a loss on the whole path, so that further simulations go elsewhere (virtual
loss). The network is never asked about immediate wins, forced replies, columns that lose at once
and the last few cells: those are read off the board. A position and its mirror image share an
evaluation.
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.alphazero.choosing import (
    PARTS,
    Switches,
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
)
from fourlab.agents.mcts.nodes import (
    CLOSED,
    DRAW,
    LEADS,
    LOSS,
    PENDING,
    PRIORS,
    SUMS,
    UNPROVEN,
    VISITS,
    WIN,
    opposite,
    place,
    proof_of,
    result_of,
    settled,
)
from fourlab.compiled._jit import kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import key, landing, mirror
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

BACKED_UP, QUEUED, COLLIDED = 0, 1, 2
"""How a simulation ended; see `simulate`."""
SOLVED_CELLS = 8
"""With at most this many empty cells, solving is faster than asking the network."""


class Forest(NamedTuple):
    """The trees, their state, and the leaves that wait for the network."""

    words: np.ndarray  # int32[trees * size, 4 * columns + 1]
    numbers: np.ndarray  # the same memory as float32
    used: np.ndarray  # int32[trees]: blocks in use
    own: np.ndarray  # int64[trees]: discs of the side to move at the root
    mask: np.ndarray  # int64[trees]: all discs at the root
    done: np.ndarray  # int32[trees]: simulations made, the root's evaluation included
    goal: np.ndarray  # int32[trees]: simulations to be made
    proof: np.ndarray  # int32[trees]: WIN, DRAW or LOSS for the root's side to move, once proven
    noise: np.ndarray  # float32[trees, columns]: Gumbel or Dirichlet noise for the root
    paths: np.ndarray  # int32[leaves, cells + 1, 2]: (block, column) on the way to every leaf
    lengths: np.ndarray  # int32[leaves]: steps in every path
    trees: np.ndarray  # int32[leaves]: the tree of every leaf
    safe: np.ndarray  # int64[leaves]: the cells that do not lose at once
    batch_own: np.ndarray  # int64[leaves]: positions for the network, possibly mirrored
    batch_mask: np.ndarray  # int64[leaves]
    flipped: np.ndarray  # bool[leaves]: whether the position for the network is mirrored


def new_forest(trees: int, size: int, leaves: int, g: Geometry) -> Forest:
    """Return empty trees of `size` blocks with up to `leaves` queued leaves per tree."""
    words = np.zeros((trees * size, PARTS * g.columns + 1), np.int32)
    queue = trees * leaves
    used, done, goal, proof = np.zeros((4, trees), np.int32)
    own, mask = np.zeros((2, trees), np.int64)
    lengths, leaf_trees = np.zeros((2, queue), np.int32)
    safe, batch_own, batch_mask = np.zeros((3, queue), np.int64)
    return Forest(
        words,
        words.view(np.float32),
        used,
        own,
        mask,
        done,
        goal,
        proof,
        noise=np.zeros((trees, g.columns), np.float32),
        paths=np.zeros((queue, g.columns * g.rows + 1, 2), np.int32),
        lengths=lengths,
        trees=leaf_trees,
        safe=safe,
        batch_own=batch_own,
        batch_mask=batch_mask,
        flipped=np.zeros(queue, np.bool_),
    )


@kernel
def gather(
    f: Forest, size: int, leaves: int, g: Geometry, s: Switches, left_at: np.ndarray, cache: Cache
) -> int:
    """Simulate in every tree until `leaves` of its leaves are queued or its goal is reached.

    Returns the number of leaves queued in all trees. `left_at` is Gumbel search's schedule.
    """
    queued = 0
    for tree in range(len(f.used)):
        waiting = 0
        while waiting < leaves and f.done[tree] < f.goal[tree] and f.proof[tree] == UNPROVEN:
            # Nothing can be simulated below a root that is queued itself.
            if f.used[tree] == 0 and waiting > 0:
                break
            status = simulate(f, tree, tree * size, queued, g, s, left_at, cache)
            # The best path ends at a queued leaf: more simulations would only distort the tree.
            if status == COLLIDED:
                break
            if status == QUEUED:
                waiting += 1
                queued += 1
    return queued


@kernel
def simulate(
    f: Forest,
    tree: int,
    root: int,
    leaf: int,
    g: Geometry,
    s: Switches,
    left_at: np.ndarray,
    cache: Cache,
) -> int:
    """Make one simulation; `leaf` is the queue entry to fill if the network is needed.

    Returns BACKED_UP, QUEUED, or COLLIDED if the path ended at a leaf that is queued already, in
    which case the simulation is undone.
    """
    words, numbers, columns, path = f.words, f.numbers, g.columns, f.paths[leaf]
    own, mask = int(f.own[tree]), int(f.mask[tree])
    block, depth = root, 0
    f.done[tree] += 1
    proof = UNPROVEN  # for the side that moved last
    if f.used[tree] > 0:
        while True:
            # 1. Select a column of this block and count it as lost (virtual loss).
            if depth == 0 and s.gumbel:
                column = choose_by_schedule(
                    words, numbers, block, f.noise[tree], int(f.done[tree]) - 1, g, s, left_at
                )
            elif s.gumbel:
                column = choose_by_improved_policy(words, numbers, block, columns, s)
            else:
                column = choose_by_puct(words, numbers, block, columns, s)
            path[depth, 0], path[depth, 1] = block, column
            depth += 1
            words[block, place(VISITS, column, columns)] += 1
            numbers[block, place(SUMS, column, columns)] -= np.float32(1)
            # Play the disc and swap sides: the opponent's discs become `own`.
            cell = landing(mask, column, g)
            own, mask = (own | cell) ^ (mask | cell), mask | cell
            leads = int(words[block, place(LEADS, column, columns)])
            if proof_of(leads) == PENDING:
                f.done[tree] -= 1
                undo(words, numbers, path, depth, columns)
                return COLLIDED
            if leads < 0:
                proof = proof_of(leads)
                break
            if leads == 0:
                break
            block = leads
    # 2. At a new position, look for an exact result.
    if proof == UNPROVEN:
        result, safe = immediate_result(own, mask, g, s)
        if (
            result == UNPROVEN
            and s.proving
            and depth > 0
            and popcount(mask) + SOLVED_CELLS >= g.columns * g.rows
        ):
            result = DRAW - solve_ending(own, mask, g)
        if result != UNPROVEN and s.faithful and not s.proving and depth > 0:
            # Arya's search asks the network about finished games too. A negative `safe` is the
            # LEADS of the proven column, settled(0, opposite(result)); `add_node` expects it.
            safe = result - WIN - LOSS
        elif result != UNPROVEN:
            proof = opposite(result)
            if depth > 0:
                words[path[depth - 1, 0], place(LEADS, path[depth - 1, 1], columns)] = settled(
                    0, proof
                )
            else:
                add_proven_root(f, tree, root, own, mask, result, g)
            if s.proving or depth == 0:
                back_up_proof(f, tree, path, depth, columns, proof)
    else:
        safe = 0
    if proof != UNPROVEN:
        back_up(numbers, path, depth, columns, np.float32(result_of(proof)))
        return BACKED_UP
    # 3. Evaluate the leaf: from the cache, or later by the network.
    name, flipped = canonical_key(own, mask, g)
    slot = slot_of(name, cache)
    if cache.keys[slot] == name:
        add_node(f, tree, root, path, depth, safe, mask, cache.answers[slot], flipped, g, s)
        return BACKED_UP
    f.trees[leaf], f.lengths[leaf], f.safe[leaf], f.flipped[leaf] = tree, depth, safe, flipped
    f.batch_own[leaf], f.batch_mask[leaf] = own, mask
    if flipped:
        f.batch_own[leaf], f.batch_mask[leaf] = mirror(own, g), mirror(mask, g)
    if depth > 0:
        words[path[depth - 1, 0], place(LEADS, path[depth - 1, 1], columns)] = settled(0, PENDING)
    return QUEUED


@kernel
def expand(
    f: Forest,
    size: int,
    leaves: int,
    logits: np.ndarray,  # float32[leaves, columns]
    values: np.ndarray,  # float32[leaves], for the side to move
    g: Geometry,
    s: Switches,
    cache: Cache,
) -> None:
    """Turn the queued leaves into nodes with the network's answers, and cache the answers."""
    for leaf in range(leaves):
        name = key(int(f.batch_own[leaf]), int(f.batch_mask[leaf]), g)
        slot = slot_of(name, cache)
        cache.keys[slot] = name
        answer = cache.answers[slot]
        for column in range(g.columns):
            answer[column] = logits[leaf, column]
        answer[g.columns] = values[leaf]
        tree, mask = f.trees[leaf], int(f.batch_mask[leaf])
        if f.flipped[leaf]:
            mask = mirror(mask, g)
        path, depth, safe = f.paths[leaf], f.lengths[leaf], int(f.safe[leaf])
        add_node(f, tree, tree * size, path, depth, safe, mask, answer, f.flipped[leaf], g, s)


@kernel
def add_node(
    f: Forest,
    tree: int,
    root: int,
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
    words, numbers, columns = f.words, f.numbers, g.columns
    value = min(max(answer[columns], np.float32(-1)), np.float32(1))
    # A finished game in Arya's search: `safe` is the LEADS of the column (see `simulate`).
    if safe < 0:
        words[path[depth - 1, 0], place(LEADS, path[depth - 1, 1], columns)] = safe
        back_up(numbers, path, depth, columns, -value)
        return
    block = root + f.used[tree]
    f.used[tree] += 1
    # 1. Columns are full, lose at once, or are open with a prior: a softmax over the open ones.
    greatest, total = np.float32(-1e30), np.float32(0)
    for column in range(columns):
        words[block, place(VISITS, column, columns)] = 0
        numbers[block, place(SUMS, column, columns)] = np.float32(0)
        cell = landing(mask, column, g)
        words[block, place(LEADS, column, columns)] = (
            0 if cell & safe else settled(0, LOSS if cell else CLOSED)
        )
        if cell & safe or (s.faithful and landing(int(f.mask[tree]), column, g)):
            greatest = max(greatest, answer[columns - 1 - column if flipped else column])
    for column in range(columns):
        prior = np.float32(0)
        if words[block, place(LEADS, column, columns)] == 0 or (
            s.faithful and landing(int(f.mask[tree]), column, g)
        ):
            prior = np.float32(
                math.exp(answer[columns - 1 - column if flipped else column] - greatest)
            )
        numbers[block, place(PRIORS, column, columns)] = prior
        total += prior
    for column in range(columns):
        numbers[block, place(PRIORS, column, columns)] /= total
    # 2. Store the value and link the node to its parent.
    numbers[block, PARTS * columns] = value
    if depth > 0:
        words[path[depth - 1, 0], place(LEADS, path[depth - 1, 1], columns)] = block
    elif s.noise > 0:
        mix_noise(words, numbers, block, f.noise[tree], columns, np.float32(s.noise))
    # `value` is for the side to move here, back_up wants it for the side that moved last.
    back_up(numbers, path, depth, columns, -value)


@kernel
def root_leads(cell: int, wins: int, result: int) -> int:
    """Return the LEADS of one column of a proven root; a column that proves nothing has 0."""
    if cell == 0:
        return settled(0, CLOSED)
    if cell & wins:
        return settled(0, WIN)
    return settled(0, LOSS) if result == LOSS else 0


@kernel
def add_proven_root(
    f: Forest, tree: int, root: int, own: int, mask: int, result: int, g: Geometry
) -> None:
    """Make a root whose result can be read off the board: its winning columns, or all lost."""
    columns, wins = g.columns, winning_cells(own, mask, g)
    f.used[tree] = 1
    for column in range(columns):
        cell = landing(mask, column, g)
        f.words[root, place(VISITS, column, columns)] = 0
        f.words[root, place(LEADS, column, columns)] = root_leads(cell, wins, result)
        f.numbers[root, place(SUMS, column, columns)] = np.float32(0)
        f.numbers[root, place(PRIORS, column, columns)] = np.float32(1 / columns)
    f.numbers[root, PARTS * columns] = np.float32(result_of(result))


@kernel
def mix_noise(
    words: np.ndarray,
    numbers: np.ndarray,
    block: int,
    noise: np.ndarray,
    columns: int,
    share: np.float32,
) -> None:
    """Mix noise into the priors of the open columns, unless all of it fell on other columns."""
    total = np.float32(0)
    for column in range(columns):
        if words[block, place(LEADS, column, columns)] == 0:
            total += noise[column]
    if total <= 0:
        return
    for column in range(columns):
        if words[block, place(LEADS, column, columns)] == 0:
            where = place(PRIORS, column, columns)
            numbers[block, where] = (np.float32(1) - share) * numbers[block, where] + share * noise[
                column
            ] / total


@kernel
def back_up(
    numbers: np.ndarray, path: np.ndarray, depth: int, columns: int, value: np.float32
) -> None:
    """Replace the virtual loss on a path by a result, given for the side that moved last."""
    for level in range(depth - 1, -1, -1):
        numbers[path[level, 0], place(SUMS, path[level, 1], columns)] += np.float32(1) + value
        value = -value


@kernel
def undo(
    words: np.ndarray, numbers: np.ndarray, path: np.ndarray, depth: int, columns: int
) -> None:
    """Remove a simulation's visits and virtual losses from its path."""
    for level in range(depth):
        words[path[level, 0], place(VISITS, path[level, 1], columns)] -= 1
        numbers[path[level, 0], place(SUMS, path[level, 1], columns)] += np.float32(1)


@kernel
def back_up_proof(
    f: Forest, tree: int, path: np.ndarray, depth: int, columns: int, proof: int
) -> None:
    """Propagate the proof of a path's last column up the path as far as it proves parents."""
    for level in range(depth - 1, -1, -1):
        block = path[level, 0]
        # One winning column proves its node; any other result needs all columns proven.
        if proof != WIN:
            proof = proven_result(f.words, block, columns)
            if proof == UNPROVEN:
                return
        # `proof` now holds for this block's side to move; its parent's mover gets the opposite.
        if level > 0:
            proof = opposite(proof)
            f.words[path[level - 1, 0], place(LEADS, path[level - 1, 1], columns)] = settled(
                block, proof
            )
    f.proof[tree] = proof if depth > 0 else opposite(proof)


@kernel
def proven_result(words: np.ndarray, block: int, columns: int) -> int:
    """Return the best result of a node whose columns are all proven, else UNPROVEN."""
    best = LOSS
    for column in range(columns):
        proof = proof_of(words[block, place(LEADS, column, columns)])
        if proof == UNPROVEN:
            return UNPROVEN
        if proof == PENDING:
            return UNPROVEN
        if proof != CLOSED:
            best = min(best, proof)
    return best


@kernel
def copy_subtree(words: np.ndarray, block: int, columns: int, to: np.ndarray) -> int:
    """Copy the subtree below a block into an empty array, breadth first; return its blocks."""
    queue, used = np.empty(len(to), np.int32), 1
    queue[0] = block
    new = 0
    while new < used:
        for word in range(words.shape[1]):
            to[new, word] = words[queue[new], word]
        for column in range(columns):
            leads = to[new, place(LEADS, column, columns)]
            if leads > 0:
                to[new, place(LEADS, column, columns)] = used
                queue[used] = leads
                used += 1
            elif leads < 0:
                # Proven columns are never searched again, so their subtrees are dropped.
                to[new, place(LEADS, column, columns)] = settled(0, proof_of(leads))
        new += 1
    return used


def warm_up() -> None:
    """Compile or load the kernels by growing a small tree with a uniform policy."""
    board = geometry_of(7, 6, 4)
    size = 8
    f = new_forest(1, size, 1, board)
    cache = new_cache(2, board)
    left_at = schedule(board.columns, 4)
    logits = np.zeros((1, board.columns), np.float32)
    values = np.zeros(1, np.float32)
    f.goal[0] = 5
    s = Switches(False, 2.0, 1.0, 0.2, 0.25, True)
    while leaves := gather(f, size, 1, board, s, left_at, cache):
        expand(f, size, leaves, logits, values, board, s, cache)
    copy_subtree(f.words, 0, board.columns, np.zeros_like(f.words))
