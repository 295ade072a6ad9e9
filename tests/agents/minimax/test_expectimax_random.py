from fractions import Fraction

import numpy as np
import pytest

from fourlab import Limit, Position, UserError, make
from fourlab.agents.minimax.expectimax_random import ExpectimaxRandom


def test_the_exact_values_of_vannucci_and_abrils_position() -> None:
    values, positions = ExpectimaxRandom().values(Position("vannucci-abril"))
    assert values == {4: 1, 6: Fraction(21, 32)}
    assert positions == 313


def test_it_plays_the_line_of_vannucci_and_abril() -> None:
    agent = make("expectimax-random")
    rng = np.random.default_rng(0)
    position = Position("vannucci-abril")
    own: list[int] = []
    for reply in (6, 4):
        own.append(agent.decide(position, Limit(), rng).column)
        position = position.play(own[-1]).play(reply)
    own.append(agent.decide(position, Limit(), rng).column)
    assert own == [4, 6, 4]
    assert position.play(4).outcome() is not None
    after = Position("vannucci-abril").play(4).play(4)
    assert ExpectimaxRandom().values(after)[0] == {4: 1, 6: Fraction(-13, 16)}


def test_it_always_wins_from_a_certain_win() -> None:
    agent = make("expectimax-random")
    for seed in range(30):
        position = Position("vannucci-abril")
        rng = np.random.default_rng(seed)
        while position.outcome() is None:
            player = agent if position.to_move == 0 else make("random")
            position = position.play(player.decide(position, Limit(), rng).column)
        assert position.outcome().value == 1  # type: ignore[union-attr]


def test_too_many_empty_cells_are_refused() -> None:
    with pytest.raises(UserError, match="few empty cells"):
        ExpectimaxRandom(positions=2000).values(Position())
