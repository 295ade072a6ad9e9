"""Worst-case results of policies, compared with a search without memoisation."""

from collections.abc import Callable

import numpy as np
import pytest

from fourlab import RED, YELLOW, Limit, Position, make
from fourlab.agents.q.worst_case import worst_and_perfect, worst_result
from fourlab.game.rules import Rules


def leftmost(position: Position) -> int:
    return position.legal_columns()[0]


def rightmost(position: Position) -> int:
    return position.legal_columns()[-1]


def plain_search(policy: Callable[[Position], int], side: int, position: Position) -> int:
    if (outcome := position.outcome()) is not None:
        return outcome.score(side)
    columns = [policy(position)] if position.to_move == side else position.legal_columns()
    return min(plain_search(policy, side, position.play(column)) for column in columns)


@pytest.mark.parametrize("policy", [leftmost, rightmost])
@pytest.mark.parametrize("board", ["3x2x3", "3x3x3", "4x2x3", "4x3x3"])
@pytest.mark.parametrize("side", [RED, YELLOW])
def test_the_worst_result_equals_that_of_a_plain_search(
    policy: Callable[[Position], int], board: str, side: int
) -> None:
    start = Position(board=board)
    assert worst_result(policy, side, start) == plain_search(policy, side, start)


def test_perfect_play_keeps_the_value_of_the_board() -> None:
    perfect = make("perfect")
    rng = np.random.default_rng(0)
    results = worst_and_perfect(
        lambda position: perfect.decide(position, Limit(), rng).column, Rules.parse("4x4x3")
    )
    assert results == {"first": {"worst": 1, "perfect": 1}, "second": {"worst": -1, "perfect": -1}}


def test_a_poor_player_gets_less() -> None:
    assert worst_and_perfect(leftmost, Rules.parse("5x2x4")) == {
        "first": {"worst": -1, "perfect": 0},
        "second": {"worst": -1, "perfect": 0},
    }
