"""Q-learning in a table: whole games of it in one compiled loop, and its single steps for games played from Python.

A value belongs to the position after a disc, as the side that played it sees it (an *afterstate*), or to a position and a
column. Either way `judge` gives a value for each open column, and the rest does not care where it came from:

    choose       with chance epsilon any column, else one of the greatest value
    learn        value += alpha * (target - value)

`last` remembers for each seat where the value of its last disc is kept, -1 before its first; the seats of game k are 2k (red)
and 2k + 1. A value is learned when its consequences are seen: PLAYED and BEST at the same side's next disc, from the value of the
column that is played then or of the best one; NEGAMAX at the other side's next disc, from minus the value of its best one.

Arrays that most steps share:

    words, numbers    the table
    pace              float64[4]: alpha and epsilon as they are now; of the changes of values, the sum and the largest
    counts            int64[5]: games, the learner's wins, draws and losses (in self-play red's), updates
"""

from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts import kernel as mcts
from fourlab.agents.mcts import verbs
from fourlab.agents.q.table_kernel import LANES, Layout, copy_slots, enter, fill, find, home, is_full, layout_of
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import prefetch
from fourlab.compiled.board import key, landing, mirror
from fourlab.compiled.random import advance, below
from fourlab.game import bitboard as rules
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.table import new_table

PLAYED, BEST, NEGAMAX = 0, 1, 2
ALPHA, EPSILON, CHANGE, LARGEST = 0, 1, 2, 3
GAMES, WINS, DRAWS, LOSSES, UPDATES = 0, 1, 2, 3, 4
CLOSED = -np.inf

has_line = inlined_kernel(rules.has_line)
"""Numba counts, atomically, who holds an array. It leaves that out only where nothing called could fail and every array is used
last outside of branches. The steps below are written so; otherwise counting takes two thirds of the time."""


class Rule(NamedTuple):
    """How to learn; `fourlab.agents.q.settings` explains it."""

    learning: bool
    target: int
    set_endings: bool
    random_ties: bool
    win: float
    draw: float
    loss: float
    step: float
    gamma: float
    alpha_update: float
    alpha_decay: float
    alpha_least: float
    alpha_by_visits: bool
    epsilon_update: float
    epsilon_decay: float
    epsilon_fall: float
    epsilon_least: float


class Learner(NamedTuple):
    """What changes while games are learned from."""

    last: np.ndarray  # int64[2 * lanes]: where each seat's last value is in the table, -1 before its first disc
    worth: np.ndarray  # float64[columns]: the values of all columns, as `choose` left them
    pace: np.ndarray  # float64[4]: alpha, epsilon and so on
    counts: np.ndarray  # int64[5]: games, results, updates


class Trainer(NamedTuple):
    """Whom the learner plays in the compiled loop: a tree search, or without simulations a random player."""

    seats: int
    """Which seats the learner takes: 1 red, 2 yellow, 3 both (self-play), 0 red and yellow in turn."""
    passing: bool
    """Document 001: without simulations the trainer does not move at all."""
    switches: verbs.Switches
    """How the trainer searches."""


@inlined_kernel
def keys_of(own: int, mask: int, t: Layout, g: Geometry) -> tuple[int, int]:
    """The key of a position and that of its mirror image, or the key twice if images are kept apart."""
    base = key(own, mask, g)
    return base, mirror(base, g) if t.mirrored else base


@inlined_kernel
def name_of(keys: tuple[int, int], mask: int, column: int, t: Layout, g: Geometry) -> tuple[int, int]:
    """The key under which a column's value is kept, and which of that key's numbers it is.

    The key after a disc is key(own | cell, mask | cell): a disc of one's own adds its cell to both.
    """
    base, turned = keys
    if t.values == 1:
        cell = landing(mask, column, g)
        image = (cell >> column * g.height) << (g.columns - 1 - column) * g.height if t.mirrored else cell
        return min(base + 2 * cell, turned + 2 * image), 0
    return min(base, turned), g.columns - 1 - column if turned < base else column


@inlined_kernel
def ask_ahead(keys: tuple[int, int], mask: int, g: Geometry, words: np.ndarray, t: Layout) -> None:
    """Ask the memory for the values of all columns, which will be needed soon."""
    for column in range(g.columns):
        prefetch(words, home(name_of(keys, mask, column, t, g)[0], t))


@inlined_kernel
def judge(
    keys: tuple[int, int], mask: int, g: Geometry, words: np.ndarray, numbers: np.ndarray, t: Layout, worth: np.ndarray
) -> int:
    """Look up the value of every column; returns how many of them are known."""
    known = 0
    for column in range(g.columns):
        worth[column] = CLOSED
        if landing(mask, column, g):
            worth[column] = t.initial
            name, number = name_of(keys, mask, column, t, g)
            place = find(name, words, t)
            if words[np.uint64(place)] != 0:
                worth[column] = numbers[np.uint64(2 * place + 2 + number)]
                known += 1
    return known


@inlined_kernel
def greatest(worth: np.ndarray) -> float:
    """The value of the best column."""
    best = CLOSED
    for column in range(len(worth)):
        best = max(best, worth[column])
    return best


@inlined_kernel
def any_column(mask: int, g: Geometry, state: int) -> tuple[int, int]:
    """Draw an open column."""
    while True:
        state = advance(state)
        column = below(g.columns, state)
        if landing(mask, column, g):
            return column, state


@inlined_kernel
def best_column(worth: np.ndarray, random_ties: bool, state: int) -> tuple[int, int]:
    """The first column of the greatest value, or any of them."""
    best, chosen, equals = CLOSED, -1, 0
    for column in range(len(worth)):
        if worth[column] > best:
            best, chosen, equals = worth[column], column, 1
        elif random_ties and worth[column] == best and best > CLOSED:
            equals += 1
            state = advance(state)
            if below(equals, state) == 0:  # each of k equals is kept with chance 1/k
                chosen = column
    return chosen, state


@inlined_kernel
def learn(number: int, target: float, numbers: np.ndarray, t: Layout, rule: Rule, pace: np.ndarray, counts: np.ndarray) -> None:
    """Move a value towards the target, and alpha and epsilon along their schedules; -1 is no value."""
    if number >= 0:
        step = pace[ALPHA]
        if rule.alpha_by_visits:
            count = np.uint64(number + t.values)
            numbers[count] += np.float32(1)
            step = max(step / np.float64(numbers[count]), rule.alpha_least)
        before = np.float64(numbers[np.uint64(number)])
        numbers[np.uint64(number)] = before + step * (target - before)
        change = abs(np.float64(numbers[np.uint64(number)]) - before)
        pace[CHANGE] += change
        pace[LARGEST] = max(pace[LARGEST], change)
        counts[UPDATES] += 1
        pace[ALPHA] *= rule.alpha_update
        pace[EPSILON] = min(pace[EPSILON] + rule.epsilon_update, 1.0)


@inlined_kernel
def end(number: int, reward: float, numbers: np.ndarray, t: Layout, rule: Rule, pace: np.ndarray, counts: np.ndarray) -> None:
    """Learn the value of a side's last disc from the end of the game."""
    if rule.set_endings:
        numbers[np.uint64(number)] = reward
    else:
        learn(number, reward, numbers, t, rule, pace, counts)


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
    worth: np.ndarray,  # float64[columns]: the values of all columns
    state: int,
) -> tuple[int, int]:
    """Choose a column for the learner: with chance epsilon any, else one of the greatest value."""
    state = advance(state)
    by_lot = below(1 << 31, state) < epsilon * (1 << 31)
    judge(keys, mask, g, words, numbers, t, worth)
    column, after = best_column(worth, rule.random_ties, state)
    if by_lot:
        column, after = any_column(mask, g, state)
    return column, after


@inlined_kernel
def look_back(
    keys: tuple[int, int],
    mask: int,
    column: int,
    won: bool,  # by this column
    seat: int,
    g: Geometry,
    words: np.ndarray,
    numbers: np.ndarray,
    t: Layout,
    rule: Rule,
    learner: Learner,
) -> None:
    """Learn what the chosen column tells of earlier ones."""
    last, worth, pace, counts = learner.last, learner.worth, learner.pace, learner.counts
    name, which = name_of(keys, mask, column, t, g)
    number = 2 * enter(name, words, numbers, t) + 2 + which
    # 1. A disc that ends the game is worth its reward.
    if won or mask | landing(mask, column, g) == g.cells:
        end(number, rule.win if won else rule.draw, numbers, t, rule, pace, counts)
    # 2. An earlier disc is worth what it leads to.
    value = np.float64(numbers[np.uint64(number)])
    worth[column] = value
    best = greatest(worth)
    after = -best if rule.target == NEGAMAX else best if rule.target == BEST else value
    earlier = last[seat ^ 1] if rule.target == NEGAMAX else last[seat]
    learn(earlier, rule.step + rule.gamma * after, numbers, t, rule, pace, counts)
    last[seat] = number


@inlined_kernel
def see_end(
    seat: int, won: bool, last: np.ndarray, numbers: np.ndarray, t: Layout, rule: Rule, pace: np.ndarray, counts: np.ndarray
) -> None:
    """The other side's disc has won or drawn: learn it for this side. By NEGAMAX it has been learned at that disc."""
    if rule.learning and rule.target != NEGAMAX and last[seat] >= 0:
        end(last[seat], rule.loss if won else rule.draw, numbers, t, rule, pace, counts)


@inlined_kernel
def close_game(result: int, rule: Rule, pace: np.ndarray, counts: np.ndarray) -> None:
    """Count a game and move along the schedules."""
    counts[GAMES] += 1
    counts[DRAWS - result] += 1
    if rule.learning:
        pace[ALPHA] = max(pace[ALPHA] * rule.alpha_decay, rule.alpha_least)
        pace[EPSILON] = max(pace[EPSILON] * rule.epsilon_decay - rule.epsilon_fall, rule.epsilon_least)


@kernel
def search_move(
    own: int,
    mask: int,
    g: Geometry,
    switches: verbs.Switches,
    simulations: int,
    words: np.ndarray,  # int32[(simulations + 3) * 3 * columns]: room for the nodes of a tree
    state: int,
) -> tuple[int, int]:
    """The trainer's column: the first of those most visited, or any column if there are no simulations."""
    if simulations == 0:
        return any_column(mask, g, state)
    verbs.new_block(words, 1, mask, g)
    unmerged, nodes = np.empty((2, 0), np.int64), np.empty((2, 0), np.int32)
    tree = verbs.Tree(words, np.full(1, 2), np.zeros(3, np.int64), unmerged, nodes)
    never = np.zeros(1, np.uint8)
    _, _, state = mcts.search(tree, 1, own, mask, g, switches, simulations, state, never)
    best, most = -1, -1
    for column in range(g.columns):
        visits = words[verbs.edge_of(1, column, g.columns)]
        if visits > most:
            best, most = column, visits
    return best, state


@kernel
def play_games(
    g: Geometry,
    words: np.ndarray,
    numbers: np.ndarray,
    t: Layout,
    rule: Rule,
    trainer: Trainer,
    simulations: np.ndarray,  # int64[n]: the trainer's, one of them drawn for each game
    games: int,
    wins: int,
    pace: np.ndarray,
    counts: np.ndarray,
    state: int,
) -> tuple[int, int]:
    """Play games until they are done, the learner has won so many in all, or the table is too full for more.

    Against itself it plays several games at a time, a disc of each in turn: while one waits for the memory, others go on.
    Returns how many were played, and the random state.
    """
    lanes = LANES if trainer.seats == 3 else 1
    owns, masks, sides = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64), np.full(lanes, -1)  # side -1: no game
    keys = np.zeros((lanes, 2), np.int64)
    seats, searches, last = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64), np.full(2 * lanes, -1)
    most_simulations = 0
    for number in simulations:
        most_simulations = max(most_simulations, number)
    worth, tree = np.empty(g.columns), np.empty((most_simulations + 3) * 3 * g.columns, np.int32)
    learner = Learner(last, worth, pace, counts)
    begun, done, busy = 0, 0, True
    while busy:
        busy = False
        for lane in range(lanes):
            # 1. Begin a game where there is none.
            if sides[lane] < 0:
                if begun == games or counts[WINS] >= wins or (rule.learning and is_full(words, t, g)):
                    continue
                owns[lane], masks[lane], sides[lane] = 0, 0, 0
                keys[lane, 0], keys[lane, 1] = keys_of(0, 0, t, g)
                last[2 * lane], last[2 * lane + 1] = -1, -1
                seats[lane] = trainer.seats if trainer.seats else 1 + (counts[GAMES] & 1)
                state = advance(state)
                searches[lane] = simulations[below(len(simulations), state)]
                begun += 1
            own, mask, side, busy = int(owns[lane]), int(masks[lane]), int(sides[lane]), True
            here = int(keys[lane, 0]), int(keys[lane, 1])
            # 2. Choose a column.
            ours = (seats[lane] >> side) & 1 == 1
            if ours:
                column, state = choose(here, mask, g, words, numbers, t, rule, pace[EPSILON], worth, state)
            elif searches[lane] == 0 and trainer.passing:
                owns[lane], sides[lane] = own ^ mask, 1 - side
                keys[lane, 0], keys[lane, 1] = keys_of(own ^ mask, mask, t, g)
                continue
            else:
                column, state = search_move(own, mask, g, trainer.switches, int(searches[lane]), tree, state)
            # 3. Play it and learn from it.
            cell = landing(mask, column, g)
            won = has_line(own | cell, g.height, g.in_a_row)
            over = won or mask | cell == g.cells
            if not over:
                there = keys_of(own ^ mask, mask | cell, t, g)
                ask_ahead(there, mask | cell, g, words, t)
                keys[lane, 0], keys[lane, 1] = there
            if ours and rule.learning:
                look_back(here, mask, column, won, 2 * lane + side, g, words, numbers, t, rule, learner)
            owns[lane], masks[lane], sides[lane] = own ^ mask, mask | cell, 1 - side
            # 4. At the end let the other side learn, too.
            if over:
                see_end(2 * lane + 1 - side, won, last, numbers, t, rule, pace, counts)
                wins_it = side == 0 if seats[lane] == 3 else ours
                close_game((1 if wins_it else -1) if won else 0, rule, pace, counts)
                sides[lane] = -1
                done += 1
    return done, state


def warm_up() -> None:
    """Learn from one game, take the same steps one by one, and copy the table into a larger one."""
    board = geometry_of(7, 6, 4)
    t = layout_of(256, 1, False, False, 0.0)
    words, larger = new_table(256 * t.width + 1), new_table(512 * t.width + 1)
    rule = Rule(True, 0, True, True, 1.0, 0.0, -1.0, 0.0, 1.0, 1.0, 1.0, 0.0, False, 0.0, 1.0, 0.0, 0.0)
    pace, counts = np.zeros(4), np.zeros(5, np.int64)
    worth, last = np.zeros(7), np.full(2, -1)
    memory, both = (words, words.view(np.float32), t), (pace, counts)
    trainer = Trainer(3, False, verbs.Switches())
    fill(np.zeros(0, np.int64), np.zeros((0, 1), np.float32), *memory)
    play_games(board, *memory, rule, trainer, np.zeros(1, np.int64), 1, 1, *both, 1)
    keys = keys_of(0, 0, t, board)
    column, _ = choose(keys, 0, board, *memory, rule, 0.0, worth, 1)
    look_back(keys, 0, column, False, 0, board, *memory, rule, Learner(last, worth, *both))
    see_end(0, True, last, *memory[1:], rule, *both)
    close_game(-1, rule, *both)
    judge(keys, 0, board, *memory, worth)
    copy_slots(words, larger, layout_of(512, 1, False, False, 0.0))
