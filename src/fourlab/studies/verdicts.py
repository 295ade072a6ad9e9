"""The statistical tests behind the verdicts of the studies.

Every test has three answers, and its rule is fixed before a study runs.

- *Equality*: our value agrees with a reported one if the 90 % interval of the difference lies
  within the margin (two one-sided tests at 5 %; Schuirmann, 1987). It differs if the test of
  equality rejects at 5 % and the difference exceeds the margin. Otherwise the data cannot tell. The
  power is the probability of "agrees" if there is no difference. A match agrees if the share of
  every outcome does. For one number that is compared with our distribution of such numbers, the
  interval is the central 90 % of the differences, and for a whole curve it is that of the root mean
  square difference.
- *Direction*: a claim that one value is larger holds if the 95 % interval of the difference is
  above 0. It does not hold if the interval is below the margin, so that the difference, if any, is
  smaller than that or has the opposite sign. Otherwise the data cannot tell. The p-value is
  two-sided, like the interval; a direction is thus tested at 2.5 %. The power is for a difference
  of the margin.
- *Bound*: a share is at least a bound if its 95 % interval is, and is not if the interval is below.

A margin that is as large as the value says nothing. It may be at most half of the value, or a
quarter of the range of a bounded scale; `no_verdict` stands for tests whose margin is larger.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fourlab.arena.statistics import wilson
from fourlab.studies.claims import MAY_HAPPEN, Answer, Counts, Verdict
from fourlab.studies.compare import (
    chi_squared_tail,
    direction_power,
    equivalence_power,
    moments,
    root,
    student_quantile,
    student_tail,
)

LEVEL = 0.05
"""Probability that a test calls equal values different."""
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
Scale = tuple[float, float]
"""The smallest and the largest possible value of a quantity."""
PERCENT = (0.0, 100.0)
POINTS_UNIT = "points"
"""The unit of differences of percentages."""
ELO_UNIT = "Elo"
EQUALITY_CONFIDENCE = 90
DIRECTION_CONFIDENCE = 95
"""Confidence of the intervals of differences, in per cent."""
SAME_GAMES = "0: the same games"
SEEDS = "seeds"
"""What pairs of trainings are; with equal results, pages say that the games are the same."""
OF_VALUE = 0.5
"""The largest margin, as a part of the value that it belongs to."""
OF_SCALE = 0.25
"""The largest margin, as a part of the range of a bounded scale."""
SAYS_NOTHING = "any margin that could be tested here is as large as the value"


class Difference(NamedTuple):
    """The difference of two means, with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: int | None
    """None for the normal distribution."""

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval of the difference."""
        probability = (1 + confidence) / 2
        if self.freedom is None:
            quantile = NORMAL.inv_cdf(probability)
        else:
            quantile = student_quantile(probability, self.freedom)
        return self.value - quantile * self.error, self.value + quantile * self.error

    def p(self) -> float:
        """Return the two-sided p-value of no difference."""
        ratio = _ratio(self.value, self.error)
        if self.freedom is None:
            return 2 * NORMAL.cdf(-abs(ratio))
        return student_tail(ratio, self.freedom)


# --- Margins -------------------------------------------------------------------------------------


def says_something(
    margin: float, value: float | None = None, scale: Scale | None = None, unit: str = ""
) -> bool:
    """Return whether a margin is small beside what it belongs to.

    This is the range of the scale, if it is bounded and the value may be anywhere on it, or else
    the value. Percentages have a scale, and Elo that of the expected score.
    """
    if margin == 0:
        return True
    if unit == ELO_UNIT and value is None:
        # The score that the margin is worth between equal players.
        return 1 / (1 + 10 ** (-margin / 400)) - 0.5 <= OF_SCALE
    if unit == POINTS_UNIT and scale is None:
        scale = PERCENT
    # Despite rounding, exactly half of the value is allowed.
    if scale is not None:
        return margin <= OF_SCALE * (scale[1] - scale[0]) * (1 + 1e-9)
    if value is None:
        raise ValueError("a margin needs a value or a scale")
    return margin <= OF_VALUE * abs(value) * (1 + 1e-9)


def no_verdict(test: str, margin: str) -> Verdict:
    """Return what takes the place of a verdict whose margin says nothing."""
    return Verdict(Answer.NONE, f"{SAYS_NOTHING}: {test}", margin)


# --- Equality ------------------------------------------------------------------------------------


def same_counts(reported: Counts, ours: Counts, points: float) -> Verdict:
    """Compare two distributions over the same outcomes: one test for a whole match.

    They differ by Fisher's exact test for 2 x k tables (Freeman and Halton, 1951) and agree if the
    share of every outcome does, by the interval of Newcombe (1998). The interval on the page is
    that of the outcome that is furthest off. The power, exact for two outcomes, is a lower bound
    for more.
    """
    first, second = _columns(reported.counts, ours.counts)
    test = "Fisher's exact test" if len(first) == 2 else "Fisher-Freeman-Halton test"
    n, other_n = reported.n, ours.n
    # With two outcomes, one share determines the other.
    names = list(reported.counts)[: 1 if len(reported.counts) == 2 else None]
    intervals = {
        name: share_interval(ours.counts[name], other_n, reported.counts[name], n) for name in names
    }
    missed = 0.0
    for name in names:
        # Half a count more, since an outcome that never happened may still be possible.
        pooled = (reported.counts[name] + ours.counts[name] + 0.5) / (n + other_n + 1)
        missed += 1 - agreeing_power(other_n, n, pooled, points / 100)
    furthest = max(names, key=lambda name: max(abs(end) for end in intervals[name][1:]))
    difference, low, high = (100 * number for number in intervals[furthest])
    verdict = claimed_equal(
        test, freeman_halton(first, second), (difference, low, high), points, max(0.0, 1 - missed)
    )
    return replace(verdict, outcome="" if len(names) == 1 else furthest)


def same_share(count: int, of: int, our_count: int, our_of: int, points: float) -> Verdict:
    """Compare two shares, each given as a count of a number of trials."""
    reported = Counts({"yes": count, "no": of - count})
    return same_counts(reported, Counts({"yes": our_count, "no": our_of - our_count}), points)


def share_interval(
    count: int, of: int, other: int, other_of: int, confidence: float = 1 - 2 * LEVEL
) -> tuple[float, float, float]:
    """Return the difference of two shares and its interval (Newcombe, 1998, method 10)."""
    low, high = newcombe(np.array(float(count)), of, np.array(float(other)), other_of, confidence)
    return count / of - other / other_of, float(low), float(high)


def newcombe(
    counts: NDArray[np.float64],
    of: int,
    others: NDArray[np.float64],
    other_of: int,
    confidence: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both ends of the intervals of the differences of two shares, for arrays of counts.

    Wilson's intervals of both shares are combined, which is sound near 0 and 1, too.
    """
    z = NORMAL.inv_cdf((1 + confidence) / 2)
    one, one_low, one_high = _wilson(counts, of, z)
    other, other_low, other_high = _wilson(others, other_of, z)
    difference = one - other
    low = difference - np.hypot(one - one_low, other_high - other)
    high = difference + np.hypot(one_high - one, other - other_low)
    return low, high


def _wilson(
    counts: NDArray[np.float64], of: int, z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return shares and the ends of their Wilson intervals."""
    shares = counts / of
    middle = shares + z * z / (2 * of)
    half = z * np.sqrt(shares * (1 - shares) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    return shares, np.maximum((middle - half) / scale, 0), np.minimum((middle + half) / scale, 1)


def agreeing_power(of: int, other_of: int, share: float, margin: float) -> float:
    """Return the probability that two equal shares agree, over all pairs of counts."""
    counts, weights = _likely_counts(of, share)
    others, other_weights = _likely_counts(other_of, share)
    confidence = 1 - 2 * LEVEL
    low, high = newcombe(counts[:, None], of, others[None, :], other_of, confidence)
    agree = (low >= -margin) & (high <= margin)
    return float(weights @ agree @ other_weights)


def _likely_counts(of: int, share: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the counts of a binomial distribution that matter, and their probabilities."""
    reach = 7 * math.sqrt(of * share * (1 - share)) + 7
    counts = range(
        max(0, math.floor(of * share - reach)), min(of, math.ceil(of * share + reach)) + 1
    )
    weights = [_binomial(count, of, share) for count in counts]
    return np.array(counts, dtype=np.float64), np.array(weights)


def same_mean(
    value: float,
    of: int,
    values: Sequence[float],
    margin: float,
    scale: Scale | None = None,
    unit: str = "",
) -> Verdict:
    """Compare a reported mean of `of` runs with our runs, whose spread stands for the report's."""
    middle, spread = moments(values)
    error = spread * math.sqrt(1 / of + 1 / len(values))
    difference = Difference(middle - value, error, len(values) - 1)
    return within_error("Student's t-test", difference, margin, value, scale, unit)


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
    difference = Difference(100 * (middle - value), 100 * error, len(values) - 1)
    test = f"t-test over {len(values)} trainings"
    return within_error(test, difference, 100 * margin, unit=POINTS_UNIT)


def within_error(
    test: str,
    difference: Difference,
    margin: float,
    value: float | None = None,
    scale: Scale | None = None,
    unit: str = "",
) -> Verdict:
    """Compare a difference, ours less the reported value, with its standard error."""
    power = equivalence_power(_ratio(margin, difference.error), difference.freedom, LEVEL)
    estimate = (difference.value, *difference.interval(1 - 2 * LEVEL))
    return claimed_equal(test, difference.p(), estimate, margin, power, value, scale, unit)


def same_number(value: float, exact: float, margin: float, scale: Scale | None = None) -> Verdict:
    """Compare a number with one that is known exactly: no chance is involved."""
    if not says_something(margin, value, scale):
        return no_verdict("comparison", f"{margin:g}")
    agrees = abs(value - exact) <= margin
    return Verdict(Answer.AGREES if agrees else Answer.DIFFERS, "comparison", f"{margin:g}")


def typical(
    value: float,
    values: Sequence[float] | NDArray[np.float64],
    margin: float,
    words: str = "",
    scale: Scale | None = None,
) -> Verdict:
    """Compare one reported number with our distribution of such numbers.

    It differs if its rank is unusual and it is further than the margin from our median; it agrees
    if the central 90 % of our numbers are within the margin of it. `words` are what pages call the
    margin.
    """
    ours = np.asarray(values, dtype=np.float64)
    # The reported number is itself one of those ranked, so that no p-value is 0.
    tail = (1 + min(int(np.sum(ours <= value)), int(np.sum(ours >= value)))) / (len(ours) + 1)
    low, middle, high = (float(end) for end in np.quantile(ours, [LEVEL, 0.5, 1 - LEVEL]))
    # How often one of our own numbers would agree.
    power = float(np.mean((high - ours <= margin) & (ours - low <= margin)))
    # The quantiles of a few numbers say little about the distribution.
    if 2 / (len(ours) + 1) >= LEVEL:
        low, high, power = -math.inf, math.inf, 0.0
    estimate = (middle - value, low - value, high - value)
    test = "rank among our values"
    verdict = claimed_equal(test, min(1.0, 2 * tail), estimate, margin, power, value, scale)
    return replace(verdict, margin=words) if words else verdict


def claimed_equal(
    test: str,
    p: float,
    estimate: tuple[float, float, float],
    margin: float,
    power: float,
    value: float | None = None,
    scale: Scale | None = None,
    unit: str = "",
) -> Verdict:
    """Return the verdict on the claim that there is no difference.

    `estimate` is the difference, ours less the reported value, with the ends of its 90 % interval.
    Without a value and a scale, differences are in percentage points.
    """
    if value is None and scale is None:
        unit = unit or POINTS_UNIT
    words = f"{margin:g} {unit}".strip()
    if not says_something(margin, value, scale, unit):
        return no_verdict(test, words)
    difference, low, high = estimate
    answer = Answer.CANNOT_TELL
    if -margin <= low and high <= margin:
        # Also if the test rejects equality: a difference within the margin does not matter.
        answer = Answer.AGREES
    elif p < LEVEL and abs(difference) > margin:
        answer = Answer.DIFFERS
    bounded = math.isfinite(low) and math.isfinite(high)
    return Verdict(
        answer,
        test,
        words,
        p,
        power,
        difference,
        low if bounded else None,
        high if bounded else None,
        EQUALITY_CONFIDENCE,
    )


# --- Direction -----------------------------------------------------------------------------------


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


def paired(ones: Sequence[float], others: Sequence[float], least_error: float = 0.0) -> Difference:
    """Compare two means of values that were measured in pairs, such as with the same seeds."""
    differences = [one - other for one, other in zip(ones, others, strict=True)]
    middle, spread = moments(differences)
    error = max(spread / math.sqrt(len(differences)), least_error)
    return Difference(middle, error, max(1, len(differences) - 1))


def larger_mean(
    ones: Sequence[float],
    others: Sequence[float],
    margin: float,
    unit: str = "",
    scale: Scale | None = None,
    trained: bool = False,
    least_error: float | None = None,
) -> Verdict:
    """Test the claim that the first mean is larger.

    If the values are `trained`, each is of one training: their spread has the variance of training
    and that of the games. The margin belongs to the second mean, unless there is a scale.
    """
    test = "Welch's t-test"
    if trained:
        _check_trainings(ones)
        _check_trainings(others)
        test += f" over {len(ones)} and {len(others)} trainings"
    if least_error is None:
        least_error = LEAST_ERROR if trained else 0.0
    value = _reference(moments(others)[0], unit, scale)
    return directed(test, welch(ones, others, least_error), margin, unit, value, scale)


def larger_paired(
    ones: Sequence[float],
    others: Sequence[float],
    margin: float,
    unit: str = "",
    scale: Scale | None = None,
    what: str = "pairs",
    least_error: float = 0.0,
) -> Verdict:
    """Test the claim that the first values are larger, pair by pair; `what` the pairs are."""
    if list(ones) == list(others):
        same = SAME_GAMES if what == SEEDS else "0: the same values"
        return Verdict(Answer.DIFFERS, f"no test of {len(ones)} {what}: {same}")
    test = f"paired t-test over {len(ones)} {what}"
    value = _reference(moments(others)[0], unit, scale)
    return directed(test, paired(ones, others, least_error), margin, unit, value, scale)


def larger_than(
    values: Sequence[float],
    bound: float,
    margin: float,
    unit: str = "",
    scale: Scale | None = None,
    what: str = "",
    least_error: float = 0.0,
) -> Verdict:
    """Test the claim that a mean is larger than a number that is known exactly.

    A test over `what` of "trainings" needs at least three of them.
    """
    if what:
        _check_trainings(values)
    middle, spread = moments(values)
    error = max(spread / math.sqrt(len(values)), least_error)
    difference = Difference(middle - bound, error, max(1, len(values) - 1))
    test = "one-sample t-test" + (f" over {len(values)} {what}" if what else "")
    return directed(test, difference, margin, unit, _reference(bound, unit, scale), scale)


def larger_share(count: int, of: int, other: int, other_of: int, points: float) -> Verdict:
    """Test the claim that the first share is larger, by the normal approximation."""
    # Agresti and Caffo (2000): one success and one failure more keep the error from vanishing.
    one_share = (count + 1) / (of + 2)
    other_share = (other + 1) / (other_of + 2)
    error = math.sqrt(
        one_share * (1 - one_share) / (of + 2) + other_share * (1 - other_share) / (other_of + 2)
    )
    difference = Difference(100 * (one_share - other_share), 100 * error, None)
    return directed("test of two shares", difference, points, POINTS_UNIT)


def larger_paired_share(only_one: int, only_other: int, of: int, points: float) -> Verdict:
    """Test the claim that the first of two shares of the same `of` trials is larger.

    Only trials in which they differ count: those with the first alone, and with the other alone.
    The test is McNemar's (1947), exact; the power is for as many trials that differ.
    """
    test = f"exact McNemar test of {of} pairs, {only_one + only_other} of which differ"
    estimate = paired_share_interval(only_one, only_other, of, 1 - LEVEL)
    power = mcnemar_power(only_one + only_other, of, points / 100)
    return claimed_different(
        test, mcnemar(only_one, only_other), estimate, points, power, POINTS_UNIT
    )


def same_paired_share(only_one: int, only_other: int, of: int, points: float) -> Verdict:
    """Test the claim that two shares of the same `of` trials are equal; see larger_paired_share."""
    test = f"exact McNemar test of {of} pairs, {only_one + only_other} of which differ"
    estimate = paired_share_interval(only_one, only_other, of, 1 - 2 * LEVEL)
    differing = only_one + only_other

    def is_inside(count: int) -> bool:
        _, low, high = paired_share_interval(count, differing - count, of, 1 - 2 * LEVEL)
        return -points <= low and high <= points

    # The counts that agree are those around one half, at most as far from it as `first`.
    first = bisect_left(range(differing // 2 + 1), True, key=is_inside)
    power = math.fsum(
        _binomial(count, differing, 0.5) for count in range(first, differing - first + 1)
    )
    if first > differing // 2:
        power = 0.0
    return claimed_equal(test, mcnemar(only_one, only_other), estimate, points, power)


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the two-sided p-value of McNemar's exact test."""
    differing = only_one + only_other
    fewer = min(only_one, only_other)
    tail = math.fsum(math.comb(differing, count) for count in range(fewer + 1)) / 2**differing
    return float(min(1.0, 2 * tail))


def paired_share_interval(
    only_one: int, only_other: int, of: int, confidence: float
) -> tuple[float, float, float]:
    """Return the difference of two shares of the same trials and its interval, in points.

    It contains two intervals: the exact one for the trials that differ, taken as they are, which
    excludes 0 if and only if McNemar's test does, and that of Agresti and Min (2005), in which the
    number of such trials is uncertain, too.
    """
    if of == 0:
        return 0.0, -100.0, 100.0
    differing = only_one + only_other
    ends = [
        differing / of * (2 * end - 1) for end in clopper_pearson(only_one, differing, confidence)
    ]
    # Half a trial more of each of the four kinds keeps the error from vanishing.
    middle = (only_one - only_other) / (of + 2)
    error = math.sqrt(((differing + 1) / (of + 2) - middle**2) / (of + 2))
    reach = NORMAL.inv_cdf((1 + confidence) / 2) * error
    low, high = min(ends[0], middle - reach), max(ends[1], middle + reach)
    return 100 * (only_one - only_other) / of, 100 * low, 100 * high


def mcnemar_power(differing: int, of: int, margin: float) -> float:
    """Return the probability that a difference of the margin shows, with as many trials differing.

    The trials that differ cannot make a larger difference than their share.
    """
    share = min(1.0, 0.5 + margin * of / (2 * differing)) if differing else 0.5

    def is_positive(count: int) -> bool:
        return paired_share_interval(count, differing - count, of, 1 - LEVEL)[1] > 0

    fewest = bisect_left(range(differing + 1), True, key=is_positive)
    return math.fsum(_binomial(count, differing, share) for count in range(fewest, differing + 1))


def clopper_pearson(count: int, of: int, confidence: float) -> tuple[float, float]:
    """Return the exact interval of a share (Clopper and Pearson, 1934)."""
    tail = (1 - confidence) / 2
    counts = np.arange(of + 1)
    choices = _log_choose(of)

    def weights(share: float) -> NDArray[np.float64]:
        logs = choices + counts * math.log(share) + (of - counts) * math.log1p(-share)
        return np.asarray(np.exp(logs))

    def above(share: float) -> float:
        return float(weights(share)[count:].sum()) - tail

    def below(share: float) -> float:
        return tail - float(weights(share)[: count + 1].sum())

    low = root(above, 0.0, 1.0, 45) if count else 0.0
    high = root(below, 0.0, 1.0, 45) if count < of else 1.0
    return low, high


def directed(
    test: str,
    difference: Difference,
    margin: float,
    unit: str = "",
    value: float | None = None,
    scale: Scale | None = None,
) -> Verdict:
    """Test the claim that a difference is positive."""
    power = direction_power(_ratio(margin, difference.error), difference.freedom, LEVEL)
    estimate = (difference.value, *difference.interval(1 - LEVEL))
    return claimed_different(test, difference.p(), estimate, margin, power, unit, value, scale)


def claimed_different(
    test: str,
    p: float,
    estimate: tuple[float, float, float],
    margin: float,
    power: float,
    unit: str = "",
    value: float | None = None,
    scale: Scale | None = None,
) -> Verdict:
    """Return the verdict on the claim that there is a positive difference.

    `estimate` is the difference with the ends of its 95 % interval.
    """
    words = f"{margin:g} {unit}".strip()
    if not says_something(margin, value, scale, unit):
        return no_verdict(test, words)
    difference, low, high = estimate
    answer = Answer.CANNOT_TELL
    if low > 0:
        answer = Answer.AGREES
    elif high < margin:
        # Smaller than the margin, or opposite.
        answer = Answer.DIFFERS
    return Verdict(answer, test, words, p, power, difference, low, high, DIRECTION_CONFIDENCE)


# --- Bounds --------------------------------------------------------------------------------------


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
    power = direction_power(ASIDE / error, len(values) - 1, LEVEL)
    return Verdict(answer, test, f"{100 * ASIDE:g} points", p, power)


def half_of_decided(won: int, lost: int) -> Verdict:
    """Test the claim that a player wins at least half of the games that are not drawn."""
    verdict = at_least(won, won + lost, 0.5)
    return replace(verdict, test=f"{verdict.test} of {won + lost} decided games")


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


def noncentral_tail(statistic: float, freedom: int, noncentrality: float) -> float:
    """Return the probability that a noncentral chi-squared variable reaches `statistic`."""
    # A Poisson mixture of central distributions with 2 more degrees of freedom each.
    half = noncentrality / 2
    terms = int(half + 12 * math.sqrt(half + 1)) + 20
    total = 0.0
    tail = chi_squared_tail(statistic, freedom)
    for k in range(terms):
        total += math.exp(k * math.log(half) - half - math.lgamma(k + 1)) * tail
        # Two more degrees of freedom add one term to the tail, as in `chi_squared_tail`.
        if statistic > 0:
            degree = freedom / 2 + k
            log_term = degree * math.log(statistic / 2) - statistic / 2 - math.lgamma(degree + 1)
            tail = min(1.0, tail + math.exp(log_term))
    return total


def chi_squared_quantile(tail: float, freedom: int) -> float:
    """Return the value that a chi-squared variable reaches with probability `tail`."""
    return root(lambda x: tail - chi_squared_tail(x, freedom), 0.0, 1000.0)


def _reference(value: float, unit: str, scale: Scale | None) -> float | None:
    """Return the value that a margin belongs to; None if there is a scale instead."""
    return None if scale is not None or unit in (POINTS_UNIT, ELO_UNIT) else value


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
    """Return the probability of a count among independent trials."""
    if share in (0, 1):
        return float(count == of * share)
    logs = math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
    return math.exp(logs + count * math.log(share) + (of - count) * math.log(1 - share))


def _log_choose(total: int) -> Any:
    """Return an array of the logarithms of the binomial coefficients of `total`."""
    factorials = np.array([math.lgamma(k + 1) for k in range(total + 1)])
    return factorials[-1] - factorials - factorials[::-1]
