"""Pattern networks, their learning and their search in slow, obvious Python."""

from itertools import product
from math import tanh

import numpy as np

from fourlab.agents.patterns.kernel import UNIT, Games, Learning
from fourlab.agents.patterns.search import MOST, WIN
from fourlab.game.outcome import RED
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.patterns import Shape

STATES = "red", "yellow", "playable", "higher"


def state_of(position: Position, column: int, row: int) -> int:
    """Return the state of a cell: its place in STATES."""
    cell = position.grid()[position.rules.rows - 1 - row][column]
    if cell:
        return cell - 1
    below = row == 0 or position.grid()[position.rules.rows - row][column]
    return 2 if below else 3


def cells_of(bits: int, rules: Rules) -> list[tuple[int, int]]:
    """Return the cells of a tuple, column by column from the bottom."""
    height = rules.geometry.height
    every = product(range(rules.columns), range(rules.rows))
    return [(column, row) for column, row in every if bits >> column * height + row & 1]


def possible_states(rows: list[int], rules: Rules) -> list[tuple[int, ...]]:
    """Return all states of some cells of one column, sorted, by filling the column in every way."""
    states = set()
    for height in range(rules.rows + 1):
        for discs in product((0, 1), repeat=height):
            column = [*discs, 2, *[3] * rules.rows][: rules.rows]
            states.add(tuple(column[row] for row in rows))
    return sorted(states)


def index_of(bits: int, position: Position) -> tuple[int, int]:
    """Return the number of a tuple's state, and how many states it has."""
    rules = position.rules
    number, stride = 0, 1
    for column in sorted({column for column, _ in cells_of(bits, rules)}):
        rows = [row for c, row in cells_of(bits, rules) if c == column]
        states = possible_states(rows, rules)
        state = tuple(state_of(position, column, row) for row in rows)
        number += stride * states.index(state)
        stride *= len(states)
    return number, stride


def indices(shape: Shape, position: Position) -> list[int]:
    """Return the weights that a position adds up: those of each tuple on the board as it is, and
    those on its mirror image."""
    places = []
    begin = 0
    for bits in shape.tuples:
        here, size = index_of(bits, position)
        there, _ = index_of(bits, position.mirror())
        places += [begin + here, begin + there]
        begin += size
    return places


def total(shape: Shape, weights: np.ndarray, position: Position) -> int:
    """Return the sum of the weights, for red."""
    return sum(int(weights[position.ply & 1, index]) for index in indices(shape, position))


def learn(
    shape: Shape,
    weights: np.ndarray,
    signed: np.ndarray,
    absolute: np.ndarray,
    games: Games,
    rule: Learning,
) -> None:
    """Learn from games as `kernel.learn_games` does, changing the three tables."""
    for game in range(len(games.lengths)):
        positions = [Position(board=shape.rules)]
        for column in games.columns[game, : games.lengths[game]].tolist():
            positions.append(positions[-1].play(column))
        if not games.is_cut[game]:
            positions.pop()
        first = max(int(games.openings[game]), 1)
        values = {
            ply: tanh(total(shape, weights, positions[ply]) / UNIT)
            for ply in range(first, len(positions))
        }
        targets = {}
        target = float(games.results[game])
        for ply in reversed(values):
            if games.explored[game] >> ply & 1:
                target = values[ply]
            targets[ply] = target
            target = rule.trace * target + (1 - rule.trace) * values[ply]
        for ply, value in values.items():
            gradient = (targets[ply] - value) * (1 - value * value)
            side = ply & 1
            for index in indices(shape, positions[ply]):
                factor = 1.0
                if rule.coherence and absolute[side, index] > 0:
                    factor = abs(float(signed[side, index])) / float(absolute[side, index])
                step = rule.alpha * gradient * UNIT / shape.lookups * factor
                weights[side, index] = int(weights[side, index] + step)
                signed[side, index] += np.float32(gradient)
                absolute[side, index] += np.float32(abs(gradient))


def wins_at_once(position: Position) -> list[int]:
    """Return the columns that complete a line of the side to move."""
    return [
        column
        for column in position.legal_columns()
        if position.makes_line(column, position.to_move)
    ]


def score(shape: Shape, weights: np.ndarray, position: Position, depth: int) -> int:
    """Return the score of a position that is not over by plain minimax, for the side to move."""
    if wins_at_once(position):
        return WIN - position.ply - 1
    after = [position.play(column) for column in position.legal_columns()]
    if len(after) == 1 and after[0].outcome() is not None:
        return 0
    safe = [child for child in after if not wins_at_once(child)]
    if not safe:
        return position.ply + 2 - WIN
    cells = shape.rules.columns * shape.rules.rows
    if position.ply >= cells - 2:
        return 0
    is_forced = len(safe) == 1
    if depth <= 0 and not is_forced:
        value = max(-MOST, min(total(shape, weights, position), MOST))
        return value if position.to_move == RED else -value
    return max(-score(shape, weights, child, depth - (not is_forced)) for child in safe)
