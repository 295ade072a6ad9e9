"""The bars of Bhat's Figure 6, and which of its panels shows which order of play."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fourlab.studies.bhat.table_5 import NAMES
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Verdict
from fourlab.studies.reported import reported

CONSTANTS = tuple(tenths / 10 for tenths in range(0, 31, 2))
ENOUGH = 40
"""With fewer games of ours per bar there is no verdict on the labels."""
ODDS = 20
"""Odds of 20 to 1 are strong evidence (Kass and Raftery, 1995)."""
GAMES = 50
"""The report's games per bar."""
SIMULATED = 2000
"""Simulations of all published bars."""
Counts = tuple[int, int, int]
"""Games won by MC40, games won by MC200, and draws."""
Curves = Mapping[str, Sequence[Counts]]
"""Counts for every c, by first player."""


def _published() -> dict[str, list[Counts]]:
    data = reported("bhat-figure-6")
    columns = [data[name].astype(int).tolist() for name in ("MC40 wins", "MC200 wins", "draws")]
    bars = list(zip(data["rollouts of the first player"], *columns, strict=True))
    return {
        name: [(one, other, draws) for first, one, other, draws in bars if f"MC{first:.0f}" == name]
        for name in NAMES
    }


FIGURE_6 = _published()
"""The published bars, by first player as labelled: panel a, panel b."""


def order_of_play(faithful: Curves, corrected: Curves) -> Claim:
    """Test which panel shows which order of play."""
    odds, corrected_odds = (_log_odds_of_exchange(curves) for curves in (faithful, corrected))
    fewest = min(sum(cell) for curve in faithful.values() for cell in curve)
    answer = Answer.CANNOT_TELL
    if abs(odds) >= math.log(ODDS):
        answer = Answer.DIFFERS if odds > 0 else Answer.AGREES
    p, power = exchange_by_chance(faithful, odds)
    verdict = Verdict(
        answer, f"Bayes factor, {ODDS} to 1, with p and power by simulation", p=p, power=power
    )
    return Claim(
        "figure-6-labels",
        "how much likelier the bars are if panel a is MC200 first and panel b MC40 first",
        "a is MC40 first",
        Source.FIGURE,
        _times(odds),
        _times(corrected_odds),
        reproduced=verdict if fewest >= ENOUGH else None,
        why="B9: MC200 wins more in the published panel a than in b, "
        "although moving first must help it",
    )


def _times(log_odds: float) -> Estimate:
    """Return odds without more digits than mean something."""
    odds = math.exp(log_odds)
    # Large odds are known to their order of magnitude.
    odds = float(f"{odds:.2g}")
    return Estimate(odds, unit="times", digits=0 if odds >= 10 else 1)


def exchange_by_chance(curves: Curves, observed: float) -> tuple[float, float]:
    """Return the p-value of labels that are right, and the power to notice exchanged ones.

    Published bars are simulated from our games, SIMULATED times with either labels: their shares
    are uncertain as in `_log_likelihood`. `observed` is the log of the published odds.
    """
    rng = np.random.default_rng(0)
    # By order of play, c and number of wins: float64[c, GAMES + 1].
    likelihoods = {
        first: np.array(
            [
                [_log_likelihood((0, won, GAMES - won), ours) for won in range(GAMES + 1)]
                for ours in curves[first]
            ]
        )
        for first in NAMES
    }
    shares = {
        first: [
            rng.beta(ours[1] + 1, sum(ours) - ours[1] + 1, (2, SIMULATED)) for ours in curves[first]
        ]
        for first in NAMES
    }

    def odds(panels: Sequence[str], run: int) -> np.ndarray:
        """Simulate panel a and b from these orders of play; return the logs of the odds."""
        total = np.zeros(SIMULATED)
        for first, labelled in zip(panels, NAMES, strict=True):
            other = NAMES[1 - NAMES.index(labelled)]
            for place in range(len(CONSTANTS)):
                won = rng.binomial(GAMES, shares[first][place][run])
                total += likelihoods[other][place][won] - likelihoods[labelled][place][won]
        return total

    as_labelled, exchanged = odds(NAMES, 0), odds(NAMES[::-1], 1)
    # The published bars are one of those ranked, so that no p-value is 0.
    tail = (1 + min(np.sum(as_labelled >= observed), np.sum(as_labelled <= observed))) / (
        SIMULATED + 1
    )
    return min(1.0, 2 * float(tail)), float(np.mean(exchanged >= math.log(ODDS)))


def _log_odds_of_exchange(curves: Curves) -> float:
    """Return the log of how much likelier the published counts are with a and b exchanged."""

    def log_likelihood(panel: str, first: str) -> float:
        cells = zip(FIGURE_6[panel], curves[first], strict=True)
        return math.fsum(_log_likelihood(published, ours) for published, ours in cells)

    exchanged = log_likelihood("MC40", "MC200") + log_likelihood("MC200", "MC40")
    return exchanged - log_likelihood("MC40", "MC40") - log_likelihood("MC200", "MC200")


def _log_likelihood(published: Counts, ours: Counts) -> float:
    """Return the log-likelihood of the reported wins of MC200, given our games.

    MC200's true share is unknown: with a uniform prior and our games as evidence, the reported
    counts of one order of play are beta-binomial.
    """
    wins = ours[1] + 1
    others = sum(ours) - ours[1] + 1
    # The binomial coefficient is the same for both orders of play and cancels.
    after = _log_beta(wins + published[1], others + sum(published) - published[1])
    return after - _log_beta(wins, others)


def _log_beta(one: int, other: int) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
