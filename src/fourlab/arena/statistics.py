"""Confidence intervals, the Elo scale, and estimates with their uncertainty."""

import math
from dataclasses import dataclass
from typing import Any

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution: 95 % of its mass is within ±Z_95."""

DOUBT = 0.05
"""Probability with which a one-sided 95 % bound is wrong."""


def wilson(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion (Wilson 1927), by default at 95 %.

    Unlike the normal approximation p ± z·sqrt(p(1 - p)/n) it stays within 0 and 1 and keeps a
    positive width when all trials succeed or all fail. Without trials it is (0, 1).
    """
    if trials == 0:
        return 0.0, 1.0
    # (p + z²/2n ± z·sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)
    share = successes / trials
    middle = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # Rounding errors must not leave the range from 0 to 1.
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def least_share(trials: int) -> float:
    """Return the lower one-sided 95 % bound of a share after `trials` successes in as many trials.

    It is exact (Clopper and Pearson 1934): with a smaller share p, a run of n successes, whose
    probability is p^n, would have a probability below 5 %.
    """
    return DOUBT ** (1 / trials) if trials else 0.0


def score_of(elo: float) -> float:
    """Return the expected score, 0 to 1, of a player ahead by `elo`: 1 / (1 + 10^(-elo / 400))."""
    odds = 10 ** (-abs(elo) / 400)  # at most 1, so it cannot overflow
    return 1 / (1 + odds) if elo >= 0 else odds / (1 + odds)


def elo_of(score: float) -> float:
    """Return the Elo difference of an expected score, the inverse of `score_of`.

    Scores of 0 or less give -inf, scores of 1 or more +inf.
    """
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return 400 * math.log10(score / (1 - score))


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval, or the reason why there is none.

    Where there is no value, one end may still be known: a one-sided 95 % bound.
    """

    value: float | None = None
    low: float | None = None
    """Lower end of the interval; None if the value is not bounded from below."""
    high: float | None = None
    """Upper end of the interval; None if the value is not bounded from above."""
    why: str = ""
    """Why there is no value, or no interval."""
    is_share: bool = False
    """Whether the value is a proportion, 0 to 1, written in percent; otherwise it is in Elo."""
    regularised: float | None = None
    """Where results alone give no value: the value that they give together with a weak prior."""

    @classmethod
    def between(cls, low: float, value: float, high: float) -> "Estimate":
        """Return the estimate of a finite value whose bounds may be infinite."""
        lower = low if math.isfinite(low) else None
        upper = high if math.isfinite(high) else None
        unbounded = lower is None and upper is None
        return cls(value, lower, upper, "no bound on either side" if unbounded else "")

    def as_data(self) -> dict[str, Any]:
        """Return the estimate as JSON data; `text` is what people read."""
        data = {
            # `is_share` is left out: `text` already shows the unit.
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "why": self.why,
            "text": str(self),
        }
        return data if self.regularised is None else {**data, "regularised": self.regularised}

    def __str__(self) -> str:
        if self.value is None:
            bound = self._bound_in_words()
            if self.regularised is None:
                return bound or self.why
            regularised = f"about {_signed(self.regularised)} (regularised)"
            return "; ".join(filter(None, [self.why, bound, regularised]))
        write = _percent if self.is_share else _signed
        if self.low is None and self.high is None:
            return f"{write(self.value)} ({self.why})" if self.why else write(self.value)
        low = "no bound" if self.low is None else write(self.low)
        high = "no bound" if self.high is None else write(self.high)
        return f"{write(self.value)} [{low}, {high}]"

    def _bound_in_words(self) -> str:
        """Return the one-sided bound of an estimate without a value; empty if it has none."""
        bound = self.high if self.low is None else self.low
        if bound is None:
            return ""
        word = "at most" if self.low is None else "at least"
        if not self.is_share:
            return f"{word} {_signed(bound)} (95 %, one-sided)"
        text = _percent(bound)
        return text if text.startswith(("over", "under")) else f"{word} {text}"


def _signed(number: float) -> str:
    return f"{round(number, 1) + 0.0:+.1f}"  # -0.0 + 0.0 is 0.0


def _percent(share: float) -> str:
    if 0 < share < 0.001 or 0.999 < share < 1:  # do not round doubt away to 0 or 100 %
        return "over 99.9 %" if share > 0.5 else "under 0.1 %"
    return f"{100 * share:.1f} %"
