"""Counts of match results by independent unit: a pair of games, or a single game.

In a pair, the same opening is played twice with colours swapped. The two games are not
independent: an opening that favours red decides both. So the pair is the unit of all statistics,
with five possible results (the "pentanomial" model of fishtest). Treating the games as independent
gives wrong intervals, because the first-move advantage, which cancels within a pair, is then
counted as noise.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fourlab.arena.statistics import Z_95, Estimate, elo_of, least_share
from fourlab.errors import UserError

NORMALIZED = 800 / math.log(10)
"""Normalized Elo per standard deviation of one game's score.

A game without draws has standard deviation 1/2 near an even score, and there the logistic curve
has slope ln(10) / 1600 per Elo; 800 / ln(10) makes both scales agree at that point.
"""
FEWEST = 10
"""Units needed for an estimate or a verdict.

The statistics assume a normally distributed mean. With two or three units the sample variance can
be tiny by chance, and almost any claim would seem certain.
"""
SMALLEST_DOUBT = 1e-12
"""The likelihood of superiority is never reported as exactly 0 or 1."""


@dataclass(frozen=True)
class Tally:
    """How often each result of a unit occurred, worst first, from the first agent's side."""

    counts: tuple[int, ...]
    """Five counts for pairs (0, ½, 1, 1½ and 2 points) or three for games (loss, draw, win)."""

    def __post_init__(self) -> None:
        if len(self.counts) not in (3, 5):
            raise UserError(
                f"results are three counts of games or five counts of pairs, not {len(self.counts)}"
            )
        if min(self.counts) < 0:
            raise UserError(f"a count cannot be negative: {min(self.counts)}")

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[float, float]]) -> "Tally":
        """Count pairs of games; a game's score is 1 for a win, 1/2 for a draw, 0 for a loss."""
        counts = Counter(_half_points(one) + _half_points(other) for one, other in pairs)
        return cls(tuple(counts[half_points] for half_points in range(5)))

    @property
    def games_per_unit(self) -> int:
        """Two for pairs, one for single games."""
        return 2 if len(self.counts) == 5 else 1

    @property
    def unit(self) -> str:
        """What is counted: "pair" or "game"."""
        return "pair" if self.games_per_unit == 2 else "game"

    @property
    def units(self) -> int:
        """The number of pairs, or games."""
        return sum(self.counts)

    @property
    def score(self) -> float:
        """The mean share of the points, 0 to 1; 1/2 without any results."""
        if self.units == 0:
            return 0.5
        # Index k of `counts` stands for k half points, so the last index is the full score.
        best = len(self.counts) - 1
        half_points = sum(result * count for result, count in enumerate(self.counts))
        return half_points / (best * self.units)

    @property
    def variance(self) -> float:
        """The variance of one unit's share of its points, divided by n and not by n - 1."""
        # The maximum likelihood estimate, which the formulas of the SPRT assume.
        best = len(self.counts) - 1
        mean = self.score
        squares = sum(
            count * (result / best - mean) ** 2 for result, count in enumerate(self.counts)
        )
        return squares / max(1, self.units)

    @property
    def why_not(self) -> str:
        """Why these counts allow no estimate; empty if they do."""
        if self._is_clean:
            return f"a score of {100 * self.score:.0f} % has no finite Elo"
        # A single unit that is no clean score always ends "alike", a misleading reason.
        if self.units > 1 and max(self.counts) == self.units:
            return f"every {self.unit} ended alike: not enough information"
        if self.units < FEWEST:
            return f"too few {self.unit}s: {FEWEST} are needed"
        return ""

    @property
    def _is_clean(self) -> bool:
        """Whether one side has won all points of all units."""
        return self.units > 0 and self.units in (self.counts[0], self.counts[-1])

    @property
    def score_bound(self) -> float | None:
        """The one-sided 95 % bound of a clean score, from below or from above; else None.

        It is that of the share of units in which one side wins all points. Every unit has at least
        that score on average, so it is a bound of the score, too.
        """
        if not self._is_clean:
            return None
        share = least_share(self.units)
        return share if self.score == 1 else 1 - share

    def elo(self) -> Estimate:
        """Return the Elo difference: the mean score and its normal 95 % interval, as Elo.

        A clean score has a one-sided bound instead.
        """
        if (bound := self.score_bound) is not None:
            return self._bounded(elo_of(bound), self.why_not)
        if self.why_not:
            return Estimate(why=self.why_not)
        margin = Z_95 * self._standard_error
        # Symmetric in the score, but not in Elo, which tends to ±infinity at scores 1 and 0.
        return Estimate.between(
            elo_of(self.score - margin), elo_of(self.score), elo_of(self.score + margin)
        )

    def normalized_elo(self) -> Estimate:
        """Return the difference in normalized Elo (Van den Bergh, "Normalized Elo").

        Normalized Elo is NORMALIZED · (score - ½) / σ, where σ is the standard deviation of one
        game. It measures how many games it takes to detect the difference, depends little on the
        draw rate, and is what fishtest reports.
        """
        if (bound := self.score_bound) is not None:
            # Of all results with this share of clean units, those are least favourable in which
            # the other units go to the other side: σ is then that of a coin.
            spread = math.sqrt(self.games_per_unit * bound * (1 - bound))
            return self._bounded(NORMALIZED * (bound - 0.5) / spread, self.why_not)
        if self.why_not:
            return Estimate(why=self.why_not)
        # σ² of one game. `variance` is that of a unit's mean score: the mean of two games has half
        # the variance of one, as if they were independent, which is fishtest's convention.
        scale = NORMALIZED / math.sqrt(self.games_per_unit * self.variance)
        value = scale * (self.score - 0.5)
        margin = scale * Z_95 * self._standard_error
        return Estimate.between(value - margin, value, value + margin)

    def los(self) -> Estimate:
        """Return the likelihood of superiority, Φ((score - ½) / standard error), 0 to 1.

        It is the probability that the first agent is the stronger one, by the normal approximation.
        """
        if self._is_clean:
            # Without a spread the standard error is 0. An equal opponent loses all points of a unit
            # with a probability of at most one half.
            why = f"cannot be estimated from a score of {100 * self.score:.0f} %"
            doubt = max(0.5**self.units, SMALLEST_DOUBT)
            return self._bounded(1 - doubt if self.score == 1 else doubt, why, is_share=True)
        if self.why_not:
            return Estimate(why=self.why_not)
        # Φ(z) = erfc(-z / √2) / 2; erfc keeps its precision in the tail, where 1 + erf cancels.
        likelihood = 0.5 * math.erfc((0.5 - self.score) / self._standard_error / math.sqrt(2))
        likelihood = min(max(likelihood, SMALLEST_DOUBT), 1 - SMALLEST_DOUBT)
        return Estimate(likelihood, is_share=True)

    def _bounded(self, bound: float, why: str, is_share: bool = False) -> Estimate:
        """Return the estimate of a clean score: bounded from below if it is 1, else from above."""
        if self.score == 1:
            return Estimate(low=bound, why=why, is_share=is_share)
        return Estimate(high=bound, why=why, is_share=is_share)

    @property
    def _standard_error(self) -> float:
        """The standard error of the mean score."""
        # Units are independent, games within a pair are not: divide by the number of units.
        return math.sqrt(self.variance / self.units)


def _half_points(score: float) -> int:
    if score not in (0, 0.5, 1):
        raise UserError(f"a game's score is 0, 0.5 or 1, not {score}")
    return int(2 * score)
