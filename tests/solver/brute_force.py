"""Random positions, and their scores by brute force."""

from functools import cache

import numpy as np

from fourlab import Position


@cache
def score(position: Position) -> int:
    """Return the score by brute force."""
    best = -100
    for column in position.legal_columns():
        after = position.play(column)
        outcome = after.outcome()
        if outcome is None:
            best = max(best, -score(after))
        elif outcome.winner is None:
            best = max(best, 0)
        else:
            left = position.rules.columns * position.rules.rows - position.ply
            best = max(best, (left + 1) // 2)
    return best


def random_positions(board: str, plies: int, count: int) -> list[Position]:
    rng = np.random.default_rng(3)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position(board=board)
        while position.ply < plies and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            positions.append(position)
    return positions


def late_positions(board: str, left: int, count: int) -> list[Position]:
    """Return positions with `left` empty cells, from games in which both sides avoid lines."""
    rng = np.random.default_rng(4)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position(board=board)
        last = position.rules.columns * position.rules.rows - left
        while position.ply < last:
            columns = rng.permutation(position.legal_columns()).tolist()
            quiet = (c for c in columns if position.play(c).outcome() is None)
            if (column := next(quiet, None)) is None:
                break
            position = position.play(column)
        if position.ply == last:
            positions.append(position)
    return positions
