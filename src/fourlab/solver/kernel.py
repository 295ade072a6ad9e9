"""The exact value of a position.

Scores are Pascal Pons's: for the side to move, 0 is a draw, n > 0 a win with the n-th last of its own discs (1: with its very
last), -n likewise a loss. The solver asks one question again and again, "is the score greater than alpha?", and closes in on
the score from both sides; such a question lets a search stop at the first good answer.

`docs/agents/perfect.md` explains every idea and what it gains.
"""

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount, prefetch
from fourlab.compiled.board import has_line, landings, mirror
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.table import HIGHEST, LOWEST, bucket_of, copy_entries, mix, new_table, probe, store

NO, YES, UNKNOWN = 0, 1, -1
ALPHA, NEXT, COUNT, MIXED, NODES, RANKS = range(6)
"""The fields of a stack frame. From RANKS on, a number for each child still to be searched, best first: how good it looks, and
in the last six bits which child it is. After them the children themselves, CHILD words each:"""
OWN_, MASK_, ALPHA_, NEGATED_, MOVES_, THREATS_, MIXED_, CHILD = range(8)

# The ideas, each of which `benchmarks/ablation.py` switches off to measure it. Constants cost nothing once compiled.
TABLE, EXTREMES_FIRST, FORCED_REPLIES, CLAIMEVEN, PREFETCH = (True,) * 5
CENTRE_FIRST, THREATS_FIRST, WEIGHED_THREATS = True, True, True
PROBE_CHILDREN = 12
"""With so many cells left, the table is asked about all children before one is searched."""
MIRRORED_PLIES = 12
"""Up to so many discs, a position and its mirror image share an entry; later they hardly ever meet."""

BETWEEN_STOPS = 1024
"""The stop flag is read once in so many nodes."""


@kernel
def solve(
    own: int,
    mask: int,
    lower: int,
    upper: int,
    asked: tuple[int, int],
    g: Geometry,
    table: np.ndarray,  # int64[words], a power of two
    jitter: int,
    most_nodes: int,
    stop: np.ndarray,  # uint8[1]
    nodes: np.ndarray,  # int64[1]: counted up
) -> tuple[int, int]:
    """Narrow the proven bounds of a position's score, as far as is `asked`, as most_nodes allows, and as nobody says stop.

    The position must not be over. To be asked (-40, 40) is to find the score, and (-1, 1) to find out who wins: a score at or
    beyond an end of that range may be anything there. Equal bounds are the score. With jitter 0 the search is always the
    same; threads that share a table each take another number, so that they do not all do the same work.
    """
    left = g.columns * g.rows - popcount(mask)
    if winning_cells(own, mask, g) & landings(mask, g):
        return (left + 1) >> 1, (left + 1) >> 1
    lower, upper = max(lower, -(left >> 1)), min(upper, (left - 1) >> 1)
    stack = np.empty((left + 1) * frame_size(g), np.int64)
    while True:
        low, high = max(lower, asked[0]), min(upper, asked[1])
        if low >= high:
            break
        alpha = next_question(low, high)
        answer = exceeds(own, mask, alpha, g, table, jitter, most_nodes, stop, nodes, stack)
        if answer == UNKNOWN:
            break
        if answer == YES:
            lower = alpha + 1
        else:
            upper = alpha
    return lower, upper


@kernel
def next_question(low: int, high: int) -> int:
    """Which alpha to ask next. Extreme scores first: quick wins are common, and quickly found or refuted."""
    alpha = 0 if not EXTREMES_FIRST and low < 0 < high else low + ((high - low) >> 1)
    if EXTREMES_FIRST:
        if alpha <= 0 and -((-low) >> 1) < alpha:
            alpha = -((-low) >> 1)
        elif alpha >= 0 and high >> 1 > alpha:
            alpha = high >> 1
    return max(low, min(alpha, high - 1))


@inlined_kernel
def frame_size(g: Geometry) -> int:
    """How many words a stack frame has."""
    return RANKS + (1 + CHILD) * g.columns


@kernel
def exceeds(
    own: int,
    mask: int,
    alpha: int,
    g: Geometry,
    table: np.ndarray,
    jitter: int,
    most_nodes: int,
    stop: np.ndarray,
    nodes: np.ndarray,
    stack: np.ndarray,  # int64[(cells left + 1) * frame_size]
) -> int:
    """Tell whether the score of a position is greater than alpha: YES, NO, or UNKNOWN if the search had to end.

    The side to move must not be able to win at once. It exceeds alpha if the other side fails to exceed -alpha - 1 after
    one of its moves. The stack is our own; a node's answer is `answer`, UNKNOWN while it is being searched.
    """
    size, frame, spent = frame_size(g), 0, nodes[0]
    pause = min(most_nodes, spent)
    threats = winning_cells(own ^ mask, mask, g)
    own, mask, alpha, root_negated, moves, threats, answer = play_forced(own, mask, alpha, threats, g)
    if answer != UNKNOWN:
        return negate(answer, root_negated)
    mixed = name_of(own, mask, g)
    while True:
        # 1. Enter a node, of which nothing is plain to see.
        if spent >= pause:
            nodes[0] = spent
            if spent >= most_nodes or stop[0]:
                return UNKNOWN
            pause = min(most_nodes, spent + BETWEEN_STOPS)
        spent += 1
        answer = judge(probe(table, mixed), alpha) if TABLE else UNKNOWN
        if answer == UNKNOWN:
            # 2. List its children, best first.
            count, answer = list_children(stack, frame, own, mask, alpha, moves, threats, g, table, jitter)
            if answer == UNKNOWN and TABLE and g.columns * g.rows - popcount(mask) >= PROBE_CHILDREN:
                count, answer = ask_children(stack, frame, count, g, table)
            stack[frame + ALPHA], stack[frame + NEXT], stack[frame + COUNT] = alpha, 0, count
            stack[frame + MIXED], stack[frame + NODES] = mixed, spent
        # 3. Hand answers up.
        while answer != UNKNOWN:
            if frame == 0:
                nodes[0] = spent
                return negate(answer, root_negated)
            frame -= size
            child = frame + RANKS + g.columns + CHILD * (stack[frame + RANKS + stack[frame + NEXT]] & 63)
            stack[frame + NEXT] += 1
            if negate(answer, stack[child + NEGATED_] != 0) == NO:
                answer = YES  # the other side failed to exceed -alpha - 1
            else:
                answer = NO if stack[frame + NEXT] == stack[frame + COUNT] else UNKNOWN
            if answer != UNKNOWN:
                alpha = stack[frame + ALPHA]
                low, high = (alpha + 1, HIGHEST) if answer == YES else (LOWEST, alpha)
                if TABLE:
                    store(table, stack[frame + MIXED], low, high, spent - stack[frame + NODES] + 1)
        # 4. Go down to the next child.
        child = frame + RANKS + g.columns + CHILD * (stack[frame + RANKS + stack[frame + NEXT]] & 63)
        own, mask, alpha = stack[child + OWN_], stack[child + MASK_], stack[child + ALPHA_]
        moves, threats, mixed = stack[child + MOVES_], stack[child + THREATS_], stack[child + MIXED_]
        frame += size


@inlined_kernel
def judge(bounds: tuple[int, int], alpha: int) -> int:
    """Answer from bounds of the score, if they allow."""
    if bounds[0] > alpha:
        return YES
    return NO if bounds[1] <= alpha else UNKNOWN


@inlined_kernel
def negate(answer: int, negated: bool) -> int:
    """The same answer for the other side, which asks the opposite."""
    return 1 - answer if negated else answer


@inlined_kernel
def name_of(own: int, mask: int, g: Geometry) -> int:
    """The number under which the table knows a position."""
    key = own + mask
    if popcount(mask) <= MIRRORED_PLIES:
        key = min(key, mirror(key, g))
    return mix(key, g.columns * g.height)


@inlined_kernel
def play_forced(own: int, mask: int, alpha: int, threats: int, g: Geometry) -> tuple[int, int, int, bool, int, int, int]:
    """Play on while only one move does not lose at once, or until the answer is plain.

    `threats` are the cells with which the other side would win. Returns the position and alpha then, whether the sides have
    been exchanged, the moves that do not lose at once, the threats, and the answer or UNKNOWN.
    """
    negated = False
    while True:
        left = g.columns * g.rows - popcount(mask)
        moves = non_losing(mask, threats, g)
        if moves == 0:  # the other side wins with its next disc
            return own, mask, alpha, negated, moves, threats, YES if -(left >> 1) > alpha else NO
        if left <= 2:  # two discs that do not win
            return own, mask, alpha, negated, moves, threats, YES if alpha < 0 else NO
        if alpha >= (left - 1) >> 1:  # even a win with the next disc but one is not enough
            return own, mask, alpha, negated, moves, threats, NO
        if alpha < -((left - 2) >> 1):  # even a loss as soon as possible is enough
            return own, mask, alpha, negated, moves, threats, YES
        if moves & (moves - 1) or not FORCED_REPLIES:
            return own, mask, alpha, negated, moves, threats, claimeven(own, mask, alpha, left, g)
        mask |= moves
        own = (own | moves) ^ mask
        alpha = -alpha - 1
        negated = not negated
        threats = winning_cells(own ^ mask, mask, g)


@inlined_kernel
def non_losing(mask: int, threats: int, g: Geometry) -> int:
    """The moves after which the other side cannot win at once; the side to move must not be able to win itself."""
    moves = landings(mask, g)
    forced = moves & threats
    if forced:
        moves = 0 if forced & (forced - 1) else forced  # two cells to block, one disc to do it
    return moves & ~(threats >> 1)  # nor must a disc open the cell above it to the other side


@inlined_kernel
def claimeven(own: int, mask: int, alpha: int, left: int, g: Geometry) -> int:
    """Answer, if it can be seen that yellow need only follow red in every column.

    With an even number of rows and of discs in each column, yellow can always play on top of red. Then red gets every empty
    cell of the odd rows and yellow those of the even rows: if red has no line with those, it cannot win; if yellow has one
    too, red loses. With one odd column and yellow to move, yellow makes it even.
    """
    if g.rows & 1 or not CLAIMEVEN:
        return UNKNOWN
    uneven = (mask ^ (mask >> 1)) & g.odd_rows
    if left & 1:
        if alpha > 0 or uneven & (uneven - 1):
            return UNKNOWN
        mask |= uneven << 1
        red, yellow = own ^ mask ^ (uneven << 1), own | (uneven << 1)
    else:
        if alpha < -1 or uneven:
            return UNKNOWN
        red, yellow = own, own ^ mask
    empty = g.cells ^ mask
    if has_line(red | (empty & g.odd_rows), g.height, g.in_a_row):
        return UNKNOWN
    enough = alpha < 0 if left & 1 else alpha >= 0
    if enough or has_line(yellow | (empty & ~g.odd_rows), g.height, g.in_a_row):
        return YES if left & 1 else NO
    return UNKNOWN


@inlined_kernel
def list_children(
    stack: np.ndarray,
    frame: int,
    own: int,
    mask: int,
    alpha: int,
    moves: int,
    their_threats: int,
    g: Geometry,
    table: np.ndarray,
    jitter: int,
) -> tuple[int, int]:
    """Write the children after forced replies, those that look best first, central ones first among equals.

    Returns how many there are, and an answer. A child whose answer is plain is never searched: a move that makes two threats
    at once, say, or one above another.
    """
    left = g.columns * g.rows - popcount(mask)
    column_cells, ranks, count = (1 << g.rows) - 1, frame + RANKS, 0
    for i in range(g.columns):
        column = ((g.columns - 1) >> 1) + ((i + 1) >> 1 if i & 1 else -(i >> 1)) if CENTRE_FIRST else i
        move = moves & (column_cells << column * g.height)
        if move == 0:
            continue
        after = mask | move
        threats = winning_cells(own | move, after, g)
        now = threats & landings(after, g)
        child = frame + RANKS + g.columns + CHILD * count
        child_own, child_mask, child_alpha, negated, child_moves, child_threats, answer = play_forced(
            (own | move) ^ after, after, -alpha - 1, threats, g
        )
        if answer != UNKNOWN:
            if negate(answer, negated) == NO:
                return count, YES
            continue
        mixed = name_of(child_own, child_mask, g)
        if PREFETCH:
            prefetch(table, bucket_of(table, mixed))
        stack[child + OWN_], stack[child + MASK_], stack[child + ALPHA_] = child_own, child_mask, child_alpha
        stack[child + NEGATED_], stack[child + MOVES_] = negated, child_moves
        stack[child + THREATS_], stack[child + MIXED_] = child_threats, mixed
        rank = ((looks(threats, now, their_threats, left, g) + ((mixed >> jitter) & 3 if jitter else 0)) << 6) + count
        place = ranks + count
        while place > ranks and stack[place - 1] >> 6 < rank >> 6:
            stack[place] = stack[place - 1]
            place -= 1
        stack[place] = rank
        count += 1
    return count, (UNKNOWN if count else NO)


@inlined_kernel
def looks(threats: int, now: int, their_threats: int, left: int, g: Geometry) -> int:
    """How good a move looks by the threats we have after it.

    A threat above one of theirs is worthless: they must be stopped below it, and then they stop us. One in a row that
    zugzwang favours, odd for red and even for yellow, counts for more, and one that can be stopped `now` for less.
    """
    if not THREATS_FIRST:
        return 0
    if not WEIGHED_THREATS:
        return popcount(threats)
    lasting = threats & ~(their_threats << 1)
    favoured = lasting & (~g.odd_rows if left & 1 else g.odd_rows)
    return 4 * popcount(lasting) + 2 * popcount(favoured) - popcount(now)


@inlined_kernel
def ask_children(stack: np.ndarray, frame: int, count: int, g: Geometry, table: np.ndarray) -> tuple[int, int]:
    """Ask the table about every child: one known to fail answers, those known to succeed are struck off the list."""
    ranks, kept = frame + RANKS, frame + RANKS
    for place in range(ranks, ranks + count):
        child = ranks + g.columns + CHILD * (stack[place] & 63)
        known = judge(probe(table, stack[child + MIXED_]), stack[child + ALPHA_])
        if known == UNKNOWN:
            stack[kept] = stack[place]
            kept += 1
        elif negate(known, stack[child + NEGATED_] != 0) == NO:
            return count, YES
    return kept - ranks, (UNKNOWN if kept > ranks else NO)


def warm_up() -> None:
    """Solve a tiny board, then copy the table into a larger one."""
    table = new_table(64)
    board = geometry_of(3, 2, 3)
    solve(0, 0, -9, 9, (-40, 40), board, table, 0, 1 << 60, np.zeros(1, np.uint8), np.zeros(1, np.int64))
    copy_entries(table, new_table(128))
