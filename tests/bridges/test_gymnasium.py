"""The environment for Gymnasium, judged by its own checker and by Position."""

import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from fourlab import RED, YELLOW, Decision, IllegalColumn, Limit, Position, UserError
from fourlab.bridges.gymnasium import ID, ConnectFour

SETTINGS: list[dict[str, Any]] = [
    {},
    {"opponent": "mcts:simulations=20", "seat": "random"},
    {"opponent": "rules:otherwise=random", "seat": "second", "board": "5x4x3"},
    {"start": "4453", "seat": "random", "illegal": "error"},
    {"start": "6/6/6/6/3r2 y 4"},
]


class Copycat:
    """Plays the column that was played last, if it can, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Position] = []

    def decide(self, position: Position, limit: Limit, rng: np.random.Generator) -> Decision:
        self.asked.append(position)
        last = (position.moves or (0,))[-1]
        return Decision(last if last in position.legal_columns() else position.legal_columns()[0])


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_gymnasiums_checker_finds_nothing(settings: dict[str, Any]) -> None:
    check_env(gymnasium.make(ID, **settings).unwrapped)  # in these tests warnings are errors


def episode(env: Any, seed: int | None, chance: random.Random) -> list[Any]:
    """Play one game with random moves; return all that the environment returned."""
    observation, info = env.reset(seed=seed)
    answers: list[Any] = [observation.tolist(), info["action_mask"].tolist()]
    over = False
    while not over:
        observation, reward, over, truncated, info = env.step(
            chance.choice(np.flatnonzero(info["action_mask"]).tolist())
        )
        answers += [observation.tolist(), reward, over, truncated, info["action_mask"].tolist()]
    return answers


@pytest.mark.parametrize(
    "opponent",
    ["random", "mcts:simulations=20", "mcts:simulations=5,reuse=games", "minimax:depth=2"],
)
def test_the_same_seed_gives_the_same_games_to_the_opponents_last_move(opponent: str) -> None:
    one, other = (ConnectFour(opponent, seat="random", board="5x4x4") for _ in range(2))
    episode(one, 99, random.Random(3))  # what was before does not matter
    games = [
        [episode(env, seed, random.Random(i)) for i, seed in enumerate((7, None, None))]
        for env in (one, other, one)
    ]
    assert games[0] == games[1] == games[2]
    assert len({str(episode(one, seed, random.Random(0))) for seed in range(12)}) > 1


@pytest.mark.parametrize("seat", ["first", "second", "random"])
@pytest.mark.parametrize("start", ["", "44", "445"])
def test_seats_observations_masks_and_rewards(seat: Any, start: str) -> None:
    env, chance, sides, rewards = (
        ConnectFour("random", seat, start=start),
        random.Random(1),
        set(),
        set(),
    )
    first = len(start) % 2
    for game in range(40):
        observation, info = env.reset(seed=game)
        sides.add(env.side)
        over, reward = False, 0.0
        while not over:
            assert env.position.to_move == env.side
            assert reward == 0
            grid = np.array(env.position.grid())
            np.testing.assert_array_equal(observation[..., 0], grid == 1 + env.side)
            np.testing.assert_array_equal(observation[..., 1], grid == 2 - env.side)
            legal = list(env.position.legal_columns())
            assert (
                np.flatnonzero(env.action_masks()).tolist()
                == np.flatnonzero(info["action_mask"]).tolist()
                == legal
            )
            observation, reward, over, truncated, info = env.step(chance.choice(legal))
            assert not truncated
        outcome = env.position.outcome()
        assert outcome is not None
        assert reward == outcome.score(env.side)
        assert not env.action_masks().any()
        rewards.add(reward)
        moves = env.position.moves
        assert moves is not None
        assert moves[: len(start)] == Position(start).moves
    assert sides == {"first": {first}, "second": {1 - first}, "random": {RED, YELLOW}}[seat]
    assert rewards >= {-1.0, 1.0}


def test_a_draw_is_worth_nothing() -> None:
    env = ConnectFour(Copycat(), board="2x2x3")
    env.reset()
    assert env.step(0)[1:3] == (0.0, False)
    assert env.step(1)[1:3] == (0.0, True)


def test_the_opponent_may_be_an_agent_of_ones_own() -> None:
    opponent = Copycat()
    env = ConnectFour(opponent)
    env.reset(seed=1)
    env.step(4)
    env.step(np.int64(2))
    assert env.position == Position("5533")
    assert opponent.asked == [Position("5"), Position("553")]
    made = gymnasium.make(ID, opponent=opponent)
    made.reset(seed=1)
    assert made.step(4)[0].sum() == 2


def test_a_full_column_loses_or_raises() -> None:
    full = Position("444444")
    for illegal in ("lose", "error"):
        env = ConnectFour(start="444444", illegal=illegal)  # type: ignore[arg-type]
        before, _ = env.reset()
        if illegal == "error":
            with pytest.raises(IllegalColumn, match=r"column 3 \(counted from 0\) is full"):
                env.step(3)
        else:
            observation, reward, over, truncated, info = env.step(3)
            assert (reward, over, truncated, info["illegal"]) == (-1.0, True, False, True)
            np.testing.assert_array_equal(observation, before)
            assert not info["action_mask"].any()
        assert env.position == full


@pytest.mark.parametrize("column", [7, -1])
def test_what_is_no_column_raises_whatever_a_full_one_costs(column: int) -> None:
    env = ConnectFour()
    env.reset()
    with pytest.raises(IllegalColumn, match="there is no column"):
        env.step(column)


def test_a_finished_game_cannot_go_on() -> None:
    env = ConnectFour(start="121212")
    env.reset()
    assert env.step(0)[1:3] == (1.0, True)
    with pytest.raises(IllegalColumn, match="the game is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"opponent": "rule"}, "there is no agent 'rule'"),
        ({"seat": "third"}, "seat is first or second or random, not 'third'"),
        ({"illegal": "pass"}, "illegal is lose or error, not 'pass'"),
        ({"render_mode": "human"}, "render modes are ansi and rgb_array, not 'human'"),
        ({"board": "9x9"}, "too large"),
        ({"start": "1212121"}, "it is over"),
        (
            {"start": "121212", "seat": "random"},
            "the opponent could end the game before the learner's first move, in column 1",
        ),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        ConnectFour(**settings)


def test_reset_takes_no_options() -> None:
    with pytest.raises(UserError, match="reset takes no options"):
        ConnectFour().reset(options={"seat": "second"})


def test_the_board_is_shown_as_text() -> None:
    env = ConnectFour(Copycat(), board="4x3x3", render_mode="ansi")
    env.reset()
    env.step(3)
    assert env.render() == ". . . .\n. . . O\n. . . X\n1 2 3 4\nred to move"
    assert ConnectFour().render() is None


def test_closing_ends_what_the_opponent_started() -> None:
    closed = []
    opponent = Copycat()
    opponent.close = lambda: closed.append(1)  # type: ignore[attr-defined]
    ConnectFour(opponent).close()
    ConnectFour("random").close()
    assert closed == [1]


def test_the_opponent_may_be_a_function() -> None:
    env = ConnectFour(lambda position: position.legal_columns()[-1])
    env.reset(seed=1)
    env.step(3)
    assert env.position == Position("47")
