"""The statistical tests behind the verdicts of the studies; `rules` has what their answers mean."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fourlab.analysis.overview import MAY_HAPPEN
from fourlab.arena.statistics import wilson
from fourlab.studies.claims import Answer, Counts, Verdict
from fourlab.studies.compare import (
    NORMAL,
    direction_power,
    equivalence_power,
    f_tail,
    moments,
    student_quantile,
    student_tail,
)
from fourlab.studies.proportions import (
    LEVEL,
    agreeing_power,
    binomial,
    freeman_halton,
    mcnemar,
    mcnemar_power,
    paired_agreeing_power,
    paired_share_interval,
    share_interval,
)
from fourlab.studies.rules import (
    ELO_UNIT,
    POINTS_UNIT,
    Difference,
    Scale,
    claimed_different,
    claimed_equal,
    directed,
    no_verdict,
    ratio_of,
    says_something,
    within_error,
)

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
SAME_GAMES = "0: the same games"
SEEDS = "seeds"
"""What pairs of trainings are; with equal results, pages say that the games are the same."""


# --- Equality -----------------------------------------------------------------------------------


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


def same_trained_counts(
    reported: Counts, trained: Sequence[Counts], points: float, what: str = "trainings"
) -> Verdict:
    """Compare the results of one trained learner with those of several trainings of ours.

    Pearson's statistic for all outcomes at once, with the variance of training added to that of the
    games. How much the former is follows from how much more our trainings differ than games alone
    would make them. Few trainings estimate it badly, so the statistic has an F distribution.
    """
    _check_trainings(trained)
    # Only outcomes that occur at all; int64[trainings, outcomes]
    names = [name for name in reported.counts if reported.counts[name] or _total(trained, name)]
    ours = np.array([[counts.counts[name] for name in names] for counts in trained])
    games = ours.sum(axis=1)
    # Half a count more: an outcome that we did not see may still be possible.
    pooled = (ours.sum(axis=0) + 0.5) / (ours.sum() + 0.5 * len(names))
    freedom = len(names) - 1
    between = sum(
        of * _pearson(row / of, ours.sum(axis=0) / ours.sum(), pooled)
        for row, of in zip(ours, games, strict=True)
    )
    excess = max(0.0, between / (freedom * (len(trained) - 1)) - 1)
    # In units of the variance of one game.
    training = excess / float(np.mean(games))
    error = 1 / reported.n + training + (1 / float(np.mean(games)) + training) / len(trained)
    shares = np.array([reported.counts[name] for name in names]) / reported.n
    statistic = _pearson(shares, ours.sum(axis=0) / ours.sum(), pooled) / error
    p = f_tail(statistic / freedom, freedom, freedom * (len(trained) - 1))
    test = f"F-test of all outcomes with the variance of {len(trained)} {what}"
    intervals: dict[str, tuple[float, float, float]] = {}
    missed = 0.0
    for place, name in enumerate(names):
        share_error = 100 * math.sqrt(error * pooled[place] * (1 - pooled[place]))
        ours_share = float(ours.sum(axis=0)[place] / ours.sum())
        difference = Difference(
            100 * (ours_share - float(shares[place])), share_error, len(trained) - 1
        )
        intervals[name] = (difference.value, *difference.interval(1 - 2 * LEVEL))
        power = equivalence_power(points / share_error, difference.freedom, LEVEL)
        missed += 1 - power
    furthest = max(intervals, key=lambda name: max(map(abs, intervals[name][1:])))
    verdict = claimed_equal(test, p, intervals[furthest], points, max(0.0, 1 - missed))
    return replace(verdict, outcome=furthest)


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


# --- Direction ----------------------------------------------------------------------------------


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
    power = paired_agreeing_power(only_one + only_other, of, points)
    return claimed_equal(test, mcnemar(only_one, only_other), estimate, points, power)


# --- Bounds -------------------------------------------------------------------------------------


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
    power = sum(binomial(k, of, aside) for k, answer in enumerate(answers) if answer is noticed)
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
        below = math.fsum(binomial(k, of, bound) for k in range(count + 1))
        above = math.fsum(binomial(k, of, bound) for k in range(count, of + 1))
        return min(1.0, 2 * min(below, above))
    # The Wilson interval excludes the bound if and only if the score test rejects it.
    error = math.sqrt(bound * (1 - bound) / of)
    return 2 * (1 - NORMAL.cdf(abs(ratio_of(count / of - bound, error))))


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
    p = student_tail(ratio_of(middle - bound, error), len(values) - 1)
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


def _reference(value: float, unit: str, scale: Scale | None) -> float | None:
    """Return the value that a margin belongs to; None if there is a scale instead."""
    return None if scale is not None or unit in (POINTS_UNIT, ELO_UNIT) else value


def _check_trainings(values: Sequence[object]) -> None:
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


def _total(trained: Sequence[Counts], name: str) -> int:
    return sum(counts.counts[name] for counts in trained)


def _pearson(one: np.ndarray, other: np.ndarray, pooled: np.ndarray) -> float:
    """Return Pearson's distance of two distributions, for one game."""
    return float(((one - other) ** 2 / pooled).sum())
