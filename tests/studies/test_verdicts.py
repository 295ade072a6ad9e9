"""The tests behind the verdicts, beside SciPy's and beside simulation."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from fourlab.studies.claims import RESULTS, Answer, Counts, Verdict, shares
from fourlab.studies.compare import (
    chi_squared_quantile,
    direction_power,
    equivalence_power,
    noncentral_tail,
    student_quantile,
    student_tail,
)
from fourlab.studies.proportions import (
    LEVEL,
    clopper_pearson,
    freeman_halton,
    mcnemar,
    share_interval,
)
from fourlab.studies.verdicts import (
    at_least,
    half_of_decided,
    larger_mean,
    larger_paired_share,
    larger_share,
    larger_than,
    may_happen,
    same_counts,
    same_mean,
    same_number,
    same_paired_share,
    same_share,
    same_trained,
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


@pytest.mark.parametrize(("freedom", "ratio"), [(1, 2.0), (2, 0.5), (2, 4.0), (5, 3.0), (40, 2.8)])
def test_the_power_of_a_t_test_is_scipys_noncentral_t(freedom: int, ratio: float) -> None:
    expected = stats.nct.sf(stats.t.ppf(0.975, freedom), freedom, ratio)
    assert direction_power(ratio, freedom, 0.05) == pytest.approx(expected, abs=1e-6)


def test_tabulated_powers_of_t_tests() -> None:
    # With 2 degrees of freedom, the 97.5 % quantile is 4.303; a difference of 8 standard errors is
    # noticed with 96 %, although the normal approximation has it for certain.
    assert direction_power(8.0, 2, 0.05) == pytest.approx(0.958, abs=0.001)
    # Cohen (1988), Table 2.3: d = 0.5 and 64 values in each of two groups have a power of 0.80.
    assert direction_power(0.5 * np.sqrt(32), 126, 0.05) == pytest.approx(0.80, abs=0.005)
    # Without degrees of freedom it is 80 % at 1.96 + 0.84 standard errors.
    assert direction_power(2.8016, None, 0.05) == pytest.approx(0.8, abs=1e-4)
    assert equivalence_power(1.6449 + 1.2816, None, 0.05) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize(("freedom", "ratio"), [(2, 6.0), (2, 2.0), (9, 3.0), (60, 2.5)])
def test_the_power_of_equivalence_is_the_share_of_simulated_tests(
    freedom: int, ratio: float
) -> None:
    rng = np.random.default_rng(8)
    means = rng.normal(0, 1, 200_000)
    errors = np.sqrt(rng.chisquare(freedom, 200_000) / freedom)
    agree = np.abs(means) + stats.t.ppf(0.95, freedom) * errors <= ratio
    assert equivalence_power(ratio, freedom, 0.05) == pytest.approx(agree.mean(), abs=0.005)


def test_the_power_of_a_match_is_the_share_of_equal_matches_that_agree() -> None:
    rng = np.random.default_rng(2)
    two, three = [], []
    for _ in range(400):
        rows = (rng.multinomial(n, [0.7, 0.2, 0.1]).tolist() for n in (100, 400))
        one, other = (shares(*row) for row in rows)
        three.append(same_counts(one, other, 15).answer == Answer.AGREES)
        won = (one.counts["won"], 100, other.counts["won"], 400)
        two.append(same_share(*won, 15).answer == Answer.AGREES)
    assert same_share(70, 100, 280, 400, 15).power == pytest.approx(np.mean(two), abs=0.06)
    bound = same_counts(shares(70, 20, 10), shares(280, 80, 40), 15).power
    assert bound is not None
    assert np.mean(three) - 0.12 < bound < np.mean(three) + 0.04


def test_equivalence_of_two_shares_by_hand() -> None:
    """98 of 100 beside 346 of 400, with a margin of 15 points.

    Wilson's 90 % intervals are 0.9414 to 0.9934 and 0.8344 to 0.8907. Newcombe's ends are 0.115 -
    sqrt(0.0386² + 0.0257²) = 0.0686 and 0.115 + sqrt(0.0134² + 0.0306²) = 0.1484.
    """
    difference, low, high = share_interval(98, 100, 346, 400)
    assert difference == pytest.approx(0.115)
    assert low == pytest.approx(0.0686, abs=2e-4)
    assert high == pytest.approx(0.1484, abs=2e-4)
    assert same_share(98, 100, 346, 400, 15).answer == Answer.AGREES
    # The interval reaches beyond 14 points, but the difference does not.
    assert same_share(98, 100, 346, 400, 14).answer == Answer.CANNOT_TELL
    assert same_share(98, 100, 346, 400, 11).answer == Answer.DIFFERS
    # Half as many games of ours do not show that it is within the margin.
    assert same_share(98, 100, 173, 200, 15).answer == Answer.CANNOT_TELL


def test_mcnemars_test_by_hand() -> None:
    # Twelve pairs differ, ten in favour of the first: 2 (1 + 12 + 66) / 4096.
    assert mcnemar(10, 2) == pytest.approx(158 / 4096)
    assert mcnemar(0, 0) == 1
    # Beyond the range of floating-point numbers; the normal approximation with a correction for
    # continuity has 4.45 standard deviations.
    assert mcnemar(900, 1100) == pytest.approx(2 * 4.29e-6, rel=0.02)
    assert mcnemar(3, 3) == 1
    assert larger_paired_share(10, 2, 100, 15).answer == Answer.AGREES
    assert larger_paired_share(9, 3, 100, 10).answer == Answer.CANNOT_TELL
    assert larger_paired_share(2, 10, 100, 15).answer == Answer.DIFFERS
    # As independent shares, 30 and 22 of 100, they need not differ.
    assert larger_share(30, 100, 22, 100, 15).answer == Answer.CANNOT_TELL
    assert same_paired_share(10, 2, 100, 5).answer == Answer.DIFFERS
    assert same_paired_share(0, 0, 300, 5).answer == Answer.AGREES
    assert same_paired_share(0, 0, 10, 5).answer == Answer.CANNOT_TELL, "ten positions are few"
    for count, of in ((10, 12), (0, 5), (5, 5)):
        expected = stats.binomtest(count, of).proportion_ci(0.95, "exact")
        assert clopper_pearson(count, of, 0.95) == pytest.approx(tuple(expected), abs=1e-9)


def all_equality() -> list[Verdict]:
    """Return verdicts on equality with many differences, numbers of trials and margins."""
    rng = np.random.default_rng(9)
    verdicts = []
    for n in (3, 10, 100, 1000):
        for shift in (0.0, 0.02, 0.1, 0.3):
            for margin in (0.03, 0.1, 0.2):
                values = rng.normal(0.5 + shift, 0.1, n)
                won = int(n * (0.5 + shift))
                verdicts += [
                    same_mean(0.5, n, values.tolist(), margin),
                    same_trained(0.5, 100, values.clip(0, 1).tolist(), margin),
                    typical(0.5, values, margin),
                    same_share(50, 100, won, n, 100 * margin),
                    same_counts(shares(50, 30, 20), shares(won, n - won, 0), 100 * margin),
                    same_paired_share(won // 2, n // 4, n, 100 * margin),
                ]
    return verdicts


def test_agreement_means_that_the_interval_is_within_the_margin() -> None:
    verdicts = all_equality()
    assert {verdict.answer for verdict in verdicts} == set(Answer) - {Answer.NONE}
    for verdict in verdicts:
        assert verdict.p is not None
        assert verdict.difference is not None
        margin = float(verdict.margin.split()[0])
        is_inside = (
            verdict.low is not None
            and verdict.high is not None
            and -margin <= verdict.low
            and verdict.high <= margin
        )
        assert (verdict.answer is Answer.AGREES) == is_inside
        is_outside = verdict.p < LEVEL and abs(verdict.difference) > margin
        assert (verdict.answer is Answer.DIFFERS) == (is_outside and not is_inside)
        assert verdict.confidence == 90


def test_a_direction_never_contradicts_its_interval() -> None:
    rng = np.random.default_rng(10)
    answers = set()
    for n in (3, 10, 100, 1000):
        for shift in (-10.0, 0.0, 2.0, 10.0):
            ones, others = rng.normal(50 + shift, 10, n), rng.normal(50, 10, n)
            half, more = n // 2, int(n * (0.5 + shift / 100))
            for verdict in (
                larger_mean(ones.tolist(), others.tolist(), 5, "points"),
                larger_than(ones.tolist(), 50, 5, "points"),
                larger_share(more, n, half, n, 5),
                larger_paired_share(more // 2, half // 2, n, 5),
            ):
                assert verdict.low is not None
                assert verdict.high is not None
                assert verdict.p is not None
                assert (verdict.answer is Answer.AGREES) == (verdict.low > 0)
                refuted = verdict.low <= 0 and verdict.high < 5
                assert (verdict.answer is Answer.DIFFERS) == refuted
                if verdict.low > 0:
                    assert verdict.p < LEVEL
                answers.add(verdict.answer)
    assert answers == set(Answer) - {Answer.NONE}


def test_a_mean_is_compared_with_a_constant_by_a_one_sample_test() -> None:
    values = [0.3, 0.5, 0.1, 0.4]
    verdict = larger_than(values, 0.0, 0.2, scale=RESULTS)
    assert verdict.p == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert verdict.test == "one-sample t-test"
    over = larger_than([60.0, 62, 61], 50, 5, "points", what="trainings")
    assert over.test == "one-sample t-test over 3 trainings"
    with pytest.raises(ValueError, match="at least three"):
        larger_than([60.0, 62], 50, 5, "points", what="trainings")


def test_decided_games_are_named() -> None:
    assert half_of_decided(60, 20).test == "Wilson interval, at least 50 % of 80 decided games"
    assert half_of_decided(0, 0).answer == Answer.CANNOT_TELL


def test_a_margin_that_says_nothing_gives_no_verdict() -> None:
    runs = [0.1, 0.2, 0.15] * 50
    for verdict in (
        same_mean(0.15, 25, runs, 0.1),
        typical(0.15, runs, 0.1),
        same_share(50, 100, 50, 100, 30),
        same_counts(shares(1, 2, 3), shares(1, 2, 3), 30),
        same_trained(0.5, 100, [0.5, 0.6, 0.4], 0.3),
        same_number(1.0, 1.0, 0.6),
        same_paired_share(1, 2, 30, 30),
        larger_mean([1.0, 2.0], [1.0, 2.0], 1.0),
        larger_share(5, 10, 5, 10, 30),
        larger_paired_share(1, 2, 30, 30),
        larger_than([1.0, 2.0], 1.0, 0.6),
    ):
        assert verdict.answer is Answer.NONE
        assert str(verdict).startswith(
            "no verdict: any margin that could be tested here is as large as the value"
        )
        assert verdict.p is None


def test_zero_has_no_sign() -> None:
    text = str(same_mean(0.5, 10, [0.5 - 1e-17, 0.5, 0.5 + 1e-17] * 10, 0.1))
    assert "-0," not in text
    assert "difference 0," in str(Verdict(Answer.AGREES, "test", "", difference=-0.0, p=1.0))
    assert "[0, 1]" in str(
        Verdict(Answer.AGREES, "test", "", difference=0.5, low=-0.0, high=1.0, confidence=90)
    )


def test_three_answers_for_a_match() -> None:
    thesis = shares(71, 16, 13)
    assert same_counts(thesis, shares(730, 170, 100), 15).answer == Answer.AGREES
    assert same_counts(thesis, shares(350, 600, 50), 15).answer == Answer.DIFFERS
    # Every outcome must be within the margin: the wins are, the losses and draws are not.
    assert same_counts(thesis, shares(710, 290, 0), 10).answer == Answer.DIFFERS
    # Ten games could be anything.
    small = same_counts(thesis, shares(7, 2, 1), 15)
    assert small.answer == Answer.CANNOT_TELL
    assert small.power is not None
    assert small.power < 0.8
    assert "power" in str(small)
    assert "margin 15 points" in str(small)


def test_a_difference_within_the_margin_agrees_although_many_games_show_it() -> None:
    # Arya's Experiment 3: 98-2-0 of a hundred games beside four hundred of ours.
    verdict = same_counts(shares(98, 2, 0), shares(346, 44, 10), 15)
    assert verdict.difference == pytest.approx(-11.5)
    assert verdict.outcome == "won"
    assert verdict.p is not None
    assert verdict.p < 0.05
    assert verdict.answer == Answer.AGREES
    assert "won: difference -11.5, 90 % interval [-14.8, -6.86], margin 15 points" in str(verdict)
    assert same_counts(shares(98, 2, 0), shares(346, 44, 10), 10).answer == Answer.DIFFERS
    # Beyond the margin, but not more than chance explains.
    unsure = same_counts(shares(8, 2, 0), shares(600, 400, 0), 15)
    assert unsure.answer == Answer.CANNOT_TELL
    # Within the margin, but its interval is not.
    means = same_mean(0.247, 15, [0.154, 0.254, 0.054] * 250, 0.1)
    assert means.difference == pytest.approx(-0.093)
    assert means.answer == Answer.CANNOT_TELL


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
    wide = (-2.0, 2.0)
    assert larger_mean(high, low, 0.3, scale=wide).answer == Answer.AGREES
    assert larger_mean(low, high, 0.3, scale=wide).answer == Answer.DIFFERS
    assert larger_mean(low[:5], high[:5], 0.3, scale=wide).answer == Answer.CANNOT_TELL
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
    wide = (-10.0, 10.0)
    assert typical(0.5, ours, 4.0, scale=wide).answer == Answer.AGREES
    assert typical(0.5, ours, 1.0, scale=wide).answer == Answer.CANNOT_TELL
    assert typical(5.0, ours, 1.0, scale=wide).answer == Answer.DIFFERS
    # Our own numbers agree as often as the power says.
    agree = [typical(float(one), ours, 2.5, scale=wide).answer == Answer.AGREES for one in ours]
    assert typical(0.5, ours, 2.5, scale=wide).power == pytest.approx(np.mean(agree))
    assert [may_happen(*counts).answer for counts in ((50, 500), (0, 2000), (0, 20))] == [
        Answer.AGREES,
        Answer.DIFFERS,
        Answer.CANNOT_TELL,
    ]


def test_welchs_test_is_scipys_for_few_values() -> None:
    rng = np.random.default_rng(6)
    for sizes in ((3, 3), (4, 12), (30, 5)):
        ones, others = (rng.normal(place, 1 + place, n) for place, n in enumerate(sizes))
        expected = stats.ttest_ind(ones, others, equal_var=False)
        # Fractional degrees of freedom are rounded down.
        verdict = larger_mean(ones.tolist(), others.tolist(), 1.0, scale=(-10, 10))
        assert verdict.p == pytest.approx(expected.pvalue, abs=0.03)
    # Three pairs that seem to differ by a normal test are too few.
    assert larger_mean([1.0, 2.0, 3.0], [0.1, 0.2, 1.0], 0.2).answer == Answer.CANNOT_TELL


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
    assert typical(10.0, few, 5.0).answer == Answer.CANNOT_TELL
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
    assert typical(1.0, [1.0] * 50, 0.5, "half of the value").margin == "half of the value"
    assert typical(1.0, [1.0] * 50, 0.4).margin == "0.4"
