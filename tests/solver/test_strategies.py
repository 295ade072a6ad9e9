"""The strategies that answer without search: what they promise is true, and they do occur."""

from collections import Counter

import numpy as np
import pytest

from fourlab import Position
from fourlab.compiled.threats import winning_cells
from fourlab.solver.strategies import (
    UNKNOWN,
    YES,
    answer_by_strategy,
    claimeven,
    even_cells_above,
    odd_threat,
)
from tests.solver.brute_force import random_positions, score
from tests.strategies import FULL

BOARDS = (
    ("4x4x4", 6),
    ("5x4x4", 10),
    ("4x6x4", 13),
    ("5x6x4", 18),
    ("6x6x4", 25),
    ("7x6x4", 31),
    ("6x4x3", 14),
    ("4x8x4", 21),
)
"""Boards with an even number of rows, and discs after which brute force is fast."""


def quiet_positions(count: int) -> list[Position]:
    """Return positions in which the side to move cannot win at once."""
    return [
        position
        for board, plies in BOARDS
        for discs in (plies, plies + 1)
        for position in random_positions(board, discs, count)
        if not any(position.play(column).outcome() for column in position.legal_columns())
    ]


@pytest.mark.sweep
def test_promised_scores_are_true_and_all_strategies_occur() -> None:
    promised = Counter[tuple[str, int, bool]]()
    for position in quiet_positions(300 if FULL else 40):
        g = position.rules.geometry
        own, mask = position.own, position.mask
        red_to_move = position.ply % 2 == 0
        red, yellow = (own, own ^ mask) if red_to_move else (own ^ mask, own)
        threats = winning_cells(own ^ mask, mask, g)
        for_red = score(position) if red_to_move else -score(position)
        for wanted in range(-3, 6):
            if claimeven(red, yellow, mask, wanted, not red_to_move, threats, g):
                assert -for_red >= wanted, (position, wanted)
                promised["yellow", wanted, red_to_move] += 1
            if odd_threat(red, yellow, mask, wanted, red_to_move, threats, g):
                assert for_red >= wanted, (position, wanted)
                promised["red", wanted, red_to_move] += 1
    # Every kind of promise that is possible on most of these boards, by either side to move.
    for to_move in (False, True):
        assert all(promised["yellow", wanted, to_move] > 0 for wanted in (0, 1, 2)), promised
        assert all(promised["red", wanted, to_move] > 0 for wanted in (0, 1)), promised


@pytest.mark.sweep
def test_answers_are_true() -> None:
    answered = 0
    for position in quiet_positions(300 if FULL else 40):
        g = position.rules.geometry
        left = g.columns * g.rows - position.ply
        threats = winning_cells(position.own ^ position.mask, position.mask, g)
        for alpha in range(-4, 4):
            answer = answer_by_strategy(position.own, position.mask, alpha, left, threats, g)
            if answer != UNKNOWN:
                assert (answer == YES) == (score(position) > alpha), (position, alpha)
                answered += 1
    assert answered > 200


def test_no_strategy_works_with_an_odd_number_of_rows() -> None:
    for position in random_positions("7x5x4", 20, 50):
        g = position.rules.geometry
        threats = winning_cells(position.own ^ position.mask, position.mask, g)
        for alpha in range(-3, 3):
            answer = answer_by_strategy(position.own, position.mask, alpha, 15, threats, g)
            assert answer == UNKNOWN


def test_cells_above_stay_in_their_columns() -> None:
    rng = np.random.default_rng(0)
    for board in ("7x6x4", "9x4x4", "4x8x4", "2x12x4", "31x1x31", "5x10x4"):
        g = Position(board=board).rules.geometry
        even = g.cells ^ g.odd_rows
        columns = [((1 << g.rows) - 1) << column * g.height for column in range(g.columns)]
        for _ in range(50):
            cells = int(rng.integers(0, 1 << 62)) & int(rng.integers(0, 1 << 62)) & even
            expected = 0
            for column in columns:
                lowest = cells & column & -(cells & column)
                if lowest:
                    expected |= column & even & ~(lowest - 1)
            assert even_cells_above(cells, even, g) == expected
