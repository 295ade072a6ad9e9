"""Statistics that say how much is known."""

import math
from dataclasses import dataclass
from typing import Any

Z_95 = 1.959963984540054
"""Nineteen of twenty normal values lie within so many standard deviations."""


def wilson(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """The Wilson interval of a share, by default with 95 % confidence; it is sensible even at 0 and 1 (Wilson 1927)."""
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    middle = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def score_of(elo: float) -> float:
    """The share of points expected from a lead of so many Elo: 1 / (1 + 10^(-elo / 400))."""
    odds = 10 ** (-abs(elo) / 400)  # at most 1, so that no Elo is too large for it
    return 1 / (1 + odds) if elo >= 0 else odds / (1 + odds)


def elo_of(score: float) -> float:
    """The lead in Elo that explains a share of the points; infinite for all of them and for none."""
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return 400 * math.log10(score / (1 - score))


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval, or the words that say why there is none."""

    value: float | None = None
    low: float | None = None
    """None if nothing bounds the value from below."""
    high: float | None = None
    """None if nothing bounds the value from above."""
    why: str = ""
    """Why there is no number, or no interval."""
    is_share: bool = False
    """Whether the value is a share, 0 to 1, written in percent; otherwise it is Elo."""

    @classmethod
    def between(cls, low: float, value: float, high: float) -> "Estimate":
        """A finite value whose bounds may be infinite."""
        below, above = (bound if math.isfinite(bound) else None for bound in (low, high))
        return cls(value, below, above, "no bound on either side" if below is None and above is None else "")

    def as_data(self) -> dict[str, Any]:
        """The same as a dictionary for JSON, with the text for people."""
        return {"value": self.value, "low": self.low, "high": self.high, "why": self.why, "text": str(self)}

    def __str__(self) -> str:
        if self.value is None:
            return self.why
        write = _percent if self.is_share else _signed
        if self.low is None and self.high is None:
            return f"{write(self.value)} ({self.why})" if self.why else write(self.value)
        low, high = ("no bound" if bound is None else write(bound) for bound in (self.low, self.high))
        return f"{write(self.value)} [{low}, {high}]"


def _signed(number: float) -> str:
    return f"{round(number, 1) + 0.0:+.1f}"  # adding zero makes -0.0 a plain zero


def _percent(share: float) -> str:
    if 0 < share < 0.001 or 0.999 < share < 1:  # never round a doubt away
        return "over 99.9 %" if share > 0.5 else "under 0.1 %"
    return f"{100 * share:.1f} %"
