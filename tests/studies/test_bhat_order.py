"""Which panel of Figure 6 shows which order of play."""

import pytest
from scipy.stats import betabinom

from fourlab.studies.bhat import order


def test_exchanged_labels_are_likelier_if_moving_first_helps() -> None:
    helps = {"MC40": [(30, 70, 0)] * 16, "MC200": [(24, 76, 0)] * 16}
    assert order._log_odds_of_exchange(helps) > 0
    assert order._log_odds_of_exchange({"MC40": helps["MC200"], "MC200": helps["MC40"]}) < 0


def test_few_games_of_ours_give_no_verdict_on_the_labels() -> None:
    few, many = (
        {"MC40": [(3 * n, 7 * n, 0)] * 16, "MC200": [(2 * n, 8 * n, 0)] * 16} for n in (1, 1000)
    )
    assert 0 < order._log_odds_of_exchange(few) < order._log_odds_of_exchange(many) / 3
    for curves, decided in ((few, False), (many, True)):
        assert (order.order_of_play(curves, curves).reproduced is not None) is decided
    verdict = order.order_of_play(many, many).reproduced
    assert verdict is not None
    assert verdict.p is not None
    assert verdict.power is not None
    # The published bars fit exchanged labels; a difference of ten points is easy to notice.
    assert verdict.p < 0.01
    assert verdict.power > 0.9
    same = {"MC40": [(300, 700, 0)] * 16, "MC200": [(300, 700, 0)] * 16}
    assert order.exchange_by_chance(same, 0.0) == (1.0, 0.0), "there is nothing to notice"
    difference = order._log_likelihood((13, 36, 1), (3, 7, 0)) - order._log_likelihood(
        (13, 36, 1), (60, 40, 0)
    )
    expected = betabinom.logpmf(36, 50, 8, 4) - betabinom.logpmf(36, 50, 41, 61)
    assert difference == pytest.approx(expected)
