"""Intervals, tests and powers of shares, alone, in pairs and as tables."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourlab.studies.compare import NORMAL, root

LEVEL = 0.05
"""Probability that a test calls equal values different."""


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
    weights = [binomial(count, of, share) for count in counts]
    return np.array(counts, dtype=np.float64), np.array(weights)


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


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the two-sided p-value of McNemar's exact test."""
    differing = only_one + only_other
    fewer = min(only_one, only_other)
    tail = sum(math.comb(differing, count) for count in range(fewer + 1)) / 2**differing
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
    return math.fsum(binomial(count, differing, share) for count in range(fewest, differing + 1))


def paired_agreeing_power(differing: int, of: int, points: float) -> float:
    """Return the probability that equal shares agree, with as many trials differing."""

    def is_inside(count: int) -> bool:
        _, low, high = paired_share_interval(count, differing - count, of, 1 - 2 * LEVEL)
        return -points <= low and high <= points

    # The counts that agree are those around one half, at most as far from it as `first`.
    first = bisect_left(range(differing // 2 + 1), True, key=is_inside)
    if first > differing // 2:
        return 0.0
    return math.fsum(
        binomial(count, differing, 0.5) for count in range(first, differing - first + 1)
    )


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


def binomial(count: int, of: int, share: float) -> float:
    """Return the probability of a count among independent trials."""
    if share in (0, 1):
        return float(count == of * share)
    logs = math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
    return math.exp(logs + count * math.log(share) + (of - count) * math.log(1 - share))


def _log_choose(total: int) -> Any:
    """Return an array of the logarithms of the binomial coefficients of `total`."""
    factorials = np.array([math.lgamma(k + 1) for k in range(total + 1)])
    return factorials[-1] - factorials - factorials[::-1]
