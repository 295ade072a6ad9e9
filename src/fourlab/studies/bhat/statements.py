"""Statements of Bhat's text about Q-learning: what gamma does, and which algorithm it is."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.q.kernel import EPSILON
from fourlab.agents.q.table import QTable
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, MARKS, SMALL, Figure, frame, panels
from fourlab.studies.bhat.learner import FAITHFUL_MC25, MC25, evaluate, learn, settings_of
from fourlab.studies.bhat.table_8 import WINS
from fourlab.studies.claims import (
    Answer,
    Claim,
    Estimate,
    Source,
    Verdict,
    difference,
    over_trainings,
)
from fourlab.studies.verdicts import FEWEST_TRAININGS, larger_mean
from fourlab.studies.workbench import Part, Picture, Table, Workbench

ROWS = 4
GAMMAS = (0.3, 0.6, 0.9, 1.0)
FORMS = ("faithful", "corrected")
JOBS = [(form, gamma) for form in FORMS for gamma in GAMMAS]
MOVES = 0.5
"""Margin of the learner's moves to a win."""
SCORE = 5.0
"""Margin of a score, in percentage points."""
Trained = Mapping[tuple[str, float], Sequence[Mapping[str, Any]]]
"""What was measured by form and gamma, one for every training."""


def train_with_gamma(seed: int, size: Mapping[str, int], number: int) -> dict[str, Any]:
    """Train a learner against MC_n and let it play MC25; return its moves in won games.

    Numbers go through JOBS, then through trainings.
    """
    form, gamma = JOBS[number % len(JOBS)]
    faithful = form == "faithful"
    changes = {"wins": size["wins"]} if faithful else {"games": size["training"]}
    settings = settings_of(ROWS, faithful, gamma=gamma, **changes)
    table, progress = learn(settings, [seed, number])
    epsilon = float(progress.pace[EPSILON]) if settings.exam_exploring else 0.0
    (spec,) = (FAITHFUL_MC25 if faithful else MC25)["against"]
    opponent = make(spec)
    moves = []
    for game in range(size["games"]):
        rng = np.random.default_rng([seed, number, game])
        position = Position(board=settings.board)
        while (outcome := position.outcome()) is None:
            if position.to_move == 0:
                column = opponent.decide(position, Limit(), rng).column
            else:
                column = choose(table, epsilon, position, rng)
            position = position.play(column)
        if outcome.winner == 1:
            moves.append(position.ply // 2)
    return {"moves": moves, "games": size["games"]}


def choose(table: QTable, epsilon: float, position: Position, rng: np.random.Generator) -> int:
    """Return a random column with probability epsilon, else the table's."""
    if rng.random() < epsilon:
        return int(rng.choice(position.legal_columns()))
    return table.greedy(position)


def train_with_target(seed: int, size: Mapping[str, int], number: int) -> list[int]:
    """Return the results of a corrected learner that learns from the move played, or the best."""
    target = ("played", "best")[number % 2]
    settings = settings_of(ROWS, False, games=size["training"], target=target)
    table, _ = learn(settings, [seed, number, 1])
    return list(evaluate(settings, table, 0.0, size["exam"], [seed, number, 2]))


def conduct(bench: Workbench) -> Iterator[Part]:
    """Test what gamma does, and compare the two kinds of target."""
    size = dict(bench.size)
    seeds = size["seeds"]
    judged = seeds >= FEWEST_TRAININGS and size["wins"] == WINS
    stored = bench.repeat("gammas", train_with_gamma, seeds * len(JOBS), bench.seed, size)
    trained = {job: stored[place :: len(JOBS)] for place, job in enumerate(JOBS)}
    for gamma in GAMMAS[:-1]:
        yield _gamma(gamma, trained, judged)
    targets = bench.repeat("targets", train_with_target, 2 * seeds, bench.seed, size)
    yield _target(targets[0::2], targets[1::2], judged)
    yield Claim(
        "afterstates",
        "what a value of the table belongs to",
        "the state after the move, so there are fewer values than for pairs of state and action",
        Source.TEXT,
        faithful="the state after the move",
        exact="different moves that lead to the same board share a value",
        reproduced=Verdict(Answer.AGREES, "comparison with a plain program, key by key"),
    )
    yield _picture(trained)


def _moves(trained: Trained, form: str, gamma: float) -> list[float]:
    """Return the mean moves to a win of every training that won a game."""
    return [fmean(one["moves"]) for one in trained[form, gamma] if one["moves"]]


def _gamma(gamma: float, trained: Trained, judged: bool) -> Claim:
    """Test whether discounting makes wins shorter than gamma 1, which does not discount."""
    values: list[Estimate | str] = []
    verdicts = []
    for form in FORMS:
        without, discounted = (_moves(trained, form, value) for value in (GAMMAS[-1], gamma))
        enough = judged and min(len(without), len(discounted)) >= FEWEST_TRAININGS
        verdicts.append(
            larger_mean(without, discounted, MOVES, "moves", trained=True) if enough else None
        )
        values.append(
            difference(over_trainings(discounted), over_trainings(without), "moves", 2)
            if without and discounted
            else "no game won"
        )
    return Claim(
        f"gamma-{gamma:g}".replace(".", ""),
        f"{ROWS} rows: the learner's moves to a win with gamma {gamma:g}, less those with gamma 1",
        "gamma helps reduce the number of moves to a winning state",
        Source.TEXT,
        faithful=values[0],
        corrected=values[1],
        reproduced=verdicts[0],
        true=verdicts[1],
        why="B7: with vanishing alpha and epsilon 1, gamma has no influence. Discounting prefers "
        "early wins only where values have been learned",
        statement="gamma",
    )


def _target(played: Sequence[Sequence[int]], best: Sequence[Sequence[int]], judged: bool) -> Claim:
    """Name the algorithm, and measure what the other one would give."""
    scores = [
        [100 * (won + drawn / 2) / (lost + won + drawn) for lost, won, drawn in results]
        for results in (best, played)
    ]
    return Claim(
        "sarsa",
        "what an update learns from, and the score against MC_n that learning from the best move "
        "gains (corrected)",
        "Q-learning: Figure 7 takes the best next value",
        Source.TEXT,
        faithful="the value of the move played, whether it was random or not",
        corrected=difference(over_trainings(scores[0]), over_trainings(scores[1])),
        reproduced=Verdict(Answer.DIFFERS, "comparison with a plain program, key by key"),
        true=larger_mean(scores[0], scores[1], SCORE, "points", trained=True) if judged else None,
        why="learning from the move played is on-policy: SARSA (Rummery and Niranjan, 1994), not "
        "Q-learning. True asks whether Q-learning's target would play better",
    )


def _picture(trained: Trained) -> Picture:
    """Draw the moves to a win by gamma."""
    rows = []
    for form in FORMS:
        for gamma in GAMMAS:
            moves = _moves(trained, form, gamma)
            if moves:
                mean = over_trainings(moves)
                ends = [mean.value if end is None else end for end in (mean.low, mean.high)]
                numbers = (round(number, 3) for number in (mean.value, *ends))
                rows.append((form, gamma, *numbers, len(moves)))

    def draw() -> Figure:
        figure, (axes,) = panels(6, 3.6)
        for place, form in enumerate(FORMS):
            points = [row[1:5] for row in rows if row[0] == form]
            if points:
                gammas, means, lows, highs = (list(column) for column in zip(*points, strict=True))
                errors = [np.subtract(means, lows), np.subtract(highs, means)]
                axes.errorbar(
                    gammas,
                    means,
                    errors,
                    color=COLOURS[place],
                    marker=MARKS[place],
                    capsize=2,
                    label=form,
                )
        frame(axes, SMALL, xlabel="gamma", ylabel="the learner's moves to a win")
        return figure

    caption = (
        f"Does gamma make wins shorter? The learner's moves in games that it wins against MC25 on "
        f"{ROWS} rows, means over trainings with 95 % intervals."
    )
    head = ("form", "gamma", "moves", "low", "high", "trainings")
    return Picture("gamma", caption, draw, Table("", head, tuple(rows)))
