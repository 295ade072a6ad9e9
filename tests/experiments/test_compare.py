"""Whether two numbers agree."""

import pytest
from scipy.stats import fisher_exact

from fourlab.experiments.compare import consistent, fisher, mean, same_share, share


@pytest.mark.parametrize(
    "counts", [(12, 50, 293, 1000), (0, 50, 3, 1000), (2, 50, 3, 1000), (5, 5, 0, 7), (0, 3, 0, 4), (36, 50, 722, 1000)]
)
def test_fishers_test_is_scipys(counts: tuple[int, int, int, int]) -> None:
    one, of_one, other, of_other = counts
    expected = fisher_exact([[one, of_one - one], [other, of_other - other]]).pvalue
    assert fisher(*counts) == pytest.approx(expected, rel=1e-6)
    assert same_share(*counts) == (expected >= 0.01)


def test_words() -> None:
    assert share(71, 100) == "71.0 % [61.5, 79.0] of 100"
    assert share(0, 0) == "none"
    assert mean([1.0, 2.0, 3.0]) == "2.000 [0.868, 3.132], sd 1.000"


def test_a_mean_of_runs_is_consistent_with_runs_like_it() -> None:
    runs = [0.6, 0.7, 0.65, 0.75, 0.7]
    assert consistent(0.70, runs, of=25)
    assert not consistent(0.95, runs, of=25)
