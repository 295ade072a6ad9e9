"""The exact value of a position.

Scores are Pascal Pons's: for the side to move, 0 is a draw, n > 0 a win with the n-th last of its own discs (1: with its very
last), -n likewise a loss. The solver asks one question again and again, "is the score greater than alpha?", and closes in on
the score from both sides; such a question lets a search stop at the first good answer.
"""

import numpy as np

from fourlab.kernels._jit import kernel
from fourlab.kernels.bits import popcount
from fourlab.kernels.board import landings
from fourlab.kernels.geometry import Geometry
from fourlab.kernels.table import mix, probe, store
from fourlab.kernels.threats import winning_cells

NO, YES, UNKNOWN = 0, 1, -1
OWN, MASK, ALPHA, NEXT, COUNT, NEGATED, MIXED, NODES, FIRST = range(9)
"""The fields of a stack frame; from FIRST on, the moves to try and how good they look, best first."""
PROBE_CHILDREN = 16
"""With so many cells left, the table is asked about all children before one is searched."""


@kernel
def solve(
    own: int,
    mask: int,
    lower: int,
    upper: int,
    g: Geometry,
    table: np.ndarray,  # int64[buckets * 4], buckets a power of two
    most_nodes: int,
    stop: np.ndarray,  # uint8[1]
    nodes: np.ndarray,  # int64[1]: counted up
) -> tuple[int, int]:
    """Narrow the bounds of a position's score until they meet, or until so many nodes are spent or somebody says stop.

    The position must not be over. Returns the bounds then known; equal ones are the score.
    """
    left = g.columns * g.rows - popcount(mask)
    if winning_cells(own, mask, g) & landings(mask, g):
        return (left + 1) >> 1, (left + 1) >> 1
    lower, upper = max(lower, -(left >> 1)), min(upper, (left - 1) >> 1)
    while lower < upper:
        # Extreme scores first: quick wins are common and quickly found or refuted.
        alpha = lower + ((upper - lower) >> 1)
        if alpha <= 0 and -((-lower) >> 1) < alpha:
            alpha = -((-lower) >> 1)
        elif alpha >= 0 and upper >> 1 > alpha:
            alpha = upper >> 1
        alpha = max(lower, min(alpha, upper - 1))
        answer = exceeds(own, mask, alpha, g, table, most_nodes, stop, nodes)
        if answer == UNKNOWN:
            break
        if answer == YES:
            lower = alpha + 1
        else:
            upper = alpha
    return lower, upper


@kernel
def exceeds(
    own: int,
    mask: int,
    alpha: int,
    g: Geometry,
    table: np.ndarray,
    most_nodes: int,
    stop: np.ndarray,
    nodes: np.ndarray,
) -> int:
    """Tell whether the score of a position is greater than alpha: YES, NO, or UNKNOWN if the search had to end.

    The side to move must not be able to win at once. It exceeds alpha if the other side fails to exceed -alpha - 1 after
    one of its moves. The stack is our own; a frame's answer is `yes`, and `returning` says that it is being handed up.
    """
    columns, bits = g.columns, g.columns * g.height
    size = FIRST + 2 * columns
    stack = np.empty((columns * g.rows + 1) * size, np.int64)
    frame, yes, returning = 0, False, False
    stack[OWN], stack[MASK], stack[ALPHA] = own, mask, alpha
    while True:
        if not returning:
            # 1. Enter a node.
            if nodes[0] >= most_nodes or stop[0]:
                return UNKNOWN
            own, mask, alpha = stack[frame + OWN], stack[frame + MASK], stack[frame + ALPHA]
            own, mask, alpha, negated, moves, answer = play_forced(own, mask, alpha, g)
            mixed = 0
            if answer == UNKNOWN:
                nodes[0] += 1
                mixed = mix(own + mask + g.bottom, bits)
                answer = judge(probe(table, mixed), alpha)
            count = 0
            if answer == UNKNOWN:
                # 2. List its moves, best first.
                count, answer = list_moves(stack, frame + FIRST, own, mask, moves, alpha, g)
                if answer == UNKNOWN and columns * g.rows - popcount(mask) >= PROBE_CHILDREN:
                    count, answer = ask_children(stack, frame + FIRST, count, own, mask, alpha, g, table)
            if answer != UNKNOWN:
                yes = (answer == YES) != negated
                returning = True
                continue
            stack[frame + OWN], stack[frame + MASK], stack[frame + ALPHA] = own, mask, alpha
            stack[frame + NEXT], stack[frame + COUNT], stack[frame + NEGATED] = 0, count, negated
            stack[frame + MIXED], stack[frame + NODES] = mixed, nodes[0]
        else:
            # 3. A child, or the root, is answered.
            if frame == 0:
                return YES if yes else NO
            frame -= size
            own, mask, alpha = stack[frame + OWN], stack[frame + MASK], stack[frame + ALPHA]
            stack[frame + NEXT] += 1
            if not yes or stack[frame + NEXT] == stack[frame + COUNT]:
                yes = not yes  # the other side failed: we exceed alpha; or it never failed: we do not
                mixed = stack[frame + MIXED]
                lower, upper = probe(table, mixed)
                lower, upper = (max(lower, alpha + 1), upper) if yes else (lower, min(upper, alpha))
                store(table, mixed, lower, upper, nodes[0] - stack[frame + NODES])
                yes = yes != (stack[frame + NEGATED] != 0)
                continue
        # 4. Try the next move.
        move = stack[frame + FIRST + 2 * stack[frame + NEXT]]
        frame += size
        stack[frame + MASK] = mask | move
        stack[frame + OWN] = (own | move) ^ (mask | move)
        stack[frame + ALPHA] = -alpha - 1
        returning = False


@kernel
def judge(bounds: tuple[int, int], alpha: int) -> int:
    """Answer from bounds of the score, if they allow."""
    if bounds[0] > alpha:
        return YES
    return NO if bounds[1] <= alpha else UNKNOWN


@kernel
def play_forced(own: int, mask: int, alpha: int, g: Geometry) -> tuple[int, int, int, bool, int, int]:
    """Play on while only one move does not lose at once, or until the answer is plain.

    Returns the position and alpha then, whether the sides have been exchanged, the moves that do not lose at once, and the
    answer or UNKNOWN.
    """
    negated = False
    while True:
        left = g.columns * g.rows - popcount(mask)
        moves = non_losing(own, mask, g)
        if moves == 0:  # the other side wins with its next disc
            return own, mask, alpha, negated, moves, YES if -(left >> 1) > alpha else NO
        if left <= 2:  # two discs that do not win
            return own, mask, alpha, negated, moves, YES if alpha < 0 else NO
        if alpha >= (left - 1) >> 1:  # even a win with the next disc but one is not enough
            return own, mask, alpha, negated, moves, NO
        if alpha < -((left - 2) >> 1):  # even a loss as soon as possible is enough
            return own, mask, alpha, negated, moves, YES
        if moves & (moves - 1):
            return own, mask, alpha, negated, moves, UNKNOWN
        mask |= moves
        own = (own | moves) ^ mask
        alpha = -alpha - 1
        negated = not negated


@kernel
def non_losing(own: int, mask: int, g: Geometry) -> int:
    """The moves after which the other side cannot win at once; the side to move must not be able to win itself."""
    moves = landings(mask, g)
    threats = winning_cells(own ^ mask, mask, g)
    forced = moves & threats
    if forced:
        if forced & (forced - 1):
            return 0  # two cells to block, one disc to do it
        moves = forced
    return moves & ~(threats >> 1)  # nor must a disc open the cell above it to the other side


@kernel
def list_moves(stack: np.ndarray, at: int, own: int, mask: int, moves: int, alpha: int, g: Geometry) -> tuple[int, int]:
    """Write the moves, those that make most threats first and central ones first among equals; returns how many, and an answer.

    A move that makes two threats at once, or one above another, wins with our next disc: it is never searched.
    """
    left = g.columns * g.rows - popcount(mask)
    column_cells, count = (1 << g.rows) - 1, 0
    for i in range(g.columns):
        column = ((g.columns - 1) >> 1) + ((i + 1) >> 1 if i & 1 else -(i >> 1))  # from the centre outwards
        move = moves & (column_cells << column * g.height)
        if move == 0:
            continue
        after = mask | move
        threats = winning_cells(own | move, after, g)
        now = threats & landings(after, g)
        if now and (now & (now - 1) or threats & (now << 1)):
            if (left - 1) >> 1 > alpha:
                return count, YES
            continue  # a win, but too late for alpha
        looks = popcount(threats)
        place = count
        while place > 0 and stack[at + 2 * place - 1] < looks:
            stack[at + 2 * place] = stack[at + 2 * place - 2]
            stack[at + 2 * place + 1] = stack[at + 2 * place - 1]
            place -= 1
        stack[at + 2 * place], stack[at + 2 * place + 1] = move, looks
        count += 1
    return count, (UNKNOWN if count else NO)


@kernel
def ask_children(
    stack: np.ndarray, at: int, count: int, own: int, mask: int, alpha: int, g: Geometry, table: np.ndarray
) -> tuple[int, int]:
    """Ask the table about every child: one known to fail answers, those known to succeed are struck off the list."""
    kept = 0
    for i in range(count):
        move = stack[at + 2 * i]
        after = mask | move
        known = judge(probe(table, mix(((own | move) ^ after) + after + g.bottom, g.columns * g.height)), -alpha - 1)
        if known == NO:
            return count, YES
        if known == UNKNOWN:
            stack[at + 2 * kept] = move
            kept += 1
    return kept, (UNKNOWN if kept else NO)
