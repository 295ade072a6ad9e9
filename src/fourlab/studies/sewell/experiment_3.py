"""SeWell's Experiment 3: Experiment 1 with the value network playing the learner's rollouts."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, variance

from fourlab.studies.compare import mean
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.learner import TreeTraining, train_all
from fourlab.studies.workbench import Finding, Part, Picture, Workbench

PLAIN = "Experiment 1: chance"
CODED = "as coded: any child"
INTENDED = "report's network"
FIRST_GAMES = 100
NETS = {PLAIN: None, CODED: None, INTENDED: "sewell"}
"""What plays the learner's side in rollouts, with probability 3/4 per move.

The code takes the last child of an unordered set, that is, any child (B10).
"""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Make the comparison that the report does not show."""
    # As coded, the search equals the plain one, so it gets a seed of its own to be independent.
    seeds = {kind: bench.seed + 1_000_003 * place for place, kind in enumerate(NETS, start=1)}
    games = bench.size["games"]
    trainings = {kind: TreeTraining(seeds[kind], games, net=net) for kind, net in NETS.items()}
    kinds = train_all(bench, trainings)
    yield _improvement(
        "average result of all games",
        {kind: curves.mean_results(runs) for kind, runs in kinds.items()},
    )
    # Later games are nearly all won, which hides differences between the kinds.
    if games > FIRST_GAMES:
        first_games = {
            kind: [math.fsum(run["results"][:FIRST_GAMES]) / FIRST_GAMES for run in runs]
            for kind, runs in kinds.items()
        }
        yield _improvement(f"average result of the first {FIRST_GAMES} games", first_games)
    yield Finding(
        "point from which all games are won",
        "",
        curves.describe_won_from(kinds[CODED]),
        curves.describe_won_from(kinds[INTENDED]),
        why=f"Experiment 1: {curves.describe_won_from(kinds[PLAIN])}",
    )
    yield curves.table("All runs", kinds)
    yield Picture(
        "guided-rollouts",
        "Experiment 3 beside Experiment 1: averages over all runs (their number in brackets); "
        "negamax takes the first of equal columns.",
        lambda: curves.draw_averages(kinds),
        curves.data(kinds),
    )
    yield Picture(
        "all-runs", "The same with every run.", lambda: curves.draw_kinds(kinds), curves.data(kinds)
    )


def _improvement(label: str, averages: dict[str, list[float]]) -> Finding:
    """Compare Experiment 3 with Experiment 1 by one average result per run."""
    plain = averages[PLAIN]
    return Finding(
        label,
        "improved results, no number",
        mean(averages[CODED], 2),
        mean(averages[INTENDED], 2),
        agrees=better(averages[CODED], plain) if len(plain) > 1 else None,
        why=f"B10: as coded, the network has no influence; Experiment 1: {mean(plain, 2)}; "
        f"with the network, the result is {_comparison(averages[INTENDED], plain)}",
    )


def _comparison(results: list[float], baseline: list[float]) -> str:
    if len(results) < 2:
        return "inconclusive with a single run"
    if better(results, baseline):
        return "better"
    return "worse" if better(baseline, results) else "neither better nor worse"


def better(results: Sequence[float], baseline: Sequence[float]) -> bool:
    """Return whether a mean exceeds the baseline's by more than three standard errors."""
    # The standard error of a difference of independent means.
    error = math.sqrt(variance(results) / len(results) + variance(baseline) / len(baseline))
    return fmean(results) - fmean(baseline) > 3 * error
