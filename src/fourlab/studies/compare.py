"""Estimates as text, and the statistical tests behind the verdicts."""

import math
from collections.abc import Sequence

from fourlab.arena.statistics import Z_95, wilson

FEWEST = 20
"""With fewer trials of our own, `may_happen` gives no verdict."""
SELDOM = 0.01
"""An event in a smaller share of our trials does not count as a possible explanation."""


def share(count: int, of: int) -> str:
    """Return a share with its 95 % Wilson interval: 71.0 % [61.5, 79.0] of 100."""
    if of == 0:
        return "none"
    # Wilson (1927): unlike the normal approximation, it is sound near 0 and 1, where many shares
    # lie.
    low, high = wilson(count, of)
    return f"{100 * count / of:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {of:,}"


def mean(values: Sequence[float], digits: int = 3) -> str:
    """Return a mean with its 95 % interval, and the standard deviation of a single value."""
    middle, spread = moments(values)
    half = Z_95 * spread / math.sqrt(len(values)) if len(values) > 1 else 0.0
    interval = f"[{middle - half:.{digits}f}, {middle + half:.{digits}f}]"
    return f"{middle:.{digits}f} {interval}, sd {spread:.{digits}f}"


def p_value(chance: float) -> str:
    """Return a p-value as text: p = 0.27."""
    return "p < 0.0001" if chance < 0.0001 else f"p = {chance:.2g}"


def same_share(one: int, of_one: int, other: int, of_other: int, level: float = 0.01) -> bool:
    """Return whether Fisher's exact test fails to reject that two counts share a probability."""
    return fisher(one, of_one, other, of_other) >= level


def may_happen(count: int, of: int) -> bool | None:
    """Return whether an event that a report saw once occurs in at least 1 % of our trials.

    None if there are fewer than FEWEST trials. A test of two shares could not decide this:
    one of one and none of a hundred are compatible with a common probability.
    """
    return count / of >= SELDOM if of >= FEWEST else None


def fisher(one: int, of_one: int, other: int, of_other: int) -> float:
    """Return the two-sided p-value of Fisher's exact test (1922) for two counts."""
    # Given both margins, the first count is hypergeometric if the probabilities are equal; the
    # p-value sums all tables that are at most as likely as the observed one.
    together = one + other

    def log_likelihood(count: int) -> float:
        return _log_choose(of_one, count) + _log_choose(of_other, together - count)

    # Every table with the same margins, by its first count.
    counts = range(max(0, together - of_other), min(of_one, together) + 1)
    logs = [log_likelihood(count) for count in counts]
    # Weights relative to the likeliest table cannot underflow all at once.
    greatest = max(logs)
    observed = log_likelihood(one) + 1e-7  # equally likely tables count despite rounding
    weights = [math.exp(log - greatest) for log in logs]
    as_extreme = (weight for weight, log in zip(weights, logs, strict=True) if log <= observed)
    return math.fsum(as_extreme) / math.fsum(weights)


def falls(first: int, of_first: int, last: int, of_last: int, level: float = 0.05) -> bool | None:
    """Return whether the last share is smaller; None if the difference is not significant."""
    if same_share(first, of_first, last, of_last, level):
        return None
    # Compares last / of_last with first / of_first without dividing.
    return last * of_first < first * of_last


def homogeneity(rows: Sequence[Sequence[int]]) -> float:
    """Return the p-value of Pearson's chi-squared test (1900) that all rows share probabilities.

    Rows and columns without any counts are ignored.
    """
    columns = [column for column in zip(*rows, strict=True) if sum(column)]
    table = [row for row in zip(*columns, strict=True) if sum(row)]
    totals = [sum(column) for column in columns]
    terms = []
    for row in table:
        for observed, total in zip(row, totals, strict=True):
            # What the margins alone predict for the cell.
            expected = total * sum(row) / sum(totals)
            terms.append((observed - expected) ** 2 / expected)
    return chi_squared_tail(math.fsum(terms), (len(table) - 1) * (len(totals) - 1))


def chi_squared_tail(statistic: float, freedom: int) -> float:
    """Return the probability that a chi-squared variable reaches at least `statistic`.

    `freedom` is the number of degrees of freedom.
    """
    half = statistic / 2
    tail = math.exp(-half) if freedom else 1.0
    if freedom % 2:
        # One degree of freedom: the square of a standard normal variable.
        tail = math.erfc(math.sqrt(half))
    # Starting from one or two degrees of freedom, every two more add one term.
    for degree in range(freedom % 2 or 2, freedom, 2):
        if half:
            tail += math.exp(degree / 2 * math.log(half) - half - math.lgamma(degree / 2 + 1))
    return min(tail, 1.0)


def consistent(value: float, values: Sequence[float], of: int = 1, level: float = 3.0) -> bool:
    """Return whether a reported mean of `of` runs is compatible with our runs.

    It must lie within `level` standard errors of the difference between the two means.
    """
    middle, spread = moments(values)
    return abs(value - middle) <= level * spread * math.sqrt(1 / of + 1 / len(values))


def moments(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the sample standard deviation, which is 0 for a single value."""
    middle = math.fsum(values) / len(values)
    if len(values) < 2:
        return middle, 0.0
    # Bessel: n - 1 makes the variance unbiased.
    squares = math.fsum((value - middle) ** 2 for value in values)
    return middle, math.sqrt(squares / (len(values) - 1))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
