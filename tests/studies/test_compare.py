"""Estimates as text, and the tests behind the verdicts."""

import pytest
from scipy.stats import chi2, chi2_contingency, fisher_exact

from fourlab.studies.compare import (
    chi_squared_tail,
    consistent,
    falls,
    fisher,
    homogeneity,
    may_happen,
    mean,
    p_value,
    same_share,
    share,
)


@pytest.mark.parametrize(
    "counts",
    [
        (12, 50, 293, 1000),
        (0, 50, 3, 1000),
        (2, 50, 3, 1000),
        (5, 5, 0, 7),
        (0, 3, 0, 4),
        (36, 50, 722, 1000),
    ],
)
def test_fishers_test_is_scipys(counts: tuple[int, int, int, int]) -> None:
    one, of_one, other, of_other = counts
    expected = fisher_exact([[one, of_one - one], [other, of_other - other]]).pvalue
    assert fisher(*counts) == pytest.approx(expected, rel=1e-6)
    assert same_share(*counts) == (expected >= 0.01)


def test_an_event_seen_once_may_happen_if_one_in_a_hundred_of_our_trials_shows_it() -> None:
    assert [may_happen(count, 19) for count in (0, 19)] == [None, None], "too few to tell"
    assert [may_happen(0, 20), may_happen(1, 20), may_happen(9, 1000), may_happen(10, 1000)] == [
        False,
        True,
        False,
        True,
    ]
    assert same_share(1, 1, 0, 99), "a test of two shares would not tell"


def test_estimates_as_text() -> None:
    assert share(71, 100) == "71.0 % [61.5, 79.0] of 100"
    assert share(0, 0) == "none"
    assert [p_value(chance) for chance in (0.2693, 0.00004)] == ["p = 0.27", "p < 0.0001"]
    assert mean([1.0, 2.0, 3.0]) == "2.000 [0.868, 3.132], sd 1.000"


def test_a_mean_of_runs_is_consistent_with_runs_like_it() -> None:
    runs = [0.6, 0.7, 0.65, 0.75, 0.7]
    assert consistent(0.70, runs, of=25)
    assert not consistent(0.95, runs, of=25)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 14, 29, 30])
def test_the_tail_of_chi_squared_is_scipys(freedom: int) -> None:
    for statistic in (0.0, 0.3, 2.0, 14.0, 80.0):
        assert chi_squared_tail(statistic, freedom) == pytest.approx(
            chi2.sf(statistic, freedom), rel=1e-9
        )


def test_homogeneity_is_scipys_and_ignores_empty_columns() -> None:
    rows = [(95, 34, 371), (120, 40, 420), (80, 51, 300)]
    assert homogeneity(rows) == pytest.approx(
        chi2_contingency(rows, correction=False).pvalue, rel=1e-9
    )
    assert homogeneity([(5, 0, 6), (7, 0, 3)]) == pytest.approx(homogeneity([(5, 6), (7, 3)]))
    assert homogeneity([(5, 0), (7, 0)]) == 1.0


def test_a_fall_is_reported_only_where_chance_does_not_explain_it() -> None:
    assert falls(30, 40, 5, 40) is True
    assert falls(5, 40, 30, 40) is False
    assert falls(20, 40, 18, 40) is None
