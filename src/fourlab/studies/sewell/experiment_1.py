"""Document 003's Experiment 1: one tree for 500 games against negamax, five rollouts before each own column."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Literal

from fourlab.game.position import Position
from fourlab.studies.compare import FEWEST, may_happen, share
from fourlab.studies.experiment import Finding, Part, Picture, Text
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.curves import Runs
from fourlab.studies.sewell.learner import Lessons, teach
from fourlab.studies.workbench import Workbench

GAMES = 500
REPORTED_FROM = (17, 20)
"""From about this point of its curve on, read off, the document wins all games."""
TOLERATED = (5, 35)
"""Where independent programs lie."""
MOST_ROLLOUTS = 52_500
"""Five before each of 21 columns of 500 games."""
START, REPORTED_START = 5, 0.6
"""The curve's first points lie between -0.6 and +0.6."""
FAULTS = "B2, B13: on the right negamax draws lots between equals, as it does today, and is asked anew at every pass"
ONLY_LOTS = "with lots, but replies kept:"
DETERMINISTIC, RANDOM = "negamax:ties=first", "negamax:ties=random"


@dataclass(frozen=True)
class Taught:
    """Runs of all kinds of lessons, each followed by real games against both kinds of negamax."""

    first: Runs
    """As in the document: negamax takes the first of equals, and its replies are kept."""
    lots: Runs
    """It draws lots between equals, as today (B13); its replies are kept."""
    anew: Runs
    """It draws lots, and is asked anew whenever it is to move (B2)."""

    @property
    def kinds(self) -> dict[str, Runs]:
        """With their names."""
        return {
            "first of equals, replies kept": self.first,
            "lots (B13), replies kept": self.lots,
            "lots, asked anew (B2, B13)": self.anew,
        }


def conduct(bench: Workbench) -> Iterator[Part]:
    """The curve with both kinds of negamax and without kept replies, and what the tree is worth in real games."""
    taught = _lessons(bench)
    whole = bench.size["games"] == GAMES  # else the curve has too few points to be compared
    yield _won_from("all games are won from point", taught, whole)
    yield _start(taught, whole)
    most, lots, anew = (max(run["rollouts"] for run in runs) for runs in (taught.first, taught.lots, taught.anew))
    yield Finding(
        "rollouts in all",
        f"fewer than {MOST_ROLLOUTS:,}",
        f"at most {most:,}",
        f"at most {anew:,}",
        agrees=most < MOST_ROLLOUTS if whole else None,
        why=f"{FAULTS}; {ONLY_LOTS} at most {lots:,}",
    )
    yield from _once_found(taught, whole)
    yield curves.table("Every run", taught.kinds)
    yield Picture(
        "avg-win-vs-iters",
        "As the document draws it: one run against negamax that takes the first of equals.",
        lambda: curves.draw_one(taught.first[0]["results"], "Avg win vs Iters"),
        curves.data({"first of equals": taught.first[:1]}),
    )
    yield Picture(
        "all-runs",
        "All runs, thin, and their average: negamax as it was and as it is today with its replies kept, and asked anew.",
        lambda: curves.draw_kinds(taught.kinds),
        curves.data(taught.kinds),
    )
    yield Text(
        "Five games of the first run after its training, along the replies that its tree keeps", _shown(taught.first[0]["shown"])
    )


def _lessons(bench: Workbench) -> Taught:
    real = {"opponents": (DETERMINISTIC, RANDOM), "afterwards": bench.size["afterwards"]}
    ways: dict[str, tuple[Literal["first", "random"], bool]] = {
        "first": ("first", True),
        "lots": ("random", True),
        "anew": ("random", False),
    }
    games = bench.size["games"]
    lessons = {name: Lessons(bench.seed, games, ties, kept, **real) for name, (ties, kept) in ways.items()}
    return Taught(**teach(bench, lessons))


def _won_from(what: str, taught: Taught, whole: bool) -> Finding:
    low, high = TOLERATED
    return Finding(
        what,
        "{} to {}".format(*REPORTED_FROM),
        curves.told_won_from(taught.first),
        curves.told_won_from(taught.anew),
        agrees=low <= median(curves.won_from(run["results"]) for run in taught.first) <= high if whole else None,
        why=f"{FAULTS}; {ONLY_LOTS} {curves.told_won_from(taught.lots)}",
    )


def _start(taught: Taught, whole: bool) -> Finding:
    """The first points of each run: not their mean, which lies well inside even if no point does."""
    told, counts = [], []
    for runs in (taught.first, taught.anew, taught.lots):
        begun = [curves.blocks(run["results"])[:START] for run in runs]
        points = [each for some in begun for each in some]
        inside = sum(abs(each) <= REPORTED_START for each in points)
        counts.append(sum(all(abs(each) <= REPORTED_START for each in some) for some in begun))
        ends = f"from {min(points):g} to {max(points):g}"
        told.append(f"{share(counts[-1], len(runs))} runs; {share(inside, len(points))} points, {ends}")
    return Finding(
        f"the first {START} points of a run all lie between -{REPORTED_START} and {REPORTED_START}",
        "yes, in its one run",
        told[0],
        told[1],
        agrees=_seen(counts[0], len(taught.first)) if whole else None,
        why=f"{FAULTS}; {ONLY_LOTS} {told[2]}; agrees: runs like the document's one are among ours",
    )


def _seen(count: int, of: int) -> bool | None:
    """Whether what the document saw once happens: of few runs one is enough, but none tells nothing."""
    return True if count and of < FEWEST else may_happen(count, of)


def _once_found(taught: Taught, whole: bool) -> Iterator[Finding]:
    """Whether a line once found always wins: by the tree's own replies, and in real games."""
    first, lots, anew = (
        _won([result for run in runs for result in run["results"][-5 * curves.BLOCK :]])
        for runs in (taught.first, taught.lots, taught.anew)
    )
    yield Finding(
        "won of each run's last 50 games, along the replies that the tree keeps",
        "all",
        share(*first),
        share(*anew),
        agrees=first[0] == first[1] if whole else None,
        why=f"{FAULTS}, so nothing is kept; {ONLY_LOTS} {share(*lots)}",
    )
    for opponent, told in ((DETERMINISTIC, "that takes the first of equals"), (RANDOM, "of today, which draws lots")):
        first, lots, anew = (
            _won([each for run in runs for each in run["afterwards"][opponent]])
            for runs in (taught.first, taught.lots, taught.anew)
        )
        yield Finding(
            f"won of real games afterwards, against negamax {told}",
            "it will always win",
            share(*first),
            share(*anew),
            agrees=first[0] == first[1] if whole else None,
            why="B11: the document walks along kept replies and never asks negamax again; what was learned ends with the first"
            f" reply that the tree does not have; {FAULTS}; {ONLY_LOTS} {share(*lots)}",
        )


def _won(results: list[int]) -> tuple[int, int]:
    return results.count(1), len(results)


def _shown(games: list[str]) -> str:
    """Moves, last positions and how they ended; the learner is X."""
    return "\n\n".join(f"game {number}: {moves}\n{_ended(Position(moves))}" for number, moves in enumerate(games, 1))


def _ended(position: Position) -> str:
    """A board as it is drawn, but with the outcome where a side to move would stand."""
    return "\n".join([*str(position).splitlines()[:-1], str(position.outcome())])
