"""What a policy gets against the worst replies, beside a search without any memory."""

from collections.abc import Callable

import numpy as np
import pytest

from fourlab import RED, YELLOW, Limit, Position, make
from fourlab.agents.q.worst_case import beside_the_truth, worst_result
from fourlab.game.rules import Rules


def leftmost(position: Position) -> int:
    return position.legal_columns()[0]


def rightmost(position: Position) -> int:
    return position.legal_columns()[-1]


def plainly(policy: Callable[[Position], int], side: int, position: Position) -> int:
    if (outcome := position.outcome()) is not None:
        return outcome.score(side)
    columns = [policy(position)] if position.to_move == side else position.legal_columns()
    return min(plainly(policy, side, position.play(column)) for column in columns)


@pytest.mark.parametrize("policy", [leftmost, rightmost])
@pytest.mark.parametrize("board", ["3x2x3", "3x3x3", "4x2x3", "4x3x3"])
@pytest.mark.parametrize("side", [RED, YELLOW])
def test_the_worst_result_is_that_of_a_plain_search(policy: Callable[[Position], int], board: str, side: int) -> None:
    start = Position(board=board)
    assert worst_result(policy, side, start) == plainly(policy, side, start)


def test_perfect_play_gets_what_the_board_is_worth() -> None:
    perfect = make("perfect")
    rng = np.random.default_rng(0)
    found = beside_the_truth(lambda position: perfect.decide(position, Limit(), rng).column, Rules.parse("4x4x3"))
    assert found == {"first": {"worst": 1, "perfect": 1}, "second": {"worst": -1, "perfect": -1}}


def test_a_poor_player_gets_less() -> None:
    assert beside_the_truth(leftmost, Rules.parse("5x2x4")) == {
        "first": {"worst": -1, "perfect": 0},
        "second": {"worst": -1, "perfect": 0},
    }
