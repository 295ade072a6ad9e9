import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from fourlab.arena.statistics import Estimate, elo_of, score_of
from fourlab.arena.tally import NORMALIZED, Tally
from fourlab.errors import UserError

TALLIES = st.one_of(*(st.lists(st.integers(0, 60), min_size=n, max_size=n) for n in (3, 5))).map(
    lambda counts: Tally(tuple(counts))
)


def half_width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return (estimate.high - estimate.low) / 2


@pytest.mark.parametrize(
    ("counts", "elo", "elo_error", "nelo", "nelo_error"),
    [
        ((379, 10170, 21828, 10640, 343), None, None, 3.05, 2.31),
        ((177, 1629, 3083, 1780, 221), 6.03, 3.49, 10.01, 5.80),
        ((241, 3440, 6895, 3664, 258), 3.09, 2.24, 5.52, 4.00),
    ],
)
def test_elo_and_normalized_elo_agree_with_fastchess(
    counts: tuple[int, ...], elo: float | None, elo_error: float, nelo: float, nelo_error: float
) -> None:
    tally = Tally(counts)
    if elo is not None:
        assert tally.elo().value == pytest.approx(elo, abs=0.005)
        assert half_width(tally.elo()) == pytest.approx(elo_error, abs=0.005)
    assert tally.normalized_elo().value == pytest.approx(nelo, abs=0.005)
    assert half_width(tally.normalized_elo()) == pytest.approx(nelo_error, abs=0.005)


def test_pairs_are_counted_by_their_points() -> None:
    scores = (0, 0.5, 1)
    assert Tally.of_pairs(itertools.product(scores, scores)).counts == (1, 2, 3, 2, 1)
    assert Tally.of_pairs([]).counts == (0, 0, 0, 0, 0)
    with pytest.raises(UserError, match="not 2"):
        Tally.of_pairs([(2, 0)])


@given(TALLIES.filter(lambda tally: tally.units > 0))
def test_mean_and_variance_agree_with_numpy(tally: Tally) -> None:
    scores = np.repeat(np.linspace(0, 1, len(tally.counts)), tally.counts)
    assert tally.score == pytest.approx(scores.mean())
    assert tally.variance == pytest.approx(scores.var(), abs=1e-12)


@given(TALLIES)
def test_every_tally_gives_finite_numbers_or_a_reason(tally: Tally) -> None:
    for estimate in (tally.elo(), tally.normalized_elo(), tally.los()):
        assert (estimate.value is None) == bool(tally.why_not)
        assert str(estimate)
        json.dumps(estimate.as_data(), allow_nan=False)


@given(TALLIES)
def test_swapping_the_agents_negates_the_estimates(tally: Tally) -> None:
    other = Tally(tally.counts[::-1])
    for ours, theirs in (
        (tally.elo(), other.elo()),
        (tally.normalized_elo(), other.normalized_elo()),
    ):
        for mine, yours in (
            (ours.value, theirs.value),
            (ours.low, theirs.high),
            (ours.high, theirs.low),
        ):
            assert (mine is None) == (yours is None)
            assert mine is None or yours is None or mine == pytest.approx(-yours, abs=1e-6)


@given(TALLIES.filter(lambda tally: not tally.why_not))
def test_superiority_is_the_normal_probability_of_a_lead(tally: Tally) -> None:
    expected = norm.cdf((tally.score - 0.5) / math.sqrt(tally.variance / tally.units))
    assert tally.los().value == pytest.approx(expected, abs=1e-9)


def test_single_games_have_a_deviation_of_their_own() -> None:
    games = Tally((30, 0, 70))
    assert games.elo().value == pytest.approx(elo_of(0.7))
    assert games.normalized_elo().value == pytest.approx(0.2 / math.sqrt(0.21) * 800 / math.log(10))


def test_pairs_that_cancel_an_advantage_are_more_precise_than_their_games() -> None:
    """Red wins nearly always: as pairs the results are steady, as games they look like chance."""
    pairs = Tally((2, 0, 90, 0, 8))
    games = Tally((94, 0, 106))
    assert pairs.score == games.score
    assert half_width(pairs.elo()) < half_width(games.elo()) / 2


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((0, 0, 0, 0, 0), "too few pairs: 10 are needed"),
        ((0, 1, 0), "too few games: 10 are needed"),
        ((1, 2, 1, 0, 0), "too few pairs: 10 are needed"),
        ((0, 0, 50, 0, 0), "every pair ended alike: not enough information"),
        ((0, 50, 0), "every game ended alike: not enough information"),
    ],
)
def test_counts_that_allow_no_estimate_give_a_reason(counts: tuple[int, ...], words: str) -> None:
    tally = Tally(counts)
    assert [str(tally.elo()), str(tally.normalized_elo()), str(tally.los())] == [words] * 3


@pytest.mark.parametrize(("counts", "score"), [((0, 0, 0, 0, 12), "100 %"), ((12, 0, 0), "0 %")])
def test_a_clean_score_has_a_reason_and_a_bound(counts: tuple[int, ...], score: str) -> None:
    tally = Tally(counts)
    side = "at least +" if tally.score == 1 else "at most -"
    for elo in (tally.elo(), tally.normalized_elo()):
        assert elo.value is None
        assert elo.why == f"a score of {score} has no finite Elo"
        assert str(elo).startswith(side)
        assert str(elo).endswith(" (95 %, one-sided)")
    # A probability is no Elo: it has a reason of its own.
    assert tally.los().why == f"cannot be estimated from a score of {score}"
    assert str(tally.los()) == ("over 99.9 %" if tally.score == 1 else "under 0.1 %")


@pytest.mark.parametrize("units", [1, 2, 5, 10, 40])
def test_the_bound_of_a_clean_score_is_the_least_likely_that_is_not_rejected(units: int) -> None:
    """Against a player with the bound's score, winning everything has a probability of 5 %."""
    won = Tally((0, 0, units))
    lost = Tally((units, 0, 0))
    bound = won.elo().low
    assert bound is not None
    assert score_of(bound) ** units == pytest.approx(0.05)
    assert lost.elo().high == pytest.approx(-bound)
    assert str(Tally((0, 0, 10)).elo()) == "at least +182.7 (95 %, one-sided)"


@pytest.mark.parametrize("units", [2, 5, 40])
def test_no_results_of_pairs_fall_below_the_bound_of_normalized_elo(units: int) -> None:
    """Try many ways to share out the pairs that are not won as a whole."""
    bound = Tally((0, 0, 0, 0, units)).normalized_elo().low
    assert bound is not None
    share = 0.05 ** (1 / units)
    rng = np.random.default_rng(units)
    lowest = math.inf
    for rest in rng.dirichlet([0.3] * 4, size=3000):
        shares = np.append(rest * (1 - share), share)
        points = np.arange(5) / 4
        mean = float((shares * points).sum())
        variance = float((shares * (points - mean) ** 2).sum())
        lowest = min(lowest, NORMALIZED * (mean - 0.5) / math.sqrt(2 * variance))
    assert bound <= lowest <= bound + 5


def test_superiority_of_a_clean_score_is_one_minus_the_luck_of_an_equal_player() -> None:
    assert Tally((0, 0, 0, 0, 5)).los().low == 1 - 1 / 32
    assert str(Tally((0, 0, 0, 0, 5)).los()) == "at least 96.9 %"
    assert str(Tally((5, 0, 0)).los()) == "at most 3.1 %"


def test_an_interval_beyond_a_score_of_one_has_no_upper_bound() -> None:
    elo = Tally((1, 0, 0, 0, 9)).elo()
    assert elo.low is not None
    assert elo.high is None


@pytest.mark.parametrize("counts", [(), (1, 2), (1, 2, 3, 4), (1, -1, 0)])
def test_counts_are_three_or_five_and_not_negative(counts: tuple[int, ...]) -> None:
    with pytest.raises(UserError):
        Tally(counts)
