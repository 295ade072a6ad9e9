"""Alpha-beta search with pattern values at its horizon.

Scores are integers from the point of view of the side to move:

     WIN - n    a proven win with the n-th disc of the game, the discs on the board included
    -WIN + n    a proven loss with the n-th disc
     otherwise  the sum of the pattern weights, at most MOST in size; 0 if the game is drawn

A score of a win or a loss follows from won games alone, so it is a proof whatever the horizon. The
horizon is never reached in the middle of forced moves: a side that can win wins, and a side that
has a single move that does not lose at once plays it without using up depth.
"""

from typing import NamedTuple

import numpy as np

from fourlab.agents.patterns.entries import (
    entry_column,
    entry_depth,
    entry_generation,
    entry_kind,
    entry_score,
    packed,
)
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import landings
from fourlab.compiled.patterns import (
    Patterns,
    add_step,
    code_of,
    fill_indices,
    key_after,
    red_key,
    total_after,
)
from fourlab.compiled.threats import non_losing, winning_cells
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.table import mix

WIN = 1 << 20
PROVEN = WIN - 64
"""Scores of at least this size are proven; no board has more than 62 cells."""
MOST = 1 << 19
"""The size of pattern values is at most this."""
INFINITE = 1 << 21
ABORTED, UNKNOWN = 1 << 22, 1 << 23
"""Not scores, which are smaller: the nodes were spent or the stop flag was set; not known yet."""
EXACT, AT_LEAST, AT_MOST, NOT_SEARCHED = range(4)
"""What a stored score is: the score, a lower bound, an upper bound, or nothing."""
NODES, EVALUATIONS, ALLOWED, GENERATION, EXCLUDED, WIDE = range(6)
"""Places in `Memory.counts`."""
CURRENT, COMPLETED = range(2)
"""Rows of `Memory.scores` and `Memory.kinds`."""
# A node on the stack: the position, its window, the best score so far, and its moves, best first,
# as (order << 6) + column. FLOOR is the lower end of the window, raised by better moves; IS_NARROW
# says whether the move at NEXT is searched with a window of width 1.
OWN, MASK, KEY, SLOT, DEPTH, NEXT_DEPTH, ALPHA, BETA, FLOOR = range(9)
BEST, BEST_COLUMN, NEXT, COUNT, IS_NARROW, RANKS = range(9, 15)
NO_SLOT = -1
"""The place in the table of a node that is not stored: those above the horizon are cheap."""
ORDERED = 3
"""From this depth on, moves are ordered by the pattern values after them."""
NODES_PER_CHECK = 256
"""Nodes between two checks of the stop flag."""


class Memory(NamedTuple):
    """The memory of a search."""

    indices: np.ndarray
    """int32[levels, look-ups]: the indices of the positions on the path."""
    stack: np.ndarray
    """int64[levels, RANKS + columns]: the nodes on the path."""
    table: np.ndarray
    """int64[2 * entries]: pairs of a key and a packed result; the number of entries is a power of
    two."""
    counts: np.ndarray
    """int64[6]: nodes so far, evaluations so far, nodes allowed; the generation, 0 to 255: entries
    of other generations do not count; a bitboard of cells that are not to be played at the root; 1
    if all moves at the root are to get an exact score, else 0."""
    scores: np.ndarray
    """int64[2, columns]: the score of every move at the root, in the current search and in the last
    completed one."""
    kinds: np.ndarray
    """int64[2, columns]: what these scores are."""
    stop: np.ndarray
    """uint8[1]: another thread writes 1 to end the search."""


def new_memory(cells: int, columns: int, lookups: int, entries: int, stop: np.ndarray) -> Memory:
    """Return the memory of a search on a board with this many cells and columns."""
    levels = cells + 2
    return Memory(
        np.zeros((levels, lookups), np.int32),
        np.zeros((levels, RANKS + columns), np.int64),
        np.zeros(2 * entries, np.int64),
        np.zeros(6, np.int64),
        np.zeros((2, columns), np.int64),
        np.full((2, columns), NOT_SEARCHED),
        stop,
    )


@kernel
def at_once(own: int, mask: int, g: Geometry) -> tuple[int, int]:
    """Return the moves that win at once, and those after which the opponent wins at once."""
    moves = landings(mask, g)
    wins = winning_cells(own, mask, g) & moves
    losses = moves & ~non_losing(mask, winning_cells(own ^ mask, mask, g), g)
    return wins, losses & ~wins


@kernel
def deepen(
    own: int,
    mask: int,
    completed: int,
    last: int,
    memory: Memory,
    p: Patterns,
    g: Geometry,
) -> int:
    """Search a position deeper and deeper, from depth `completed` + 1 to depth `last`.

    Returns the last completed depth, whose scores are those of COMPLETED. The search ends early
    when its nodes are spent, the stop flag is set, or the position is proven to be won or lost.
    """
    for depth in range(completed + 1, last + 1):
        score = search(own, mask, depth, memory, p, g)
        if score == ABORTED:
            return depth - 1
        for column in range(g.columns):
            memory.scores[COMPLETED, column] = memory.scores[CURRENT, column]
            memory.kinds[COMPLETED, column] = memory.kinds[CURRENT, column]
        if abs(score) >= PROVEN:
            return depth
    return max(completed, last)


@kernel
def search(own: int, mask: int, depth: int, memory: Memory, p: Patterns, g: Geometry) -> int:
    """Search a position to a depth; return its score for the side to move, or ABORTED.

    The game must not be over, and the side to move must not be able to win at once. `memory.scores`
    and `memory.kinds` get a score for every move that was searched. That of the best move is exact,
    that of the others at least an upper bound, or exact if all were asked for.
    """
    # An explicit stack instead of recursion, which would pass and count references to all arrays
    # at every node.
    stack, counts, scores, kinds = memory.stack, memory.counts, memory.scores, memory.kinds
    for column in range(g.columns):
        kinds[CURRENT, column] = NOT_SEARCHED
    key = red_key(own, mask, g)
    fill_indices(key, p, g, memory.indices, 0)
    level, column = 0, -1
    alpha, beta = -INFINITE, INFINITE
    while True:
        # 1. Enter a node: answer it at once, or push it and its moves onto the stack.
        counts[NODES] += 1
        if counts[NODES] > counts[ALLOWED] or (
            counts[NODES] % NODES_PER_CHECK == 0 and memory.stop[0]
        ):
            return ABORTED
        score = enter(own, mask, key, column, depth, alpha, beta, level, memory, p, g)
        if score == ABORTED:
            return ABORTED
        # 2. Back up scores, as long as they complete their parents.
        while score != UNKNOWN:
            if level == 0:
                return score
            level -= 1
            score = -score
            floor, beta = stack[level, FLOOR], stack[level, BETA]
            # A later move was only shown not to be worse: its score is still to be searched.
            if stack[level, IS_NARROW] and floor < score < beta:
                stack[level, IS_NARROW] = 0
                score = UNKNOWN
                break
            column = stack[level, RANKS + stack[level, NEXT]] & 63
            stack[level, NEXT] += 1
            if level == 0:
                scores[CURRENT, column] = score
                kinds[CURRENT, column] = EXACT if score > floor else AT_MOST
            if score > stack[level, BEST]:
                stack[level, BEST], stack[level, BEST_COLUMN] = score, column
                if level > 0 or counts[WIDE] == 0:
                    floor = max(floor, score)
                    stack[level, FLOOR] = floor
            score = UNKNOWN
            if floor >= beta or stack[level, NEXT] == stack[level, COUNT]:
                score = stack[level, BEST]
                store(level, memory)
            else:
                # Principal variation search: later moves are expected to be worse, which a window
                # of width 1 shows in less time.
                stack[level, IS_NARROW] = 1 if beta - floor > 1 else 0
        # 3. Descend to the next move.
        floor, beta = stack[level, FLOOR], stack[level, BETA]
        column = stack[level, RANKS + stack[level, NEXT]] & 63
        own, mask, key = stack[level, OWN], stack[level, MASK], stack[level, KEY]
        cell = (mask + g.bottom) & (((1 << g.rows) - 1) << column * g.height)
        key = key_after(key, cell, popcount(mask) & 1 == 0)
        own, mask = own ^ mask, mask | cell
        depth = stack[level, NEXT_DEPTH]
        alpha, beta = -(floor + 1 if stack[level, IS_NARROW] else beta), -floor
        level += 1


@inlined_kernel
def enter(
    own: int,
    mask: int,
    key: int,
    last_column: int,
    depth: int,
    alpha: int,
    beta: int,
    level: int,
    memory: Memory,
    p: Patterns,
    g: Geometry,
) -> int:
    """Return the score of a position, or UNKNOWN after writing its node onto the stack.

    The score is exact if it lies between alpha and beta. At or above beta it is a lower bound, at
    or below alpha an upper bound (fail-soft). `memory.indices` has the indices of the position
    before, from which those of this one follow by the disc in `last_column`; only at the root,
    level 0, it has those of the position itself.
    """
    stack, counts = memory.stack, memory.counts
    discs = popcount(mask)
    # What is plain to see: a win at once, a loss at once, a draw.
    moves = landings(mask, g)
    if winning_cells(own, mask, g) & moves:
        return WIN - discs - 1
    threats = winning_cells(own ^ mask, mask, g)
    moves = non_losing(mask, threats, g)
    if level == 0:
        moves &= ~counts[EXCLUDED]
    if moves == 0:
        # Either the board is full, or the opponent wins with its next disc.
        return 0 if mask == g.cells else discs + 2 - WIN
    if discs >= g.columns * g.rows - 2 and level > 0:
        return 0  # neither of the last two discs wins
    # The best and the worst that is still possible: a win with the disc after next, or a loss with
    # the one after that.
    if WIN - discs - 3 <= alpha:
        return WIN - discs - 3
    if discs + 4 - WIN >= beta:
        return discs + 4 - WIN
    is_forced = moves & (moves - 1) == 0
    if depth <= 0 and not is_forced and level > 0:
        counts[EVALUATIONS] += 1
        code = code_of(key, last_column, g)
        value = total_after(p, discs & 1, last_column, code, memory.indices, level - 1)
        value = max(-MOST, min(value, MOST))
        return value if discs & 1 == 0 else -value
    if depth == 1 and not is_forced and level > 0:
        return frontier(own, mask, key, last_column, alpha, beta, moves, level, memory, p, g)
    # What an earlier search has found.
    slot = slot_of(key, memory.table, g)
    table_column = -1
    if memory.table[slot] == key:
        stored = memory.table[slot + 1]
        if entry_generation(stored) == counts[GENERATION]:
            table_column = entry_column(stored)
            score = entry_score(stored)
            # Proven scores hold at any depth. At the root all moves are wanted.
            if level > 0 and (entry_depth(stored) >= depth or abs(score) >= PROVEN):
                kind = entry_kind(stored)
                if (
                    kind == EXACT
                    or (kind == AT_LEAST and score >= beta)
                    or (kind == AT_MOST and score <= alpha)
                ):
                    return score
    if level > 0:
        code = code_of(key, last_column, g)
        add_step(p, last_column, code, memory.indices, level - 1, level)
    count = rank_moves(own, mask, key, moves, depth, table_column, level, memory, p, g)
    stack[level, OWN], stack[level, MASK], stack[level, KEY] = own, mask, key
    stack[level, DEPTH] = depth
    # A forced move does not use up depth.
    stack[level, NEXT_DEPTH] = depth if is_forced else depth - 1
    stack[level, ALPHA], stack[level, BETA], stack[level, FLOOR] = alpha, beta, alpha
    stack[level, BEST], stack[level, BEST_COLUMN] = -INFINITE, -1
    stack[level, NEXT], stack[level, COUNT], stack[level, IS_NARROW] = 0, count, 0
    stack[level, SLOT] = slot
    return UNKNOWN


@inlined_kernel
def frontier(
    own: int,
    mask: int,
    key: int,
    last_column: int,
    alpha: int,
    beta: int,
    moves: int,
    level: int,
    memory: Memory,
    p: Patterns,
    g: Geometry,
) -> int:
    """Return the score of a node one ply above the horizon as `enter` does, or ABORTED.

    Most nodes are beyond the horizon, so they are evaluated here, without nodes of their own. Only
    children with a forced reply are searched: they are the moves of this node on the stack.
    """
    stack, counts = memory.stack, memory.counts
    code = code_of(key, last_column, g)
    add_step(p, last_column, code, memory.indices, level - 1, level)
    best, best_column, waiting, quiet = sort_children(own, mask, moves, level, stack, g)
    if counts[NODES] + quiet > counts[ALLOWED]:
        return ABORTED
    is_red = popcount(mask) & 1 == 0
    for i in range(quiet):
        if best >= beta:
            break
        column = stack[level, RANKS + g.columns - 1 - i] & 63
        cell = moves & (((1 << g.rows) - 1) << column * g.height)
        code = code_of(key_after(key, cell, is_red), column, g)
        score = total_after(p, 1 if is_red else 0, column, code, memory.indices, level)
        score = max(-MOST, min(score if is_red else -score, MOST))
        counts[EVALUATIONS] += 1
        counts[NODES] += 1
        if score > best:
            best, best_column = score, column
    if waiting == 0 or best >= beta:
        return best
    stack[level, OWN], stack[level, MASK], stack[level, KEY] = own, mask, key
    stack[level, DEPTH], stack[level, NEXT_DEPTH] = 1, 0
    stack[level, ALPHA], stack[level, BETA] = alpha, beta
    stack[level, FLOOR] = max(alpha, best)
    stack[level, BEST], stack[level, BEST_COLUMN] = best, best_column
    stack[level, NEXT], stack[level, COUNT], stack[level, IS_NARROW] = 0, waiting, 0
    stack[level, SLOT] = NO_SLOT
    return UNKNOWN


@inlined_kernel
def sort_children(
    own: int, mask: int, moves: int, level: int, stack: np.ndarray, g: Geometry
) -> tuple[int, int, int, int]:
    """Sort the moves of a node above the horizon by what is plain to see after them.

    Returns the best score of those that are decided and its column, the number of moves after which
    the reply is forced, and that of the quiet ones. The former are written to RANKS and up, the
    latter from the other end downwards, most threats first.
    """
    discs = popcount(mask) + 1  # after a move
    last = RANKS + g.columns - 1
    best, best_column, waiting, quiet = -INFINITE, -1, 0, 0
    for i in range(g.columns):
        # From the centre outwards: 3, 4, 2, 5, 1, 6, 0 on seven columns.
        column = ((g.columns - 1) >> 1) + ((i + 1) >> 1 if i & 1 else -(i >> 1))
        cell = moves & (((1 << g.rows) - 1) << column * g.height)
        if cell == 0:
            continue
        after = mask | cell
        threats = winning_cells(own | cell, after, g)
        replies = non_losing(after, threats, g)
        if replies == 0 or discs >= g.columns * g.rows - 2:
            # The opponent cannot stop a threat; or the game is drawn, because the board is full or
            # neither of the last two discs wins.
            score = WIN - discs - 2 if replies == 0 and after != g.cells else 0
            if score > best:
                best, best_column = score, column
        elif replies & (replies - 1) == 0:
            stack[level, RANKS + waiting] = column
            waiting += 1
        else:
            rank = (popcount(threats) << 6) + column
            # Insertion sort; equal moves keep their order.
            place = last - quiet
            while place < last and stack[level, place + 1] >> 6 < rank >> 6:
                stack[level, place] = stack[level, place + 1]
                place += 1
            stack[level, place] = rank
            quiet += 1
    return best, best_column, waiting, quiet


@inlined_kernel
def slot_of(key: int, table: np.ndarray, g: Geometry) -> int:
    """Return where the entry of a key is in the table."""
    return 2 * (mix(key, g.columns * g.height) & ((len(table) >> 1) - 1))


@inlined_kernel
def store(level: int, memory: Memory) -> None:
    """Write a completed node into the table."""
    stack = memory.stack
    if stack[level, SLOT] == NO_SLOT:
        return
    best = stack[level, BEST]
    kind = EXACT
    if best >= stack[level, BETA]:
        kind = AT_LEAST
    elif best <= stack[level, ALPHA]:
        kind = AT_MOST
    slot = stack[level, SLOT]
    memory.table[slot] = stack[level, KEY]
    memory.table[slot + 1] = packed(
        best, kind, stack[level, DEPTH], stack[level, BEST_COLUMN], memory.counts[GENERATION]
    )


@inlined_kernel
def rank_moves(
    own: int,
    mask: int,
    key: int,
    moves: int,
    depth: int,
    table_column: int,
    level: int,
    memory: Memory,
    p: Patterns,
    g: Geometry,
) -> int:
    """Write the moves of a node onto the stack, best first; return their number.

    The move of the table comes first. The others are ordered by the pattern values after them, near
    the horizon by the number of threats that they make.
    """
    stack = memory.stack
    is_red = popcount(mask) & 1 == 0
    count = 0
    for i in range(g.columns):
        # From the centre outwards: 3, 4, 2, 5, 1, 6, 0 on seven columns.
        column = ((g.columns - 1) >> 1) + ((i + 1) >> 1 if i & 1 else -(i >> 1))
        cell = moves & (((1 << g.rows) - 1) << column * g.height)
        if cell == 0:
            continue
        if column == table_column:
            order = INFINITE
        elif depth >= ORDERED:
            code = code_of(key_after(key, cell, is_red), column, g)
            order = total_after(p, 1 if is_red else 0, column, code, memory.indices, level)
            order = order if is_red else -order
            memory.counts[EVALUATIONS] += 1
        else:
            order = popcount(winning_cells(own | cell, mask | cell, g))
        rank = (order << 6) + column
        # Insertion sort, descending; equal moves keep their order.
        place = count
        while place > 0 and stack[level, RANKS + place - 1] >> 6 < order:
            stack[level, RANKS + place] = stack[level, RANKS + place - 1]
            place -= 1
        stack[level, RANKS + place] = rank
        count += 1
    return count


def warm_up() -> None:
    """Compile the kernels: search a tiny board with a network of one look-up."""
    g = geometry_of(3, 2, 3)
    steps = np.zeros((3, 8, 1), np.int32)
    p = Patterns(np.zeros(1, np.int32), steps, np.zeros((2, 1), np.int16), steps)
    memory = new_memory(6, 3, 1, 16, np.zeros(1, np.uint8))
    memory.counts[ALLOWED] = 100
    deepen(0, 0, 0, 3, memory, p, g)
    at_once(0, 0, g)
