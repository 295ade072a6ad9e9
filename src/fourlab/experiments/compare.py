"""Words for numbers, and whether two of them agree."""

import math
from collections.abc import Sequence

from fourlab.arena.stats import Z_95, wilson


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


def same_share(one: int, of_one: int, other: int, of_other: int, level: float = 0.01) -> bool:
    """Whether two counts may well come from one share: Fisher's exact test does not reject it."""
    return fisher(one, of_one, other, of_other) >= level


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
