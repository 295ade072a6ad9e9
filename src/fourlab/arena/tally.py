"""The results of a match, counted by the unit that is independent: a pair of games, or a single game.

In a pair the same opening is played twice with the colours swapped. Its two games are not independent, since an opening
that favours red decides both, so the pair is counted as one result. Counting games instead gives wrong intervals: the
advantage of moving first is then taken for chance.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fourlab.arena.statistics import Z_95, Estimate, elo_of
from fourlab.errors import UserError

NORMALIZED = 800 / math.log(10)
"""Normalized Elo per standard deviation of one game; near an even score without draws it agrees with Elo."""
FEWEST = 10
"""The mean of fewer units is too far from normal: two pairs would be enough to be sure of anything."""


@dataclass(frozen=True)
class Tally:
    """How often each result of a unit occurred, from the first agent's view, worst first."""

    counts: tuple[int, ...]
    """Five counts are of pairs (0, ½, 1, 1½ and 2 points, "pentanomial"), three of games (loss, draw, win)."""

    def __post_init__(self) -> None:
        if len(self.counts) not in (3, 5):
            raise UserError(f"results are three counts of games or five counts of pairs, not {len(self.counts)}")
        if min(self.counts) < 0:
            raise UserError(f"a count cannot be negative: {min(self.counts)}")

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[float, float]]) -> "Tally":
        """Count pairs of games; a game's score is 1 for a win, 1/2 for a draw, 0 for a loss."""
        found = Counter(_halves(one) + _halves(other) for one, other in pairs)
        return cls(tuple(found[halves] for halves in range(5)))

    @classmethod
    def of_games(cls, scores: Iterable[float]) -> "Tally":
        """Count single games, for matches in which colours are not swapped."""
        found = Counter(map(_halves, scores))
        return cls(tuple(found[halves] for halves in range(3)))

    def __add__(self, other: "Tally") -> "Tally":
        if len(self.counts) != len(other.counts):
            raise UserError("pairs and single games cannot be added")
        return Tally(tuple(mine + yours for mine, yours in zip(self.counts, other.counts, strict=True)))

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
        """How many pairs, or games, there are."""
        return sum(self.counts)

    @property
    def score(self) -> float:
        """The share of the points, 0 to 1; without any results 1/2."""
        best = len(self.counts) - 1
        return sum(result * count for result, count in enumerate(self.counts)) / (best * self.units) if self.units else 0.5

    @property
    def variance(self) -> float:
        """The variance of one unit's share of its points."""
        best, mean = len(self.counts) - 1, self.score
        return sum(count * (result / best - mean) ** 2 for result, count in enumerate(self.counts)) / max(1, self.units)

    @property
    def why_not(self) -> str:
        """Why these counts allow no estimate, or nothing if they do."""
        if self.units < 2:
            return f"too few {self.unit}s: {FEWEST} are needed"
        if self.counts[0] == self.units or self.counts[-1] == self.units:
            return f"a score of {self.score:.0%} has no finite Elo".replace("%", " %")
        if max(self.counts) == self.units:
            return f"every {self.unit} ended alike: not enough information"
        if self.units < FEWEST:
            return f"too few {self.unit}s: {FEWEST} are needed"
        return ""

    def elo(self) -> Estimate:
        """The lead in Elo: the mean score and its normal 95 % interval, each turned into Elo."""
        if self.why_not:
            return Estimate(why=self.why_not)
        margin = Z_95 * self._error
        return Estimate.between(elo_of(self.score - margin), elo_of(self.score), elo_of(self.score + margin))

    def normalized_elo(self) -> Estimate:
        """The lead measured in standard deviations of one game (Van den Bergh, "Normalized Elo"), as fishtest shows it.

        It says how many games it takes to see a difference, and depends little on how often games are drawn.
        """
        if self.why_not:
            return Estimate(why=self.why_not)
        scale = NORMALIZED / math.sqrt(self.games_per_unit * self.variance)  # the deviation of one game, not of a pair's mean
        value, margin = scale * (self.score - 0.5), scale * Z_95 * self._error
        return Estimate.between(value - margin, value, value + margin)

    def los(self) -> Estimate:
        """The likelihood of superiority: how sure it is, 0 to 1, that the first agent is the stronger one."""
        if self.why_not:
            return Estimate(why=self.why_not)
        likelihood = 0.5 * math.erfc((0.5 - self.score) / self._error / math.sqrt(2))
        return Estimate(min(max(likelihood, 1e-12), 1 - 1e-12), is_share=True)  # nothing is quite sure

    @property
    def _error(self) -> float:
        """The standard error of the score."""
        return math.sqrt(self.variance / self.units)


def _halves(score: float) -> int:
    if score not in (0, 0.5, 1):
        raise UserError(f"a game's score is 0, 0.5 or 1, not {score}")
    return int(2 * score)
