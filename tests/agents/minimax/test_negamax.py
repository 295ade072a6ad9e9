import numpy as np
import pytest

from fourlab import Limit, Position, UserError, make


def test_it_wins_and_blocks() -> None:
    rng = np.random.default_rng(1)
    assert make("negamax").decide(Position("121212"), Limit(), rng).column == 0
    assert make("negamax").decide(Position("12131"), Limit(), rng).column == 0


def test_ties_are_broken_at_random_or_by_the_first() -> None:
    sampled = {
        make("negamax").decide(Position(), Limit(), np.random.default_rng(seed)).column
        for seed in range(30)
    }
    assert len(sampled) > 1
    first = {
        make("negamax:ties=first").decide(Position(), Limit(), np.random.default_rng(seed)).column
        for seed in range(30)
    }
    assert len(first) == 1


def test_the_score_is_kaggles() -> None:
    decision = make("negamax").decide(Position("121212"), Limit(), np.random.default_rng(0))
    assert decision.analysis.score == 18.5
    shallow = make("negamax").decide(Position("12"), Limit(depth=2), np.random.default_rng(0))
    assert shallow.analysis.depth == 2


def test_depths_that_take_too_long_are_refused() -> None:
    with pytest.raises(UserError, match="0 to 7"):
        make("negamax:depth=8")
