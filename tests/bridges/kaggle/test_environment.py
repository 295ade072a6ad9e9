"""Submissions in Kaggle's own environment."""

from pathlib import Path
from typing import Any

import pytest

from fourlab.bridges.kaggle.export import source_of
from fourlab.bridges.kaggle.submission import load
from tests.bridges.kaggle.plain import plain_agent

STRONG = "perfect"
QUICK = 0.06
"""Seconds a move; only one game is played with the full clock."""


@pytest.fixture(scope="module")
def agent() -> Any:
    return load(source_of(STRONG))


def play(environments: Any, agent: Any, opponent: str, seat: int, **configuration: Any) -> int:
    """The reward of the agent in one game, in which nobody may do anything wrong."""
    game = environments.make("connectx", configuration=configuration)
    game.run([agent, opponent] if seat == 0 else [opponent, agent])
    assert [state.status for state in game.state] == ["DONE", "DONE"]
    return int(game.state[seat].reward)


@pytest.mark.parametrize(
    ("opponent", "games", "least"),
    [
        ("random", 4, 3),
        ("negamax", 4, 1),
        pytest.param("random", 20, 18, marks=pytest.mark.soak),
        pytest.param("negamax", 20, 11, marks=pytest.mark.soak),
    ],
)
def test_games_without_a_fault(
    environments: Any, agent: Any, opponent: str, games: int, least: int
) -> None:
    rewards = [
        play(environments, agent, opponent, number % 2, actTimeout=QUICK) for number in range(games)
    ]
    assert rewards.count(1) >= least


def test_a_game_of_the_file_itself_with_the_full_clock(environments: Any, tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    file.write_text(source_of("mcts:seconds=0.4"))
    assert play(environments, str(file), "random", 1) == 1


@pytest.mark.parametrize(
    "spec",
    [
        "random",
        "rules",
        "minimax",
        "mcts:simulations=50",
        "value",
        "dqn",
        "alphazero:simulations=8",
        "patterns:nodes=50",
        "anytime:nodes=50",
    ],
)
@pytest.mark.parametrize("board", [(7, 6, 4), (9, 8, 5), (3, 3, 2), (2, 1, 1)])
def test_every_kind_plays_on_every_board(
    environments: Any, spec: str, board: tuple[int, int, int]
) -> None:
    columns, rows, in_a_row = board
    configuration = {"columns": columns, "rows": rows, "inarow": in_a_row, "actTimeout": QUICK}
    for seat in (0, 1):
        assert play(environments, plain_agent(spec), "random", seat, **configuration) in (-1, 0, 1)
