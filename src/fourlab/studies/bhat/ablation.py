"""What the faults of Bhat's program cost, one fix at a time."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from fourlab.agents.q.kernel import EPSILON
from fourlab.agents.q.settings import QSettings
from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import form_of
from fourlab.arena.accuracy import Answer as Judged
from fourlab.studies.ablation import (
    Arm,
    Program,
    Row,
    Trained,
    compare_trained,
    fixed,
    measure,
    positions_of,
    present,
)
from fourlab.studies.bhat.learner import MC25, evaluate, learn, random_player, settings_of
from fourlab.studies.bhat.order import FIGURE_6
from fourlab.studies.bhat.table_5 import BOARD, TABLE_5
from fourlab.studies.claims import Claim, Counts, Kind, Source, share
from fourlab.studies.verdicts import larger_share
from fourlab.studies.workbench import Part, Workbench

ROWS = 4
SECOND = 1
"""The learner's side."""
OPPONENTS = {"MC40": "bhat-mc200:faithful=1", "MC200": "bhat-mc40:faithful=1"}
"""By program: its opponent in Table 5, which meets all arms."""
CAPTION = (
    "What each fix of Bhat's program gains: Elo against the program as coded, and the share of "
    "moves that keep the exact value in solved positions where it can be lost, both with 95 % "
    "intervals. The searches play pairs of games from balanced openings on 5x6; learners are "
    "trained several times on 5x4, up to a number of wins if not stated otherwise, and play MC_n, "
    "or MC25 in the program of part C. Their solved positions have 1 to 16 discs and are not those "
    "of the experiment on exact values, so the shares are not comparable with it"
)
SCHEDULE = ("alpha", "alpha_update")
EXPLORATION = (*("epsilon", "epsilon_update", "epsilon_decay", "epsilon_least", "exam_exploring"),)
"""Settings of the two schedules; exploring in the evaluation belongs to the second."""
LEARNER_ARMS = (
    Arm("learner-faithful", "", "", "nothing (trained and tested as described)"),
    Arm("b6", "B6", "", "let MC0 play a random column instead of passing"),
    Arm("b7-alpha", "B7", "", "keep alpha constant"),
    Arm("b7-epsilon", "B7", "", "let epsilon fall, and test without exploring"),
    Arm("b7", "B7", "", "both schedules"),
    Arm("learner-fixed", "B5 to B7", "", "all of these, and opponents without B5"),
    Arm("learner-longer", "", "", "train longer: a number of games, not of wins; no fix"),
    Arm("learner-corrected", "B5 to B7", "", "all fixes, and train longer"),
)
AT_RANDOM = (
    "as long as epsilon rises to 1 (B7), the learner plays at random, whatever it has learned: the "
    "games are the same as those of the faithful program"
)
KNOWN_LINES = (
    "without exploring, the learner follows lines that its table knows, which wins games, while in "
    "positions of random games, most of which it never met, all values are equal and it plays the "
    "leftmost column, which keeps the exact value less often than a random one, as the row of part "
    "C shows, whose table is never found"
)
NOTES = {
    **dict.fromkeys(("b6", "b7-alpha", "learner-longer"), AT_RANDOM),
    "b7-epsilon": KNOWN_LINES,
}
MOST_GAMES = 1_000_000
"""A limit that no training to a number of wins reaches."""
POINTS = 2
"""Margin of the learner's share of wins in Table 8, in percentage points."""
PROGRAM_ARMS = (
    Arm("part-c-faithful", "", "", "nothing (part C, whose table is never found)"),
    Arm("b8", "B8", "", "find the saved table"),
    Arm("part-c-corrected", "B5 to B8", "", "find a table that was trained without faults, longer"),
)


def program(name: str) -> Program:
    """Return the arms of MC40 or MC200; B5 is the only fault of the search."""
    faithful = f"bhat-{name.lower()}:faithful=1"
    return Program(
        name.lower(),
        f"{name} on 5x6",
        (
            Arm(f"{name.lower()}-faithful", "", faithful, f"nothing ({name} as coded)"),
            Arm(
                f"b5-{name.lower()}",
                "B5",
                fixed(faithful, terminal="proper"),
                "end the game at a win, in the tree, too",
            ),
        ),
        OPPONENTS[name],
        "MC200 as coded" if name == "MC40" else "MC40 as coded",
        BOARD,
    )


def conduct(bench: Workbench) -> Iterator[Part]:
    """Measure B5 in games, B6 to B8 by trainings, and state both forms of B9."""
    rows = [
        *measure(bench, program("MC40")),
        *measure(bench, program("MC200")),
        *_learners(bench),
    ]
    yield from present(rows, CAPTION)
    yield _passing(bench)
    yield from _labels()


def settings_for(arm: Arm, size: Mapping[str, Any]) -> QSettings:
    """Return the settings with which the learner of an arm is trained."""
    longer: dict[str, Any] = {"games": size["training"], "wins": None}
    corrected = settings_of(ROWS, False, **longer)
    if arm.name in ("learner-corrected", "part-c-corrected"):
        return corrected
    if arm.name == "learner-fixed":
        return settings_of(ROWS, False, games=MOST_GAMES, wins=size["wins"])
    if arm.name == "learner-longer":
        return settings_of(ROWS, True, **longer)
    names = {
        "b7-alpha": SCHEDULE,
        "b7-epsilon": EXPLORATION,
        "b7": (*SCHEDULE, *EXPLORATION),
        "b6": ("passing",),
    }.get(arm.name, ())
    changes = {name: getattr(corrected, name) for name in names}
    return settings_of(ROWS, True, wins=size["wins"], **changes)


def _train(seed: int, size: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Train one arm with one seed; return its results and its accuracy."""
    arms = (*LEARNER_ARMS, *PROGRAM_ARMS)
    run, place = divmod(number, len(arms))
    arm = arms[place]
    settings = settings_for(arm, size)
    is_part_c = arm in PROGRAM_ARMS
    # The same seeds for all arms: they differ by their settings alone.
    table, progress = learn(settings, [seed, run, 0])
    epsilon = float(progress.pace[EPSILON])
    if not settings.exam_exploring or is_part_c:
        epsilon = 0.0
    if arm.name == "part-c-faithful":
        table = QTable(form_of(settings))
    # Sound opponents for all: MC0 plays, and MC_n searches without B5.
    opponents = settings_of(ROWS, False, **(MC25 if is_part_c else {}))
    lost, won, drawn = evaluate(opponents, table, epsilon, size["games"], [seed, run, 1])
    shares = kept_shares(table, epsilon, size["positions"])
    return {
        "points": won + drawn / 2,
        "games": lost + won + drawn,
        "kept": sum(shares),
        "of": len(shares),
    }


def kept_shares(table: QTable, epsilon: float, count: int) -> list[float]:
    """Return for each position the probability that the learner's move keeps the exact value."""
    shares = []
    for position, scores in zip(*positions_of(f"5x{ROWS}x4", count, SECOND), strict=True):
        kept = {
            column: float(not Judged(position, scores, column, 0.0).is_mistake) for column in scores
        }
        values, _ = table.look_up(position)
        greedy = max(values, key=values.__getitem__)  # the first of equals
        shares.append((1 - epsilon) * kept[greedy] + epsilon * fmean(kept.values()))
    return shares


def _learners(bench: Workbench) -> list[Row]:
    size = bench.size
    arms = (*LEARNER_ARMS, *PROGRAM_ARMS)
    results = bench.repeat("trainings", _train, size["seeds"] * len(arms), bench.seed, size)

    def trained(chosen: Sequence[Arm]) -> list[Trained]:
        return [_trained(arm, results[arms.index(arm) :: len(arms)]) for arm in chosen]

    return [
        *compare_trained(
            "learner on 5x4 against MC_n",
            "MC_n, n from 0 to 25",
            trained(LEARNER_ARMS),
            same_seeds=True,
        ),
        *compare_trained(
            "part C on 5x4 against MC25", "MC25", trained(PROGRAM_ARMS), same_seeds=True
        ),
    ]


def _trained(arm: Arm, results: Sequence[Mapping[str, Any]]) -> Trained:
    return Trained(
        arm,
        [(result["points"], result["games"]) for result in results],
        [(result["kept"], result["of"]) for result in results],
        NOTES.get(arm.name, ""),
    )


def _passing(bench: Workbench) -> Claim:
    """Let the learner of Table 8, which plays at random, meet MC0 that passes and that plays."""
    games = 10 * bench.size["games"]
    won = bench.calculate("passing", lambda: _won_by_form(games, bench.seed))
    return Claim(
        "ablation-b6-table-8",
        f"Table 8, {ROWS} rows: the learner wins more games against MC_n when MC0 passes than when "
        "it plays a random column",
        "",
        Source.OURS,
        faithful=share(won["passing"], games),
        corrected=share(won["playing"], games),
        true=larger_share(won["passing"], games, won["playing"], games, POINTS),
        labels={"faithful": "MC0 passes", "corrected": "MC0 plays"},
        why="B6: one game in 26 is against an opponent that never moves. The learner plays at "
        "random, as it does in Table 8 (B7)",
    )


def _won_by_form(games: int, seed: int) -> dict[str, int]:
    """Return the wins of a random player with the faithful opponents, by what MC0 does."""
    won = {}
    for place, (form, passing) in enumerate((("passing", True), ("playing", False))):
        settings = settings_of(ROWS, True, passing=passing)
        won[form] = random_player(settings, games, [seed, 2, place])[1]
    return won


def _labels() -> Iterator[Part]:
    """State what the wrong labels of Figures 4 and 6 say, and what the right ones do (B9)."""
    one, other, drawn = TABLE_5["MC200"]
    yield Claim(
        "ablation-b9-figure-4",
        "Figure 4: points with the colour of MC40 / MC200 / draw, by the printed legend and by "
        "the right one",
        # The printed names are moved by one: the colour of MC40 is called "Draw", and so on.
        Counts({"MC40": other, "MC200": drawn, "draw": one}),
        Source.FIGURE,
        corrected=Counts({"MC40": one, "MC200": other, "draw": drawn}),
        why="B9: the names in the legend are moved by one",
        kind=Kind.DIAGNOSTIC,
    )
    means = [fmean(counts[1] for counts in FIGURE_6[first]) for first in ("MC40", "MC200")]
    yield Claim(
        "ablation-b9-figure-6",
        "Figure 6: games of 50 that MC200 wins on average when MC40, and when MC200, moves first",
        f"{means[0]:.1f} and {means[1]:.1f}",
        Source.FIGURE,
        corrected=f"{means[1]:.1f} and {means[0]:.1f}",
        why="B9: the two panels of ratios are exchanged relative to the bars, and probably the "
        "labels of the bars are: moving first should help MC200",
        kind=Kind.DIAGNOSTIC,
    )
