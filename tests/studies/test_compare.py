"""The distributions and tests that several studies need, beside SciPy's."""

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency, fisher_exact

from fourlab.studies.compare import (
    chi_squared_tail,
    holm,
    homogeneity,
)
from fourlab.studies.proportions import freeman_halton


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
    assert freeman_halton([one, of_one - one], [other, of_other - other]) == pytest.approx(
        expected, rel=1e-6
    )


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


def test_holms_correction_is_that_of_the_paper() -> None:
    # Multiplied by 4, 3, 2 and 1 in the order of their size, and never falling.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_holms_correction_seldom_rejects_among_many_tests_of_nothing() -> None:
    rng = np.random.default_rng(0)
    wrong = sum(min(holm(rng.uniform(size=100).tolist())) < 0.05 for _ in range(400))
    assert wrong / 400 == pytest.approx(0.05, abs=0.03)
