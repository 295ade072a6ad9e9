"""Batches of rows from positions or keys, and solutions from rows."""

from functools import cache

import numpy as np

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.solver import batch
from fourlab.solver.batch import IN_BOOK, WIDTH
from fourlab.solver.keys import check_keys
from fourlab.solver.solution import Solution

load_kernels = cache(batch.warm_up)
"""Compile or load the kernels, once, so that this does not count against a time limit."""


def check_unfinished(position: Position) -> None:
    """Raise UserError if the game is over."""
    if (outcome := position.outcome()) is not None:
        raise UserError(f"the game is over ({outcome}), there is nothing to solve: {position!r}")


def is_always_drawn(rules: Rules) -> bool:
    """Return whether no line fits on the board."""
    return rules.in_a_row > max(rules.columns, rules.rows)


def keys_of(positions: list[Position]) -> np.ndarray:
    """Return the keys of positions."""
    return np.array([position.key for position in positions], np.int64)


def checked(keys: np.ndarray, rules: Rules) -> np.ndarray:
    """Return the keys; raise UserError if there is one that no position has."""
    try:
        check_keys(keys, rules.geometry)
    except ValueError as error:
        raise UserError(f"these are not keys of positions on {rules}: {error}") from None
    return np.ascontiguousarray(keys, np.int64)


def rows_of(keys: np.ndarray, rules: Rules) -> np.ndarray:
    """Return a batch of the positions with these keys, which must be possible."""
    load_kernels()
    rows = np.empty((len(keys), WIDTH), np.int64)
    finished = batch.read_keys(keys, rows, rules.geometry)
    if finished >= 0:
        check_unfinished(Position.from_key(keys[finished], rules))
    return rows


def solutions_of(rows: np.ndarray, rules: Rules, seconds: float) -> list[Solution]:
    """Return the solutions of a batch, which took `seconds` per position."""
    cells = rules.columns * rules.rows
    return [
        Solution(lower, upper, cells - mask.bit_count(), nodes, seconds, kind == IN_BOOK)
        for _, mask, lower, upper, nodes, kind in rows.tolist()
    ]


@cache
def columns_from_centre(rules: Rules) -> np.ndarray:
    """Return the columns from the centre outwards, left before right."""
    return np.array(sorted(range(rules.columns), key=rules.from_centre))


def centre_first(position: Position) -> list[int]:
    """Return the legal columns from the centre outwards, left before right."""
    # Sorting is stable, so of two columns at the same distance the left one stays first.
    return sorted(position.legal_columns(), key=position.rules.from_centre)
