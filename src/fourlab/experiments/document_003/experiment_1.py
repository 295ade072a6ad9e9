"""Document 003's Experiment 1: one tree for 500 games against negamax, five rollouts before each own column."""

from collections.abc import Iterator
from statistics import median
from typing import Literal

from fourlab.experiments.compare import mean, share
from fourlab.experiments.document_003 import curves
from fourlab.experiments.document_003.curves import Runs
from fourlab.experiments.document_003.learner import Lessons, teach
from fourlab.experiments.experiment import Finding, Part, Picture, Text
from fourlab.experiments.workbench import Workbench
from fourlab.game.position import Position

GAMES = 500
REPORTED_FROM = (17, 20)
"""From about this point of its curve on, read off, the document wins all games."""
TOLERATED = (5, 35)
"""Where independent programs lie."""
MOST_ROLLOUTS = 52_500
"""Five before each of 21 columns of 500 games."""
START, REPORTED_START = 5, 0.6
"""The curve's first points lie between -0.6 and +0.6."""
DETERMINISTIC, RANDOM = "negamax:ties=first", "negamax:ties=random"


def conduct(bench: Workbench) -> Iterator[Part]:
    """The curve with both kinds of negamax, and what the tree is worth in real games."""
    first, lots = _lessons(bench)
    whole = bench.size["games"] == GAMES  # else the curve has too few points to be compared
    yield _won_from("all games are won from point", first, lots, whole)
    yield _start(first, lots, whole)
    most = max(run["rollouts"] for run in first)
    told = f"at most {max(run['rollouts'] for run in lots):,}"
    yield Finding(
        "rollouts in all",
        f"fewer than {MOST_ROLLOUTS:,}",
        f"at most {most:,}",
        told,
        agrees=most < MOST_ROLLOUTS if whole else None,
    )
    yield from _once_found(first, lots, whole)
    yield curves.table("Every run", {"first of equals": first, "equals by lot": lots})
    yield Picture(
        "avg-win-vs-iters",
        "As the document draws it: one run against negamax that takes the first of equals.",
        lambda: curves.draw_one(first[0]["results"], "Avg win vs Iters"),
        curves.data({"first of equals": first[:1]}),
    )
    kinds = {"negamax takes the first of equals": first, "negamax draws lots (B13)": lots}
    yield Picture(
        "all-runs",
        "All runs, thin, and their average: negamax as it was, and as it is today.",
        lambda: curves.draw_kinds(kinds),
        curves.data(kinds),
    )
    yield Text("The last five games of the first run: still of its training, none are played after it", _shown(first[0]["shown"]))


def _lessons(bench: Workbench) -> tuple[Runs, Runs]:
    """Runs with both kinds of negamax in the tree, each followed by real games against both kinds."""
    real = {"opponents": (DETERMINISTIC, RANDOM), "afterwards": bench.size["afterwards"]}
    ties: tuple[Literal["first", "random"], ...] = ("first", "random")
    found = teach(bench, {each: Lessons(bench.seed, bench.size["games"], each, **real) for each in ties})
    return found["first"], found["random"]


def _won_from(what: str, first: Runs, lots: Runs, whole: bool) -> Finding:
    low, high = TOLERATED
    return Finding(
        what,
        "{} to {}".format(*REPORTED_FROM),
        curves.told_won_from(first),
        curves.told_won_from(lots),
        agrees=low <= median(curves.won_from(run["results"]) for run in first) <= high if whole else None,
        why="B13: on the right negamax draws lots between equals, as it does today; the tree keeps its replies all the same (B2)",
    )


def _start(first: Runs, lots: Runs, whole: bool) -> Finding:
    begun, others = ([each for run in runs for each in curves.blocks(run["results"])[:START]] for runs in (first, lots))
    average = sum(begun) / len(begun)
    return Finding(
        f"average result of the first {START * curves.BLOCK} games, by point",
        f"between -{REPORTED_START} and {REPORTED_START}",
        mean(begun, 2),
        mean(others, 2),
        agrees=abs(average) <= REPORTED_START if whole else None,
    )


def _once_found(first: Runs, lots: Runs, whole: bool) -> Iterator[Finding]:
    """Whether a line once found always wins: by the tree's own replies, and in real games."""
    ends = [result for run in first for result in run["results"][-5 * curves.BLOCK :]]
    yield Finding(
        "won of each run's last 50 games, along the replies that the tree keeps",
        "all",
        share(ends.count(1), len(ends)),
        share(*_won([result for run in lots for result in run["results"][-5 * curves.BLOCK :]])),
        agrees=ends.count(1) == len(ends) if whole else None,
        why="B13: the right one is learned with lots between equals",
    )
    for opponent, told in ((DETERMINISTIC, "that takes the first of equals"), (RANDOM, "of today, which draws lots")):
        results = [[each for run in runs for each in run["afterwards"][opponent]] for runs in (first, lots)]
        won, of = _won(results[0])
        yield Finding(
            f"won of real games afterwards, against negamax {told}",
            "it will always win",
            share(won, of),
            share(*_won(results[1])),
            agrees=won == of if whole else None,
            why="B11: the document walks along kept replies and never asks negamax again; what was learned ends with the first"
            " reply that the tree does not have; on the right it was learned with lots between equals",
        )


def _won(results: list[int]) -> tuple[int, int]:
    return results.count(1), len(results)


def _shown(games: list[str]) -> str:
    """Moves and last positions; the learner is X."""
    boards = [f"game {number}: {moves}, {Position(moves).outcome()}\n{Position(moves)}" for number, moves in enumerate(games, 1)]
    return "\n\n".join(boards)
