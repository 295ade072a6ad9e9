"""Tests of what Bhat compares: curves of many bars, trained learners, and sweeps of parameters.

Like those of `fourlab.studies.verdicts`, they have three answers and a margin that is fixed before
a run.
"""

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np

from fourlab.studies.claims import Answer, Counts, Verdict
from fourlab.studies.compare import chi_squared_tail, homogeneity, moments
from fourlab.studies.verdicts import (
    FEWEST_TRAININGS,
    LEAST_ERROR,
    LEVEL,
    NORMAL,
    POWER,
    chi_squared_quantile,
    claimed_different,
    claimed_equal,
    moved_points,
    noncentral_tail,
)

RANK_EFFICIENCY = 0.955
"""Asymptotic efficiency of tests by ranks, 3 / pi, if values are normally distributed."""
CERTAIN = 500.0
"""A greater noncentrality is noticed for certain."""
Cell = tuple[int, int]
"""A count, and the number of trials."""


def same_curve(ones: Sequence[Cell], others: Sequence[Cell], points: float) -> Verdict:
    """Compare two curves of shares by a chi-squared test: one squared difference for every place.

    The margin is a difference at every place, which the power is for. Curves that are close at some
    places and not at others have no one distance, so that the test alone decides.
    """
    statistic = 0.0
    noncentrality = 0.0
    for one, other in zip(ones, others, strict=True):
        variance = _variance(one, other)
        if variance > 0:
            statistic += (one[0] / one[1] - other[0] / other[1]) ** 2 / variance
            noncentrality += (points / 100) ** 2 / variance
    p = chi_squared_tail(statistic, len(ones))
    power = _power(noncentrality, len(ones))
    answer = Answer.CANNOT_TELL
    if p < LEVEL:
        answer = Answer.DIFFERS
    elif power >= POWER:
        answer = Answer.AGREES
    test = f"chi-squared test of {len(ones)} shares"
    return Verdict(answer, test, f"{points:g} points everywhere", p, power)


def varies(cells: Sequence[Cell], points: float) -> Verdict:
    """Test the claim that shares differ; the margin is that of one of them from all others."""
    p = homogeneity([(count, of - count) for count, of in cells])
    trials = sum(of for _, of in cells)
    pooled = sum(count for count, _ in cells) / trials
    # One share that is off by the margin, measured from the mean that it has a part in.
    of = min(of for _, of in cells)
    spread = pooled * (1 - pooled)
    noncentrality = of * (1 - of / trials) * (points / 100) ** 2 / spread if spread else math.inf
    power = _power(noncentrality, len(cells) - 1)
    test = f"chi-squared test of homogeneity of {len(cells)} shares"
    return claimed_different(test, f"{points:g} points at one place", p, power)


def same_trained_counts(
    reported: Counts, trained: Sequence[Counts], points: float, what: str = "trainings"
) -> Verdict:
    """Compare the results of one trained learner with those of several trainings of ours.

    Pearson's statistic for all outcomes at once, with the variance of training added to that of the
    games. How much the former is follows from how much more our trainings differ than games alone
    would make them.
    """
    if len(trained) < FEWEST_TRAININGS:
        raise ValueError("the spread of trainings needs at least three of them")
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
    p = chi_squared_tail(statistic, freedom)
    moved = (points / 100) ** 2 / error
    least = min(
        (moved * (1 / one + 1 / other) for one, other in permutations(pooled.tolist(), 2)),
        default=0.0,
    )
    test = f"chi-squared test with the variance of {len(trained)} {what}"
    together = Counts({name: _total(trained, name) for name in reported.counts})
    moved_by = moved_points(reported, together)
    return claimed_equal(test, p, _power(least, freedom), moved_by, points, "points")


def depends(groups: Sequence[Sequence[float]], margin: float) -> Verdict:
    """Test the claim that values depend on their group, by ranks (Kruskal and Wallis, 1952).

    The margin is a standard deviation between groups, as a share of the mean.
    """
    values = np.concatenate([np.asarray(group, dtype=np.float64) for group in groups])
    places = np.searchsorted(np.sort(values), values, side="left")
    upto = np.searchsorted(np.sort(values), values, side="right")
    ranks = (places + upto + 1) / 2  # equal values share the mean of their ranks
    n = len(values)
    ends = np.cumsum([len(group) for group in groups])
    sums = [part.sum() ** 2 / len(part) for part in np.split(ranks, ends[:-1])]
    total = float(((ranks - (n + 1) / 2) ** 2).sum())
    statistic = (n - 1) * (math.fsum(sums) - n * (n + 1) ** 2 / 4) / total if total else 0.0
    freedom = len(groups) - 1
    within = math.fsum(moments(group)[1] ** 2 for group in groups) / len(groups)
    expected = (margin * float(values.mean())) ** 2
    noncentrality = RANK_EFFICIENCY * n * expected / within if within else math.inf
    power = _power(noncentrality, freedom)
    p = chi_squared_tail(max(statistic, 0.0), freedom)
    test = f"Kruskal-Wallis test of {len(groups)} settings"
    return claimed_different(test, f"{100 * margin:g} % of the mean", p, power)


def larger_paired(ones: Sequence[float], others: Sequence[float], points: float) -> Verdict:
    """Test the claim that the first values are larger, place by place; they are in per cent."""
    differences = [one - other for one, other in zip(ones, others, strict=True)]
    middle, spread = moments(differences)
    error = max(spread / math.sqrt(len(differences)), LEAST_ERROR)
    p = 1 - NORMAL.cdf(middle / error)
    power = NORMAL.cdf(points / error - NORMAL.inv_cdf(1 - LEVEL))
    return claimed_different("paired test, one-sided", f"{points:g} points", p, power)


def _total(trained: Sequence[Counts], name: str) -> int:
    return sum(counts.counts[name] for counts in trained)


def _pearson(one: np.ndarray, other: np.ndarray, pooled: np.ndarray) -> float:
    """Return Pearson's distance of two distributions, for one game."""
    return float(((one - other) ** 2 / pooled).sum())


def _variance(one: Cell, other: Cell) -> float:
    """Return the variance of the difference of two observed shares if the true ones are equal."""
    # Under the null hypothesis both have the pooled share.
    pooled = (one[0] + other[0]) / (one[1] + other[1])
    return pooled * (1 - pooled) * (1 / one[1] + 1 / other[1])


def _power(noncentrality: float, freedom: int) -> float:
    if noncentrality <= 0:
        return LEVEL
    # Beyond CERTAIN, with few degrees of freedom, the sum is long and its value 1.
    if noncentrality > CERTAIN:
        return 1.0
    return noncentral_tail(chi_squared_quantile(LEVEL, freedom), freedom, noncentrality)
