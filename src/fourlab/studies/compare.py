"""Words for numbers, and whether two of them agree."""

import math
from collections.abc import Sequence

from fourlab.arena.statistics import Z_95, wilson

FEWEST, SELDOM = 20, 0.01


def share(count: int, of: int) -> str:
    """A share with Wilson's interval: 71.0 % [61.5, 79.0] of 100."""
    if of == 0:
        return "none"
    low, high = wilson(count, of)
    return f"{100 * count / of:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {of:,}"


def mean(values: Sequence[float], digits: int = 3) -> str:
    """A mean with its 95 % interval and the standard deviation of one value."""
    middle, spread = _moments(values)
    half = Z_95 * spread / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{middle:.{digits}f} [{middle - half:.{digits}f}, {middle + half:.{digits}f}], sd {spread:.{digits}f}"


def p_value(chance: float) -> str:
    """A chance in the words of statistics: p = 0.27."""
    return "p < 0.0001" if chance < 0.0001 else f"p = {chance:.2g}"


def same_share(one: int, of_one: int, other: int, of_other: int, level: float = 0.01) -> bool:
    """Whether two counts may well come from one share: Fisher's exact test does not reject it."""
    return fisher(one, of_one, other, of_other) >= level


def may_happen(count: int, of: int) -> bool | None:
    """Whether what a document saw once, and so many of ours show, happens in at least one of a hundred; None if ours are too few.

    A test of two shares could not tell: one of one and none of a hundred may come from one share.
    """
    return count / of >= SELDOM if of >= FEWEST else None


def fisher(one: int, of_one: int, other: int, of_other: int) -> float:
    """The chance of counts at least as unlikely as these, if both come from one share (Fisher 1922)."""
    together = one + other

    def likelihood(count: int) -> float:
        return _log_choose(of_one, count) + _log_choose(of_other, together - count)

    counts = range(max(0, together - of_other), min(of_one, together) + 1)
    logs = [likelihood(count) for count in counts]
    greatest, seen = max(logs), likelihood(one) + 1e-7
    chances = [math.exp(each - greatest) for each in logs]
    return math.fsum(chance for chance, log in zip(chances, logs, strict=True) if log <= seen) / math.fsum(chances)


def falls(first: int, of_first: int, last: int, of_last: int, level: float = 0.05) -> bool | None:
    """Whether the last share is smaller than the first, if Fisher's exact test can tell them apart."""
    return None if same_share(first, of_first, last, of_last, level) else last * of_first < first * of_last


def homogeneity(rows: Sequence[Sequence[int]]) -> float:
    """The chance of counts as different as these rows, if all come from the same shares (Pearson 1900)."""
    columns = [column for column in zip(*rows, strict=True) if sum(column)]
    kept = [row for row in zip(*columns, strict=True) if sum(row)]
    wholes = [sum(column) for column in columns]
    statistic = math.fsum(
        (seen - expected) ** 2 / expected
        for row in kept
        for seen, expected in ((seen, whole * sum(row) / sum(wholes)) for seen, whole in zip(row, wholes, strict=True))
    )
    return chi_squared_tail(statistic, (len(kept) - 1) * (len(wholes) - 1))


def chi_squared_tail(statistic: float, freedom: int) -> float:
    """The chance that a chi-squared number of so many degrees of freedom is at least so large."""
    half = statistic / 2
    tail = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half) if freedom else 1.0
    for degree in range(freedom % 2 or 2, freedom, 2):  # two more degrees add one term
        tail += math.exp(degree / 2 * math.log(half) - half - math.lgamma(degree / 2 + 1)) if half else 0.0
    return min(tail, 1.0)


def consistent(value: float, values: Sequence[float], of: int = 1, level: float = 3.0) -> bool:
    """Whether a document's mean of so many runs may well be one of ours: within some standard errors of both."""
    middle, spread = _moments(values)
    return abs(value - middle) <= level * spread * math.sqrt(1 / of + 1 / len(values))


def _moments(values: Sequence[float]) -> tuple[float, float]:
    middle = math.fsum(values) / len(values)
    if len(values) < 2:
        return middle, 0.0
    return middle, math.sqrt(math.fsum((each - middle) ** 2 for each in values) / (len(values) - 1))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
