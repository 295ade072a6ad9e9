"""The statistical tests behind the verdicts of the studies.

Every test has three answers. Two values differ if the test rejects equality at LEVEL and they are
further apart than the stated margin. They agree if they are at most that far apart and the test
would notice a difference of the margin with a probability of at least POWER. Otherwise the data
cannot tell. Two tests have no distance that a margin could limit: a single number that is ranked
among our own, and a curve that is compared as a whole. They differ if the test rejects equality,
and the margin states only what the power is for. A claim of a direction or of a bound agrees only
if the data show it, whatever the power; an interval that includes the bound cannot tell. A study
states its margins as constants, so they are fixed before it runs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fourlab.arena.statistics import wilson
from fourlab.studies.claims import MAY_HAPPEN, Answer, Counts, Verdict
from fourlab.studies.compare import (
    chi_squared_tail,
    moments,
    root,
    student_quantile,
    student_tail,
)

LEVEL = 0.05
"""Probability that a test calls equal values different."""
POWER = 0.8
"""Below this power, a test that finds no difference says nothing."""
SELDOM = 0.01
"""An event in a smaller share of our trials does not count as a possible explanation."""
FEW = 30
"""With fewer trials the normal approximation of a share is too coarse for a test."""
ASIDE = 0.05
"""How far from its bound a share is that `at_least` has to notice."""
FEWEST_TRAININGS = 3
"""With fewer trainings there is no verdict: their spread is unknown."""
LEAST_ERROR = 0.1
"""Standard error that a mean over trainings has at least, in points.

Trainings that agree by chance do not make a difference certain.
"""
NORMAL = NormalDist()


def same_counts(reported: Counts, ours: Counts, points: float) -> Verdict:
    """Compare two distributions over the same outcomes: one test for a whole match.

    Fisher's exact test for 2 x k tables (Freeman and Halton, 1951). The margin is a number of
    percentage points that move from one outcome to another.
    """
    first, second = _columns(reported.counts, ours.counts)
    p = freeman_halton(first, second)
    power = power_of_counts(first, second, points / 100)
    test = "Fisher's exact test" if len(first) == 2 else "Fisher-Freeman-Halton test"
    return claimed_equal(test, p, power, moved_points(reported, ours), points, "points")


def moved_points(one: Counts, other: Counts) -> float:
    """Return how many percentage points must move for one distribution to become the other."""
    distances = (
        abs(one.counts[name] / one.n - other.counts[name] / other.n) for name in one.counts
    )
    # What some outcomes gain, others lose.
    return 100 * math.fsum(distances) / 2


def same_share(count: int, of: int, our_count: int, our_of: int, points: float) -> Verdict:
    """Compare two shares, each given as a count of a number of trials."""
    reported = Counts({"yes": count, "no": of - count})
    return same_counts(reported, Counts({"yes": our_count, "no": our_of - our_count}), points)


def same_mean(value: float, of: int, values: Sequence[float], margin: float) -> Verdict:
    """Compare a reported mean of `of` runs with our runs, whose spread stands for the report's."""
    middle, spread = moments(values)
    error = spread * math.sqrt(1 / of + 1 / len(values))
    p = student_tail(_ratio(value - middle, error), len(values) - 1)
    critical = student_quantile(1 - LEVEL / 2, len(values) - 1)
    power = NORMAL.cdf(_ratio(margin, error) - critical)
    return claimed_equal("Student's t-test", p, power, abs(value - middle), margin)


def same_trained(value: float, of: int, values: Sequence[float], margin: float) -> Verdict:
    """Compare a reported share, measured on `of` games of one training, with our trainings.

    `values` has one share per training seed, in [0, 1]. Their spread has the variance of training
    and of the games, so the single reported training is one more draw from the same distribution.
    """
    _check_trainings(values)
    middle, spread = moments(values)
    # Seeds that happen to agree do not make the report's own games certain.
    games = math.sqrt(max(middle * (1 - middle), 1 / (4 * of)) / of)
    error = math.hypot(max(spread, games), spread / math.sqrt(len(values)))
    freedom = len(values) - 1
    p = student_tail(_ratio(value - middle, error), freedom)
    power = NORMAL.cdf(_ratio(margin, error) - student_quantile(1 - LEVEL / 2, freedom))
    test = f"t-test over {len(values)} trainings"
    return claimed_equal(test, p, power, 100 * abs(value - middle), 100 * margin, "points")


def within_error(
    test: str, difference: float, error: float, freedom: int, margin: float
) -> Verdict:
    """Compare a difference with its standard error, which has `freedom` degrees of freedom."""
    p = student_tail(_ratio(difference, error), freedom)
    power = NORMAL.cdf(_ratio(margin, error) - student_quantile(1 - LEVEL / 2, freedom))
    return claimed_equal(test, p, power, abs(difference), margin)


def same_number(value: float, exact: float, margin: float) -> Verdict:
    """Compare a number with one that is known exactly: no chance is involved."""
    agrees = abs(value - exact) <= margin
    return Verdict(Answer.AGREES if agrees else Answer.DIFFERS, "comparison", f"{margin:g}")


class Difference(NamedTuple):
    """The difference of two means, with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: int


def welch(ones: Sequence[float], others: Sequence[float], least_error: float = 0.0) -> Difference:
    """Compare two means of values with unequal variances (Welch, 1947)."""
    one, one_spread = moments(ones)
    other, other_spread = moments(others)
    variances = (one_spread**2 / len(ones), other_spread**2 / len(others))
    # Welch and Satterthwaite's degrees of freedom, rounded down.
    terms = math.fsum(
        variance**2 / (len(values) - 1)
        for variance, values in zip(variances, (ones, others), strict=True)
        if variance
    )
    freedom = len(ones) + len(others) - 2
    if terms:
        freedom = int(sum(variances) ** 2 / terms + 1e-9)  # despite rounding
    return Difference(one - other, max(math.sqrt(sum(variances)), least_error), max(1, freedom))


def larger_mean(ones: Sequence[float], others: Sequence[float], margin: float) -> Verdict:
    """Test the claim that the first mean is larger."""
    return _direction("Welch's t-test, one-sided", *welch(ones, others), margin)


def larger_trained(
    ones: Sequence[float],
    others: Sequence[float],
    margin: float,
    unit: str = "points",
    least_error: float = LEAST_ERROR,
) -> Verdict:
    """Test the claim that the first mean is larger, with one value per training.

    The spread of the trainings has the variance of training and that of their games.
    """
    _check_trainings(ones)
    _check_trainings(others)
    test = f"Welch's t-test over {len(ones)} and {len(others)} trainings, one-sided"
    return _direction(test, *welch(ones, others, least_error), margin, unit)


def larger_share(count: int, of: int, other: int, other_of: int, points: float) -> Verdict:
    """Test the claim that the first share is larger, by the normal approximation."""
    # Agresti and Caffo (2000): one success and one failure more keep the error from vanishing.
    one_share = (count + 1) / (of + 2)
    other_share = (other + 1) / (other_of + 2)
    error = math.sqrt(
        one_share * (1 - one_share) / (of + 2) + other_share * (1 - other_share) / (other_of + 2)
    )
    difference = 100 * (one_share - other_share)
    test = "test of two shares, one-sided"
    return _direction(test, difference, 100 * error, None, points, "points")


def at_least(count: int, of: int, bound: float) -> Verdict:
    """Test the claim that a share is at least `bound`, by its 95 % Wilson interval.

    With a FEW trials the test is the exact binomial one. The power is that for a share ASIDE away
    from the bound, below it if there is room.
    """
    kind = "exact binomial test" if of < FEW else "Wilson interval"
    test, margin = f"{kind}, at least {100 * bound:g} %", f"{100 * ASIDE:g} points"
    if of == 0:
        return Verdict(Answer.CANNOT_TELL, test, margin, power=0.0)
    answers = [_beside(k, of, bound) for k in range(of + 1)]
    aside = bound - ASIDE if bound >= 0.5 else bound + ASIDE
    noticed = Answer.DIFFERS if aside < bound else Answer.AGREES
    power = sum(_binomial(k, of, aside) for k, answer in enumerate(answers) if answer is noticed)
    return Verdict(answers[count], test, margin, _beside_p(count, of, bound), power)


def _beside(count: int, of: int, bound: float) -> Answer:
    """Return on which side of a bound a share is, if the data can tell."""
    if of < FEW:
        if _beside_p(count, of, bound) >= LEVEL:
            return Answer.CANNOT_TELL
        return Answer.AGREES if count / of > bound else Answer.DIFFERS
    low, high = wilson(count, of)
    if low >= bound:
        return Answer.AGREES
    return Answer.DIFFERS if high < bound else Answer.CANNOT_TELL


def _beside_p(count: int, of: int, bound: float) -> float:
    """Return the two-sided p-value of a share of exactly `bound`."""
    if of < FEW:
        # Twice the smaller tail, of which the observed count is a part.
        below = math.fsum(_binomial(k, of, bound) for k in range(count + 1))
        above = math.fsum(_binomial(k, of, bound) for k in range(count, of + 1))
        return min(1.0, 2 * min(below, above))
    # The Wilson interval excludes the bound if and only if the score test rejects it.
    error = math.sqrt(bound * (1 - bound) / of)
    return 2 * (1 - NORMAL.cdf(abs(_ratio(count / of - bound, error))))


def at_least_trained(values: Sequence[float], of: int, bound: float) -> Verdict:
    """Test the claim that a share is at least `bound`.

    `values` has one share per training, in [0, 1], each of `of` games.
    """
    _check_trainings(values)
    middle, spread = moments(values)
    # Seeds that happen to agree do not make their games certain.
    games = math.sqrt(max(middle * (1 - middle), 1 / (4 * of)) / of)
    error = max(spread, games) / math.sqrt(len(values))
    half = student_quantile(1 - LEVEL / 2, len(values) - 1) * error
    answer = Answer.CANNOT_TELL
    if middle - half >= bound:
        answer = Answer.AGREES
    elif middle + half < bound:
        answer = Answer.DIFFERS
    test = f"95 % interval over {len(values)} trainings, at least {100 * bound:g} %"
    p = student_tail(_ratio(middle - bound, error), len(values) - 1)
    power = NORMAL.cdf((ASIDE - half) / error)
    return Verdict(answer, test, f"{100 * ASIDE:g} points", p, power)


def typical(
    value: float, values: Sequence[float] | NDArray[np.float64], margin: float, words: str = ""
) -> Verdict:
    """Compare one reported number with our distribution of such numbers, by its rank.

    The question is whether our program gives such a number, so an unusual rank suffices; nothing is
    estimated that could be within a margin. `words` are what pages call the margin.
    """
    ours = np.asarray(values, dtype=np.float64)
    # The reported number is itself one of those ranked, so that no p-value is 0.
    tail = (1 + min(int(np.sum(ours <= value)), int(np.sum(ours >= value)))) / (len(ours) + 1)
    low, high = np.quantile(ours, [LEVEL / 2, 1 - LEVEL / 2])
    # How often a number that is off by the margin lies outside of what is typical of ours.
    outside = [
        float(np.mean((ours + move < low) | (ours + move > high))) for move in (-margin, margin)
    ]
    # Even the first rank among a few is nothing unusual.
    power = min(outside) if 2 / (len(ours) + 1) < LEVEL else 0.0
    p = min(1.0, 2 * tail)
    answer = Answer.CANNOT_TELL
    if p < LEVEL:
        answer = Answer.DIFFERS
    elif power >= POWER:
        answer = Answer.AGREES
    return Verdict(answer, "rank among our values", words or f"{margin:g}", p, power)


def may_happen(count: int, of: int) -> Verdict:
    """Test whether an event that a report saw once occurs in at least 1 % of our trials.

    A test of two shares could not decide this: one of one and none of a hundred are compatible with
    a common probability. Pages call the agreement "possible": a coin flip passes.
    """
    verdict = at_least(count, of, SELDOM)
    return replace(verdict, test=f"{MAY_HAPPEN}: {verdict.test}")


def freeman_halton(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the p-value of Fisher's exact test for a 2 x k table, k of 2 or 3.

    It sums the probabilities of all tables with the same margins that are at most as likely.
    """
    # The test is symmetric; there are fewer tables to go through for the shorter row.
    first, second = sorted((first, second), key=sum)
    totals = [one + other for one, other in zip(first, second, strict=True)]
    n = sum(first)
    # All but the last cell of the first row, which the row's total determines.
    axes = np.meshgrid(*(np.arange(min(total, n) + 1) for total in totals[:-1]), indexing="ij")
    last = n - np.sum(axes, axis=0)
    possible = (last >= 0) & (last <= totals[-1])
    logs = np.zeros(last.shape)
    for cells, total in zip([*axes, last], totals, strict=True):
        logs += _log_choose(total)[np.clip(cells, 0, total)]
    logs = logs[possible]
    observed = sum(
        float(_log_choose(total)[cell]) for cell, total in zip(first, totals, strict=True)
    )
    # Relative to the likeliest table, so that not all weights underflow at once.
    weights = np.exp(logs - logs.max())
    as_extreme = weights[logs <= observed + 1e-7]  # equally likely tables count despite rounding
    return float(as_extreme.sum() / weights.sum())


def power_of_counts(first: Sequence[int], second: Sequence[int], margin: float) -> float:
    """Return the power of the chi-squared test if `margin` of the first row moves.

    It moves from one outcome to another: the least favourable pair of those that can give so much.
    """
    n, other_n = sum(first), sum(second)
    # Half a count more each, since an outcome that never happened may still be possible.
    pooled = [one + other + 0.5 for one, other in zip(first, second, strict=True)]
    probabilities = [count / sum(pooled) for count in pooled]
    least = math.inf
    for source, target in permutations(range(len(pooled)), 2):
        if probabilities[source] < margin:
            continue
        # Ours stay, the report's move: both together move by its share of the trials.
        moved = list(probabilities)
        moved[source] -= margin * n / (n + other_n)
        moved[target] += margin * n / (n + other_n)
        noncentrality = n * other_n / (n + other_n) * margin**2
        least = min(least, noncentrality * (1 / moved[source] + 1 / moved[target]))
    if math.isinf(least):
        return 0.0
    return noncentral_tail(chi_squared_quantile(LEVEL, len(pooled) - 1), len(pooled) - 1, least)


def noncentral_tail(statistic: float, freedom: int, noncentrality: float) -> float:
    """Return the probability that a noncentral chi-squared variable reaches `statistic`."""
    # A Poisson mixture of central distributions with 2 more degrees of freedom each.
    half = noncentrality / 2
    terms = int(half + 12 * math.sqrt(half + 1)) + 20
    weights = (math.exp(k * math.log(half) - half - math.lgamma(k + 1)) for k in range(terms))
    tails = (chi_squared_tail(statistic, freedom + 2 * k) for k in range(terms))
    return math.fsum(weight * tail for weight, tail in zip(weights, tails, strict=True))


def chi_squared_quantile(tail: float, freedom: int) -> float:
    """Return the value that a chi-squared variable reaches with probability `tail`."""
    return root(lambda x: tail - chi_squared_tail(x, freedom), 0.0, 1000.0)


def claimed_equal(
    test: str, p: float, power: float, difference: float, margin: float, unit: str = ""
) -> Verdict:
    """Return the verdict on the claim that there is no difference."""
    answer = Answer.CANNOT_TELL
    if difference > margin:
        if p < LEVEL:
            answer = Answer.DIFFERS
    elif power >= POWER:
        # Also if the test rejects equality: a difference within the margin does not matter.
        answer = Answer.AGREES
    return Verdict(answer, test, f"{margin:g} {unit}".strip(), p, power, difference)


def claimed_different(test: str, margin: str, p: float, power: float) -> Verdict:
    """Return the verdict on the claim that there is a difference."""
    answer = Answer.CANNOT_TELL
    if p < LEVEL:
        answer = Answer.AGREES
    elif power >= POWER:
        # A difference of the margin would have been noticed.
        answer = Answer.DIFFERS
    return Verdict(answer, test, margin, p, power)


def _direction(
    test: str,
    difference: float,
    error: float,
    freedom: int | None,
    margin: float,
    unit: str = "",
) -> Verdict:
    """Test the claim that a difference is positive.

    Without degrees of freedom, by the normal approximation.
    """
    ratio = _ratio(difference, error)
    if freedom is None:
        p = 1 - NORMAL.cdf(ratio)
        critical = NORMAL.inv_cdf(1 - LEVEL)
    else:
        tail = student_tail(ratio, freedom) / 2
        p = tail if ratio >= 0 else 1 - tail
        critical = student_quantile(1 - LEVEL, freedom)
    power = NORMAL.cdf(_ratio(margin, error) - critical)
    return claimed_different(test, f"{margin:g} {unit}".strip(), p, power)


def _check_trainings(values: Sequence[float]) -> None:
    if len(values) < FEWEST_TRAININGS:
        raise ValueError("the spread of trainings needs at least three of them")


def _columns(first: Mapping[str, int], second: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Return both rows of counts over the outcomes that occur at all; at least two columns."""
    if list(first) != list(second):
        raise ValueError(f"the outcomes differ: {list(first)} and {list(second)}")
    names = [name for name in first if first[name] + second[name]]
    # A test needs two columns; one that is empty in both rows adds nothing.
    names += [name for name in first if name not in names][: max(0, 2 - len(names))]
    return [first[name] for name in names], [second[name] for name in names]


def _ratio(numerator: float, denominator: float) -> float:
    """Return a quotient; infinite, with the right sign, if there is no error at all."""
    if denominator == 0:
        return math.copysign(math.inf, numerator) if numerator else 0.0
    return numerator / denominator


def _binomial(count: int, of: int, share: float) -> float:
    """Return the probability of a count among independent trials; `share` is not 0 or 1."""
    logs = math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
    return math.exp(logs + count * math.log(share) + (of - count) * math.log(1 - share))


def _log_choose(total: int) -> Any:
    """Return an array of the logarithms of the binomial coefficients of `total`."""
    factorials = np.array([math.lgamma(k + 1) for k in range(total + 1)])
    return factorials[-1] - factorials - factorials[::-1]
