"""The tests behind the verdicts on Bhat's curves and sweeps."""

import numpy as np
import pytest
from scipy.stats import kruskal

from fourlab.studies.bhat import comparisons
from fourlab.studies.claims import Answer
from fourlab.studies.verdicts import larger_paired

RUNS = 400


def test_equal_curves_agree_and_others_differ() -> None:
    hers = [(36, 50)] * 16
    ours = [(720, 1000)] * 16
    equal = comparisons.same_curve(hers, ours, 10)
    assert equal.answer == Answer.AGREES
    assert equal.p == pytest.approx(1)
    assert comparisons.same_curve(hers, [(900, 1000)] * 16, 10).answer == Answer.DIFFERS
    assert comparisons.same_curve(hers[:2], [(7, 10)] * 2, 10).answer == Answer.CANNOT_TELL
    # A curve that is off by four points at every place is within ten, although the test sees it.
    near = comparisons.same_curve([(720, 1000)] * 16, [(760, 1000)] * 16, 10)
    assert near.p is not None
    assert near.p < 0.05
    assert near.answer == Answer.AGREES
    assert near.low is not None
    assert near.high is not None
    assert near.difference == pytest.approx(4, abs=0.7)
    assert near.low < 4 < near.high < 10
    assert comparisons.same_curve([(720, 1000)] * 16, [(760, 1000)] * 16, 2).answer == (
        Answer.DIFFERS
    )


def test_the_power_of_a_curve_is_the_share_of_equal_curves_that_agree() -> None:
    rng = np.random.default_rng(4)
    agree = 0
    curves = 60
    for _ in range(curves):
        hers, ours = (
            [(int(count), of) for count in rng.binomial(of, 0.7, 16)] for of in (50, 1000)
        )
        agree += comparisons.same_curve(hers, ours, 10).answer == Answer.AGREES
    power = comparisons.same_curve([(35, 50)] * 16, [(700, 1000)] * 16, 10).power
    assert power == pytest.approx(agree / curves, abs=0.1)


def test_shares_vary_only_if_one_of_them_is_off() -> None:
    flat = [(720, 1000)] * 14
    assert comparisons.varies(flat, 8).answer == Answer.DIFFERS
    assert comparisons.varies([*flat[1:], (640, 1000)], 8).answer == Answer.AGREES
    assert comparisons.varies([(36, 50)] * 14, 8).answer == Answer.CANNOT_TELL


def test_the_power_to_see_one_share_off_is_that_of_simulated_bars() -> None:
    rng = np.random.default_rng(0)
    places = [0.7] * 13 + [0.78]
    seen = 0
    for _ in range(RUNS):
        cells = [(int(rng.binomial(600, share)), 600) for share in places]
        seen += comparisons.varies(cells, 8).answer == Answer.AGREES
    power = comparisons.varies([(420, 600)] * 14, 8).power
    assert power == pytest.approx(seen / RUNS, abs=0.08)


def test_settings_matter_only_if_their_runs_agree_with_each_other() -> None:
    rng = np.random.default_rng(2)
    noise = [rng.normal(1700, 170, 3).tolist() for _ in range(30)]
    verdict = comparisons.depends(noise, 0.1)
    assert verdict.p == pytest.approx(kruskal(*noise).pvalue)
    assert verdict.answer == Answer.DIFFERS
    trend = [[1000.0 + 100 * group + run for run in range(3)] for group in range(10)]
    assert comparisons.depends(trend, 0.1).answer == Answer.AGREES


def test_pairs_are_compared_place_by_place() -> None:
    rng = np.random.default_rng(3)
    base = rng.uniform(0, 90, 300)
    # A small constant gain is lost in the spread of positions, unless they are paired.
    better = larger_paired((base + 3).tolist(), base.tolist(), 5, "points")
    assert better.answer == Answer.AGREES
    same = larger_paired(base.tolist(), base.tolist(), 5, "points", what="seeds")
    assert same.answer == Answer.DIFFERS
    assert "0: the same games" in same.test
    few = larger_paired([0.0, 100, 0], [100.0, 0, 0], 5, "points")
    assert few.answer == Answer.CANNOT_TELL
