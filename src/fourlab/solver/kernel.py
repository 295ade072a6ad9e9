"""The alpha-beta search that proves the exact score of a position.

Scores are on Pascal Pons's scale, from the point of view of the side to move:

     0   draw
    +n   win with the n-th last of one's own discs: +1 with the very last, +2 with the one before
    -n   loss, when the opponent wins with the n-th last of its discs

With `left` empty cells, a win with the next disc scores (left + 1) // 2, the highest possible
score, and a loss to the opponent's next disc scores -(left // 2), the lowest. All bounds below
follow from these two.

The search only ever answers the null-window question "is the score greater than alpha?"
(`exceeds`). A driver (`solve`) asks it for one alpha after another and narrows the proven bounds
until they meet. Since one move that exceeds alpha is enough, a null window cuts off more than a
wide one, and the transposition table keeps what earlier questions have proven.

`docs/agents/perfect.md` explains every idea and what it gains.
"""

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount, prefetch
from fourlab.compiled.board import landings, mirror
from fourlab.compiled.threats import non_losing, winning_cells
from fourlab.game.geometry import Geometry
from fourlab.solver.strategies import NO, UNKNOWN, YES, answer_by_strategy
from fourlab.solver.table import (
    HIGHEST,
    LOWEST,
    bucket_of,
    mix,
    probe,
    store,
)

# The search keeps its own stack, an int64 array of frames. A frame describes one node:
#
#   ALPHA    the question asked about the node
#   NEXT     the place in the ranks of the child to search next
#   COUNT    the number of children to search
#   MIXED    the node's key in the transposition table
#   NODES    the nodes spent when the node was entered
#   RANKS    from here one word per column: the children to search, best first, as
#            (move score << 6) + (number of the child)
#
# After the ranks follow the children, CHILD words each, in the order in which they were generated.
# A child is the position after a move and all forced replies (`play_forced`). NEGATED_ says whether
# those replies changed the side to move, so that the child's answer must be negated.
ALPHA, NEXT, COUNT, MIXED, NODES, RANKS = range(6)
OWN_, MASK_, ALPHA_, NEGATED_, MOVES_, THREATS_, MIXED_, CHILD = range(8)

# Switches for the ideas, which `benchmarks/ablation.py` turns off one at a time to measure them.
# They are compile-time constants and cost nothing.
TABLE, EXTREMES_FIRST, FORCED_REPLIES, STRATEGIES, PREFETCH = (True,) * 5
CENTRE_FIRST, THREATS_FIRST, WEIGHED_THREATS = True, True, True
PROBE_CHILDREN = 12
"""With at least this many empty cells, all children are looked up in the table before one is
searched."""
SHARED = 20
"""With at least this many empty cells, threads avoid searching the same position at once."""
MIRRORED_PLIES = 12
"""Up to this many discs, a position and its mirror image share a table entry. Later a search hardly
ever reaches both."""

EASY = 500_000
"""Up to this many nodes a search is easy (`next_alpha`)."""
NOT_SHARED = np.zeros(0, np.int64)
"""What is passed for `busy` if a single thread searches."""
NODES_PER_CHECK = 1024
"""Nodes between two checks of the stop flag."""


@kernel
def solve(
    own: int,
    mask: int,
    lower: int,
    upper: int,
    window: tuple[int, int],
    g: Geometry,
    table: np.ndarray,  # int64[words], a power of two
    busy: np.ndarray,  # int64[words], a power of two, shared by threads; empty for a single one
    max_nodes: int,
    stop: np.ndarray,  # uint8[1]: another thread sets it to 1 to end the search
    nodes: np.ndarray,  # int64[1]: nodes spent, incremented
) -> tuple[int, int]:
    """Narrow `lower` <= score <= `upper` and return the new bounds.

    The search ends when the bounds meet inside `window`, `max_nodes` is spent, or `stop` is set.
    The window (-40, 40) asks for the exact score. The window (-1, 1) asks only for the winner: a
    score outside it is proven to be at least 1 or at most -1, no more.

    The position must not be over. Threads that solve it together share `table`, `busy` and `stop`.
    In `busy` they mark the positions that they are searching, and another one turns to those last.
    """
    # Example: after 35 discs on 7x6, left is 7. A win with the next disc, which is the fourth last
    # of one's own, scores (7 + 1) // 2 = 4. The worst score is -(7 // 2) = -3: the opponent wins
    # with its next disc, its third last.
    left = g.columns * g.rows - popcount(mask)
    if winning_cells(own, mask, g) & landings(mask, g):
        return (left + 1) >> 1, (left + 1) >> 1
    # Without a win at once, the best case is a win with the disc after next, two plies later.
    lower, upper = max(lower, -(left >> 1)), min(upper, (left - 1) >> 1)
    stack = np.empty((left + 1) * frame_size(g), np.int64)
    # Nodes after which the search is not easy.
    patience = nodes[0] + EASY
    while True:
        # The driver of memory-enhanced test algorithms (Plaat et al., 1996), of which MTD(f) is
        # one: null-window searches with a table, each of which narrows the window.
        low, high = max(lower, window[0]), min(upper, window[1])
        if low >= high:
            break
        is_easy = EXTREMES_FIRST and nodes[0] < patience
        alpha = next_alpha(low, high, is_easy)
        allowed = min(max_nodes, patience) if is_easy else max_nodes
        answer = exceeds(own, mask, alpha, g, table, busy, allowed, stop, nodes, stack)
        if answer == YES:
            lower = alpha + 1
        elif answer == NO:
            upper = alpha
        elif nodes[0] >= max_nodes or stop[0]:
            break
    return lower, upper


@kernel
def next_alpha(low: int, high: int, is_easy: bool) -> int:
    """Return the alpha to ask about next, low <= alpha < high.

    As long as the search is easy, it is the middle of the window, or half of `low` or `high` if
    that is further from 0, as in Pons's solver. Early wins and losses are common, and questions
    about them are answered quickly. In a hard search they only delay the question who wins.
    """
    # Example: the window (-18, 18) asks first about alpha = -9. YES excludes a loss of -9 and all
    # earlier ones.
    alpha = 0 if not is_easy and low < 0 < high else low + ((high - low) >> 1)
    if is_easy:
        if alpha <= 0 and -((-low) >> 1) < alpha:
            alpha = -((-low) >> 1)
        elif alpha >= 0 and high >> 1 > alpha:
            alpha = high >> 1
    return max(low, min(alpha, high - 1))


@inlined_kernel
def frame_size(g: Geometry) -> int:
    """Return the number of words in a stack frame."""
    return RANKS + (1 + CHILD) * g.columns


@inlined_kernel
def next_child(stack: np.ndarray, frame: int, g: Geometry) -> int:
    """Return where the description of the child to search next begins."""
    ranks = frame + RANKS
    # The low six bits of a rank are the child's number; no board has 64 columns.
    return ranks + g.columns + CHILD * (int(stack[ranks + stack[frame + NEXT]]) & 63)


@kernel
def exceeds(
    own: int,
    mask: int,
    alpha: int,
    g: Geometry,
    table: np.ndarray,
    busy: np.ndarray,
    max_nodes: int,
    stop: np.ndarray,
    nodes: np.ndarray,
    stack: np.ndarray,  # int64[(cells left + 1) * frame_size]
) -> int:
    """Return YES if the score is greater than alpha, NO if not, UNKNOWN if the search was cut off.

    The side to move must not be able to win at once. Its score exceeds alpha if and only if, after
    one of its moves, the opponent's score does not exceed -alpha - 1. `answer` is the answer for
    the current node, UNKNOWN as long as children are left to search.
    """
    # An explicit stack instead of recursion: one frame per level, at most one per empty cell.
    size, frame, spent = frame_size(g), 0, nodes[0]
    # The first node is checked, so a search without any nodes left returns at once.
    next_check = min(max_nodes, spent)
    threats = winning_cells(own ^ mask, mask, g)
    own, mask, alpha, root_negated, moves, threats, answer = play_forced(
        own, mask, alpha, threats, g
    )
    if answer != UNKNOWN:
        return negate(answer, root_negated)
    mixed = mixed_key(own, mask, g)
    while True:
        # 1. Enter a node that `play_forced` could not answer.
        if spent >= next_check:
            nodes[0] = spent
            if spent >= max_nodes or stop[0]:
                return UNKNOWN
            next_check = min(max_nodes, spent + NODES_PER_CHECK)
        spent += 1
        answer = answer_from(probe(table, mixed), alpha) if TABLE else UNKNOWN
        if answer == UNKNOWN:
            # 2. Generate its children, best first.
            count, answer = list_children(stack, frame, own, mask, alpha, moves, threats, g, table)
            if (
                answer == UNKNOWN
                and TABLE
                and g.columns * g.rows - popcount(mask) >= PROBE_CHILDREN
            ):
                # Enhanced transposition cut-offs (Plaat et al., 1996). Near the end of a game,
                # searching a child costs less than looking it up.
                count, answer = probe_children(stack, frame, count, g, table)
            stack[frame + ALPHA], stack[frame + NEXT], stack[frame + COUNT] = alpha, 0, count
            stack[frame + MIXED], stack[frame + NODES] = mixed, spent
        # 3. Back up answers, as far as each one settles its parent.
        while answer != UNKNOWN:
            if frame == 0:
                nodes[0] = spent
                return negate(answer, root_negated)
            frame -= size
            child = next_child(stack, frame, g)
            stack[frame + NEXT] += 1
            if len(busy) > 0:
                unmark(busy, stack[child + MIXED_])
            if negate(answer, stack[child + NEGATED_] != 0) == NO:
                answer = YES  # the opponent's score does not exceed -alpha - 1
            else:
                answer = NO if stack[frame + NEXT] == stack[frame + COUNT] else UNKNOWN
            if answer != UNKNOWN:
                # YES proves a lower bound, NO an upper bound.
                alpha = stack[frame + ALPHA]
                low, high = (alpha + 1, HIGHEST) if answer == YES else (LOWEST, alpha)
                if TABLE:
                    # Only nodes whose children were searched are stored: other answers are computed
                    # again in less time than it takes to look them up.
                    store(table, stack[frame + MIXED], low, high, spent - stack[frame + NODES] + 1)
        # 4. Descend to the next child.
        if len(busy) > 0 and stack[frame + NEXT] > 0:
            defer_busy(stack, frame, g, busy)
        child = next_child(stack, frame, g)
        if len(busy) > 0 and g.columns * g.rows - popcount(int(stack[child + MASK_])) >= SHARED:
            mark(busy, stack[child + MIXED_])
        own, mask, alpha = stack[child + OWN_], stack[child + MASK_], stack[child + ALPHA_]
        moves, threats, mixed = (
            stack[child + MOVES_],
            stack[child + THREATS_],
            stack[child + MIXED_],
        )
        frame += size


@inlined_kernel
def place_of(busy: np.ndarray, mixed: int) -> int:
    """Return the place of a position among those that threads are searching."""
    return mixed & (len(busy) - 1)


@inlined_kernel
def mark(busy: np.ndarray, mixed: int) -> None:
    """Say that this thread searches a position. A mark that it overwrites only costs time."""
    busy[place_of(busy, mixed)] = mixed


@inlined_kernel
def unmark(busy: np.ndarray, mixed: int) -> None:
    """Say that a position has been searched."""
    if busy[place_of(busy, mixed)] == mixed:
        busy[place_of(busy, mixed)] = 0


@inlined_kernel
def defer_busy(stack: np.ndarray, frame: int, g: Geometry, busy: np.ndarray) -> None:
    """Move children that another thread is searching behind the other children of the frame.

    When their turn comes, that thread has often finished them, and their answer is in the table.
    """
    first = frame + RANKS + int(stack[frame + NEXT])
    last = frame + RANKS + int(stack[frame + COUNT]) - 1
    for _ in range(last - first):
        mixed = stack[next_child(stack, frame, g) + MIXED_]
        if busy[place_of(busy, mixed)] != mixed:
            break
        rank = stack[first]
        for place in range(first, last):
            stack[place] = stack[place + 1]
        stack[last] = rank


@inlined_kernel
def answer_from(bounds: tuple[int, int], alpha: int) -> int:
    """Return the answer that bounds of the score imply, or UNKNOWN."""
    # Bounds are of the score of the position, alpha of its side to move; equality is not enough.
    if bounds[0] > alpha:
        return YES
    return NO if bounds[1] <= alpha else UNKNOWN


@inlined_kernel
def negate(answer: int, negated: bool) -> int:
    """Return the answer to the opponent's question -alpha - 1, which is the opposite one."""
    return 1 - answer if negated else answer


@inlined_kernel
def mixed_key(own: int, mask: int, g: Geometry) -> int:
    """Return the key of a position in the transposition table."""
    key = own + mask  # unique, as `bitboard.key` without its constant
    if popcount(mask) <= MIRRORED_PLIES:
        key = min(key, mirror(key, g))
    return mix(key, g.columns * g.height)


@inlined_kernel
def play_forced(
    own: int, mask: int, alpha: int, threats: int, g: Geometry
) -> tuple[int, int, int, bool, int, int, int]:
    """Play forced replies: as long as a single move does not lose at once, play it.

    `threats` are the cells that complete a line of the opponent. Returns the position reached,
    alpha for its side to move, whether that is the other side than at first, its moves that do not
    lose at once, the opponent's threats, and the answer for the position reached, UNKNOWN if it
    must be searched.
    """
    negated = False
    while True:
        left = g.columns * g.rows - popcount(mask)
        # Invariant: the side to move cannot win at once. It holds at the start, and after a move
        # that does not lose at once it holds for the opponent.
        moves = non_losing(mask, threats, g)
        if moves == 0:  # the opponent wins with its next disc
            return own, mask, alpha, negated, moves, threats, YES if -(left >> 1) > alpha else NO
        if left <= 2:  # neither of the last two discs wins: a draw
            return own, mask, alpha, negated, moves, threats, YES if alpha < 0 else NO
        if alpha >= (left - 1) >> 1:  # even a win with the disc after next is not enough
            return own, mask, alpha, negated, moves, threats, NO
        if alpha < -((left - 2) >> 1):  # even the earliest possible loss is enough
            return own, mask, alpha, negated, moves, threats, YES
        if moves & (moves - 1) or not FORCED_REPLIES:
            answer = UNKNOWN
            if STRATEGIES:
                answer = answer_by_strategy(own, mask, alpha, left, threats, g)
            return own, mask, alpha, negated, moves, threats, answer
        # Drop the only move and change sides: the score exceeds alpha if and only if the other
        # side's does not exceed -alpha - 1.
        mask |= moves
        own = (own | moves) ^ mask
        alpha = -alpha - 1
        negated = not negated
        threats = winning_cells(own ^ mask, mask, g)


@inlined_kernel
def list_children(
    stack: np.ndarray,
    frame: int,
    own: int,
    mask: int,
    alpha: int,
    moves: int,
    opponent_threats: int,
    g: Geometry,
    table: np.ndarray,
) -> tuple[int, int]:
    """Write the children into the frame, ranked by `move_score`, then from the centre outwards.

    Returns the number of children to search and the answer for the node, UNKNOWN if there are any.
    A child that `play_forced` answers is not written: it is either the move that settles the node
    (a double threat, for example) or not worth searching.
    """
    left = g.columns * g.rows - popcount(mask)
    column_cells, ranks, count = (1 << g.rows) - 1, frame + RANKS, 0
    for i in range(g.columns):
        # From the centre outwards: 3, 4, 2, 5, 1, 6, 0 on seven columns.
        column = (
            ((g.columns - 1) >> 1) + ((i + 1) >> 1 if i & 1 else -(i >> 1)) if CENTRE_FIRST else i
        )
        move = moves & (column_cells << column * g.height)
        if move == 0:
            continue
        after = mask | move
        threats = winning_cells(own | move, after, g)
        immediate = threats & landings(after, g)
        child = frame + RANKS + g.columns + CHILD * count
        child_own, child_mask, child_alpha, negated, child_moves, child_threats, answer = (
            play_forced((own | move) ^ after, after, -alpha - 1, threats, g)
        )
        if answer != UNKNOWN:
            if negate(answer, negated) == NO:
                return count, YES
            continue
        mixed = mixed_key(child_own, child_mask, g)
        if PREFETCH:
            prefetch(table, bucket_of(table, mixed))
        stack[child + OWN_], stack[child + MASK_], stack[child + ALPHA_] = (
            child_own,
            child_mask,
            child_alpha,
        )
        stack[child + NEGATED_], stack[child + MOVES_] = negated, child_moves
        stack[child + THREATS_], stack[child + MIXED_] = child_threats, mixed
        score = move_score(threats, immediate, opponent_threats, left, g)
        rank = (score << 6) + count
        # Insertion sort, descending. Equal scores keep their order: central columns first.
        place = ranks + count
        while place > ranks and stack[place - 1] >> 6 < rank >> 6:
            stack[place] = stack[place - 1]
            place -= 1
        stack[place] = rank
        count += 1
    return count, (UNKNOWN if count else NO)


@inlined_kernel
def move_score(threats: int, immediate: int, opponent_threats: int, left: int, g: Geometry) -> int:
    """Estimate a move by the threats that its side has after it; higher is better.

    A threat directly above one of the opponent's is worthless: blocking the lower one lets the
    opponent block the upper one. A threat in a row that zugzwang favours (odd rows for red, even
    rows for yellow) counts more. One of the `immediate` threats, which the opponent can block with
    its next disc, counts less.
    """
    if not THREATS_FIRST:
        return 0
    if not WEIGHED_THREATS:
        return popcount(threats)
    lasting = threats & ~(opponent_threats << 1)
    favoured = lasting & (~g.odd_rows if left & 1 else g.odd_rows)
    return 4 * popcount(lasting) + 2 * popcount(favoured) - popcount(immediate)


@inlined_kernel
def probe_children(
    stack: np.ndarray, frame: int, count: int, g: Geometry, table: np.ndarray
) -> tuple[int, int]:
    """Look up every child in the table.

    Returns the number of children still to search and the answer for the node: YES as soon as the
    table shows a child in which the opponent fails. Children in which the opponent succeeds are
    removed from the ranks.
    """
    # Compacts the ranks in place; they stay in order.
    ranks, kept = frame + RANKS, frame + RANKS
    for place in range(ranks, ranks + count):
        child = ranks + g.columns + CHILD * (stack[place] & 63)
        child_answer = answer_from(probe(table, stack[child + MIXED_]), stack[child + ALPHA_])
        if child_answer == UNKNOWN:
            stack[kept] = stack[place]
            kept += 1
        elif negate(child_answer, stack[child + NEGATED_] != 0) == NO:
            return count, YES
    return kept - ranks, (UNKNOWN if kept > ranks else NO)
