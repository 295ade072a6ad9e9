"""The environment for PettingZoo, in step with PettingZoo's own; on other boards, with Position."""

import copy
import pickle
import random
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.classic.connect_four.connect_four import env as their_env
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.env_logger import EnvLogger

from fourlab import RED, YELLOW, Position, UserError
from fourlab.bridges.pettingzoo import ID, PLAYERS, ConnectFour, env

GAMES = 200
EMPTY_IS_ZERO = "ignore:Observation numpy array is all zeros"
"""What api_test says of every board game's beginning, of PettingZoo's own too."""


@pytest.fixture(autouse=True)
def silence() -> None:
    EnvLogger.suppress_output()


@pytest.fixture
def theirs() -> Any:
    return their_env()


def same(ours: Any, theirs: Any) -> None:
    """All that can be seen of the two environments is equal, also between dict and dict."""
    assert ours.agents == theirs.agents
    for name in ("rewards", "terminations", "truncations", "infos", "_cumulative_rewards"):
        assert getattr(ours, name) == getattr(theirs, name), name
    if not ours.agents:
        return
    assert ours.agent_selection == theirs.agent_selection
    for player in PLAYERS:
        seen, expected = ours.observe(player), theirs.observe(player)
        assert seen.keys() == expected.keys()
        for part in seen:
            assert seen[part].dtype == expected[part].dtype
            np.testing.assert_array_equal(seen[part], expected[part])
    observation, *rest = ours.last()
    expected, *expected_rest = theirs.last()
    np.testing.assert_array_equal(observation["observation"], expected["observation"])
    assert rest == expected_rest


def test_hundreds_of_random_games_are_theirs_step_by_step(theirs: Any) -> None:
    ours, rng, illegal = env(), random.Random(1), 0
    for game in range(GAMES):
        ours.reset(seed=game)
        theirs.reset(seed=game)
        same(ours, theirs)
        careless = game % 3 == 0  # now and then somebody plays into a full column
        for _ in theirs.agent_iter():
            observation, _, terminated, truncated, _ = theirs.last()
            legal = np.flatnonzero(observation["action_mask"]).tolist()
            column = (
                None if terminated or truncated else rng.choice(range(7) if careless else legal)
            )
            illegal += column is not None and column not in legal
            ours.step(column)
            theirs.step(column)
            same(ours, theirs)
        ours.step(None)  # warned of, and otherwise nothing
        theirs.step(None)
        same(ours, theirs)
    assert illegal > 20


def test_the_spaces_are_theirs(theirs: Any) -> None:
    ours = env()
    assert ours.possible_agents == theirs.possible_agents
    assert str(ours) == str(theirs)
    for player in PLAYERS:
        assert ours.action_space(player) == theirs.action_space(player)
        assert ours.observation_space(player) == theirs.observation_space(player)


@pytest.mark.filterwarnings(EMPTY_IS_ZERO)
@pytest.mark.parametrize("board", ["7x6x4", "5x4x3"])
def test_it_passes_pettingzoos_tests(board: str) -> None:
    api_test(env(board), num_cycles=300)
    seed_test(lambda: env(board), num_cycles=100)


@pytest.mark.parametrize("board", ["7x6x4", "5x4x3", "8x6x5", "3x3x4", "9x6x5", "1x9x3"])
def test_games_on_any_board_are_those_of_position(board: str) -> None:
    ours, rng, outcomes = env(board), random.Random(2), set()
    for _ in range(100):
        ours.reset()
        position = Position(board=board)
        while (outcome := position.outcome()) is None:
            assert not any(ours.terminations.values())
            observation = ours.observe(PLAYERS[position.to_move])
            assert np.flatnonzero(observation["action_mask"]).tolist() == list(
                position.legal_columns()
            )
            grid = np.array(position.grid())
            np.testing.assert_array_equal(
                observation["observation"][..., 0], grid == 1 + position.to_move
            )
            np.testing.assert_array_equal(
                observation["observation"][..., 1], grid == 2 - position.to_move
            )
            column = rng.choice(position.legal_columns())
            ours.step(np.int64(column))  # as action_space.sample() gives it
            position = position.play(column)
        assert all(ours.terminations.values())
        assert ours.rewards == {"player_0": outcome.score(RED), "player_1": outcome.score(YELLOW)}
        outcomes.add(outcome)
    assert len(outcomes) > (board not in ("3x3x4", "1x9x3"))


def test_observations_are_the_takers_own() -> None:
    ours = env()
    ours.reset()
    before = ours.observe("player_0")
    before["observation"][:] = 9
    before["action_mask"][:] = 9
    ours.step(3)
    assert before["observation"].min() == 9
    after = ours.observe("player_1")
    assert after["observation"].sum() == after["observation"][5, 3, 1] == 1
    assert after["action_mask"].tolist() == [1] * 7


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda original: pickle.loads(pickle.dumps(original))],
    ids=["deepcopy", "pickle"],
)
def test_a_copy_goes_on_by_itself(copied: Any) -> None:
    ours = env()
    ours.reset()
    for column in (3, 3, 2):
        ours.step(column)
    twin = copied(ours)
    same(twin, ours)
    twin.step(0)
    assert twin.observe("player_0")["observation"].sum() == 4
    assert ours.observe("player_0")["observation"].sum() == 3


@pytest.mark.parametrize("action", [7, -1, 2.0, None, "3", np.int64(9)])
def test_what_is_no_column_is_refused_and_changes_nothing(action: Any) -> None:
    ours = env()
    ours.reset()
    with pytest.raises(AssertionError, match="not in action space"):
        ours.step(action)
    assert ours.agent_selection == "player_0"
    assert not ours.observe("player_0")["observation"].any()


def test_it_can_be_made_by_its_name() -> None:
    made = pettingzoo.make("aec", ID, board="5x4x3")
    assert isinstance(made, ConnectFour)
    assert str(made.rules) == "5x4x3"


def test_nothing_can_be_asked_before_reset() -> None:
    for ask in (lambda: env().step(0), lambda: env().last(), lambda: list(env().agent_iter())):
        with pytest.raises(AttributeError):
            ask()


def test_the_board_is_shown() -> None:
    ours = ConnectFour("4x3x3", render_mode="ansi")
    ours.reset()
    for column in (0, 1, 0, 1, 0):
        ours.step(column)
    assert ours.render() == "X . . .\nX O . .\nX O . .\n1 2 3 4\nred wins"
    assert env().render_mode is None
    pixels = ConnectFour("4x3x3", render_mode="rgb_array")
    pixels.reset()
    assert pixels.render().shape == (180, 240, 3)
    with pytest.raises(UserError, match="render modes are ansi and rgb_array, not 'human'"):
        env(render_mode="human")  # type: ignore[arg-type]
