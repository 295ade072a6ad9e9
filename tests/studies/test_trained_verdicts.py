"""Verdicts on players that were trained, several times with different seeds."""

import numpy as np
import pytest
from scipy import stats

from fourlab.studies.claims import Answer, Counts
from fourlab.studies.compare import (
    f_tail,
)
from fourlab.studies.verdicts import (
    at_least_trained,
    larger_mean,
    same_share,
    same_trained,
    same_trained_counts,
)


def test_training_variance_widens_the_comparison() -> None:
    # 0.81 of 100 games differs from games of one network at 0.6, but not from trainings that vary.
    assert same_share(81, 100, 1800, 3000, 20).answer == Answer.DIFFERS
    varied = same_trained(0.81, 100, [0.45, 0.60, 0.75], 0.2)
    assert varied.answer == Answer.CANNOT_TELL
    alike = same_trained(0.61, 100, [0.60, 0.61, 0.59, 0.60, 0.60, 0.61], 0.2)
    assert alike.answer == Answer.AGREES
    with pytest.raises(ValueError, match="at least three"):
        same_trained(0.81, 100, [0.8, 0.9], 0.2)


def counts_of(rng: np.random.Generator, games: int, shares: tuple[float, ...]) -> Counts:
    lost, won, drawn = rng.multinomial(games, shares).tolist()
    return Counts({"MC_n": lost, "Q": won, "draw": drawn})


def test_equality_of_trainings_of_the_same_kind_is_seldom_rejected() -> None:
    rng = np.random.default_rng(1)
    shares = (0.5, 0.1, 0.4)
    rejected = 0
    for _ in range(400):
        reported = counts_of(rng, 500, shares)
        ours = [counts_of(rng, 2000, shares) for _ in range(4)]
        verdict = same_trained_counts(reported, ours, 10)
        assert verdict.p is not None
        rejected += verdict.p < 0.05
        assert verdict.answer != Answer.DIFFERS, "chance does not move ten points"
    # The estimated variance is at least that of the games, so the test errs on the safe side.
    assert 0 < rejected / 400 < 0.08


def test_the_f_distribution_is_scipys() -> None:
    for freedom in (1, 2):
        for below in (2, 4, 38):
            for ratio in (0.0, 0.3, 1.0, 4.5, 60.0):
                exact = stats.f.sf(ratio, freedom, below)
                assert f_tail(ratio, freedom, below) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.15])
def test_equal_trainings_that_vary_are_seldom_rejected(spread: float) -> None:
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(400):
        shares = np.clip(0.6 + spread * rng.standard_normal(4), 0.02, 0.98)
        reported, *ours = (counts_of(rng, 100, (won, 1 - won, 0.0)) for won in shares.tolist())
        verdict = same_trained_counts(reported, ours, 25)
        assert verdict.p is not None
        rejected += verdict.p < 0.05
    assert rejected / 400 <= 0.08


def test_trainings_that_differ_widen_the_comparison() -> None:
    reported = Counts({"MC_n": 320, "Q": 130, "draw": 50})
    alike = [Counts({"MC_n": 500, "Q": 400, "draw": 100})] * 3
    apart = [Counts({"MC_n": lost, "Q": 900 - lost, "draw": 100}) for lost in (300, 500, 700)]
    assert same_trained_counts(reported, alike, 10).answer == Answer.DIFFERS
    assert same_trained_counts(reported, apart, 10).answer == Answer.CANNOT_TELL
    with pytest.raises(ValueError, match="three"):
        same_trained_counts(reported, alike[:2], 10)


def test_at_least_half_and_more_over_trainings() -> None:
    assert at_least_trained([0.8, 0.85, 0.9], 100, 0.5).answer == Answer.AGREES
    assert at_least_trained([0.1, 0.15, 0.2], 100, 0.5).answer == Answer.DIFFERS
    assert at_least_trained([0.3, 0.6, 0.9], 100, 0.5).answer == Answer.CANNOT_TELL
    assert at_least_trained([0.6] * 3, 4, 0.5).answer == Answer.CANNOT_TELL, "few games"
    more, less = [80.0, 85.0, 90.0], [20.0, 30.0, 25.0]
    verdict = larger_mean(more, less, 20, "points", trained=True)
    assert verdict.answer == Answer.AGREES
    expected = stats.ttest_ind(more, less, equal_var=False)
    assert verdict.p == pytest.approx(expected.pvalue)
    assert larger_mean(less, more, 20, "points", trained=True).answer == Answer.DIFFERS
    unsure = larger_mean([10, 50, 90], less, 20, "points", trained=True)
    assert unsure.answer == Answer.CANNOT_TELL
    # Trainings that agree by chance are not certain.
    alike = larger_mean([50.0] * 3, [49.9375] * 3, 20, "points", trained=True)
    assert alike.p == pytest.approx(2 * stats.t.sf(0.625, 4))
    with pytest.raises(ValueError, match="at least three"):
        at_least_trained([1, 1], 9, 0.5)
    with pytest.raises(ValueError, match="at least three"):
        larger_mean([1], less, 20, "points", trained=True)
