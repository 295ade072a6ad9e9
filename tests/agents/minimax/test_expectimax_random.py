from fractions import Fraction

import numpy as np
import pytest

from fourlab import Limit, Position, UserError, make
from fourlab.agents.minimax.expectimax_random import ExpectimaxRandom


def test_the_exact_values_of_document_000() -> None:
    values, seen = ExpectimaxRandom().values(Position("vannucci-abril"))
    assert values == {4: 1, 6: Fraction(21, 32)}
    assert seen == 313


def test_the_documents_line_is_the_right_one() -> None:
    agent, rng = make("expectimax-random"), np.random.default_rng(0)
    position, own = Position("vannucci-abril"), []
    for reply in (6, 4):
        own.append(agent.decide(position, Limit(), rng).column)
        position = position.play(own[-1]).play(reply)
    own.append(agent.decide(position, Limit(), rng).column)
    assert own == [4, 6, 4]
    assert position.play(4).outcome() is not None
    after = Position("vannucci-abril").play(4).play(4)
    assert ExpectimaxRandom().values(after)[0] == {4: 1, 6: Fraction(-13, 16)}


def test_a_random_opponent_never_beats_it_when_it_has_a_sure_win() -> None:
    agent = make("expectimax-random")
    for seed in range(30):
        position, rng = Position("vannucci-abril"), np.random.default_rng(seed)
        while position.outcome() is None:
            player = agent if position.to_move == 0 else make("random")
            position = position.play(player.decide(position, Limit(), rng).column)
        assert position.outcome().value == 1  # type: ignore[union-attr]


def test_too_many_empty_cells_are_refused() -> None:
    with pytest.raises(UserError, match="few empty cells"):
        ExpectimaxRandom(positions=2000).values(Position())
