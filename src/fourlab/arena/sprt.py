"""The sequential probability ratio test (Wald 1945): play only until one hypothesis is accepted.

The score x of a unit (`Tally`) is modelled as normal with unknown variance. A hypothesis fixes the
mean (logistic Elo) or the mean in standard deviations (normalized Elo). The variance is a nuisance
parameter: each hypothesis gets the one that makes the results most likely, which makes this a
generalized SPRT (GSPRT), as in fishtest and fastchess.

The usual shortcut puts the observed variance into both hypotheses. It gives the same numbers in
long matches between nearly equal players, as in chess. Matches of Connect Four agents are short
and their differences large: at 0 to 100 logistic Elo the shortcut was wrong in 9 to 14 of 100
simulated tests that promised at most 5. Maximizing over the variance was wrong in 4 to 6, and needs
no pseudo-counts for results that never occurred.

If nearly all units are even, prefer normalized Elo: there the logistic test was wrong in up to 15
of 100.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

from fourlab.arena.statistics import score_of
from fourlab.arena.tally import FEWEST, NORMALIZED, Tally
from fourlab.errors import UserError

LARGEST = 2000
"""The largest Elo difference a hypothesis may name, positive or negative."""

BIAS = (
    "the Elo of a match that was stopped by a test is biased towards the hypothesis that was "
    "accepted"
)
"""To be shown with the Elo of such a match: a test stops while the results are extreme."""


@dataclass(frozen=True)
class Verdict:
    """The state of a test."""

    llr: float | None
    """Log-likelihood ratio of H1 to H0; None if the results carry no information."""
    bounds: tuple[float, float]
    """H0 is accepted at or below the first, H1 at or above the second."""
    accepted: Literal["H0", "H1"] | None
    sentence: str

    def as_data(self) -> dict[str, Any]:
        """Return the verdict as JSON data."""
        return {
            "llr": self.llr,
            "bounds": list(self.bounds),
            "accepted": self.accepted,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Sprt:
    """A test of H0, "the difference is elo0 or less", against H1, "it is elo1 or more"."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Largest probability of accepting H1 although H0 is true."""
    beta: float = 0.05
    """Largest probability of accepting H0 although H1 is true."""
    model: str = "normalized"
    """The scale of elo0 and elo1: normalized, or logistic."""

    def __post_init__(self) -> None:
        if self.model not in ("normalized", "logistic"):
            raise UserError(f"the model is normalized or logistic, not {self.model!r}")
        if not -LARGEST <= self.elo0 < self.elo1 <= LARGEST:
            raise UserError(
                f"elo0 must be below elo1, both within ±{LARGEST}: "
                f"{self.elo0:g} and {self.elo1:g} are not"
            )
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise UserError(
                "alpha and beta must be above 0 and together below 1: "
                f"{self.alpha:g} and {self.beta:g} are not"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which the test ends (Wald's approximation)."""
        # They neglect how far the last unit overshoots a bound. The two error rates may then
        # exceed alpha or beta slightly, but not their sum (Wald 1945).
        lower = math.log(self.beta / (1 - self.alpha))
        upper = math.log((1 - self.beta) / self.alpha)
        return lower, upper

    def llr(self, tally: Tally) -> float | None:
        """Return the log-likelihood ratio of H1 to H0.

        It is None without results, and if all units had the same result other than a win or a loss
        of the whole unit.
        """
        if max(tally.counts[1:-1]) == tally.units:  # 0 == 0 without results
            return None
        under_h0 = self._log_likelihood(tally, self.elo0)
        under_h1 = self._log_likelihood(tally, self.elo1)
        return tally.units * (under_h1 - under_h0)

    def _log_likelihood(self, tally: Tally, elo: float) -> float:
        """Return the mean log-likelihood per unit at the best-fitting variance.

        Constants that cancel in the likelihood ratio are omitted.
        """
        if self.model == "logistic":
            # With the mean fixed at μ, the likelihood is largest at σ² = E[(x - μ)²]
            # = variance + (score - μ)², and its log is then -log(σ²) / 2 plus a constant.
            return -math.log(tally.variance + (tally.score - score_of(elo)) ** 2) / 2
        # The mean is ½ + tσ with t fixed by the hypothesis. With d = x - ½ the log-likelihood
        # -log σ - E[(d - tσ)²] / 2σ² is largest where σ² + tσE[d] = E[d²].
        # t counts standard deviations of a unit's mean score, normalized Elo those of one game,
        # which are √2 times as large for pairs.
        t = elo / NORMALIZED * math.sqrt(tally.games_per_unit)
        lead = tally.score - 0.5  # E[d]
        square = tally.variance + lead**2  # E[d²]
        # The positive root of that quadratic equation.
        sigma = (math.sqrt((t * lead) ** 2 + 4 * square) - t * lead) / 2
        return -math.log(sigma) - (square / sigma**2 - 2 * t * lead / sigma + t**2) / 2

    def verdict(
        self, tally: Tally, first: str = "the first agent", second: str = "the second"
    ) -> Verdict:
        """Return which hypothesis is accepted, if any, with a sentence that names the agents."""
        llr = self.llr(tally)
        after = f"after {tally.units} {tally.unit}{'' if tally.units == 1 else 's'}"
        if llr is None:
            return Verdict(None, self.bounds, None, f"undecided {after}: {tally.why_not}")
        lower, upper = self.bounds
        numbers = f"(LLR {llr:.2f}, bounds {lower:.2f} to {upper:.2f})"
        elo = "normalized Elo" if self.model == "normalized" else "Elo"
        if tally.units < FEWEST:
            reason = f"a verdict needs {FEWEST} {numbers}"
            return Verdict(llr, self.bounds, None, f"undecided {after}: {reason}")
        if llr >= upper:
            claim = f"{first} is stronger than {second} by more than {self.elo0:g} {elo}"
            return Verdict(llr, self.bounds, "H1", f"H1 accepted {after}: {claim} {numbers}")
        if llr <= lower:
            claim = f"{first} is not stronger than {second} by {self.elo1:g} {elo}"
            return Verdict(llr, self.bounds, "H0", f"H0 accepted {after}: {claim} {numbers}")
        return Verdict(llr, self.bounds, None, f"undecided {after} {numbers}")
