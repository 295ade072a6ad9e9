"""Many search trees at once, guided by a network that lives outside.

A network is quick only with many positions at once, so trees grow in step, by two kernels in turn:

    gather    walks down in every tree; results that are known at once are credited, other leaves are listed
    grow      makes a node of each leaf from what the network says of it, and credits its value

All nodes are blocks (`agents/mcts/nodes.py`) of one array, seen as int32 (`words`: VISITS and LEADS) and as float32 (`numbers`:
SUMS of results from -1 to +1, and PRIORS). The last number of a block is the network's value of the position, for the side to
move.

Tree t owns the blocks from t * size on, and the first is its root. A walk counts as a loss until its result is known, so that
others go elsewhere (virtual loss). Wins at once, forced replies, columns that lose at once and the last few cells are seen on the
discs and never asked of the network. A position and its mirror image are the same question.
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.alphazero.choosing import (
    PARTS as PARTS,
)
from fourlab.agents.alphazero.choosing import (
    SPREAD as SPREAD,
)
from fourlab.agents.alphazero.choosing import (
    Switches as Switches,
)
from fourlab.agents.alphazero.choosing import (
    choose_as_planned,
    choose_by_puct,
    choose_by_schedule,
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
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import has_line, key, landing, landings, mirror
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.kernel import non_losing

BACKED_UP, LISTED, MET = 0, 1, 2
EXACT = 8
"""With so many empty cells it is quicker to try everything than to ask the network."""
ODD = 0x1E3779B97F4A7C15


class Forest(NamedTuple):
    """Trees, what is known of them, and the leaves in hand."""

    words: np.ndarray  # int32[trees * size, 4 * columns + 1]
    numbers: np.ndarray  # the same as float32
    used: np.ndarray  # int32[trees]: blocks in use
    own: np.ndarray  # int64[trees]: the root's discs of the side to move
    mask: np.ndarray  # int64[trees]: all its discs
    done: np.ndarray  # int32[trees]: simulations made
    goal: np.ndarray  # int32[trees]: simulations to be made
    proof: np.ndarray  # int32[trees]: WIN, DRAW or LOSS of the root's side to move, once proven
    noise: np.ndarray  # float32[trees, columns]: Gumbel noise, or Dirichlet noise, for the root
    paths: np.ndarray  # int32[leaves, cells + 1, 2]: blocks and columns on the way to each leaf
    lengths: np.ndarray  # int32[leaves]
    trees: np.ndarray  # int32[leaves]: to which tree it belongs
    safe: np.ndarray  # int64[leaves]: the cells that do not lose at once
    asked_own: np.ndarray  # int64[leaves]: positions for the network
    asked_mask: np.ndarray  # int64[leaves]
    flipped: np.ndarray  # bool[leaves]: whether that is the mirror image


class Cache(NamedTuple):
    """What the network has said before, by position; a newer answer takes the place of an older one."""

    keys: np.ndarray  # int64[slots], a power of two; 0 is none
    answers: np.ndarray  # float32[slots, columns + 1]: priors before softmax, value


def new_forest(trees: int, size: int, leaves: int, g: Geometry) -> Forest:
    """Room for trees of so many blocks each and for so many leaves of each in hand."""
    words = np.zeros((trees * size, PARTS * g.columns + 1), np.int32)
    used, done, goal, proof = np.zeros((4, trees), np.int32)
    own, mask = np.zeros((2, trees), np.int64)
    lengths, of_trees = np.zeros((2, trees * leaves), np.int32)
    safe, asked_own, asked_mask = np.zeros((3, trees * leaves), np.int64)
    paths, noise = np.zeros((trees * leaves, g.columns * g.rows + 1, 2), np.int32), np.zeros((trees, g.columns), np.float32)
    flipped = np.zeros(trees * leaves, np.bool_)
    return Forest(
        words,
        words.view(np.float32),
        used,
        own,
        mask,
        done,
        goal,
        proof,
        noise,
        paths,
        lengths,
        of_trees,
        safe,
        asked_own,
        asked_mask,
        flipped,
    )


def new_cache(slots: int, g: Geometry) -> Cache:
    """Room for so many answers, a power of two."""
    return Cache(np.zeros(slots, np.int64), np.zeros((slots, g.columns + 1), np.float32))


def schedule(columns: int, simulations: int) -> np.ndarray:
    """Sequential halving as int32[columns + 1, simulations]: with m columns to compare, how many are left at simulation i.

    In each round all that are left get the same number of visits, and the better half stays.
    """
    left_at = np.ones((columns + 1, simulations), np.int32)
    for m in range(2, columns + 1):
        rounds, left, at = math.ceil(math.log2(m)), m, 0
        while at < simulations:
            visits = left * max(1, simulations // (rounds * left))
            left_at[m, at : at + visits] = left
            at, left = at + visits, max(2, left // 2)
    return left_at


@kernel
def gather(f: Forest, size: int, leaves: int, g: Geometry, s: Switches, left_at: np.ndarray, cache: Cache) -> int:
    """Make simulations in every tree that has some left, until it has so many leaves in hand; returns how many leaves are listed.

    `left_at` is the schedule of Gumbel search.
    """
    listed = 0
    for tree in range(len(f.used)):
        in_hand = 0
        while in_hand < leaves and f.done[tree] < f.goal[tree] and f.proof[tree] == UNPROVEN:
            if f.used[tree] == 0 and in_hand > 0:  # the network is being asked about the root
                break
            what = walk(f, tree, tree * size, listed, g, s, left_at, cache)
            if what == MET:  # the best way leads to what the network is being asked
                break
            if what == LISTED:
                in_hand += 1
                listed += 1
    return listed


@kernel
def walk(f: Forest, tree: int, root: int, leaf: int, g: Geometry, s: Switches, left_at: np.ndarray, cache: Cache) -> int:
    """Make one simulation: returns BACKED_UP, LISTED if the network must be asked, or MET if somebody is asking already."""
    words, numbers, columns, path = f.words, f.numbers, g.columns, f.paths[leaf]
    own, mask, block, depth = int(f.own[tree]), int(f.mask[tree]), root, 0
    f.done[tree] += 1
    proof = UNPROVEN  # for the side that moved last
    if f.used[tree] > 0:
        while True:
            # 1. Select a column of this block and count it as lost.
            if depth == 0 and s.gumbel:
                column = choose_by_schedule(words, numbers, block, f.noise[tree], int(f.done[tree]) - 1, g, s, left_at)
            elif s.gumbel:
                column = choose_as_planned(words, numbers, block, columns, s)
            else:
                column = choose_by_puct(words, numbers, block, columns, s)
            path[depth, 0], path[depth, 1] = block, column
            depth += 1
            words[block, place(VISITS, column, columns)] += 1
            numbers[block, place(SUMS, column, columns)] -= np.float32(1)
            cell = landing(mask, column, g)
            own, mask = (own | cell) ^ (mask | cell), mask | cell
            leads = int(words[block, place(LEADS, column, columns)])
            if proof_of(leads) == PENDING:
                f.done[tree] -= 1
                take_back(words, numbers, path, depth, columns)
                return MET
            if leads < 0:
                proof = proof_of(leads)
                break
            if leads == 0:
                break
            block = leads
    # 2. A new position: see whether its result is known.
    if proof == UNPROVEN:
        result, safe = examine(own, mask, g, s)
        if result == UNPROVEN and s.proving and depth > 0 and popcount(mask) + EXACT >= g.columns * g.rows:
            result = DRAW - ending(own, mask, g)
        if result != UNPROVEN and s.faithful and not s.proving and depth > 0:
            safe = result - WIN - LOSS  # a proof where cells are expected: `plant` will understand
        elif result != UNPROVEN:
            proof = opposite(result)
            if depth > 0:
                words[path[depth - 1, 0], place(LEADS, path[depth - 1, 1], columns)] = settled(0, proof)
            else:
                settle(f, tree, root, own, mask, result, g)
            if s.proving or depth == 0:
                prove(f, tree, path, depth, columns, proof)
    else:
        safe = 0
    if proof != UNPROVEN:
        credit(numbers, path, depth, columns, np.float32(result_of(proof)))
        return BACKED_UP
    # 3. Ask: first memory, then the network.
    name, flipped = question(own, mask, g)
    slot = slot_of(name, cache)
    if cache.keys[slot] == name:
        plant(f, tree, root, path, depth, safe, mask, cache.answers[slot], flipped, g, s)
        return BACKED_UP
    f.trees[leaf], f.lengths[leaf], f.safe[leaf], f.flipped[leaf] = tree, depth, safe, flipped
    f.asked_own[leaf], f.asked_mask[leaf] = own, mask
    if flipped:
        f.asked_own[leaf], f.asked_mask[leaf] = mirror(own, g), mirror(mask, g)
    if depth > 0:
        words[path[depth - 1, 0], place(LEADS, path[depth - 1, 1], columns)] = settled(0, PENDING)
    return LISTED


@kernel
def grow(
    f: Forest,
    size: int,
    leaves: int,
    logits: np.ndarray,  # float32[leaves, columns]
    values: np.ndarray,  # float32[leaves]
    g: Geometry,
    s: Switches,
    cache: Cache,
) -> None:
    """Make nodes of the leaves from the network's answers, and remember these."""
    for leaf in range(leaves):
        name = key(int(f.asked_own[leaf]), int(f.asked_mask[leaf]), g)
        slot = slot_of(name, cache)
        cache.keys[slot] = name
        answer = cache.answers[slot]
        for column in range(g.columns):
            answer[column] = logits[leaf, column]
        answer[g.columns] = values[leaf]
        tree, mask = f.trees[leaf], int(f.asked_mask[leaf])
        if f.flipped[leaf]:
            mask = mirror(mask, g)
        plant(f, tree, tree * size, f.paths[leaf], f.lengths[leaf], int(f.safe[leaf]), mask, answer, f.flipped[leaf], g, s)


@inlined_kernel
def question(own: int, mask: int, g: Geometry) -> tuple[int, bool]:
    """The key under which a position is asked: the smaller of its own and its mirror image's; and whether it is the image's."""
    here, image = key(own, mask, g), mirror(key(own, mask, g), g)
    return min(here, image), image < here


@inlined_kernel
def slot_of(name: int, cache: Cache) -> int:
    """Where an answer would be kept."""
    return ((name * ODD) >> 20) & (len(cache.keys) - 1)


@kernel
def examine(own: int, mask: int, g: Geometry, s: Switches) -> tuple[int, int]:
    """What the discs tell: WIN, DRAW, LOSS for the side to move or UNPROVEN; and the cells that do not lose at once."""
    playable = landings(mask, g)
    if s.proving:
        if winning_cells(own, mask, g) & playable:
            return WIN, playable
        if playable == 0:
            return DRAW, 0
        safe = non_losing(mask, winning_cells(own ^ mask, mask, g), g)
        return (UNPROVEN if safe else LOSS), safe
    if has_line(own ^ mask, g.height, g.in_a_row):
        return LOSS, 0
    if s.faithful and popcount(mask) >= g.columns * g.rows - 1:
        return DRAW, 0
    return (UNPROVEN if playable else DRAW), playable


@kernel
def ending(own: int, mask: int, g: Geometry) -> int:
    """What the side to move gets by trying everything: 1, 0 or -1. For the last few cells."""
    playable = landings(mask, g)
    if playable == 0:
        return 0
    if winning_cells(own, mask, g) & playable:
        return 1
    best = -1
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell:
            best = max(best, -ending(own ^ mask, mask | cell, g))
            if best == 1:
                break
    return best


@kernel
def plant(
    f: Forest,
    tree: int,
    root: int,
    path: np.ndarray,
    depth: int,
    safe: int,
    mask: int,
    answer: np.ndarray,  # float32[columns + 1]: the network's
    flipped: bool,
    g: Geometry,
    s: Switches,
) -> None:
    """Make a node of a leaf and credit its value."""
    words, numbers, columns = f.words, f.numbers, g.columns
    value = min(max(answer[columns], np.float32(-1)), np.float32(1))
    if safe < 0:  # a finished game, about which only the faithful ask
        words[path[depth - 1, 0], place(LEADS, path[depth - 1, 1], columns)] = safe
        credit(numbers, path, depth, columns, -value)
        return
    block = root + f.used[tree]
    f.used[tree] += 1
    # 1. Its columns: shut, lost at once, or open with a prior.
    greatest, total = np.float32(-1e30), np.float32(0)
    for column in range(columns):
        words[block, place(VISITS, column, columns)] = 0
        numbers[block, place(SUMS, column, columns)] = np.float32(0)
        cell = landing(mask, column, g)
        words[block, place(LEADS, column, columns)] = 0 if cell & safe else settled(0, LOSS if cell else CLOSED)
        if cell & safe or (s.faithful and landing(int(f.mask[tree]), column, g)):
            greatest = max(greatest, answer[columns - 1 - column if flipped else column])
    for column in range(columns):
        prior = np.float32(0)
        if words[block, place(LEADS, column, columns)] == 0 or (s.faithful and landing(int(f.mask[tree]), column, g)):
            prior = np.float32(math.exp(answer[columns - 1 - column if flipped else column] - greatest))
        numbers[block, place(PRIORS, column, columns)] = prior
        total += prior
    for column in range(columns):
        numbers[block, place(PRIORS, column, columns)] /= total
    # 2. Its value, and who leads to it.
    numbers[block, PARTS * columns] = value
    if depth > 0:
        words[path[depth - 1, 0], place(LEADS, path[depth - 1, 1], columns)] = block
    elif s.noise > 0:
        mix_noise(words, numbers, block, f.noise[tree], columns, np.float32(s.noise))
    credit(numbers, path, depth, columns, -value)


@kernel
def root_leads(cell: int, wins: int, result: int) -> int:
    """Return where a column of a settled root leads: nowhere, with its proof."""
    if cell == 0:
        return settled(0, CLOSED)
    if cell & wins:
        return settled(0, WIN)
    return settled(0, LOSS) if result == LOSS else 0


@kernel
def settle(f: Forest, tree: int, root: int, own: int, mask: int, result: int, g: Geometry) -> None:
    """Make a root whose result is seen at once: the columns that win, or all of them lost."""
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
def mix_noise(words: np.ndarray, numbers: np.ndarray, block: int, noise: np.ndarray, columns: int, share: np.float32) -> None:
    """Mix noise into the priors of open columns, unless all of it fell on others."""
    total = np.float32(0)
    for column in range(columns):
        if words[block, place(LEADS, column, columns)] == 0:
            total += noise[column]
    if total <= 0:
        return
    for column in range(columns):
        if words[block, place(LEADS, column, columns)] == 0:
            where = place(PRIORS, column, columns)
            numbers[block, where] = (np.float32(1) - share) * numbers[block, where] + share * noise[column] / total


@kernel
def credit(numbers: np.ndarray, path: np.ndarray, depth: int, columns: int, value: np.float32) -> None:
    """Add a result to every column of a path in place of the loss it counted as; it is for the side that played the last one."""
    for level in range(depth - 1, -1, -1):
        numbers[path[level, 0], place(SUMS, path[level, 1], columns)] += np.float32(1) + value
        value = -value


@kernel
def take_back(words: np.ndarray, numbers: np.ndarray, path: np.ndarray, depth: int, columns: int) -> None:
    """Forget a walk."""
    for level in range(depth):
        words[path[level, 0], place(VISITS, path[level, 1], columns)] -= 1
        numbers[path[level, 0], place(SUMS, path[level, 1], columns)] += np.float32(1)


@kernel
def prove(f: Forest, tree: int, path: np.ndarray, depth: int, columns: int, proof: int) -> None:
    """Draw conclusions from a proof of the last column of a path, as far up as they go."""
    for level in range(depth - 1, -1, -1):
        block = path[level, 0]
        if proof != WIN:
            proof = conclusion(f.words, block, columns)
            if proof == UNPROVEN:
                return
        # What this block's side to move gets is proven; the side that led here gets the opposite.
        if level > 0:
            proof = opposite(proof)
            f.words[path[level - 1, 0], place(LEADS, path[level - 1, 1], columns)] = settled(block, proof)
    f.proof[tree] = proof if depth > 0 else opposite(proof)


@kernel
def conclusion(words: np.ndarray, block: int, columns: int) -> int:
    """What all columns together prove, for the side to move: their best result, or UNPROVEN while one is open."""
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
def transplant(words: np.ndarray, block: int, columns: int, to: np.ndarray) -> int:
    """Copy all that grows from a block into an empty array, its root first; returns how many blocks these are."""
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
                to[new, place(LEADS, column, columns)] = settled(0, proof_of(leads))  # what is proven is not searched again
        new += 1
    return used


def warm_up() -> None:
    """Grow a tree a little with a network that knows nothing, then transplant it."""
    board = geometry_of(7, 6, 4)
    f, cache = new_forest(1, 8, 1, board), new_cache(2, board)
    wanted = schedule(board.columns, 4)
    logits, values = np.zeros((1, board.columns), np.float32), np.zeros(1, np.float32)
    f.goal[0] = 5
    s = Switches(False, 2.0, 1.0, 0.2, 0.25, True)
    while leaves := gather(f, 8, 1, board, s, wanted, cache):
        grow(f, 8, leaves, logits, values, board, s, cache)
    transplant(f.words, 0, board.columns, np.zeros_like(f.words))
