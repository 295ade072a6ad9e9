"""Tests of what Bhat compares: curves of many bars, and sweeps of parameters.

Like those of `fourlab.studies.verdicts`, they have three answers and a margin that is fixed before
a run.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fourlab.studies.claims import Answer, Verdict
from fourlab.studies.compare import (
    chi_squared_quantile,
    chi_squared_statistic,
    chi_squared_tail,
    homogeneity,
    moments,
    noncentral_tail,
    root,
)
from fourlab.studies.proportions import LEVEL
from fourlab.studies.rules import claimed_equal, no_verdict, says_something

RANK_EFFICIENCY = 0.955
"""Asymptotic efficiency of tests by ranks, 3 / pi, if values are normally distributed."""
CERTAIN = 500.0
"""A greater noncentrality is noticed for certain."""
Cell = tuple[int, int]
"""A count, and the number of trials."""


def same_curve(ones: Sequence[Cell], others: Sequence[Cell], points: float) -> Verdict:
    """Compare two curves of shares by a chi-squared test: one squared difference for every place.

    The distance is the root mean square difference, where places with a smaller error count more.
    Its interval is that of the statistic's noncentrality.
    """
    test = f"chi-squared test of {len(ones)} shares"
    statistic = 0.0
    noncentrality = 0.0
    for one, other in zip(ones, others, strict=True):
        variance = _variance(one, other)
        if variance > 0:
            statistic += (one[0] / one[1] - other[0] / other[1]) ** 2 / variance
            noncentrality += (points / 100) ** 2 / variance
    if not says_something(points, unit="points"):
        return no_verdict(test, f"{points:g} points")
    places = len(ones)
    p = chi_squared_tail(statistic, places)
    # The noncentrality is the mean square difference in units of the margin's.
    unit = points / math.sqrt(noncentrality) if noncentrality else math.inf
    # A statistic that is small by luck does not make the upper end smaller.
    low = noncentrality_bound(statistic, places, 1 - LEVEL)
    high = noncentrality_bound(max(statistic, places), places, LEVEL)
    ends = [unit * math.sqrt(end) for end in (low, high)]
    # Chance alone makes the statistic as large as the number of places.
    distance = unit * math.sqrt(max(0.0, statistic - places))
    # The largest statistic that agrees.
    most = 4 * (noncentrality + places) + 100
    largest = root(lambda x: noncentral_below(x, places, noncentrality) - LEVEL, 0.0, most, 50)
    power = 1 - chi_squared_tail(largest, places) if largest >= places else 0.0
    verdict = claimed_equal(test, p, (distance, ends[0], ends[1]), points, power)
    return replace(verdict, margin=f"{points:g} points, root mean square")


def varies(cells: Sequence[Cell], points: float) -> Verdict:
    """Test the claim that shares differ; the margin is that of one of them from all others."""
    trials = sum(of for _, of in cells)
    pooled = sum(count for count, _ in cells) / trials
    # One share that is off by the margin, measured from the mean that it has a part in.
    of = min(of for _, of in cells)
    spread = pooled * (1 - pooled)
    noncentrality = of * (1 - of / trials) * (points / 100) ** 2 / spread if spread else math.inf
    p = homogeneity([(count, of - count) for count, of in cells])
    statistic = chi_squared_statistic([(count, of - count) for count, of in cells])
    test = f"chi-squared test of homogeneity of {len(cells)} shares"
    margin = f"{points:g} points at one place"
    if not says_something(points, unit="points"):
        return no_verdict(test, margin)
    return _omnibus(test, margin, p, statistic, len(cells) - 1, noncentrality)


def _omnibus(
    test: str, margin: str, p: float, statistic: float, freedom: int, noncentrality: float
) -> Verdict:
    """Return the verdict on the claim that some of several values differ.

    It holds if the test rejects equality. It does not hold if the 95 % interval of the
    noncentrality is below that of the margin.
    """
    answer = Answer.CANNOT_TELL
    if p < LEVEL:
        answer = Answer.AGREES
    # A statistic that is small by luck says no more than its mean without any difference.
    elif noncentral_below(max(statistic, freedom), freedom, noncentrality) < LEVEL / 2:
        answer = Answer.DIFFERS
    return Verdict(answer, test, margin, p, _power(noncentrality, freedom))


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
    p = chi_squared_tail(max(statistic, 0.0), freedom)
    test = f"Kruskal-Wallis test of {len(groups)} settings"
    words = f"{100 * margin:g} % of the mean"
    if not says_something(margin, 1.0):
        return no_verdict(test, words)
    return _omnibus(test, words, p, max(statistic, 0.0), freedom, noncentrality)


def _variance(one: Cell, other: Cell) -> float:
    """Return the variance of the difference of two observed shares if the true ones are equal."""
    # Under the null hypothesis both have the pooled share.
    pooled = (one[0] + other[0]) / (one[1] + other[1])
    return pooled * (1 - pooled) * (1 / one[1] + 1 / other[1])


def noncentrality_bound(statistic: float, freedom: int, tail: float) -> float:
    """Return the noncentrality with which a statistic is below this one with probability `tail`.

    It is 0 if that is less likely even without noncentrality.
    """
    if 1 - chi_squared_tail(statistic, freedom) <= tail:
        return 0.0
    most = 4 * statistic + 100
    return root(lambda x: tail - noncentral_below(statistic, freedom, x), 0.0, most, 50)


def noncentral_below(statistic: float, freedom: int, noncentrality: float) -> float:
    """Return the probability that a noncentral chi-squared variable is below `statistic`."""
    if noncentrality <= 0:
        return 1 - chi_squared_tail(statistic, freedom)
    if math.isinf(noncentrality):
        return 0.0
    return 1 - noncentral_tail(statistic, freedom, noncentrality)


def _power(noncentrality: float, freedom: int) -> float:
    if noncentrality <= 0:
        return LEVEL
    # Beyond CERTAIN, with few degrees of freedom, the sum is long and its value 1.
    if noncentrality > CERTAIN:
        return 1.0
    return noncentral_tail(chi_squared_quantile(LEVEL, freedom), freedom, noncentrality)
