"""Document 003's Experiment 3: the same as Experiment 1, but the value network plays our side of rollouts."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, variance

from fourlab.studies.compare import mean
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.learner import Lessons, teach
from fourlab.studies.workbench import Workbench

PLAIN = "Experiment 1: chance"
CODED = "as coded: any child"
MEANT = "document's network"
FIRST_GAMES = 100
NETS = {PLAIN: None, CODED: None, MEANT: "sewell"}
"""Who plays our side of rollouts, three plies of four. As coded it is the last child of an unordered set, so any (B10)."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """The comparison that the document does not show."""
    # As coded it is the plain search, which must not have the same luck.
    seeds = {kind: bench.seed + 1_000_003 * place for place, kind in enumerate(NETS, start=1)}
    kinds = teach(bench, {kind: Lessons(seeds[kind], bench.size["games"], net=net) for kind, net in NETS.items()})
    yield _improved("average result of all games", {kind: curves.all_games(runs) for kind, runs in kinds.items()})
    if bench.size["games"] > FIRST_GAMES:
        begun = {kind: [math.fsum(run["results"][:FIRST_GAMES]) / FIRST_GAMES for run in runs] for kind, runs in kinds.items()}
        yield _improved(f"average result of the first {FIRST_GAMES} games", begun)
    yield Finding(
        "all games are won from point",
        "",
        curves.told_won_from(kinds[CODED]),
        curves.told_won_from(kinds[MEANT]),
        why=f"Experiment 1: {curves.told_won_from(kinds[PLAIN])}",
    )
    yield curves.table("Every run", kinds)
    yield Picture(
        "guided-rollouts",
        "Experiment 3 beside Experiment 1: averages of all runs (how many), ties of negamax to the first.",
        lambda: curves.draw_averages(kinds),
        curves.data(kinds),
    )
    yield Picture("all-runs", "The same with every run.", lambda: curves.draw_kinds(kinds), curves.data(kinds))


def _improved(what: str, averages: dict[str, list[float]]) -> Finding:
    plain = averages[PLAIN]
    return Finding(
        what,
        "improved results, no number",
        mean(averages[CODED], 2),
        mean(averages[MEANT], 2),
        agrees=better(averages[CODED], plain) if len(plain) > 1 else None,
        why=f"B10: as coded the network has no influence; Experiment 1: {mean(plain, 2)}; with the network asked it is"
        f" {_judged(averages[MEANT], plain)}",
    )


def _judged(some: list[float], others: list[float]) -> str:
    if len(some) < 2:
        return "not to be said from one run"
    return "better" if better(some, others) else "worse" if better(others, some) else "neither better nor worse"


def better(some: Sequence[float], others: Sequence[float]) -> bool:
    """Whether the mean of some runs is above that of others by more than three standard errors of the difference."""
    error = math.sqrt(variance(some) / len(some) + variance(others) / len(others))
    return fmean(some) - fmean(others) > 3 * error
