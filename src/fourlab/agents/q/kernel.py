"""Tabular Q-learning: a compiled loop over whole games, and its steps for games played from Python.

A value belongs to the position after a disc, from the point of view of the side that played it (an
*afterstate*), or to a position and a column. Either way `look_up` returns a value for every open
column, and the other kernels do not care where it came from:

    choose       a random column with probability epsilon, else one of the greatest value
    update       value += alpha * (target - value)

`last` holds for every seat where the value of its last disc is stored, -1 before its first disc;
the seats of game k are 2k (red) and 2k + 1 (yellow). With `learn_start` it begins with the value
of the empty board. A value is updated when its consequences are
visible. PLAYED and BEST (SARSA and Q-learning) update at the same side's next disc, from the value
of the column played then or of the best one. NEGAMAX updates at the other side's next disc, from
minus the value of its best column.

Arrays that most kernels share:

    words, numbers    the table (`table_kernel.py`)
    pace              float64[4]: current alpha and epsilon, sum and maximum of absolute changes
    counts            int64[5]: games, wins, draws, losses, updates; results are the learner's,
                      in self-play red's
"""

import numpy as np

from fourlab.agents.mcts import kernel as mcts
from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.nodes import edge_of, visits_of
from fourlab.agents.q.rule import Learner, Opponent, Rule
from fourlab.agents.q.table_kernel import (
    LANES,
    Layout,
    copy_slots,
    fill,
    find,
    home,
    insert,
    is_full,
    layout_of,
)
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import prefetch
from fourlab.compiled.board import key, landing, mirror
from fourlab.compiled.random import advance, below
from fourlab.game import bitboard as rules
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.table import new_table

# SARSA is from Rummery & Niranjan (1994), Q-learning from Watkins (1989). Afterstates are explained
# in Sutton & Barto's book; for them a value needs no column.
PLAYED, BEST, NEGAMAX = 0, 1, 2
ALPHA, EPSILON, CHANGE, LARGEST = 0, 1, 2, 3
GAMES, WINS, DRAWS, LOSSES, UPDATES = 0, 1, 2, 3, 4
FULL = -np.inf
"""The value of a full column."""

# Numba maintains atomic reference counts of arrays. It omits them only where no callee can raise
# and the last use of every array is outside of branches. The kernels below are written that way;
# otherwise reference counting takes two thirds of the time.
has_line = inlined_kernel(rules.has_line)


@inlined_kernel
def keys_of(own: int, mask: int, t: Layout, g: Geometry) -> tuple[int, int]:
    """Return the keys of a position and its mirror image; the key twice if images are distinct."""
    base = key(own, mask, g)
    return base, mirror(base, g) if t.mirrored else base


@inlined_kernel
def entry_of(
    keys: tuple[int, int], mask: int, column: int, t: Layout, g: Geometry
) -> tuple[int, int]:
    """Return the key under which a column's value is stored, and the index of its number there.

    An afterstate's key is key(own | cell, mask | cell): own and mask both gain the cell, and a key
    is their sum plus a constant, so the key grows by 2 * cell.
    """
    base, mirrored = keys
    if t.values == 1:
        cell = landing(mask, column, g)
        image = (
            (cell >> column * g.height) << (g.columns - 1 - column) * g.height
            if t.mirrored
            else cell
        )
        return min(base + 2 * cell, mirrored + 2 * image), 0
    # A position and its mirror image share the smaller key. If that is the image's, columns are
    # counted from the other side.
    return min(base, mirrored), g.columns - 1 - column if mirrored < base else column


@inlined_kernel
def prefetch_values(
    keys: tuple[int, int], mask: int, g: Geometry, words: np.ndarray, t: Layout
) -> None:
    """Prefetch the cache lines of all columns' values, which will be needed soon."""
    for column in range(g.columns):
        # The address of a full column is that of some other entry; prefetching it does no harm.
        prefetch(words, home(entry_of(keys, mask, column, t, g)[0], t))


@inlined_kernel
def look_up(
    keys: tuple[int, int],
    mask: int,
    g: Geometry,
    words: np.ndarray,
    numbers: np.ndarray,
    t: Layout,
    q: np.ndarray,
) -> int:
    """Write the value of every column into `q`; return how many of them are in the table."""
    stored = 0
    for column in range(g.columns):
        q[column] = FULL
        if landing(mask, column, g):
            q[column] = t.initial
            name, number = entry_of(keys, mask, column, t, g)
            place = find(name, words, t)
            if words[np.uint64(place)] != 0:
                # words are 8 bytes and numbers 4: word `place` is number 2 * place, and the values
                # begin one word later. Unsigned indices spare the test for negative ones.
                q[column] = numbers[np.uint64(2 * place + 2 + number)]
                stored += 1
    return stored


@inlined_kernel
def greatest(q: np.ndarray) -> float:
    """Return the value of the best column."""
    best = FULL
    for column in range(len(q)):
        best = max(best, q[column])
    return best


@inlined_kernel
def random_column(mask: int, g: Geometry, state: int) -> tuple[int, int]:
    """Return an open column chosen uniformly, and the new random state."""
    # Rejection keeps all open columns equally likely.
    while True:
        state = advance(state)
        column = below(g.columns, state)
        if landing(mask, column, g):
            return column, state


@inlined_kernel
def best_column(q: np.ndarray, random_ties: bool, state: int) -> tuple[int, int]:
    """Return the first column of the greatest value, or a random one of them; and the new state."""
    best = FULL
    chosen = -1
    equals = 0
    for column in range(len(q)):
        if q[column] > best:
            best = q[column]
            chosen = column
            equals = 1
        elif random_ties and q[column] == best and best > FULL:
            # Reservoir sampling: the k-th of the equals replaces the choice with probability 1/k.
            equals += 1
            state = advance(state)
            if below(equals, state) == 0:
                chosen = column
    return chosen, state


@inlined_kernel
def update(
    number: int,
    target: float,
    numbers: np.ndarray,
    t: Layout,
    rule: Rule,
    pace: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Move a value towards its target and apply the schedules per update; -1 is no value."""
    if number >= 0:
        # Robbins-Monro: with alpha 1 and steps of 1/n, a value is the mean of its targets.
        step = pace[ALPHA]
        if rule.alpha_by_visits:
            count = np.uint64(number + t.values)
            numbers[count] += np.float32(1)
            step = max(step / np.float64(numbers[count]), rule.alpha_least)
        # Values are stored as float32 and updated in float64; `change` is that of the stored
        # number.
        before = np.float64(numbers[np.uint64(number)])
        numbers[np.uint64(number)] = before + step * (target - before)
        change = abs(np.float64(numbers[np.uint64(number)]) - before)
        pace[CHANGE] += change
        pace[LARGEST] = max(pace[LARGEST], change)
        counts[UPDATES] += 1
        pace[ALPHA] *= rule.alpha_update
        # Bhat's epsilon grows with every update.
        pace[EPSILON] = min(pace[EPSILON] + rule.epsilon_update, 1.0)


@inlined_kernel
def update_ending(
    number: int,
    reward: float,
    numbers: np.ndarray,
    t: Layout,
    rule: Rule,
    pace: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Update the value of a side's last disc from the result of the game."""
    # Endings are certain, so nothing needs to be averaged; such a write does not count as an
    # update.
    if rule.set_endings:
        numbers[np.uint64(number)] = reward
    else:
        update(number, reward, numbers, t, rule, pace, counts)


@inlined_kernel
def choose(
    keys: tuple[int, int],
    mask: int,
    g: Geometry,
    words: np.ndarray,
    numbers: np.ndarray,
    t: Layout,
    rule: Rule,
    epsilon: float,
    q: np.ndarray,  # float64[columns]: overwritten with the values of all columns
    state: int,
) -> tuple[int, int]:
    """Return a random column with probability epsilon, else one of the greatest value."""
    state = advance(state)
    # 31 random bits compared with epsilon. The values are looked up in any case: they are the input
    # of `learn_from_move`.
    exploring = below(1 << 31, state) < epsilon * (1 << 31)
    look_up(keys, mask, g, words, numbers, t, q)
    # Written without a branch around the stores; see the comment on reference counts above.
    storing = rule.store_seen and rule.learning and not exploring
    for seen in range(g.columns if storing else 0):
        if landing(mask, seen, g):
            insert(entry_of(keys, mask, seen, t, g)[0], words, numbers, t)
    column, after = best_column(q, rule.random_ties, state)
    if exploring:
        column, after = random_column(mask, g, state)
    return column, after


@inlined_kernel
def start_value(words: np.ndarray, numbers: np.ndarray, t: Layout, rule: Rule, g: Geometry) -> int:
    """Return the index of the empty board's value, or -1 if it has none.

    Bhat's program treats the empty board as the learner's afterstate before its first disc.
    """
    number = -1
    if rule.learn_start and rule.learning:
        base, mirrored = keys_of(0, 0, t, g)
        number = 2 * insert(min(base, mirrored), words, numbers, t) + 2
    return number


@inlined_kernel
def learn_from_move(
    keys: tuple[int, int],
    mask: int,
    column: int,
    won: bool,  # whether this column wins
    seat: int,
    g: Geometry,
    words: np.ndarray,
    numbers: np.ndarray,
    t: Layout,
    rule: Rule,
    learner: Learner,
) -> None:
    """Update values with the learner's chosen column; `learner.q` must be as `choose` left it."""
    last, q, pace, counts = learner.last, learner.q, learner.pace, learner.counts
    # The chosen value must be in the table before an earlier disc learns from it.
    name, index = entry_of(keys, mask, column, t, g)
    number = 2 * insert(name, words, numbers, t) + 2 + index
    # 1. A disc that ends the game is updated with its reward.
    if won or mask | landing(mask, column, g) == g.cells:
        update_ending(number, rule.win if won else rule.draw, numbers, t, rule, pace, counts)
    # 2. An earlier disc is updated with the value that it led to.
    value = np.float64(numbers[np.uint64(number)])
    q[column] = value
    best = greatest(q)
    # Signs: `best` and `value` are for the side that moves now. NEGAMAX updates the other side's
    # last disc, for which they count with the opposite sign.
    after = -best if rule.target == NEGAMAX else best if rule.target == BEST else value
    earlier = last[seat ^ 1] if rule.target == NEGAMAX else last[seat]
    update(earlier, rule.step + rule.gamma * after, numbers, t, rule, pace, counts)
    last[seat] = number


@inlined_kernel
def learn_from_end(
    seat: int,
    won: bool,
    last: np.ndarray,
    numbers: np.ndarray,
    t: Layout,
    rule: Rule,
    pace: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Update this side's last disc after the other side's disc has won or drawn the game."""
    # With NEGAMAX `learn_from_move` has done that already.
    if rule.learning and rule.target != NEGAMAX and last[seat] >= 0:
        update_ending(last[seat], rule.loss if won else rule.draw, numbers, t, rule, pace, counts)


@inlined_kernel
def close_game(result: int, rule: Rule, pace: np.ndarray, counts: np.ndarray) -> None:
    """Count a game, with its result for the learner, and apply the schedules per game."""
    counts[GAMES] += 1
    # result is +1, 0 or -1, and WINS, DRAWS, LOSSES are 1, 2, 3.
    counts[DRAWS - result] += 1
    if rule.learning:
        pace[ALPHA] = max(pace[ALPHA] * rule.alpha_decay, rule.alpha_least)
        pace[EPSILON] = max(
            pace[EPSILON] * rule.epsilon_decay - rule.epsilon_fall, rule.epsilon_least
        )


@kernel
def search_move(
    own: int,
    mask: int,
    g: Geometry,
    switches: verbs.Switches,
    simulations: int,
    words: np.ndarray,  # int32[(simulations + 3) * PARTS * columns]: memory for the tree's nodes
    state: int,
) -> tuple[int, int]:
    """Return the opponent's column: the first of the most visited, or with 0 simulations random."""
    if simulations == 0:
        return random_column(mask, g, state)
    tree = verbs.tree_in(words, g)
    verbs.new_block(tree.nodes, 1, mask, g)
    never = np.zeros(1, np.uint8)
    _, _, state = mcts.search(tree, 1, own, mask, g, switches, simulations, state, never, None)
    # The first of equals, as Bhat's code chooses.
    best, most = -1, -1
    for column in range(g.columns):
        visits = visits_of(tree.nodes, edge_of(tree.nodes, 1, column))
        if visits > most:
            best = column
            most = visits
    return best, state


@kernel
def play_games(
    g: Geometry,
    words: np.ndarray,
    numbers: np.ndarray,
    t: Layout,
    rule: Rule,
    opponent: Opponent,
    simulations: np.ndarray,  # int64[n]: the opponent's, one of them sampled for every game
    games: int,
    wins: int,
    pace: np.ndarray,
    counts: np.ndarray,
    state: int,
) -> tuple[int, int]:
    """Play `games` games, fewer if the learner's wins reach `wins` or the table is too full.

    In self-play several games run at a time, a disc of each in turn, to hide memory latency: the
    prefetched values of one arrive while the others are played.
    Returns the number of games played and the random state.
    """
    # With an opponent the games run one after another: a search takes longer than a cache miss.
    lanes = LANES if opponent.seats == 3 else 1
    owns = np.zeros(lanes, np.int64)
    masks = np.zeros(lanes, np.int64)
    sides = np.full(lanes, -1)  # the side to move, -1 without a game
    keys = np.zeros((lanes, 2), np.int64)
    seats = np.zeros(lanes, np.int64)
    searches = np.zeros(lanes, np.int64)
    last = np.full(2 * lanes, -1)
    q = np.empty(g.columns)
    # Memory for the largest of the opponent's trees.
    tree = np.empty((simulations.max() + 3) * verbs.PARTS * g.columns, np.int32)
    learner = Learner(last, q, pace, counts)
    begun = 0
    busy = True
    while busy:
        busy = False
        for lane in range(lanes):
            # 1. Begin a game in an empty lane.
            if sides[lane] < 0:
                if (
                    begun == games
                    or counts[WINS] >= wins
                    or (rule.learning and is_full(words, t, g))
                ):
                    continue
                owns[lane], masks[lane], sides[lane] = 0, 0, 0
                keys[lane, 0], keys[lane, 1] = keys_of(0, 0, t, g)
                # Bit 0 is red and bit 1 yellow; games alternate if `seats` is 0.
                seats[lane] = opponent.seats if opponent.seats else 1 + (counts[GAMES] & 1)
                first = start_value(words, numbers, t, rule, g)
                last[2 * lane] = first if seats[lane] & 1 else -1
                last[2 * lane + 1] = first if seats[lane] & 2 else -1
                state = advance(state)
                searches[lane] = simulations[below(len(simulations), state)]
                begun += 1
            busy = True
            own, mask, side = int(owns[lane]), int(masks[lane]), int(sides[lane])
            here = int(keys[lane, 0]), int(keys[lane, 1])
            # 2. Choose a column.
            ours = (seats[lane] >> side) & 1 == 1
            if ours:
                column, state = choose(
                    here, mask, g, words, numbers, t, rule, pace[EPSILON], q, state
                )
            elif searches[lane] == 0 and opponent.passing:
                owns[lane], sides[lane] = own ^ mask, 1 - side
                keys[lane, 0], keys[lane, 1] = keys_of(own ^ mask, mask, t, g)
                continue
            else:
                column, state = search_move(
                    own, mask, g, opponent.switches, int(searches[lane]), tree, state
                )
            # 3. Play it and learn from it.
            cell = landing(mask, column, g)
            won = has_line(own | cell, g.height, g.in_a_row)
            over = won or mask | cell == g.cells
            if not over:
                # Requested now, needed when this lane's turn comes again: the other lanes hide the
                # latency.
                there = keys_of(own ^ mask, mask | cell, t, g)
                prefetch_values(there, mask | cell, g, words, t)
                keys[lane, 0], keys[lane, 1] = there
            if ours and rule.learning:
                learn_from_move(
                    here, mask, column, won, 2 * lane + side, g, words, numbers, t, rule, learner
                )
            owns[lane], masks[lane], sides[lane] = own ^ mask, mask | cell, 1 - side
            # 4. At the end of the game, let the other side learn too.
            if over:
                learn_from_end(2 * lane + 1 - side, won, last, numbers, t, rule, pace, counts)
                # In self-play results are red's, else the learner's.
                wins_it = side == 0 if seats[lane] == 3 else ours
                close_game((1 if wins_it else -1) if won else 0, rule, pace, counts)
                sides[lane] = -1
    return begun, state


def warm_up() -> None:
    """Compile or load the kernels: learn from a game, run every step, and enlarge the table."""
    board = geometry_of(7, 6, 4)
    t = layout_of(256, 1, False, False, 0.0)
    words = new_table(256 * t.width + 1)
    larger = new_table(512 * t.width + 1)
    # The flags, three rewards, step, gamma, then the schedules of alpha and epsilon, switched off.
    flags = (True, 0, True, True, False, False)
    rule = Rule(*flags, 1.0, 0.0, -1.0, 0.0, 1.0, 1.0, 1.0, 0.0, False, 0.0, 1.0, 0.0, 0.0)
    q = np.zeros(7)
    last = np.full(2, -1)
    memory = (words, words.view(np.float32), t)
    progress = (np.zeros(4), np.zeros(5, np.int64))
    opponent = Opponent(3, False, verbs.Switches())
    fill(np.zeros(0, np.int64), np.zeros((0, 1), np.float32), *memory)
    play_games(board, *memory, rule, opponent, np.zeros(1, np.int64), 1, 1, *progress, 1)
    start_value(*memory, rule, board)
    keys = keys_of(0, 0, t, board)
    column, _ = choose(keys, 0, board, *memory, rule, 0.0, q, 1)
    learn_from_move(keys, 0, column, False, 0, board, *memory, rule, Learner(last, q, *progress))
    learn_from_end(0, True, last, *memory[1:], rule, *progress)
    close_game(-1, rule, *progress)
    look_up(keys, 0, board, *memory, q)
    copy_slots(words, larger, layout_of(512, 1, False, False, 0.0))
