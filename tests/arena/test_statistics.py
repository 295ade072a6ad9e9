import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from fourlab.arena.statistics import Estimate, elo_of, score_of, wilson


@pytest.mark.parametrize(
    ("successes", "trials"), [(0, 1), (1, 1), (0, 20), (20, 20), (3, 17), (98, 100), (500, 1000)]
)
def test_wilson_agrees_with_scipy(successes: int, trials: int) -> None:
    interval = binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson(successes, trials) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_without_trials_the_interval_is_everything() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_known_points_of_the_elo_scale() -> None:
    assert score_of(0) == 0.5
    assert score_of(400) == pytest.approx(10 / 11)
    assert elo_of(0.75) == pytest.approx(190.848501887865)
    assert elo_of(1) == math.inf
    assert elo_of(0) == -math.inf


@given(st.floats(-2000, 2000))
def test_elo_and_score_undo_each_other(elo: float) -> None:
    assert elo_of(score_of(elo)) == pytest.approx(elo, abs=1e-6)
    assert score_of(elo) + score_of(-elo) == pytest.approx(1)


@pytest.mark.parametrize("elo", [1e9, 1e308, math.inf])
def test_no_elo_is_too_large(elo: float) -> None:
    assert score_of(elo) == 1
    assert score_of(-elo) == 0


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate.between(-4.1, 12.34, 28.7), "+12.3 [-4.1, +28.7]"),
        (Estimate.between(-0.04, -0.01, 0.04), "+0.0 [+0.0, +0.0]"),
        (Estimate.between(100, 300, math.inf), "+300.0 [+100.0, no bound]"),
        (Estimate.between(-math.inf, 0, math.inf), "+0.0 (no bound on either side)"),
        (Estimate(12.3), "+12.3"),
        (Estimate(why="too few pairs"), "too few pairs"),
        (Estimate(0.9876, is_share=True), "98.8 %"),
        (Estimate(0.99999, is_share=True), "over 99.9 %"),
        (Estimate(0.00001, is_share=True), "under 0.1 %"),
    ],
)
def test_an_estimate_is_written_with_its_interval_or_a_reason(
    estimate: Estimate, text: str
) -> None:
    assert str(estimate) == text
    assert estimate.as_data()["text"] == text
    json.dumps(estimate.as_data(), allow_nan=False)
