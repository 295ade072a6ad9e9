"""Ablation of the faults: the faithful program, the same with one fault fixed, and the corrected.

Every arm plays the faithful program and a common opponent, in pairs of games with swapped colours
from openings that are draws under perfect play, and chooses moves in exactly solved positions.
What a fix gains is the Elo against the faithful program. Trained arms do not meet each other: all
their trainings play a common opponent, and the gain is the difference of their Elo. Its interval
then has the variance of training.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.agents.registry import make, parse_spec
from fourlab.arena.accuracy import Answer as Judged
from fourlab.arena.accuracy import exact_scores, random_positions
from fourlab.arena.openings import openings
from fourlab.arena.results import Results
from fourlab.arena.statistics import Z_95, elo_of, wilson
from fourlab.arena.store import StoredGame
from fourlab.arena.tally import FEWEST, Tally
from fourlab.arena.tournament import Player, Tournament
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, MARKS, Axes, Figure, frame, panels
from fourlab.solver import Solver
from fourlab.studies.claims import (
    TRAININGS,
    Answer,
    Claim,
    Estimate,
    Source,
    Verdict,
    over_trainings,
    p_in_words,
    share,
)
from fourlab.studies.rules import Difference, directed
from fourlab.studies.verdicts import (
    FEWEST_TRAININGS,
    SAME_GAMES,
    SEEDS,
    larger_mean,
    larger_paired,
    paired,
    welch,
)
from fourlab.studies.workbench import Part, Picture, Table, Workbench
from fourlab.training.test_set import solved_positions

MARGIN = 50.0
"""The smallest gain that matters, in Elo: a score of 57 %."""
MOST_ELO = 1200
"""Ends of intervals that are further away, up to infinity, are put here."""
OPENING_PLIES = 6
LEAST_ELO_ERROR = 1.0
"""Standard error that a difference of trainings has at least, in Elo."""
ARM, FAITHFUL, OPPONENT = "arm", "faithful", "opponent"
"""Names of players, which are stored with the games."""
CLASSIC = "7x6x4"
TITLE = "What I would change in your code, and what it gains"


@dataclass(frozen=True)
class Arm:
    """One version of a program."""

    name: str
    """A slug, part of the name of the claim: b1."""
    fault: str
    """What is fixed: "B1"; empty for the faithful program."""
    spec: str
    change: str
    """What is changed, as advice to the author: "divide inside the root"."""


@dataclass(frozen=True)
class Program:
    """A program and its arms: the faithful one first, the corrected one last."""

    name: str
    """Begins the names of its work and claims: vanilla."""
    title: str
    arms: tuple[Arm, ...]
    opponent: str
    """The spec of the common opponent."""
    met: str
    """What pages call the common opponent."""
    board: str = CLASSIC
    no_verdict: str = ""
    """Why there is no verdict, if there is none: the budget is not the report's."""


def fixed(spec: str, **changes: object) -> str:
    """Return a spec with some options changed."""
    name, options = parse_spec(spec)
    options |= {option: str(value) for option, value in changes.items()}
    return f"{name}:" + ",".join(f"{option}={value}" for option, value in options.items())


@dataclass(frozen=True)
class Row:
    """What was measured of one arm."""

    program: str
    """The title of the program."""
    arm: Arm
    gain: Estimate | None
    """Elo against the faithful program; None for that itself, or if there are too few games."""
    met: str
    """The common opponent."""
    against: Estimate | None
    """Elo against the common opponent."""
    accuracy: Estimate | None
    """Share of moves that keep the exact value, of positions where it can be lost, in per cent."""
    verdict: Verdict | None = None
    note: str = ""
    is_faithful: bool = False


# --- Arms that play games --------------------------------------------------------------------


def measure(bench: Workbench, program: Program) -> list[Row]:
    """Play and test all arms of a program.

    The scale has `pairs` of games per pairing and `positions`, by the program's name or for all.
    """
    specs = tuple(arm.spec for arm in program.arms)
    positions = _size(bench, program, "positions")
    answers = bench.repeat(
        f"{program.name}-answers", _answers, len(specs), specs, program.board, positions, bench.seed
    )
    rows = []
    for arm, kept in zip(program.arms, answers, strict=True):
        met = elo(_tally(bench, program, arm, OPPONENT))
        accuracy = share(sum(kept), len(kept)) if kept else None
        gain, verdict = None, None
        is_faithful = arm is program.arms[0]
        if not is_faithful:
            tally = _tally(bench, program, arm, FAITHFUL)
            gain = elo(tally)
            verdict = None if program.no_verdict else gains(tally)
        note = program.no_verdict
        rows.append(
            Row(program.title, arm, gain, program.met, met, accuracy, verdict, note, is_faithful)
        )
    return rows


def _size(bench: Workbench, program: Program, name: str) -> Any:
    """Return a number of the scale, which may be one for each program."""
    number = bench.size[name]
    return number[program.name] if isinstance(number, Mapping) else number


def games_of(bench: Workbench, program: Program, arm: Arm, other: str) -> list[StoredGame]:
    """Return the games of an arm against the FAITHFUL program or the common OPPONENT."""
    return bench.play(f"{program.name}-{arm.name}-{other}", _match(bench, program, arm, other))


def _match(bench: Workbench, program: Program, arm: Arm, other: str) -> Tournament:
    pairs = _size(bench, program, "pairs")
    starts = bench.calculate(
        f"{program.name}-openings",
        lambda: [
            position.write("moves")
            for position in openings(f"balanced:{OPENING_PLIES}", program.board, pairs, bench.seed)
        ],
    )
    spec = program.arms[0].spec if other == FAITHFUL else program.opponent
    players = (Player(arm.spec, name=ARM), Player(spec, name=other))
    return Tournament(players, (program.board,), tuple(starts), pairs, seed=bench.seed)


def _tally(bench: Workbench, program: Program, arm: Arm, other: str) -> Tally:
    """Return the results of an arm by pair."""
    results = Results(_match(bench, program, arm, other))
    for game in games_of(bench, program, arm, other):
        results.add(game)
    return results.tally(ARM, other)


@cache
def positions_of(
    board: str, count: int, side: int | None = None
) -> tuple[list[Position], list[dict[int, int]]]:
    """Return solved positions in which the exact value can be lost; of one side to move only."""
    if board == CLASSIC:
        positions, scores = solved_positions(count)
    else:
        columns, rows, _ = map(int, board.split("x"))
        plies = (1, columns * rows - 4)
        positions = random_positions(count, plies, 0, board)
        scores = list(exact_scores(positions, Solver()))
    chosen = [
        (position, values)
        for position, values in zip(positions, scores, strict=True)
        if Judged(position, values, next(iter(values)), 0.0).can_go_wrong
        and side in (None, position.to_move)
    ]
    return [position for position, _ in chosen], [values for _, values in chosen]


def keeps(agent: Agent, board: str, count: int, seed: int, side: int | None = None) -> list[bool]:
    """Return for each solved position whether the agent's move keeps the exact value."""
    kept = []
    for number, (position, scores) in enumerate(
        zip(*positions_of(board, count, side), strict=True)
    ):
        rng = np.random.default_rng([seed, number])
        column = agent.decide(position, Limit(), rng).column
        kept.append(not Judged(position, scores, column, 0.0).is_mistake)
    return kept


def _answers(specs: tuple[str, ...], board: str, count: int, seed: int, number: int) -> list[bool]:
    return keeps(make(specs[number]), board, count, seed)


# --- Statistics ------------------------------------------------------------------------------


def elo(tally: Tally) -> Estimate | None:
    """Return the Elo of the first player; None if there are too few pairs.

    A clean score has a bound only: the Elo of the end of its Wilson interval.
    """
    games = tally.units * tally.games_per_unit
    if tally.units < FEWEST:
        return None
    if max(tally.counts[0], tally.counts[-1]) == tally.units:
        won = tally.counts[-1] == tally.units
        bound = elo_of(wilson(tally.units, tally.units)[0])
        if won:
            return Estimate(bound, bound, n=games, unit="Elo", digits=0, note="won all: at least")
        return Estimate(-bound, None, -bound, games, unit="Elo", digits=0, note="lost all: at most")
    score, error = _moments(tally)
    least = 1 / (1 + 10 ** (MOST_ELO / 400))
    ends = [elo_of(min(max(score + way * Z_95 * error, least), 1 - least)) for way in (-1, 1)]
    return Estimate(elo_of(tally.score), ends[0], ends[1], games, unit="Elo", digits=0)


def _moments(tally: Tally) -> tuple[float, float]:
    """Return the mean score of a pair and its standard error."""
    # Agresti and Caffo (2000): one pair won and one lost more keep the error from vanishing.
    counts = list(tally.counts)
    counts[0] += 1
    counts[-1] += 1
    padded = Tally(tuple(counts))
    return padded.score, math.sqrt(padded.variance / padded.units)


def gains(tally: Tally) -> Verdict:
    """Test the claim that the first player is stronger, by pairs of games."""
    test = "test of the mean score of pairs"
    if tally.units < FEWEST:
        return Verdict(Answer.CANNOT_TELL, test, f"{MARGIN:g} Elo")
    score, error = _moments(tally)
    # In points: the score that the margin is worth between equal players.
    margin = 100 * (1 / (1 + 10 ** (-MARGIN / 400)) - 0.5)
    verdict = directed(test, Difference(100 * (score - 0.5), 100 * error, None), margin, "points")
    return replace(verdict, margin=f"{margin:.1f} points, {MARGIN:g} Elo")


@dataclass(frozen=True)
class Trained:
    """The trainings of one arm, each from a seed of its own."""

    arm: Arm
    scores: Sequence[tuple[float, int]]
    """By training: points against the common opponent, and games."""
    kept: Sequence[tuple[int, int]]
    """By training: moves that keep the exact value, and positions where it can be lost."""
    note: str = ""

    @property
    def elos(self) -> list[float]:
        """The Elo of every training against the common opponent."""
        # Half a point more on either side keeps it finite.
        return [elo_of((points + 0.5) / (games + 1)) for points, games in self.scores]


def compare_trained(
    title: str,
    met: str,
    arms: Sequence[Trained],
    no_verdict: str = "",
    same_seeds: bool = False,
) -> list[Row]:
    """Return the rows of trained arms, of which the first is faithful.

    With `same_seeds`, training number n of every arm has the same seed, so they are compared in
    pairs.
    """
    base = arms[0].elos
    rows = []
    for trained in arms:
        is_faithful = trained is arms[0]
        gain, verdict = (
            (None, None) if is_faithful else compare_means(trained.elos, base, same_seeds)
        )
        if no_verdict:
            verdict = None
        shares = [100 * kept / of for kept, of in trained.kept if of]
        accuracy = over_trainings(shares, "%", 1) if shares else None
        against = over_trainings(trained.elos, "Elo", 0)
        note = "; ".join(filter(None, (trained.note, no_verdict)))
        rows.append(
            Row(title, trained.arm, gain, met, against, accuracy, verdict, note, is_faithful)
        )
    return rows


def compare_means(
    ones: Sequence[float], others: Sequence[float], same_seeds: bool = False
) -> tuple[Estimate | None, Verdict]:
    """Return the difference of two means of trainings in Elo, and the test of a gain."""
    if min(len(ones), len(others)) < FEWEST_TRAININGS:
        test = f"no test: fewer than {FEWEST_TRAININGS} trainings"
        return None, Verdict(Answer.CANNOT_TELL, test, f"{MARGIN:g} Elo")
    n = len(ones) + len(others)
    if same_seeds:
        verdict = larger_paired(
            ones, others, MARGIN, "Elo", what=SEEDS, least_error=LEAST_ELO_ERROR
        )
        if list(ones) == list(others):
            return Estimate(0.0, n=n, unit="Elo", digits=0, note=SAME_GAMES), verdict
        difference = paired(ones, others, LEAST_ELO_ERROR)
    else:
        verdict = larger_mean(
            ones, others, MARGIN, "Elo", trained=True, least_error=LEAST_ELO_ERROR
        )
        difference = welch(ones, others, LEAST_ELO_ERROR)
    low, high = difference.interval(0.95)
    return Estimate(difference.value, low, high, n, None, "Elo", 0, TRAININGS), verdict


# --- Parts of the page -----------------------------------------------------------------------


def present(rows: Sequence[Row], caption: str) -> Iterator[Part]:
    """Yield a claim for every fix, one table and one picture."""
    for row in rows:
        if not row.is_faithful:
            yield _claim(row)
    yield _table(rows)
    caption = f"{TITLE}. {caption}. No end of an interval is beyond {MOST_ELO:,} Elo"
    yield Picture("gains", caption, lambda: _draw(rows), _data(rows))


def _claim(row: Row) -> Claim:
    fault = f"{row.arm.fault}: " if row.arm.fault else ""
    return Claim(
        f"ablation-{row.arm.name}",
        f"Elo gained, {row.program}; {fault}{row.arm.change}",
        "",
        Source.OURS,
        corrected="too few to tell" if row.gain is None else row.gain,
        true=row.verdict,
        why=row.note,
        labels={"corrected": "gain"},
    )


def _table(rows: Sequence[Row]) -> Table:
    head = (
        *("program", "what I would change in your code", "fault"),
        *("gain in Elo", "Elo against", "common opponent", "keeps the exact value", "gains?"),
    )
    cells = [
        (
            row.program,
            row.arm.change,
            row.arm.fault,
            "" if row.gain is None else str(row.gain),
            "" if row.against is None else str(row.against),
            row.met,
            "" if row.accuracy is None else str(row.accuracy),
            _answer(row),
        )
        for row in rows
    ]
    return Table(TITLE, head, tuple(cells))


def _answer(row: Row) -> str:
    """Return the answer to "does the fix gain Elo?"."""
    if row.is_faithful:
        return ""
    if row.verdict is None:
        return "no verdict"
    p = "" if row.verdict.p is None else f" ({p_in_words(row.verdict.p)})"
    return f"{WORDS[row.verdict.answer]}{p}"


WORDS = {Answer.AGREES: "yes", Answer.DIFFERS: "no", Answer.CANNOT_TELL: "cannot tell"}
"""The answers to "does the fix gain Elo?"."""


def _data(rows: Sequence[Row]) -> Table:
    """Return the numbers of the picture."""
    names = ("gain", "Elo against the common opponent", "accuracy")
    head = ["program", "arm", "fault"]
    head += [f"{name}{end}" for name in names for end in ("", " low", " high", " n")]
    cells = []
    for row in rows:
        numbers: list[object] = []
        for value in (row.gain, row.against, row.accuracy):
            estimates = (
                (None,) * 4 if value is None else (value.value, value.low, value.high, value.n)
            )
            numbers += ["" if number is None else f"{number:.6g}" for number in estimates]
        cells.append((row.program, row.arm.change, row.arm.fault, *numbers))
    return Table("", tuple(head), tuple(cells))


def _draw(rows: Sequence[Row]) -> Figure:
    """Draw a line for every arm, below a heading for its program."""
    lines: list[Row | str] = []
    for row in rows:
        if row.is_faithful:
            lines.append(row.program)
        lines.append(row)
    figure, (left, right) = panels(10, 1.3 + 0.27 * len(lines), columns=2, sharey=True)
    figure.suptitle(TITLE, fontsize="medium")
    labels = []
    number = -1
    for place, line in enumerate(lines):
        if isinstance(line, str):
            number += 1
            labels.append(line)
            for axes in (left, right):
                axes.axhline(place - 0.5, color="#bbbbbb", linewidth=0.6)
            continue
        style: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKS[number % len(MARKS)],
        }
        if line.is_faithful:
            left.plot(0, place, markerfacecolor="white", **style)
        elif line.gain is not None:
            _point(left, line.gain, place, style)
        if line.accuracy is not None:
            _point(right, line.accuracy, place, style)
        fault = f"{line.arm.fault}: " if line.arm.fault else ""
        labels.append(f"{fault}{line.arm.change}")
    left.set_yticks(range(len(lines)), labels, fontsize="small")
    for label, line in zip(left.get_yticklabels(), lines, strict=True):
        if isinstance(line, str):
            label.set_fontweight("bold")
    # The first line is on top.
    left.set_ylim(len(lines) - 0.5, -0.5)
    left.axvline(0, color="#888888", linewidth=0.8)
    left.tick_params(axis="y", length=0)
    right.tick_params(axis="y", length=0)
    frame(left, grid="x", xlabel="gain in Elo over the faithful program")
    frame(right, grid="x", xlabel="moves that keep the exact value (%)")
    # Room for the numbers beside the last points: their width does not grow with the axis.
    for axes in (left, right):
        low, high = axes.get_xlim()
        axes.set_xlim(low - 0.05 * (high - low), high + 0.15 * (high - low))
    return figure


def _point(axes: Axes, value: Estimate, place: float, style: Mapping[str, Any]) -> None:
    """Draw a value with its interval; an end without a bound is an arrow."""
    low = value.value if value.low is None else value.low
    high = value.value if value.high is None else value.high
    axes.plot([low, high], [place, place], color=style["color"], linewidth=1.2, alpha=0.6)
    axes.plot(value.value, place, **style)
    bound = "" if (value.low is None) == (value.high is None) else ("≥ ", "≤ ")[value.low is None]
    axes.annotate(
        f"{bound}{value.value:.0f}",
        (high, place),
        # Beside the arrow of an interval without an upper bound.
        (30 if value.high is None and value.low is not None else 6, 0),
        textcoords="offset points",
        va="center",
        fontsize="x-small",
    )
    for end, way in ((value.low, -1), (value.high, 1)):
        if end is None and (value.low, value.high) != (None, None):
            axes.annotate(
                "",
                (value.value, place),
                (25 * way, 0),
                textcoords="offset points",
                arrowprops={"arrowstyle": "<-", "color": style["color"]},
            )
