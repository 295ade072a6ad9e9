"""Random games on several board sizes, compared with OpenSpiel move by move."""

import random

import pyspiel
import pytest

from fourlab import RED, YELLOW, Position
from tests.strategies import FULL

GAMES = 10_000 if FULL else 2_000


@pytest.mark.sweep
@pytest.mark.parametrize("board", ["7x6x4", "6x5x4", "5x4x4", "5x6x3", "8x6x5"])
def test_legal_columns_and_results_agree_with_openspiel(board: str) -> None:
    start = Position(board=board)
    columns, rows, in_a_row = start.rules.columns, start.rules.rows, start.rules.in_a_row
    game = pyspiel.load_game(f"connect_four(rows={rows},columns={columns},x_in_row={in_a_row})")
    rng = random.Random(1)
    for _ in range(GAMES):
        position = start
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            assert position.outcome() is None
            assert list(position.legal_columns()) == legal
            column = rng.choice(legal)
            position = position.play(column)
            state.apply_action(column)
        outcome = position.outcome()
        assert outcome is not None
        assert [outcome.score(RED), outcome.score(YELLOW)] == state.returns()
