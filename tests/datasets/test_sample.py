import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Position, Rules
from fourlab.compiled.random import advance, below, seed_state
from fourlab.datasets.sample import quiet, random_position, sample
from tests.naive import NaiveGame
from tests.strategies import ANY_BOARD, examples, positions

G = Rules().geometry


@examples(300)
@given(positions())
def test_in_a_quiet_position_no_disc_makes_a_line(position: Position) -> None:
    if position.outcome() is not None:
        return
    wins = [
        position.makes_line(column, side) for column in position.legal_columns() for side in (0, 1)
    ]
    assert quiet(np.array([position.key]), position.rules.geometry).tolist() == [not any(wins)]


@examples(100)
@given(ANY_BOARD, st.integers(0, 61), st.booleans(), st.integers(0, 2**32))
def test_a_random_position_is_that_of_the_naive_board(
    rules: Rules, plies: int, careful: bool, seed: int
) -> None:
    plies %= rules.columns * rules.rows
    start = state = seed_state(seed)
    naive = NaiveGame(rules.columns, rules.rows, rules.in_a_row)
    played = 0
    while played < plies and not naive.is_over():
        column = None
        if careful:
            if any(makes_line(naive, column, naive.to_move) for column in naive.legal()):
                assert random_position(plies, careful, rules.geometry, start) == (0, state)
                return
            other = 1 - naive.to_move
            blocks = [column for column in naive.legal() if makes_line(naive, column, other)]
            column = blocks[0] if blocks else None
        while column not in naive.legal():
            state = advance(state)
            column = below(rules.columns, state)
        naive.play(column)
        played += 1
    key = 0 if naive.is_over() else Position(naive.grid(), rules).key
    assert random_position(plies, careful, rules.geometry, start) == (key, state)


def makes_line(naive: NaiveGame, column: int, side: int) -> bool:
    naive.discs[column].append(side)
    cells = naive.winning_cells()
    naive.discs[column].pop()
    return bool(cells)


@pytest.mark.parametrize("plies", [0, 8, 30])
def test_every_other_game_of_a_sample_is_careful(plies: int) -> None:
    expected = []
    state = seed_state(4)
    for game in range(100):
        key, state = random_position(plies, game % 2 == 1, G, state)
        if key:
            expected.append(key)
    keys, after = sample(plies, 100, G, seed_state(4))
    assert keys.tolist() == expected
    assert after == state
