"""Ratings of many agents from all their results: the Bradley-Terry model on the Elo scale.

An agent of strength x is expected to take the share 1 / (1 + exp(y - x)) of the points against one
of strength y (Bradley and Terry 1952); a draw is half a point for each. The maximum likelihood
strengths are finite exactly if the agents cannot be split into two groups of which one never took
a point from the other (Ford 1957; Hunter 2004, "MM algorithms for generalized Bradley-Terry
models"). Intervals come from the bootstrap (Efron 1979).

Agents without a finite rating get a regularised one: the fit with a weak prior, one drawn game of
everyone against an imaginary average player. Those who won or lost every game also get a one-sided
bound.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fourlab.arena.statistics import DOUBT, Estimate
from fourlab.errors import UserError

Unit = tuple[int, int, float, int]
"""Indices of two agents, the first one's share of the points (0 to 1), number of games.

A pair of games with swapped colours is one unit.
"""
Floats = NDArray[np.float64]

ELO = 400 / math.log(10)
"""Elo per natural unit of strength: 10^(elo / 400) = exp(strength)."""


@dataclass(frozen=True)
class Rating:
    """The strength of one agent."""

    name: str
    elo: Estimate
    """Zero is the mean of all agents that have a rating, unless one of them is the anchor."""
    games: int
    score: float | None
    """The share of the points, 0 to 1; None without games."""


def bootstrap(
    names: Sequence[str],
    units: Iterable[Unit],
    seed: int,
    resamples: int = 1000,
    anchor: int | None = None,
) -> list[Rating]:
    """Return the maximum likelihood ratings with 95 % bootstrap intervals, strongest first.

    Zero is the mean of the rated agents or, with an `anchor`, the rating of that agent; intervals
    are then those of the differences from it. Units are resampled, not games, which preserves the
    dependence within a pair. The bootstrap is stratified: in every resample two agents meet as
    often as they did.
    """
    if resamples < 1:
        raise UserError(f"there must be at least one resample, not {resamples}")
    results = _Results(len(names), units)
    points = results.points_taken()
    free = _fit(points)
    elos = free if anchor is None else _anchored(free, anchor)
    rng = np.random.default_rng(seed)
    fits = [_fit(results.resampled(rng)) for _ in range(resamples)]
    samples = np.array(  # [resamples, agents]
        [_aligned(fit, elos) if anchor is None else _anchored(fit, anchor) for fit in fits]
    )
    # Percentile intervals: the 2.5 % and 97.5 % quantiles of the resampled ratings. `inverted_cdf`
    # picks one of the samples; interpolating between infinite ones would give nan.
    # A resample in which an agent has no rating (nan) bounds it on neither side.
    unrated = np.isnan(samples)
    low = np.quantile(np.where(unrated, -np.inf, samples), 0.025, axis=0, method="inverted_cdf")
    high = np.quantile(np.where(unrated, np.inf, samples), 0.975, axis=0, method="inverted_cdf")
    estimates = list(map(Estimate.between, low.tolist(), elos.tolist(), high.tolist()))
    if np.isfinite(elos).all():
        return _table(names, points, elos, estimates)
    regularised = _aligned(_regularised(points), elos)
    if anchor is not None and not np.isfinite(elos[anchor]):
        regularised = regularised - regularised[anchor]
    opponents = np.where(np.isfinite(elos), elos, regularised)
    for i in np.flatnonzero(~np.isfinite(elos)).tolist():
        estimates[i] = _without_value(i, results, points, free[i], regularised[i], opponents)
    if anchor is not None and estimates[anchor].value is None:
        # The anchor is zero by definition, and nothing bounds it.
        estimates[anchor] = replace(estimates[anchor], low=None, high=None)
    return _table(names, points, np.where(np.isnan(elos), regularised, elos), estimates)


class _Results:
    """Units counted by pairing and kind, so that a resample is one multinomial draw per pairing.

    A pairing is two agents i < j; a kind is a score of i and a number of games.
    """

    def __init__(self, agents: int, units: Iterable[Unit]) -> None:
        counts: dict[tuple[int, int], dict[tuple[float, int], int]] = {}
        for first, second, score, games in units:
            is_pairing = 0 <= first < agents and 0 <= second < agents and first != second
            if not (is_pairing and 0 <= score <= 1 and games > 0):
                raise UserError(f"not the result of two agents: {(first, second, score, games)}")
            # Every unit is seen from the agent with the smaller index.
            kind = (score, games) if first < second else (1 - score, games)
            pairing = counts.setdefault((min(first, second), max(first, second)), {})
            pairing[kind] = pairing.get(kind, 0) + 1
        pairings = sorted(counts)
        kinds = sorted({kind for pairing in counts.values() for kind in pairing})
        table = [[counts[pairing].get(kind, 0) for kind in kinds] for pairing in pairings]
        points = [[score * games, (1 - score) * games] for score, games in kinds]
        self.agents = agents
        self.first = np.array([first for first, _ in pairings], dtype=np.int64)  # [pairings]
        self.second = np.array([second for _, second in pairings], dtype=np.int64)  # [pairings]
        # reshape gives empty arrays their two dimensions.
        self.points = np.array(points).reshape(-1, 2)  # [kinds, 2]
        self.counts = np.array(table, dtype=np.int64).reshape(  # [pairings, kinds]
            len(pairings), len(kinds)
        )
        self.totals = self.counts.sum(axis=1)  # [pairings]

    def points_taken(self, counts: NDArray[np.int64] | None = None) -> Floats:
        """Return the matrix of points that agent i took from agent j, shape [agents, agents]."""
        points = (self.counts if counts is None else counts) @ self.points
        matrix = np.zeros((self.agents, self.agents))
        matrix[self.first, self.second] = points[:, 0]
        matrix[self.second, self.first] = points[:, 1]
        return matrix

    def units_between(self) -> Floats:
        """Return how many units agents i and j played, shape [agents, agents]."""
        matrix = np.zeros((self.agents, self.agents))
        matrix[self.first, self.second] = self.totals
        return matrix + matrix.T

    def resampled(self, rng: np.random.Generator) -> Floats:
        """Return the matrix of a resample: units drawn with replacement within each pairing."""
        if len(self.totals) == 0:  # NumPy refuses a multinomial of nothing
            return self.points_taken()
        probabilities = self.counts / self.totals[:, None]
        return self.points_taken(rng.multinomial(self.totals, probabilities))


def _table(
    names: Sequence[str], points: Floats, elos: Floats, estimates: Sequence[Estimate]
) -> list[Rating]:
    """Return the ratings, strongest first.

    Agents that won every game are at the top, agents that lost every game at the end, and after
    them only those without a game.
    """
    # Every game is worth one point, so an agent's points and its opponents' add up to its games.
    won = points.sum(axis=1)
    games = (points + points.T).sum(axis=1)
    scores = [float(won[i] / games[i]) if games[i] else None for i in range(len(names))]

    def rank(i: int) -> tuple[bool, float, float, float]:
        # Among agents that won everything, the regularised rating decides.
        return games[i] == 0, -elos[i], -(estimates[i].regularised or 0), -(scores[i] or 0)

    return [
        Rating(names[i], estimates[i], round(games[i]), scores[i])
        for i in sorted(range(len(names)), key=rank)
    ]


def _without_value(
    agent: int, results: _Results, points: Floats, elo: float, regularised: float, opponents: Floats
) -> Estimate:
    """Return the estimate of an agent whose fit, `elo`, has no finite value."""
    won = points[agent].sum()
    games = won + points[:, agent].sum()
    why = _why_not(elo, won, games)
    if games == 0:
        return Estimate(why=why)
    value = float(regularised)
    if won not in (0, games):
        return Estimate(why=why, regularised=value)
    units = results.units_between()[agent]
    # A loser is bounded from above as a winner is from below, with everything mirrored.
    sign = 1.0 if won else -1.0
    bound = sign * _lowest_elo(sign * opponents, units)
    if won:
        return Estimate(low=bound, why=why, regularised=value)
    return Estimate(high=bound, why=why, regularised=value)


def _lowest_elo(opponents: Floats, units: Floats) -> float:
    """Return the one-sided 95 % bound of an agent that won all of its units.

    `opponents` are the ratings of all agents and `units` how often each was met. A unit is won as a
    whole with a probability of at most the expected share of its points, so below this rating such
    results have a probability under 5 %.
    """
    met = units > 0
    low = float(opponents[met].min()) - 4000.0
    high = float(opponents[met].max()) + 4000.0
    # The probability grows with the rating; 60 halvings leave less than 1e-14 Elo.
    for _ in range(60):
        middle = (low + high) / 2
        # log(share) = -log(1 + exp(opponent - own))
        log_shares = -np.logaddexp(0, (opponents[met] - middle) / ELO)
        if (units[met] * log_shares).sum() < math.log(DOUBT):
            low = middle
        else:
            high = middle
    return high


def _why_not(elo: float, won: float, games: float) -> str:
    """Return why an agent has no finite rating."""
    if games == 0:
        return "played no game"
    if math.isfinite(elo):
        return "cannot be compared with the anchor, which has no finite rating"
    if math.isnan(elo):
        return "cannot be compared: no chain of results leads to all the others and back"
    verb = "won" if elo > 0 else "lost"
    is_whole = won == (games if elo > 0 else 0)
    return f"{verb} every game" if is_whole else f"{verb} every game against the rest"


def _fit(points: Floats) -> Floats:
    """Return the Elo of every agent, shape [agents].

    It is infinite for agents above or below all others and nan for those that cannot be compared.
    """
    elos = np.full(len(points), np.nan)
    rest = np.ones(len(points), dtype=bool)
    # Peel off agents that won or lost everything against the rest, until none is left: without
    # them the rest may have finite ratings.
    while True:
        inside = np.where(rest[:, None] & rest, points, 0)
        won = inside.sum(axis=1)
        lost = inside.sum(axis=0)
        above = (won > 0) & (lost == 0)
        below = (won == 0) & (lost > 0)
        if not (above | below).any():
            break
        elos[above] = np.inf
        elos[below] = -np.inf
        rest &= ~(above | below)
    # Those left without a win have not lost either: they played nobody in the rest.
    rest &= won > 0
    # Ford's condition: the graph "took points from" must be strongly connected.
    if rest.any() and _strongly_connected(points[np.ix_(rest, rest)] > 0):
        elos[rest] = ELO * _strengths(points[np.ix_(rest, rest)])
    return elos


def _regularised(points: Floats) -> Floats:
    """Return the Elo of every agent if each also drew one game against an average player."""
    agents = len(points)
    # The imaginary player, last, connects all agents, so that all ratings are finite.
    extended = np.zeros((agents + 1, agents + 1))
    extended[:agents, :agents] = points
    extended[agents, :agents] = 0.5
    extended[:agents, agents] = 0.5
    strengths = _strengths(extended)
    elos: Floats = ELO * (strengths[:agents] - strengths[agents])
    return elos


def _strongly_connected(took_points: NDArray[np.bool_]) -> bool:
    """Return whether every agent reaches every other along the edges of a graph."""
    reach = took_points | np.eye(len(took_points), dtype=bool)
    for _ in range(len(reach).bit_length()):  # every squaring doubles the length of the paths
        reach = reach.astype(np.float32) @ reach > 0
    return bool(reach.all())


def _strengths(points: Floats) -> Floats:
    """Return the maximum likelihood strengths, with mean zero, by damped Newton steps."""
    games = points + points.T
    strength = np.zeros(len(points))
    # Newton's method instead of Zermelo's fixed point (1929), which takes ever more steps the more
    # unequal the agents are. The bound is for rounding errors that keep a step from vanishing.
    for _ in range(1000):
        # share[i, j]: the share of the points that i is expected to take from j
        share = 1 / (1 + np.exp(strength - strength[:, None]))
        # Of the log-likelihood Σ points[i, j] · log share[i, j]: points taken minus those expected.
        gradient = points.sum(axis=1) - (games * share).sum(axis=1)
        # Minus the second derivative by strengths i and j; share.T is 1 - share.
        curvature = games * share * share.T
        laplacian = np.diag(curvature.sum(axis=1)) - curvature
        # The likelihood does not depend on the mean strength, so the Laplacian is singular; adding
        # a constant matrix makes it regular and keeps the mean at zero.
        step = np.linalg.solve(laplacian + curvature.mean(), gradient)
        # A step that moves no two agents apart by more than 1 always increases the likelihood:
        # along it the curvature grows by less than a factor e (Bach 2010, "Self-concordant
        # analysis for logistic regression").
        strength += step / max(1.0, np.ptp(step))
        if np.abs(step).max() < 1e-10:
            break
    return strength


def _aligned(elos: Floats, reference: Floats) -> Floats:
    """Shift ratings so that the agents finite in both have the same mean as in the reference.

    Otherwise an agent without a rating in one resample would move the zero, and with it all others.
    """
    both = np.isfinite(elos) & np.isfinite(reference)
    return elos + (reference[both] - elos[both]).mean() if both.any() else elos


def _anchored(elos: Floats, anchor: int) -> Floats:
    """Return ratings relative to one agent; nan for all if that agent has no finite rating."""
    reference = float(elos[anchor])
    return elos - (reference if math.isfinite(reference) else math.nan)
