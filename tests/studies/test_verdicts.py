"""The tests behind the verdicts, beside SciPy's and beside simulation."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from fourlab.studies.claims import Answer, Counts, shares
from fourlab.studies.verdicts import (
    LEVEL,
    at_least,
    at_least_trained,
    chi_squared_quantile,
    freeman_halton,
    larger_mean,
    larger_share,
    larger_trained,
    may_happen,
    noncentral_tail,
    power_of_counts,
    same_counts,
    same_mean,
    same_number,
    same_share,
    same_trained,
    student_quantile,
    student_tail,
    typical,
)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 24, 199])
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 2.5, 7.0, -2.0])
def test_students_distribution_is_scipys(freedom: int, t: float) -> None:
    assert student_tail(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), abs=1e-12)
    assert student_quantile(0.975, freedom) == pytest.approx(stats.t.ppf(0.975, freedom))


@pytest.mark.parametrize("freedom", [1, 2, 5])
def test_noncentral_chi_squared_is_scipys(freedom: int) -> None:
    critical = chi_squared_quantile(0.05, freedom)
    assert critical == pytest.approx(stats.chi2.ppf(0.95, freedom))
    for noncentrality in (0.1, 1.0, 7.85, 60.0):
        expected = stats.ncx2.sf(critical, freedom, noncentrality)
        assert noncentral_tail(critical, freedom, noncentrality) == pytest.approx(expected)


def test_the_exact_test_of_two_columns_is_scipys() -> None:
    for rows in ([[12, 38], [293, 707]], [[0, 50], [3, 997]], [[5, 0], [0, 7]]):
        assert freeman_halton(*rows) == pytest.approx(stats.fisher_exact(rows).pvalue, rel=1e-6)


def test_the_exact_test_of_three_columns_is_a_permutation_test() -> None:
    first, second = [71, 16, 13], [95, 39, 7]
    rng = np.random.default_rng(1)
    totals = np.add(first, second)
    tables = rng.multivariate_hypergeometric(totals, sum(first), size=40_000)
    log_factorials = np.cumsum(np.log(np.maximum(np.arange(400), 1)))

    def log_probability(table: Any) -> Any:
        return -(log_factorials[table] + log_factorials[totals - table]).sum(-1)

    observed = log_probability(np.array(first))
    share = np.mean(log_probability(tables) <= observed + 1e-7)
    assert freeman_halton(first, second) == pytest.approx(share, abs=0.008)


def test_power_is_the_share_of_simulated_tests_that_reject() -> None:
    rng = np.random.default_rng(2)
    pooled = np.array([0.7, 0.2, 0.1])
    powers = []
    # Lost games can give 15 points to the others as well as get them; draws have only 10.
    for source, target in ((0, 1), (0, 2), (1, 0), (1, 2)):
        reported = pooled.copy()
        reported[[source, target]] += (-0.15, 0.15)
        rows = zip(
            rng.multinomial(100, reported, 500), rng.multinomial(1000, pooled, 500), strict=True
        )
        tests = [stats.chi2_contingency(table).pvalue for table in rows]
        powers.append(np.mean(np.array(tests) < 0.05))
    computed = power_of_counts([70, 20, 10], [700, 200, 100], 0.15)
    assert computed == pytest.approx(min(powers), abs=0.06)


def test_three_answers_for_a_match() -> None:
    thesis = shares(71, 16, 13)
    assert same_counts(thesis, shares(730, 170, 100), 15).answer == Answer.AGREES
    assert same_counts(thesis, shares(350, 600, 50), 15).answer == Answer.DIFFERS
    # Ten games could be anything.
    small = same_counts(thesis, shares(7, 2, 1), 15)
    assert small.answer == Answer.CANNOT_TELL
    assert small.power is not None
    assert small.power < 0.8
    assert "power" in str(small)
    assert "margin 15 points" in str(small)


def test_a_difference_within_the_margin_agrees_although_many_games_show_it() -> None:
    # Arya's Experiment 3: 98-2-0 of a hundred games beside our four hundred.
    verdict = same_counts(shares(98, 2, 0), shares(346, 44, 10), 15)
    assert verdict.difference == pytest.approx(11.5)
    assert verdict.p is not None
    assert verdict.p < 0.05
    assert verdict.answer == Answer.AGREES
    assert "difference 11.5, margin 15 points" in str(verdict)
    assert same_counts(shares(98, 2, 0), shares(346, 44, 10), 10).answer == Answer.DIFFERS
    # Beyond the margin, but not more than chance explains.
    unsure = same_counts(shares(8, 2, 0), shares(600, 400, 0), 15)
    assert unsure.answer == Answer.CANNOT_TELL
    means = same_mean(0.147, 15, [0.054, 0.154, -0.046] * 250, 0.1)
    assert means.p is not None
    assert means.p < 0.05
    assert means.answer == Answer.AGREES
    assert means.difference == pytest.approx(0.093)


def test_outcomes_that_never_occur_do_not_break_the_test() -> None:
    verdict = same_counts(shares(100, 0, 0), shares(1000, 0, 0), 15)
    assert verdict.answer == Answer.AGREES
    assert verdict.p == 1.0
    with pytest.raises(ValueError, match="outcomes differ"):
        same_counts(shares(1, 2, 3), Counts({"won": 1, "lost": 1}), 10)


def test_means_shares_and_exact_numbers() -> None:
    rng = np.random.default_rng(3)
    runs = list(rng.normal(0.64, 0.17, 500))
    assert same_mean(0.66, 25, runs, 0.15).answer == Answer.AGREES
    assert same_mean(0.95, 25, runs, 0.15).answer == Answer.DIFFERS
    assert same_mean(0.66, 1, runs, 0.15).answer == Answer.CANNOT_TELL
    assert same_share(12, 50, 290, 1000, 20).answer == Answer.AGREES
    assert same_number(0.70, 1.0, 0.01).answer == Answer.DIFFERS
    assert same_number(0.656, 0.65625, 0.01).answer == Answer.AGREES


def test_claims_of_a_direction() -> None:
    rng = np.random.default_rng(4)
    low, high = list(rng.normal(0, 1, 400)), list(rng.normal(0.5, 1, 400))
    assert larger_mean(high, low, 0.3).answer == Answer.AGREES
    assert larger_mean(low, high, 0.3).answer == Answer.DIFFERS
    assert larger_mean(low[:5], high[:5], 0.3).answer == Answer.CANNOT_TELL
    assert larger_share(80, 100, 50, 100, 20).answer == Answer.AGREES
    assert larger_share(500, 1000, 500, 1000, 20).answer == Answer.DIFFERS
    assert larger_share(5, 10, 5, 10, 20).answer == Answer.CANNOT_TELL
    assert [at_least(*counts, 0.95).answer for counts in ((100, 100), (9, 10), (60, 100))] == [
        Answer.AGREES,
        Answer.CANNOT_TELL,
        Answer.DIFFERS,
    ]


def test_a_single_run_is_ranked_among_ours() -> None:
    ours = list(np.random.default_rng(5).normal(0, 1, 2000))
    assert typical(0.5, ours, 4.0).answer == Answer.AGREES
    assert typical(0.5, ours, 1.0).answer == Answer.CANNOT_TELL
    assert typical(5.0, ours, 1.0).answer == Answer.DIFFERS
    assert [may_happen(*counts).answer for counts in ((50, 500), (0, 2000), (0, 20))] == [
        Answer.AGREES,
        Answer.DIFFERS,
        Answer.CANNOT_TELL,
    ]


def test_training_variance_widens_the_comparison() -> None:
    # 0.81 of 100 games differs from games of one network at 0.6, but not from trainings that vary.
    assert same_share(81, 100, 1800, 3000, 20).answer == Answer.DIFFERS
    varied = same_trained(0.81, 100, [0.45, 0.60, 0.75], 0.2)
    assert varied.answer == Answer.CANNOT_TELL
    alike = same_trained(0.61, 100, [0.60, 0.61, 0.59, 0.60, 0.60, 0.61], 0.2)
    assert alike.answer == Answer.AGREES
    with pytest.raises(ValueError, match="at least three"):
        same_trained(0.81, 100, [0.8, 0.9], 0.2)


def test_at_least_half_and_more_over_trainings() -> None:
    assert at_least_trained([0.8, 0.85, 0.9], 100, 0.5).answer == Answer.AGREES
    assert at_least_trained([0.1, 0.15, 0.2], 100, 0.5).answer == Answer.DIFFERS
    assert at_least_trained([0.3, 0.6, 0.9], 100, 0.5).answer == Answer.CANNOT_TELL
    assert at_least_trained([0.6] * 3, 4, 0.5).answer == Answer.CANNOT_TELL, "few games"
    more, less = [80.0, 85.0, 90.0], [20.0, 30.0, 25.0]
    verdict = larger_trained(more, less, 30)
    assert verdict.answer == Answer.AGREES
    expected = stats.ttest_ind(more, less, equal_var=False, alternative="greater")
    assert verdict.p == pytest.approx(expected.pvalue)
    assert larger_trained(less, more, 30).answer == Answer.DIFFERS
    assert larger_trained([10, 50, 90], less, 30).answer == Answer.CANNOT_TELL
    # Trainings that agree by chance are not certain.
    assert larger_trained([50.0] * 3, [49.9375] * 3, 30).p == pytest.approx(stats.t.sf(0.625, 4))
    with pytest.raises(ValueError, match="at least three"):
        at_least_trained([1, 1], 9, 0.5)
    with pytest.raises(ValueError, match="at least three"):
        larger_trained([1], less, 30)


def test_welchs_test_is_scipys_for_few_values() -> None:
    rng = np.random.default_rng(6)
    for sizes in ((3, 3), (4, 12), (30, 5)):
        ones, others = (rng.normal(place, 1 + place, n) for place, n in enumerate(sizes))
        expected = stats.ttest_ind(ones, others, equal_var=False, alternative="greater")
        # Fractional degrees of freedom are rounded down.
        assert larger_mean(ones, others, 1.0).p == pytest.approx(expected.pvalue, abs=0.02)
    # Three pairs that seem to differ by a normal test are too few.
    assert larger_mean([1.0, 2.0, 3.0], [0.1, 0.2, 1.0], 0.5).answer == Answer.CANNOT_TELL


def test_an_interval_has_a_p_value_and_a_power() -> None:
    for count, of, bound in ((60, 100, 0.5), (39, 100, 0.5), (50, 50, 0.95), (3, 40, 0.01)):
        verdict = at_least(count, of, bound)
        assert verdict.p is not None
        assert (verdict.answer == Answer.CANNOT_TELL) == (verdict.p > 0.05)
        assert verdict.margin == "5 points"
    assert at_least(0, 0, 0.5).answer == Answer.CANNOT_TELL
    rng = np.random.default_rng(7)
    answers = [at_least(int(k), 100, 0.95).answer for k in rng.binomial(100, 0.9, 2000)]
    share = np.mean([answer == Answer.DIFFERS for answer in answers])
    assert at_least(90, 100, 0.95).power == pytest.approx(share, abs=0.03)
    # Shares below 1 % are rare; those above are noticed.
    answers = [may_happen(int(k), 30).answer for k in rng.binomial(30, 0.06, 2000)]
    share = np.mean([answer == Answer.AGREES for answer in answers])
    assert may_happen(3, 30).power == pytest.approx(share, abs=0.03)


def test_no_rank_among_a_few_values_is_unusual() -> None:
    few = [float(value) for value in range(20)]
    assert typical(1000.0, few, 500.0).answer == Answer.CANNOT_TELL
    assert typical(10.0, few, 500.0).answer == Answer.CANNOT_TELL
    assert typical(1000.0, few * 5, 500.0).answer == Answer.DIFFERS


def test_the_exact_test_of_a_long_row_is_that_of_the_short_one() -> None:
    short, long = [95, 34, 371], [9500, 3400, 37100]
    assert freeman_halton(short, long) == pytest.approx(freeman_halton(long, short))


@pytest.mark.parametrize(("count", "of", "bound"), [(0, 4, 0.5), (4, 4, 0.01), (3, 20, 0.4)])
def test_a_share_of_few_trials_is_tested_exactly(count: int, of: int, bound: float) -> None:
    verdict = at_least(count, of, bound)
    tails = [
        stats.binomtest(count, of, bound, alternative=way).pvalue for way in ("less", "greater")
    ]
    assert verdict.p == pytest.approx(min(1, 2 * min(tails)))
    assert verdict.test.startswith("exact binomial test")
    assert (verdict.answer == Answer.CANNOT_TELL) == (verdict.p >= LEVEL)


def test_none_of_four_does_not_refute_one_half() -> None:
    assert at_least(0, 4, 0.5).answer == Answer.CANNOT_TELL
    assert at_least(0, 6, 0.5).answer == Answer.DIFFERS
    assert at_least(30, 30, 0.5).test.startswith("Wilson interval")


def test_what_happened_once_is_called_possible() -> None:
    verdict = may_happen(50, 100)
    assert verdict.answer == Answer.AGREES
    assert verdict.word == "possible"
    assert str(verdict).startswith("possible (may happen: Wilson interval, at least 1 %")
    assert may_happen(0, 1000).word == "differs"
    assert at_least(50, 100, 0.01).word == "agrees"


def test_a_margin_may_have_words() -> None:
    assert typical(1.0, [1.0] * 50, 2.3, "a factor of 10").margin == "a factor of 10"
    assert typical(1.0, [1.0] * 50, 2.3).margin == "2.3"
