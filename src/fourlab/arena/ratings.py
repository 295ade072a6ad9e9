"""Ratings of many agents from all their results (Bradley and Terry 1952), on the Elo scale.

An agent has a strength x, and takes a share 1 / (1 + exp(y - x)) of the points from one of strength y; a draw is half a
point for each. The most likely strengths are finite exactly if the agents cannot be split into two groups of which one
never took a point from the other (Ford 1957; Hunter 2004, "MM algorithms for generalized Bradley-Terry models").
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fourlab.arena.statistics import Estimate
from fourlab.errors import UserError

Unit = tuple[int, int, float, int]
"""Two agents by number, the first one's share of the points (0 to 1), how many games: a pair of games is one unit."""
Floats = NDArray[np.float64]

ELO = 400 / math.log(10)
"""Elo per natural unit of strength."""


@dataclass(frozen=True)
class Rating:
    """How strong one agent is."""

    name: str
    elo: Estimate
    """Zero is the mean of all agents that have a rating."""
    games: int
    score: float | None
    """The share of the points, 0 to 1; None without games."""


def ratings(names: Sequence[str], units: Iterable[Unit]) -> list[Rating]:
    """The most likely ratings, without intervals, the strongest first."""
    wins = _Results(len(names), units).wins()
    found = _fit(wins)
    return _table(names, wins, found, [Estimate(elo) for elo in found.tolist()])


def bootstrap(names: Sequence[str], units: Iterable[Unit], seed: int, resamples: int = 1000) -> list[Rating]:
    """The ratings with 95 % intervals: between which ends they stay if the units are drawn again, with replacement.

    Units, not games, are drawn, so the dependence within a pair is kept; every two agents meet as often as they did.
    """
    if resamples < 1:
        raise UserError(f"there must be at least one resample, not {resamples}")
    results = _Results(len(names), units)
    wins = results.wins()
    found = _fit(wins)
    rng = np.random.default_rng(seed)
    drawn = np.array([_aligned(_fit(results.resampled(rng)), found) for _ in range(resamples)])  # [resamples, agents]
    # A resample that cannot place an agent bounds it on neither side.
    low = np.quantile(np.where(np.isnan(drawn), -np.inf, drawn), 0.025, axis=0, method="inverted_cdf")
    high = np.quantile(np.where(np.isnan(drawn), np.inf, drawn), 0.975, axis=0, method="inverted_cdf")
    return _table(names, wins, found, list(map(Estimate.between, low.tolist(), found.tolist(), high.tolist())))


class _Results:
    """Units gathered by pairing and by kind (score and games), so that a resample is one multinomial draw per pairing."""

    def __init__(self, agents: int, units: Iterable[Unit]) -> None:
        counts: dict[tuple[int, int], dict[tuple[float, int], int]] = {}
        for first, second, score, games in units:
            if not (0 <= first < agents and 0 <= second < agents and first != second and 0 <= score <= 1 and games > 0):
                raise UserError(f"not the result of two agents: {(first, second, score, games)}")
            kind = (score, games) if first < second else (1 - score, games)
            pairing = counts.setdefault((min(first, second), max(first, second)), {})
            pairing[kind] = pairing.get(kind, 0) + 1
        pairings = sorted(counts)
        kinds = sorted({kind for pairing in counts.values() for kind in pairing})
        self.agents = agents
        self.first = np.array([first for first, _ in pairings], dtype=np.int64)  # [pairings]
        self.second = np.array([second for _, second in pairings], dtype=np.int64)  # [pairings]
        self.points = np.array([[score * games, (1 - score) * games] for score, games in kinds]).reshape(-1, 2)  # [kinds, 2]
        found = [[counts[pairing].get(kind, 0) for kind in kinds] for pairing in pairings]
        self.counts = np.array(found, dtype=np.int64).reshape(len(pairings), len(kinds))
        self.totals = self.counts.sum(axis=1)  # [pairings]

    def wins(self, counts: NDArray[np.int64] | None = None) -> Floats:
        """The points that each agent (row) took from each other one (column)."""
        points = (self.counts if counts is None else counts) @ self.points
        wins = np.zeros((self.agents, self.agents))
        wins[self.first, self.second] = points[:, 0]
        wins[self.second, self.first] = points[:, 1]
        return wins

    def resampled(self, rng: np.random.Generator) -> Floats:
        """The same, with the units of each pairing drawn again."""
        if len(self.totals) == 0:  # numpy refuses to draw from nothing
            return self.wins()
        return self.wins(rng.multinomial(self.totals, self.counts / self.totals[:, None]))


def _table(names: Sequence[str], wins: Floats, found: Floats, estimates: Sequence[Estimate]) -> list[Rating]:
    """The strongest first; those that won every game on top, those that cannot be compared at the end."""
    won, games = wins.sum(axis=1), (wins + wins.T).sum(axis=1)
    score = [float(won[agent] / games[agent]) if games[agent] else None for agent in range(len(names))]
    place = np.where(np.isnan(found), 0, -found)
    rated = []
    for agent in sorted(range(len(names)), key=lambda each: (math.isnan(found[each]), place[each], -(score[each] or 0))):
        why = _why_not(found[agent], won[agent], games[agent])
        elo = Estimate(why=why) if why else estimates[agent]
        rated.append(Rating(names[agent], elo, round(games[agent]), score[agent]))
    return rated


def _why_not(elo: float, won: float, games: float) -> str:
    """Why an agent has no rating, or nothing if it has one."""
    if math.isfinite(elo):
        return ""
    if games == 0:
        return "played no game"
    if math.isinf(elo):
        deed, all_of_them = ("won", won == games) if elo > 0 else ("lost", won == 0)
        return f"{deed} every game" if all_of_them else f"{deed} every game against the rest"
    return "cannot be compared: no chain of results leads to all the others and back"


def _fit(wins: Floats) -> Floats:
    """The Elo of each agent; infinite for those above or below all the others, nan for those that cannot be compared."""
    found = np.full(len(wins), np.nan)
    rest = np.ones(len(wins), dtype=bool)
    while True:
        inside = np.where(rest[:, None] & rest, wins, 0)
        won, lost = inside.sum(axis=1), inside.sum(axis=0)
        above, below = (won > 0) & (lost == 0), (won == 0) & (lost > 0)
        if not (above | below).any():
            break
        found[above], found[below] = np.inf, -np.inf
        rest &= ~(above | below)
    rest &= won > 0
    if rest.any() and _strongly_connected(wins[np.ix_(rest, rest)] > 0):
        found[rest] = ELO * _strengths(wins[np.ix_(rest, rest)])
    return found


def _strongly_connected(took_points: NDArray[np.bool_]) -> bool:
    reach = took_points | np.eye(len(took_points), dtype=bool)
    for _ in range(len(reach).bit_length()):  # each squaring doubles the length of the chains
        reach = reach.astype(np.float32) @ reach > 0
    return bool(reach.all())


def _strengths(wins: Floats) -> Floats:
    """The most likely strengths, with mean zero, by Newton's method."""
    meetings = wins + wins.T
    strength = np.zeros(len(wins))
    for _ in range(1000):
        share = 1 / (1 + np.exp(strength - strength[:, None]))  # [i, j]: what i expects of j
        gradient = wins.sum(axis=1) - (meetings * share).sum(axis=1)
        curvature = meetings * share * share.T
        laplacian = np.diag(curvature.sum(axis=1)) - curvature
        # The likelihood does not depend on the mean; the added constant matrix keeps it at zero.
        step = np.linalg.solve(laplacian + curvature.mean(), gradient)
        # A step that moves no two agents apart by more than 1 always makes the results likelier: along it the curvature
        # grows by less than a factor e (Bach 2010, "Self-concordant analysis for logistic regression").
        strength += step / max(1.0, np.ptp(step))
        if np.abs(step).max() < 1e-10:
            break
    return strength


def _aligned(found: Floats, centre: Floats) -> Floats:
    """Shift a resample's ratings so that those with a number in both have the same mean in both.

    Otherwise an agent without a rating in one resample would move the zero, and with it all the others.
    """
    both = np.isfinite(found) & np.isfinite(centre)
    return found + (centre[both] - found[both]).mean() if both.any() else found
