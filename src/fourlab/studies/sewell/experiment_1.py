"""SeWell's Experiment 1: one tree for 500 games against negamax, five rollouts per own move."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median

from fourlab.game.position import Position
from fourlab.studies.compare import FEWEST, may_happen, share
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.curves import Runs
from fourlab.studies.sewell.learner import TreeTraining, train_all
from fourlab.studies.workbench import Finding, Part, Picture, Text, Workbench

GAMES = 500
REPORTED_FROM = (17, 20)
"""Range of points, read off SeWell's curve, from which all games are won."""
TOLERATED = (5, 35)
"""Range of the same point in independent implementations."""
MAX_ROLLOUTS = 52_500
"""Five rollouts before each of 21 moves in 500 games."""
START_POINTS = 5
REPORTED_START = 0.6
"""The first points of SeWell's curve lie between -0.6 and +0.6."""
FAULTS = (
    "B2, B13: in the corrected version negamax breaks ties at random, as it does today, "
    "and is consulted again on every visit"
)
ONLY_TIES = "with random ties but replies kept:"
DETERMINISTIC = "negamax:ties=first"
RANDOM = "negamax:ties=random"


@dataclass(frozen=True)
class TrainedRuns:
    """Runs of three kinds of training, each followed by real games against both negamaxes."""

    first_tie: Runs
    """As in the report: negamax takes the first of equal columns, and its replies are kept."""
    random_tie: Runs
    """Negamax breaks ties at random, as today (B13); its replies are kept."""
    resampled: Runs
    """Negamax breaks ties at random and is consulted whenever it is to move (B2)."""

    @property
    def kinds(self) -> dict[str, Runs]:
        """The runs by the names that tables and figures use."""
        return {
            "first of equals, replies kept": self.first_tie,
            "random ties (B13), replies kept": self.random_tie,
            "random ties, sampled anew (B2, B13)": self.resampled,
        }


def conduct(bench: Workbench) -> Iterator[Part]:
    """Train with all three kinds of negamax, and test the trees in real games."""
    runs = _train(bench)
    # Verdicts need the report's number of games.
    is_full_length = bench.size["games"] == GAMES  # shorter curves are not comparable
    yield _won_from(runs, is_full_length)
    yield _start(runs, is_full_length)
    first_tie, random_tie, resampled = (
        max(run["rollouts"] for run in kind)
        for kind in (runs.first_tie, runs.random_tie, runs.resampled)
    )
    yield Finding(
        "total rollouts",
        f"fewer than {MAX_ROLLOUTS:,}",
        f"at most {first_tie:,}",
        f"at most {resampled:,}",
        agrees=first_tie < MAX_ROLLOUTS if is_full_length else None,
        why=f"{FAULTS}; {ONLY_TIES} at most {random_tie:,}",
    )
    yield from _after_training(runs, is_full_length)
    yield curves.table("All runs", runs.kinds)
    yield Picture(
        "avg-win-vs-iters",
        "As SeWell draws it: one run against negamax that takes the first of equal columns.",
        lambda: curves.draw_one(runs.first_tie[0]["results"], "Avg win vs Iters"),
        curves.data({"first of equals": runs.first_tie[:1]}),
    )
    yield Picture(
        "all-runs",
        "All runs (thin) and their average: negamax as it was then and as it is today, with its "
        "replies kept, and consulted again on every visit.",
        lambda: curves.draw_kinds(runs.kinds),
        curves.data(runs.kinds),
    )
    yield Text(
        "Five games of the first run after training, against the replies kept in its tree",
        _transcript(runs.first_tie[0]["shown"]),
    )


def _train(bench: Workbench) -> TrainedRuns:
    first_tie = TreeTraining(
        bench.seed,
        bench.size["games"],
        opponents=(DETERMINISTIC, RANDOM),
        games_after=bench.size["afterwards"],
    )
    # Each kind adds one change to the kind before.
    random_tie = replace(first_tie, ties="random")
    resampled = replace(random_tie, keep_replies=False)
    trainings = {"first_tie": first_tie, "random_tie": random_tie, "resampled": resampled}
    return TrainedRuns(**train_all(bench, trainings))


def _won_from(runs: TrainedRuns, is_full_length: bool) -> Finding:
    low, high = TOLERATED
    # Infinite if most runs never get there, which then differs.
    middle = median(curves.won_from(run["results"]) for run in runs.first_tie)
    return Finding(
        "point from which all games are won",
        "{} to {}".format(*REPORTED_FROM),
        curves.describe_won_from(runs.first_tie),
        curves.describe_won_from(runs.resampled),
        agrees=low <= middle <= high if is_full_length else None,
        why=f"{FAULTS}; {ONLY_TIES} {curves.describe_won_from(runs.random_tie)}",
    )


def _start(runs: TrainedRuns, is_full_length: bool) -> Finding:
    """Check the first points of each run one by one.

    Their mean would not do: it lies well inside the range even if no single point does.
    """
    count, faithful = _start_of(runs.first_tie)
    return Finding(
        f"the first {START_POINTS} points of a run all lie "
        f"between -{REPORTED_START} and {REPORTED_START}",
        "yes, in its one run",
        faithful,
        _start_of(runs.resampled)[1],
        agrees=_seen(count, len(runs.first_tie)) if is_full_length else None,
        why=f"{FAULTS}; {ONLY_TIES} {_start_of(runs.random_tie)[1]}; "
        "agrees: some of our runs start like SeWell's single one",
    )


def _start_of(runs: Runs) -> tuple[int, str]:
    """Return how many runs have all first points in range, and a summary in words."""
    # float[runs][START_POINTS]
    starts = [curves.blocks(run["results"])[:START_POINTS] for run in runs]
    points = [point for start in starts for point in start]
    inside = sum(abs(point) <= REPORTED_START for point in points)
    count = sum(all(abs(point) <= REPORTED_START for point in start) for start in starts)
    runs_inside = f"{share(count, len(runs))} runs"
    points_inside = f"{share(inside, len(points))} points"
    return count, f"{runs_inside}; {points_inside}, from {min(points):g} to {max(points):g}"


def _seen(count: int, of: int) -> bool | None:
    """Return whether what SeWell saw once also happens here.

    Among few runs, one case is enough, but no case gives no verdict (None).
    """
    return True if count and of < FEWEST else may_happen(count, of)


def _after_training(runs: TrainedRuns, is_full_length: bool) -> Iterator[Finding]:
    """Check whether a winning line always wins: against kept replies and in real games."""
    kinds = (runs.first_tie, runs.random_tie, runs.resampled)
    first_tie, random_tie, resampled = (
        # Five points of ten games.
        _won([result for run in kind for result in run["results"][-5 * curves.BLOCK :]])
        for kind in kinds
    )
    yield Finding(
        "won of each run's last 50 games, against the replies kept in the tree",
        "all",
        share(*first_tie),
        share(*resampled),
        agrees=first_tie[0] == first_tie[1] if is_full_length else None,
        why=f"{FAULTS}, so no replies are kept; {ONLY_TIES} {share(*random_tie)}",
    )
    # Real games: the opponent decides anew, whatever the tree holds.
    for opponent, description in (
        (DETERMINISTIC, "that takes the first of equal columns"),
        (RANDOM, "of today, which breaks ties at random"),
    ):
        first_tie, random_tie, resampled = (
            _won([result for run in kind for result in run["afterwards"][opponent]])
            for kind in kinds
        )
        yield Finding(
            f"won of real games after training, against negamax {description}",
            "it will always win",
            share(*first_tie),
            share(*resampled),
            agrees=first_tie[0] == first_tie[1] if is_full_length else None,
            why="B11: SeWell's games follow the kept replies and never consult negamax again; what "
            "was learned ends at the first reply that is not in the tree; "
            f"{FAULTS}; {ONLY_TIES} {share(*random_tie)}",
        )


def _won(results: list[int]) -> tuple[int, int]:
    # Results are the learner's: 1 is a win.
    return results.count(1), len(results)


def _transcript(games: list[str]) -> str:
    """Return the moves, final positions and outcomes of games; the learner is X."""
    return "\n\n".join(
        f"game {number}: {moves}\n{_final_position(Position(moves))}"
        for number, moves in enumerate(games, 1)
    )


def _final_position(position: Position) -> str:
    """Draw a board, with the outcome in place of the last line, which names the side to move."""
    return "\n".join([*str(position).splitlines()[:-1], str(position.outcome())])
