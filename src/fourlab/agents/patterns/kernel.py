"""Self-play and temporal-difference learning of pattern networks.

Games are played in batches with the weights of the batch's beginning, so that they can be played by
several threads. Then the weights learn from the games one after another, in the order of their
numbers: the result depends neither on the number of threads nor on when a training was interrupted.

A side plays the column after which the position has the best value, except that it wins at once if
it can and, with `safe`, leaves no win at once to the opponent unless it explores. The value of a
position moves towards the lambda-return: a mean of the values of all later positions of the game
and of its result, in which each further ply counts lambda times as much as the one before.
Positions before an exploratory move learn nothing from what follows it.
"""

from math import exp, tanh
from typing import NamedTuple

import numpy as np

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import has_line, landing, landings
from fourlab.compiled.patterns import (
    Patterns,
    add_step,
    code_of,
    fill_indices,
    key_after,
    red_key,
    total,
    total_after,
)
from fourlab.compiled.random import advance, below
from fourlab.compiled.threats import non_losing, winning_cells
from fourlab.game.geometry import Geometry, geometry_of
from fourlab.solver.kernel import solve

UNIT = 1 << 24
"""The weights of a network in training are int32; this much is 1 before tanh."""
MOST_WEIGHT = 100 * UNIT
"""Weights stay within this bound, far beyond any that is learned."""
CHANCES = 1 << 30
"""Random numbers below this are compared with probabilities."""


class Exploration(NamedTuple):
    """How games leave the best play."""

    opening: int
    """Games begin with 0 to this many random plies."""
    epsilon: float
    """The probability of a random column."""
    temperature: float
    """Columns are sampled in proportion to exp(value / temperature); 0 plays the best one."""
    exact: int
    """With at most this many empty cells, a game ends with its exact result."""
    safe: bool
    """Whether the chosen columns leave no win at once; without such columns the game is lost."""


class Games(NamedTuple):
    """A batch of games."""

    columns: np.ndarray
    """int8[games, cells]: the columns played, the random opening included."""
    lengths: np.ndarray
    """int64[games]: plies."""
    openings: np.ndarray
    """int64[games]: plies of the random opening."""
    explored: np.ndarray
    """int64[games]: bit n is set if ply n was an exploratory move."""
    results: np.ndarray
    """int64[games]: 1 if red wins, 0 for a draw, -1 if yellow wins."""
    is_cut: np.ndarray
    """int64[games]: 1 if the result is the exact one of a position that is not over, else 0."""


class Learning(NamedTuple):
    """What decides how far weights move."""

    alpha: float
    """The step size, before it is divided by the number of look-ups."""
    trace: float
    """Lambda."""
    coherence: bool
    """Whether each weight has a step size of its own, by temporal coherence."""


def new_games(count: int, g: Geometry) -> Games:
    """Return memory for a batch of games."""
    numbers = np.zeros((5, count), np.int64)
    return Games(np.zeros((count, g.columns * g.rows), np.int8), *numbers)


@kernel
def play_games(
    first: int,
    last: int,
    states: np.ndarray,  # int64[games]: the random state of every game
    games: Games,
    x: Exploration,
    p: Patterns,
    table: np.ndarray,  # int64[words]: the solver's transposition table, if x.exact > 0
    g: Geometry,
) -> None:
    """Play the games from number `first` to `last` - 1 of a batch."""
    indices = np.empty((1, len(p.start)), np.int32)
    values = np.empty(g.columns, np.float64)
    for game in range(first, last):
        state = states[game]
        state, key, own, mask = random_opening(state, game, games, x, g)
        fill_indices(key, p, g, indices, 0)
        play_to_end(state, game, games, key, own, mask, indices, values, x, p, table, g)


@kernel
def random_opening(
    state: int, game: int, games: Games, x: Exploration, g: Geometry
) -> tuple[int, int, int, int]:
    """Play a random number of random plies; a game that ends within them begins anew.

    Returns the random state, the key of red's discs, `own` and `mask`.
    """
    while True:
        state = advance(state)
        plies = below(x.opening + 1, state)
        own, mask, ply = 0, 0, 0
        key = g.bottom
        while ply < plies:
            state = advance(state)
            column = below(g.columns, state)
            cell = landing(mask, column, g)
            if cell == 0:
                continue
            if has_line(own | cell, g.height, g.in_a_row) or ply == g.columns * g.rows - 1:
                break
            games.columns[game, ply] = column
            key = key_after(key, cell, ply & 1 == 0)
            mask |= cell
            own = (own | cell) ^ mask
            ply += 1
        if ply == plies:
            games.openings[game] = plies
            return state, key, own, mask


@kernel
def play_to_end(
    state: int,
    game: int,
    games: Games,
    key: int,
    own: int,
    mask: int,
    indices: np.ndarray,
    values: np.ndarray,
    x: Exploration,
    p: Patterns,
    table: np.ndarray,
    g: Geometry,
) -> None:
    """Play a game to its end, or until its exact result is cheap to compute."""
    ply = games.openings[game]
    cells = g.columns * g.rows
    explored, result, is_cut = 0, 0, 0
    # A dummy flag, a counter and no other threads for the solver.
    stop, nodes, busy = np.zeros(1, np.uint8), np.zeros(1, np.int64), np.zeros(0, np.int64)
    while ply < cells:
        is_red = ply & 1 == 0
        if cells - ply <= x.exact:
            left = cells - ply
            half = left >> 1
            low, high = solve(
                own, mask, -half, left - half, (-1, 1), g, table, busy, 1 << 60, stop, nodes
            )
            for_mover = 1 if low > 0 else -1 if high < 0 else 0
            result = for_mover if is_red else -for_mover
            is_cut = 1
            break
        moves = landings(mask, g)
        if x.safe and winning_cells(own, mask, g) & moves == 0:
            moves = non_losing(mask, winning_cells(own ^ mask, mask, g), g)
            if moves == 0:
                result = -1 if is_red else 1
                is_cut = 1
                break
        column, won = best_column(key, own, mask, moves, is_red, indices, values, p, g)
        if not won:
            state, chosen = explore(state, column, values, mask, moves, x, g)
            if chosen != column:
                explored |= 1 << ply
                column = chosen
        cell = landing(mask, column, g)
        games.columns[game, ply] = column
        key = key_after(key, cell, is_red)
        mask |= cell
        own = (own | cell) ^ mask
        add_step(p, column, code_of(key, column, g), indices, 0, 0)
        ply += 1
        if won:
            result = 1 if is_red else -1
            break
    games.lengths[game] = ply
    games.explored[game] = explored
    games.results[game] = result
    games.is_cut[game] = is_cut


@inlined_kernel
def best_column(
    key: int,
    own: int,
    mask: int,
    moves: int,
    is_red: bool,
    indices: np.ndarray,
    values: np.ndarray,
    p: Patterns,
    g: Geometry,
) -> tuple[int, bool]:
    """Return the column of the best value for the side to move, and whether it wins at once.

    `moves` are the landing cells to choose from, at least one. `values` gets their values before
    tanh, unless one wins at once.
    """
    for column in range(g.columns):
        cell = landing(mask, column, g) & moves
        if cell != 0 and has_line(own | cell, g.height, g.in_a_row):
            return column, True
    # The next side to move has the table of the other colour.
    side = 1 if is_red else 0
    best = -1
    is_last = popcount(mask) == g.columns * g.rows - 1
    for column in range(g.columns):
        cell = landing(mask, column, g) & moves
        if cell == 0:
            continue
        value = 0
        # The value of an only move does not matter, and a full board is a draw.
        if moves != cell and not is_last:
            code = code_of(key_after(key, cell, is_red), column, g)
            value = total_after(p, side, column, code, indices, 0)
        values[column] = value if is_red else -value
        if best < 0 or values[column] > values[best]:
            best = column
    return best, False


@inlined_kernel
def explore(
    state: int,
    best: int,
    values: np.ndarray,
    mask: int,
    moves: int,
    x: Exploration,
    g: Geometry,
) -> tuple[int, int]:
    """Return the new random state and the column to play: the best one, or one at random.

    `moves` are the landing cells that have values.
    """
    state = advance(state)
    if below(CHANCES, state) < x.epsilon * CHANCES:
        column = g.columns
        while column == g.columns or landing(mask, column, g) == 0:
            state = advance(state)
            column = below(g.columns, state)
        return state, column
    if x.temperature > 0:
        # Softmax: values are compared after tanh, so that a won position is not infinitely better.
        best_value = tanh(values[best] / UNIT)
        shares = 0.0
        for column in range(g.columns):
            if landing(mask, column, g) & moves != 0:
                shares += exp((tanh(values[column] / UNIT) - best_value) / x.temperature)
        state = advance(state)
        rest = below(CHANCES, state) / CHANCES * shares
        for column in range(g.columns):
            if landing(mask, column, g) & moves != 0:
                rest -= exp((tanh(values[column] / UNIT) - best_value) / x.temperature)
                if rest < 0:
                    return state, column
    return state, best


@kernel
def learn_games(
    games: Games,
    rule: Learning,
    p: Patterns,
    sums: np.ndarray,  # float32[2, entries, 2]: of the errors seen by a weight; of their sizes
    g: Geometry,
) -> tuple[float, int]:
    """Learn from a batch of games in their order; return the sum of squared errors and its count.

    The step size of a weight is alpha times the size of the sum of its errors, divided by the sum
    of their sizes (temporal coherence, Beal and Smith, 1999): large as long as errors have one
    sign, small when they cancel out.
    """
    cells = g.columns * g.rows
    indices = np.empty((cells + 1, len(p.start)), np.int32)
    values = np.empty(cells + 1, np.float64)
    targets = np.empty(cells + 1, np.float64)
    squares, count = 0.0, 0
    for game in range(len(games.lengths)):
        length = games.lengths[game]
        # The last position is over and has no value, unless the game was cut short.
        last = length if games.is_cut[game] else length - 1
        # The empty board has no move before it and needs no value.
        first = max(games.openings[game], 1)
        key, mask = g.bottom, 0
        for i in range(len(p.start)):
            indices[0, i] = p.start[i]
        for ply in range(last):
            column = int(games.columns[game, ply])
            cell = landing(mask, column, g)
            mask |= cell
            key = key_after(key, cell, ply & 1 == 0)
            add_step(p, column, code_of(key, column, g), indices, ply, ply + 1)
            if ply + 1 >= first:
                values[ply + 1] = tanh(total(p, (ply + 1) & 1, indices, ply + 1) / UNIT)
        target = float(games.results[game])
        for ply in range(last, first - 1, -1):
            # The move at `ply` leads from this position to the next.
            if ply < length and games.explored[game] >> ply & 1:
                target = values[ply]
            targets[ply] = target
            target = rule.trace * target + (1 - rule.trace) * values[ply]
        for ply in range(first, last + 1):
            error = targets[ply] - values[ply]
            squares += error * error
            count += 1
            # The derivative of tanh is 1 - tanh ** 2.
            gradient = error * (1 - values[ply] * values[ply])
            move_weights(p, ply & 1, sums, indices, ply, gradient, rule)
    return squares, count


@inlined_kernel
def move_weights(
    p: Patterns,
    side: int,
    sums: np.ndarray,
    indices: np.ndarray,
    level: int,
    gradient: float,
    rule: Learning,
) -> None:
    """Move the weights of a position by a gradient step; `side` is the side to move."""
    lookups = indices.shape[1]
    step = rule.alpha * gradient * UNIT / lookups
    size = abs(gradient)
    for i in range(lookups):
        index = np.uint32(indices[level, i])
        factor = 1.0
        if rule.coherence and sums[side, index, 1] > 0:
            factor = abs(float(sums[side, index, 0])) / float(sums[side, index, 1])
        moved = p.weights[side, index] + step * factor
        p.weights[side, index] = int(min(max(moved, -MOST_WEIGHT), MOST_WEIGHT))
        sums[side, index, 0] += np.float32(gradient)
        sums[side, index, 1] += np.float32(size)


@kernel
def learn_positions(
    own: np.ndarray,
    mask: np.ndarray,
    results: np.ndarray,  # int64: the exact result for the side to move
    order: np.ndarray,  # int64: the order in which to learn
    rule: Learning,
    p: Patterns,
    sums: np.ndarray,
    g: Geometry,
) -> tuple[float, int]:
    """Learn the exact results of positions; return the sum of squared errors and its count."""
    indices = np.empty((1, len(p.start)), np.int32)
    squares = 0.0
    for place in order:
        side = popcount(mask[place]) & 1
        fill_indices(red_key(own[place], mask[place], g), p, g, indices, 0)
        value = tanh(total(p, side, indices, 0) / UNIT)
        error = (results[place] if side == 0 else -results[place]) - value
        squares += error * error
        gradient = error * (1 - value * value)
        move_weights(p, side, sums, indices, 0, gradient, rule)
    return squares, len(order)


@kernel
def choose_columns(
    own: np.ndarray, mask: np.ndarray, p: Patterns, g: Geometry, chosen: np.ndarray
) -> None:
    """Write the column that the network plays in every position, looking one ply ahead."""
    indices = np.empty((1, len(p.start)), np.int32)
    values = np.empty(g.columns, np.float64)
    for i in range(len(own)):
        key = red_key(own[i], mask[i], g)
        fill_indices(key, p, g, indices, 0)
        is_red = popcount(mask[i]) & 1 == 0
        moves = landings(mask[i], g)
        chosen[i], _ = best_column(key, own[i], mask[i], moves, is_red, indices, values, p, g)


def warm_up() -> None:
    """Compile the kernels: play and learn a game on a tiny board with one look-up."""
    g = geometry_of(3, 2, 3)
    start, steps = np.zeros(1, np.int32), np.zeros((3, 8, 1), np.int32)
    p = Patterns(start, steps, np.zeros((2, 1), np.int32), steps)
    sums = np.zeros((2, 1, 2), np.float32)
    games = new_games(1, g)
    x = Exploration(0, 0.0, 0.0, 0, True)
    play_games(0, 1, np.ones(1, np.int64), games, x, p, np.zeros(64, np.int64), g)
    rule = Learning(1.0, 0.5, True)
    learn_games(games, rule, p, sums, g)
    zero = np.zeros(1, np.int64)
    learn_positions(zero, zero, zero, zero, rule, p, sums, g)
    choose_columns(zero, zero, p, g, zero.copy())
    choose_columns(zero, zero, p._replace(weights=np.zeros((2, 1), np.int16)), g, zero.copy())
