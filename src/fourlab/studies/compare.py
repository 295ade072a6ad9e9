"""Distributions and tests that several studies need."""

import math
from collections.abc import Callable, Sequence
from functools import cache


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


def holm(chances: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, 1979), in the same order.

    If every test whose corrected value is below a level rejects, the probability that any of them
    does so wrongly is at most that level.
    """
    corrected = [1.0] * len(chances)
    greatest = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        # The smallest is multiplied by the number of tests, the next by one less, and so on.
        greatest = max(greatest, (len(chances) - rank) * chances[place])
        corrected[place] = min(1.0, greatest)
    return corrected


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


def student_tail(t: float, freedom: int) -> float:
    """Return the two-sided tail probability of Student's t distribution."""
    if math.isinf(t):
        return 0.0
    # Abramowitz and Stegun (1964), 26.7.3 and 26.7.4: a finite sum in cos(theta).
    theta = math.atan(abs(t) / math.sqrt(freedom))
    cosine, sine = math.cos(theta), math.sin(theta)
    total = 0.0
    term = cosine if freedom % 2 else 1.0
    for k in range(freedom % 2, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (k + 1) / (k + 2)
    inside = sine * total
    if freedom % 2:
        inside = 2 / math.pi * (theta + inside)
    return max(0.0, 1.0 - inside)


@cache
def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution for a probability of at least one half."""
    return root(lambda t: 2 * (1 - probability) - student_tail(t, freedom), 0.0, 1e6)


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


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing function is 0, by bisection."""
    for _ in range(200):
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
