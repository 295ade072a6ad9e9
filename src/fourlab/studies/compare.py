"""Distributions and tests that several studies need."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from statistics import NormalDist

NORMAL = NormalDist()
SIMPSON = 1000
"""Intervals of numerical integrals, an even number."""


def homogeneity(rows: Sequence[Sequence[int]]) -> float:
    """Return the p-value of Pearson's chi-squared test (1900) that all rows share probabilities.

    Rows and columns without any counts are ignored.
    """
    columns = sum(1 for column in zip(*rows, strict=True) if sum(column))
    filled = sum(1 for row in rows if sum(row))
    return chi_squared_tail(chi_squared_statistic(rows), (filled - 1) * (columns - 1))


def chi_squared_statistic(rows: Sequence[Sequence[int]]) -> float:
    """Return Pearson's statistic of the differences between rows of counts."""
    columns = [column for column in zip(*rows, strict=True) if sum(column)]
    table = [row for row in zip(*columns, strict=True) if sum(row)]
    totals = [sum(column) for column in columns]
    terms = []
    for row in table:
        for observed, total in zip(row, totals, strict=True):
            # What the margins alone predict for the cell.
            expected = total * sum(row) / sum(totals)
            terms.append((observed - expected) ** 2 / expected)
    return math.fsum(terms)


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


def f_tail(ratio: float, freedom: int, freedom_below: int) -> float:
    """Return the probability that an F variable with 1 or 2 degrees of freedom reaches `ratio`."""
    if freedom == 1:
        return student_tail(math.sqrt(ratio), freedom_below)
    if freedom == 2:
        return math.pow(1 + 2 * ratio / freedom_below, -freedom_below / 2)
    raise ValueError("more than two degrees of freedom are not needed")


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


def direction_power(ratio: float, freedom: int | None, level: float) -> float:
    """Return the probability that a t-test shows a positive difference, two-sided at `level`.

    `ratio` is the true difference divided by its standard error. The statistic has the noncentral t
    distribution; without `freedom`, the normal one.
    """
    if freedom is None:
        return NORMAL.cdf(ratio - NORMAL.inv_cdf(1 - level / 2))
    critical = student_quantile(1 - level / 2, freedom)
    spreads, weights = spread_distribution(freedom)
    # With an estimated error of `spread` times the true one, the estimate must exceed `critical`
    # times that.
    return math.fsum(
        weight * NORMAL.cdf(ratio - critical * spread)
        for spread, weight in zip(spreads, weights, strict=True)
    )


def equivalence_power(ratio: float, freedom: int | None, level: float) -> float:
    """Return the probability that two one-sided t-tests at `level` show that a difference is small.

    `ratio` is the margin divided by the standard error; the true difference is 0.
    """

    def inside(reach: float) -> float:
        # The estimate may be so far from 0 that its interval still is within the margin.
        return max(0.0, 2 * NORMAL.cdf(reach) - 1)

    if math.isinf(ratio):
        return 1.0
    if freedom is None:
        return inside(ratio - NORMAL.inv_cdf(1 - level))
    critical = student_quantile(1 - level, freedom)
    spreads, weights = spread_distribution(freedom)
    return math.fsum(
        weight * inside(ratio - critical * spread)
        for spread, weight in zip(spreads, weights, strict=True)
    )


@cache
def spread_distribution(freedom: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return estimates of a standard deviation of 1 with `freedom`, and their probabilities.

    They are the nodes and weights of Simpson's rule for the chi distribution, whose argument is
    divided by the root of the degrees of freedom.
    """
    # Ten standard deviations on either side of about 1; a spread is not negative.
    width = 10 / math.sqrt(2 * freedom)
    low, high = max(0.0, 1 - width), 1 + width
    step = (high - low) / SIMPSON
    log_constant = math.log(2) + freedom / 2 * math.log(freedom / 2) - math.lgamma(freedom / 2)
    nodes = [low + place * step for place in range(SIMPSON + 1)]
    weights = []
    for place, node in enumerate(nodes):
        if node == 0:
            density = math.exp(log_constant) if freedom == 1 else 0.0
        else:
            density = math.exp(
                log_constant + (freedom - 1) * math.log(node) - freedom * node * node / 2
            )
        factor = 1 if place in (0, SIMPSON) else 4 if place % 2 else 2
        weights.append(factor * density * step / 3)
    return tuple(nodes), tuple(weights)


def root(function: Callable[[float], float], low: float, high: float, steps: int = 200) -> float:
    """Return where an increasing function is 0, by bisection."""
    for _ in range(steps):
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


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
