import pytest
from scipy.stats import binomtest

from fourlab.arena.stats import wilson


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 20), (20, 20), (3, 17), (98, 100), (500, 1000)])
def test_wilson_is_what_scipy_says(successes: int, trials: int) -> None:
    known = binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson(successes, trials) == pytest.approx((known.low, known.high), abs=1e-9)


def test_without_trials_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
