"""Rollouts agree with a naive game and with independent measurements, in lanes too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fourlab import Position, Rules
from fourlab.compiled.random import advance, below, seed_state, seed_states
from fourlab.compiled.rollouts import LANES, lane_rollouts, rollout, rollouts
from tests.naive import NaiveGame
from tests.strategies import examples, games

G = Rules().geometry


@examples(200)
@given(games(), st.integers(0, 2**32))
def test_a_rollout_agrees_with_a_naive_game_of_the_same_random_numbers(
    game: tuple[Rules, list[int]], seed: int
) -> None:
    rules, moves = game
    naive = NaiveGame(rules.columns, rules.rows, rules.in_a_row)
    position = Position(board=rules)
    for column in moves:
        naive.play(column)
        position = position.play(column)
    if naive.is_over():
        return
    side = naive.to_move
    plies = 0
    start = seed_state(seed)
    state = start
    while not naive.is_over():
        state = advance(state)
        column = below(rules.columns, state)
        if column in naive.legal():
            naive.play(column)
            plies += 1
    result = 0
    if naive.winner is not None:
        result = 1 if naive.winner == side else -1
    assert rollout(position.own, position.mask, rules.geometry, start) == (result, plies, state)


def test_results_of_random_games_from_the_empty_board() -> None:
    """55.6 % / 0.25 % / 44.2 % and 21.3 discs, measured by independent programs."""
    wins, draws, losses, discs, _ = rollouts(0, 0, G, 400_000, seed_state(1))
    expected = 400_000 * np.array([0.5560, 0.0025, 0.4415])
    assert stats.chisquare([wins, draws, losses], expected).pvalue > 0.001
    assert discs / 400_000 == pytest.approx(21.3, abs=0.05)


@pytest.mark.parametrize("board", ["7x6x4", "5x4x3", "9x5x5", "4x14x8"])
def test_every_lane_plays_the_same_games_as_one_scalar_stream(board: str) -> None:
    g = Rules.parse(board).geometry
    total = LANES * 50 + 3
    expected = np.zeros(4, int)
    for lane, state in enumerate(seed_states(7, LANES)):
        expected += rollouts(0, 0, g, 50 + (lane < 3), state)[:4]
    assert lane_rollouts(0, 0, g, total, 7) == tuple(expected)


def test_lanes_start_from_any_position() -> None:
    position = Position("vannucci-abril")
    wins, draws, losses, discs = lane_rollouts(position.own, position.mask, G, 200_000, 1)
    assert wins + draws + losses == 200_000
    exact_mean = -35 / 512  # of random play by both sides
    assert (wins - losses) / 200_000 == pytest.approx(exact_mean, abs=0.01)
    assert 200_000 < discs <= 12 * 200_000


def test_one_game_leaves_fifteen_lanes_idle() -> None:
    assert sum(lane_rollouts(0, 0, G, 1, 3)[:3]) == 1
