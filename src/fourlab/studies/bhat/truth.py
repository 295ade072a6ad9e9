"""The exact values of Bhat's boards, and how many moves of her players keep them.

A move keeps the value if perfect play by both sides gives the same result after it as before. Only
positions in which some move would lose the value are counted.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.q.kernel import EPSILON
from fourlab.agents.q.table import QTable
from fourlab.agents.registry import make
from fourlab.arena.accuracy import Answer as Judged
from fourlab.arena.accuracy import exact_scores, random_positions
from fourlab.game.position import Position
from fourlab.solver import Solver
from fourlab.studies.bhat.exploration import FLAT_FROM
from fourlab.studies.bhat.learner import ROWS, learn, settings_of
from fourlab.studies.bhat.order import CONSTANTS
from fourlab.studies.bhat.table_5 import NAMES
from fourlab.studies.bhat.table_8 import WINS, printed
from fourlab.studies.bhat.truth_picture import DISCS, LEAST_DRAWN, Point, counted_point, picture
from fourlab.studies.claims import (
    TRAININGS,
    Claim,
    Estimate,
    Source,
    difference,
    mean_of,
    over_trainings,
    share,
)
from fourlab.studies.compare import student_quantile
from fourlab.studies.verdicts import (
    FEWEST_TRAININGS,
    LEAST_ERROR,
    larger_paired,
    larger_than,
)
from fourlab.studies.workbench import Part, Table, Workbench

ALL_ROWS = (*ROWS, 6)
"""The learner's boards, and that of MC40 and MC200."""
SEARCHED = 6
FEW = {2: 600}
"""The most positions of a board that has few."""
CHUNK = 20
"""Positions per repetition."""
FORMS = ("faithful", "corrected")
C = CONSTANTS.index(1.4)
"""The constant nearest to the report's, the root of 2."""
SECOND = 1
"""The learner's side."""
POINTS = 5.0
"""Margin of a share of moves, in percentage points."""
PLIES = 3
"""Plies that are drawn together: single ones have few positions."""
Solved = Mapping[str, Any]
"""A position: its `moves`, and the exact `scores` by column, as JSON has them."""
Learned = Mapping[str, Any]
"""What one trained learner does in the positions of its board."""


@cache
def _sample(rows: int, count: int) -> list[Position]:
    """Return random positions, from the empty board to two empty cells."""
    count = min(count, FEW.get(rows, count))
    return random_positions(count, (0, 5 * rows - 2), 0, f"5x{rows}x4")


def solve_chunk(rows: int, count: int, number: int) -> list[dict[str, Any]]:
    """Solve CHUNK positions of a board; return those in which the value can be lost."""
    positions = _sample(rows, count)[number * CHUNK : (number + 1) * CHUNK]
    return [
        {"moves": position.write("moves"), "scores": scores}
        for position, scores in zip(positions, exact_scores(positions, Solver()), strict=True)
        if Judged(position, scores, next(iter(scores)), 0.0).can_go_wrong
    ]


def keeping(rows: int, solved: Solved) -> tuple[Position, list[int]]:
    """Return a position and the columns that keep its value."""
    position = Position(solved["moves"], f"5x{rows}x4")
    scores = {int(column): score for column, score in solved["scores"].items()}
    columns = [column for column in scores if not Judged(position, scores, column, 0.0).is_mistake]
    return position, columns


def search_all(
    rows: int, solved: Sequence[Solved], specs: Sequence[str], seed: int, number: int
) -> list[bool]:
    """Return for each position whether the move of search `number` keeps the value."""
    agent = make(specs[number])
    kept = []
    for place, entry in enumerate(solved):
        position, columns = keeping(rows, entry)
        rng = np.random.default_rng([seed, number, place])
        kept.append(agent.decide(position, Limit(), rng).column in columns)
    return kept


def train_and_ask(
    solved: Mapping[str, Sequence[Solved]], seed: int, size: Mapping[str, int], number: int
) -> dict[str, Any]:
    """Train a learner; return the probability that it keeps the value, position by position.

    Numbers go through the rows and forms, then through trainings. `solved` has the positions of
    the learner's side, by rows.
    """
    jobs = [(rows, form) for rows in ROWS for form in FORMS]
    rows, form = jobs[number % len(jobs)]
    changes: dict[str, Any] = (
        {"wins": size["wins"], **printed(rows)}
        if form == "faithful"
        else {"games": size["training"]}
    )
    settings = settings_of(rows, form == "faithful", **changes)
    table, progress = learn(settings, [seed, number])
    epsilon = float(progress.pace[EPSILON]) if settings.exam_exploring else 0.0
    asked = [ask(table, epsilon, *keeping(rows, entry)) for entry in solved[str(rows)]]
    return {"kept": [kept for kept, _ in asked], "known": [is_in for _, is_in in asked]}


def ask(
    table: QTable, epsilon: float, position: Position, columns: Sequence[int]
) -> tuple[float, bool]:
    """Return the probability of a move in `columns`, and whether the table has any of its moves."""
    values, stored = table.look_up(position)
    greedy = max(values, key=values.__getitem__)  # the first of equals
    by_chance = len(columns) / len(values)
    return (1 - epsilon) * (greedy in columns) + epsilon * by_chance, stored > 0


def specs_of(form: str) -> list[str]:
    """Return the searches: MC40 and MC200 with every c, in this order."""
    faithful = int(form == "faithful")
    return [f"bhat-{name.lower()}:faithful={faithful},c={c}" for name in NAMES for c in CONSTANTS]


def conduct(bench: Workbench) -> Iterator[Part]:
    """Solve the boards, and count the moves that keep the value."""
    size = bench.size
    yield from _boards(bench)
    solved = {rows: _solved(bench, rows) for rows in ALL_ROWS}
    searched = {form: _searched(bench, solved, form) for form in FORMS}
    yield from _searches(searched)
    # Only the learner's own turns.
    turns = {
        rows: [entry for entry in solved[rows] if len(entry["moves"]) % 2 == SECOND]
        for rows in ROWS
    }
    jobs = [(rows, form) for rows in ROWS for form in FORMS]
    answers = bench.repeat(
        "learners",
        train_and_ask,
        size["seeds"] * len(jobs),
        {str(rows): entries for rows, entries in turns.items()},
        bench.seed,
        dict(size),
    )
    learners = {job: answers[place :: len(jobs)] for place, job in enumerate(jobs)}
    judged = size["seeds"] >= FEWEST_TRAININGS and size["wins"] == WINS
    for rows in ROWS:
        if turns[rows]:
            yield _learner(rows, turns[rows], learners, judged)
    yield from _generalises(turns, learners, judged)
    data = _by_ply(solved, searched, turns, learners)
    yield data
    boards = (SEARCHED, ROWS[-1])
    yield picture(_points(solved, searched, turns, learners), boards, CONSTANTS[C])


def _boards(bench: Workbench) -> Iterator[Claim]:
    """State the exact values of all first moves."""
    exact = bench.calculate(
        "boards",
        lambda: [
            [str(solution) for solution in Solver().columns(Position(board=f"5x{rows}x4")).values()]
            for rows in ALL_ROWS
        ],
    )
    for rows, columns in zip(ALL_ROWS, exact, strict=True):
        yield Claim(
            f"truth-{rows}-rows",
            f"{rows} rows: result of the five first moves under perfect play",
            "",
            Source.OURS,
            exact=" / ".join(columns),
        )


def _solved(bench: Workbench, rows: int) -> list[Solved]:
    count = bench.size["positions"]
    chunks = -(-min(count, FEW.get(rows, count)) // CHUNK)
    stored = bench.repeat(f"positions-{rows}", solve_chunk, chunks, rows, count)
    return [entry for chunk in stored for entry in chunk]


def _searched(
    bench: Workbench, solved: Mapping[int, Sequence[Solved]], form: str
) -> dict[int, np.ndarray]:
    """Return by rows bool[player, c, positions]: whether the move keeps the value."""
    specs = specs_of(form)
    answers = {}
    for rows in ALL_ROWS:
        kept = bench.repeat(
            f"{form}-{rows}", search_all, len(specs), rows, solved[rows], specs, bench.seed
        )
        answers[rows] = np.array(kept, dtype=bool).reshape(len(NAMES), len(CONSTANTS), -1)
    return answers


def _counted(kept: np.ndarray) -> tuple[int, int]:
    return int(kept.sum()), int(kept.size)


def _searches(searched: Mapping[str, Mapping[int, np.ndarray]]) -> Iterator[Claim]:
    """Test what the report says about the searches, by exact values on its own board."""
    faithful, corrected = (searched[form][SEARCHED] for form in FORMS)
    if not faithful.size:
        return
    for place, name in enumerate(NAMES):
        yield Claim(
            f"truth-{name.lower()}",
            f"{SEARCHED} rows: moves of {name} that keep the exact value, c = {CONSTANTS[C]:g}",
            "",
            Source.OURS,
            faithful=share(*_counted(faithful[place, C])),
            corrected=share(*_counted(corrected[place, C])),
            exact="all",
            why="B5: without it, a search does not continue below won positions",
        )
    for slug, quantity, statement, why in (
        ("playouts", "MC200, less MC40, all c", "more rollouts have more accurate values", ""),
        (
            "c-2",
            f"c = 2, less other c from {CONSTANTS[FLAT_FROM]} on, both players",
            "c = 2 is favourable",
            "compared position by position",
        ),
        (
            "c-0",
            f"c from {CONSTANTS[FLAT_FROM]} on, less c = 0, both players",
            "lesser values of c are less favourable",
            "without exploration, the search stays with the first lucky column",
        ),
    ):
        pairs = [_sides(slug, kept) for kept in (faithful, corrected)]
        verdicts = [
            larger_paired(one, other, POINTS, "points", what="positions", least_error=LEAST_ERROR)
            for one, other in pairs
        ]
        values = [mean_of(np.subtract(one, other).tolist(), 1, "points") for one, other in pairs]
        yield Claim(
            f"truth-{slug}",
            f"{SEARCHED} rows, moves that keep the exact value: {quantity}",
            statement,
            Source.TEXT,
            faithful=values[0],
            corrected=values[1],
            reproduced=verdicts[0],
            true=verdicts[1],
            why=why,
        )


def _sides(slug: str, kept: np.ndarray) -> tuple[list[float], list[float]]:
    """Return both sides of a comparison, position by position, in per cent.

    The same positions are asked with every c, so their answers are not independent.
    """
    rest = [place for place in range(FLAT_FROM, len(CONSTANTS)) if CONSTANTS[place] != 2.0]
    one, other = {
        "playouts": (kept[1], kept[0]),
        "c-2": (kept[:, CONSTANTS.index(2.0)], kept[:, rest]),
        "c-0": (kept[:, FLAT_FROM:], kept[:, 0]),
    }[slug]
    positions = kept.shape[-1]
    first, second = (100 * part.reshape(-1, positions).mean(axis=0) for part in (one, other))
    return first.tolist(), second.tolist()


def _chances(rows: int, solved: Sequence[Solved]) -> list[float]:
    """Return for each position the probability that a random move keeps its value."""
    asked = [keeping(rows, entry) for entry in solved]
    return [len(columns) / len(position.legal_columns()) for position, columns in asked]


def _learner(
    rows: int,
    turns: Sequence[Solved],
    learners: Mapping[tuple[int, str], Sequence[Learned]],
    judged: bool,
) -> Claim:
    """Compare the learner's moves with random ones."""
    random = 100 * fmean(_chances(rows, turns))
    faithful, corrected = (
        [100 * fmean(learned["kept"]) for learned in learners[rows, form]] for form in FORMS
    )
    # A random player's share in these positions is known exactly.
    verdicts = [
        larger_than(values, random, POINTS, "points", what="trainings", least_error=LEAST_ERROR)
        if judged
        else None
        for values in (faithful, corrected)
    ]
    return Claim(
        f"truth-learner-{rows}-rows",
        f"{rows} rows: moves of the learner that keep the exact value, in {len(turns)} positions "
        "where it can be lost",
        "the agents learn to play well",
        Source.TEXT,
        faithful=_over_both(learners[rows, "faithful"]),
        corrected=_over_both(learners[rows, "corrected"]),
        exact=f"all; a random player's {random:.1f} %",
        reproduced=verdicts[0],
        true=verdicts[1],
        why="the claim is that it plays better than at random, in the same positions. B7: epsilon "
        "is 1 after training. The intervals include the choice of the positions",
        statement="truth-learner",
    )


def _over_both(learned: Sequence[Learned]) -> Estimate:
    """Return the mean share over trainings and positions, with an interval for both."""
    # float64[trainings, positions], in per cent
    kept = 100 * np.array([one["kept"] for one in learned])
    trainings, positions = kept.shape
    value = float(kept.mean())
    note = f"positions, {trainings} {TRAININGS}"
    if trainings < 2 or positions < 2:
        return Estimate(value, n=positions, unit="%", digits=1, note=note)
    spreads = [kept.mean(axis=axis).std(ddof=1) for axis in (1, 0)]
    half = math.hypot(
        student_quantile(0.975, trainings - 1) * spreads[0] / math.sqrt(trainings),
        student_quantile(0.975, positions - 1) * spreads[1] / math.sqrt(positions),
    )
    if half == 0:
        # Every training keeps the value everywhere: a share of all positions.
        return replace(share(round(positions * value / 100), positions), note=note)
    ends = max(value - half, 0.0), min(value + half, 100.0)
    return Estimate(value, *ends, positions, unit="%", digits=1, note=note)


def _generalises(
    turns: Mapping[int, Sequence[Solved]],
    learners: Mapping[tuple[int, str], Sequence[Learned]],
    judged: bool,
) -> Iterator[Claim]:
    """Test whether a table helps in positions that it does not have."""
    rows = ROWS[-1]
    random = np.array(_chances(rows, turns[rows]))
    kept, chance = [], []
    for learned in learners[rows, "corrected"]:
        unknown = ~np.array(learned["known"], dtype=bool)
        if unknown.any():
            kept.append(100 * float(np.array(learned["kept"])[unknown].mean()))
            chance.append(100 * float(random[unknown].mean()))
    if not kept:
        return
    enough = judged and len(kept) >= FEWEST_TRAININGS
    yield Claim(
        "truth-generalises",
        f"{rows} rows, positions of which the table has no move: moves of the learner that keep "
        "the exact value, less those of a random player",
        "it learns to generalise by similarities between states",
        Source.TEXT,
        corrected=difference(over_trainings(kept), over_trainings(chance)),
        true=larger_paired(
            kept, chance, POINTS, "points", what="trainings", least_error=LEAST_ERROR
        )
        if enough
        else None,
        exact="a table has no similarities: all its values there are the initial one",
        why="the program then plays the leftmost column. It takes similarities, such as patterns "
        "of discs or a network, to say something about positions that were never met",
    )


def _by_ply(
    solved: Mapping[int, Sequence[Solved]],
    searched: Mapping[str, Mapping[int, np.ndarray]],
    turns: Mapping[int, Sequence[Solved]],
    learners: Mapping[tuple[int, str], Sequence[Learned]],
) -> Table:
    """Tabulate by rows and ply, in steps of PLIES; the learner's are its own turns only."""
    table = []
    for rows in ALL_ROWS:
        plies = np.array([len(entry["moves"]) for entry in solved[rows]])
        own = np.array([len(entry["moves"]) for entry in turns.get(rows, ())])
        random = np.array(_chances(rows, solved[rows]))
        for begin in range(0, 5 * rows, PLIES):
            chosen = plies // PLIES == begin // PLIES
            if not chosen.any():
                continue
            cells = [100 * float(random[chosen].mean())]
            for form in FORMS:
                cells += [100 * float(kept[C, chosen].mean()) for kept in searched[form][rows]]
            texts = [f"{cell:.1f}" for cell in cells]
            for form in FORMS:
                mine = own // PLIES == begin // PLIES
                if rows not in turns or not mine.any():
                    texts.append("")
                    continue
                kept = [np.array(learned["kept"])[mine] for learned in learners[rows, form]]
                texts.append(f"{100 * float(np.mean(kept)):.1f}")
            span = f"{begin}-{begin + PLIES - 1}"
            table.append((rows, span, int(chosen.sum()), *texts))
    forms = ("as coded", "corrected")
    head = (
        *("rows", "discs", "positions", "random (%)"),
        *(f"{name}, {form} (%)" for form in forms for name in NAMES),
        *(f"learner, {form} (%)" for form in forms),
    )
    title = f"Moves that keep the exact value, by discs on the board; c = {CONSTANTS[C]:g}"
    return Table(title, head, tuple(table))


def _points(
    solved: Mapping[int, Sequence[Solved]],
    searched: Mapping[str, Mapping[int, np.ndarray]],
    turns: Mapping[int, Sequence[Solved]],
    learners: Mapping[tuple[int, str], Sequence[Learned]],
) -> list[Point]:
    """Return all points of the picture."""
    points = []
    for rows in (SEARCHED, ROWS[-1]):
        plies = np.array([len(entry["moves"]) for entry in solved[rows]])
        own = np.array([len(entry["moves"]) for entry in turns.get(rows, ())])
        random = 100 * np.array(_chances(rows, solved[rows]))
        for begin in range(0, 5 * rows, PLIES):
            chosen = plies // PLIES == begin // PLIES
            if chosen.sum() < LEAST_DRAWN:
                continue
            at = begin + (PLIES - 1) / 2
            # Exact for these positions, so there is nothing to be uncertain about.
            chance = float(random[chosen].mean())
            count = int(chosen.sum())
            points.append(Point(rows, DISCS, at, "random", chance, chance, chance, count))
            for name, kept in zip(NAMES, searched["corrected"][rows], strict=True):
                label = f"{name}, corrected"
                points.append(counted_point(rows, DISCS, at, label, kept[C, chosen]))
            mine = own // PLIES == begin // PLIES
            if rows not in turns or not mine.any():
                continue
            for form, label in zip(FORMS, ("as coded", "corrected"), strict=True):
                shares = [
                    100 * float(np.array(learned["kept"])[mine].mean())
                    for learned in learners[rows, form]
                ]
                mean = over_trainings(shares, "%")
                low, high = (mean.value if end is None else end for end in (mean.low, mean.high))
                who = f"learner, {label}"
                number = int(mine.sum())
                points.append(Point(rows, DISCS, at, who, mean.value, low, high, number))
    for form, label in zip(FORMS, ("as coded", "corrected"), strict=True):
        if searched[form][SEARCHED].size:
            points += [
                counted_point(SEARCHED, "c", c, f"{name}, {label}", kept[place])
                for name, kept in zip(NAMES, searched[form][SEARCHED], strict=True)
                for place, c in enumerate(CONSTANTS)
            ]
    return points
