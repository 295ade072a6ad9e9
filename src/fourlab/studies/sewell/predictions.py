"""SeWell's Figures 2 to 4: predictions for six boards, and how often the network errs badly."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourlab.arena.statistics import Z_95
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, SMALL, Axes, Figure, frame, panels
from fourlab.studies.claims import (
    RESULTS,
    SHARES,
    Answer,
    Claim,
    Estimate,
    Kind,
    Source,
    Verdict,
    exactly,
    share,
)
from fourlab.studies.reported import reported
from fourlab.studies.rules import Difference, within_error
from fourlab.studies.sewell.curves import over_trainings
from fourlab.studies.sewell.network import (
    BADLY_WRONG,
    EPOCHS,
    LEAST_NETWORKS,
    REPORTED_WRONG,
    ROWS,
    SHIPPED,
    WRONG_MARGIN,
    train_network,
)
from fourlab.studies.verdicts import larger_than, may_happen, same_mean, same_number
from fourlab.studies.workbench import Part, Picture, Table, Workbench

BOARDS = ("2l", "2r", "3l", "3r", "4l", "4r")
"""The boards of the figures, left and right, in the order of the reported data."""
SIDES = {"l": "left", "r": "right"}
FIGURES = {
    "2": "two won boards that the network recognises",
    "3": "two lost boards that it recognises",
    "4": "two lost boards that it does not recognise",
}
MARGIN = 0.25
"""Margin of a prediction: half the distance of a draw from a win on the scale 0, 1/2, 1."""
CENTRE_MARGIN = 0.05
MOST_IN_THE_CENTRE = 4
"""Most own discs in the centre column; positions of the data set have four own discs in all."""
DISCS = ("white", "#d83933", "#f2b90d")
"""Colours of an empty cell, a red disc and a yellow disc."""
Floats = NDArray[np.float64]
Answers = Sequence[Mapping[str, Any]]
"""Results of `_answers`; the first is the network that ships with Fourlab."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Compare networks trained on either scale with SeWell's predictions and the exact results."""
    # Only additional networks have to be trained; the first two ship with Fourlab.
    if bench.size["networks"] and find_spec("torch") is None:
        raise UserError("sewell figures-2-4 needs torch: pip install 'fourlab[train]'")
    numbers = len(SHIPPED) + bench.size["networks"]
    signed, *unit = bench.repeat("networks", _answers, numbers, bench.folder.resolve(), bench.seed)
    judged = len(unit) >= LEAST_NETWORKS
    exact = bench.calculate("exact", _solve)
    yield from _boards(unit, signed, exact, judged)
    yield _identified(unit, judged)
    yield _badly_wrong(unit, judged)
    yield from _limits(unit, exact, judged)
    for number, what in FIGURES.items():
        yield Picture(
            f"figure-{number}",
            f"Figure {number}: {what}; 0 is lost and 1 is won for red, who is to move.",
            partial(_draw, number, unit, exact),
            _boards_table(unit, signed, exact, number),
        )
    yield Picture(
        "predictions",
        "The same six predictions: SeWell's network, each of ours, and the exact results.",
        lambda: _draw_predictions(unit, exact),
        _boards_table(unit, signed, exact),
    )
    yield from _error_tables(unit[0])


def _answers(folder: Path, seed: int, number: int) -> dict[str, Any]:
    """Evaluate a network, after training it where needed.

    Networks 0, with labels -1, 0, 1, and 1, with labels 0, 1/2, 1, ship with Fourlab. The others
    have the labels 0, 1/2, 1 of Figures 2 to 4.
    """
    labels = list(SHIPPED)[min(number, 1)]
    net = SHIPPED[labels]
    if number >= len(SHIPPED):
        settings = {"labels": labels, "epochs": EPOCHS, "seed": seed + number}
        run = train_network(folder / f"network-{number}" / "training-0", settings)
        net = str(run.folder / "value.onnx")
    return _evaluate(net, labels)


def printed() -> dict[str, tuple[float, float]]:
    """Return SeWell's predictions, and the results printed beside them, by board."""
    columns = reported("sewell-figures-2-4")
    pairs = zip(columns["prediction"].tolist(), columns["actual"].tolist(), strict=True)
    return dict(zip(BOARDS, pairs, strict=True))


def _position(name: str) -> Position:
    return Position(f"sewell-{name}")


def _solve() -> dict[str, float]:
    """Return the exact value of each board for red, who is to move: 0, 1/2 or 1."""
    from fourlab.solver import Solver

    solver = Solver()
    # Without a limit both bounds have the sign of the score, which is all that a result needs.
    lower = {name: solver.solve(_position(name), weak=True).lower for name in BOARDS}
    return {name: (Result.of_score(score) + 1) / 2 for name, score in lower.items()}


def _evaluate(net: str, labels: str) -> dict[str, Any]:
    """Return a network's predictions for the boards, and its errors on the whole data set."""
    from fourlab.datasets.labels import uci8
    from fourlab.nets.evaluator import load

    evaluator = load(net)
    data = uci8()
    positions = [_position(name) for name in BOARDS]
    own = np.array([position.own for position in positions], np.int64)
    mask = np.array([position.mask for position in positions], np.int64)
    # Raw outputs of the value head: not clipped to the range of results.
    predictions = evaluator.heads(evaluator.planes(own, mask))["value"][:, 0]
    values = evaluator.heads(evaluator.planes(*data.discs))["value"][:, 0].astype(np.float64)
    # Every network is judged on the scale of its own labels.
    actual = data.results if labels == "signed" else (data.results + 1) / 2
    # int64[positions]; cells are column by column, 1 for the side to move.
    centre = (data.cells[:, data.rules.columns // 2] == 1).sum(axis=1)
    # Predictions beyond 0 and 1 count in the outer tenths.
    tenths = np.floor(10 * values).clip(0, 9).astype(np.int64)
    return {
        "boards": {
            name: round(float(value), 3) for name, value in zip(BOARDS, predictions, strict=True)
        },
        "badly_wrong": int((np.abs(values - actual) > BADLY_WRONG).sum()),
        "centre": _by(centre, values, actual),
        "expected": _by(tenths, values, actual),
    }


def _by(kinds: NDArray[np.int64], values: Floats, actual: Floats) -> dict[str, dict[str, float]]:
    """Return statistics by kind; the arrays have one entry per position.

    Of each kind: the number of positions, the mean prediction ("said") and result ("actual"), and
    mean and standard deviation of the error, prediction minus result.
    """
    statistics = {}
    for kind in np.unique(kinds):
        chosen = kinds == kind
        # Positive: over-valued.
        errors = values[chosen] - actual[chosen]
        statistics[str(kind)] = {
            "positions": int(chosen.sum()),
            "said": round(float(values[chosen].mean()), 4),
            "actual": round(float(actual[chosen].mean()), 4),
            "error": float(errors.mean()),
            "sd": float(errors.std()),
        }
    return statistics


def _boards(
    unit: Answers, signed: Mapping[str, Any], exact: Mapping[str, float], judged: bool
) -> Iterator[Claim]:
    """Compare the predictions for the six boards."""
    values = {name: [answer["boards"][name] for answer in unit] for name in BOARDS}
    if judged:
        # The six boards share one standard deviation, which has more degrees of freedom.
        spread = math.sqrt(fmean(variance(numbers) for numbers in values.values()))
        error = spread * math.sqrt(1 + 1 / len(unit))
        freedom = len(BOARDS) * (len(unit) - 1)
    for name, (predicted, actual) in printed().items():
        verdict = None
        if judged:
            difference = Difference(fmean(values[name]) - predicted, error, freedom)
            test = f"t-test over {len(unit)} trainings, pooled over boards"
            verdict = within_error(test, difference, MARGIN, scale=SHARES)
        yield Claim(
            f"figure-{name[0]}-{SIDES[name[1]]}",
            f"Figure {name[0]} {SIDES[name[1]]}: prediction, and whether the printed result, "
            f"{actual:g}, is exact",
            Estimate(predicted),
            Source.TEXT,
            faithful=over_trainings(values[name]),
            corrected=Estimate(signed["boards"][name], note="labels -1, 0, 1"),
            exact=exactly(Fraction(exact[name])),
            reproduced=verdict,
            true=same_number(actual, exact[name], 0),
            why="B12: lost boards are near 0, as with labels 0, 1/2, 1, but the text has -1, 0, 1. "
            '"True" asks whether the result printed beside the prediction is the exact one, on the '
            "scale 0 (lost) to 1 (won)",
            statement="figures-2-4",
        )


def _identified(unit: Answers, judged: bool) -> Claim:
    """Check which boards the networks take for won."""
    taken = [[answer["boards"][name] > 0.5 for name in BOARDS] for answer in unit]
    theirs = [predicted > 0.5 for predicted, _ in printed().values()]
    same = sum(pattern == theirs for pattern in taken)
    return Claim(
        "figures-2-4-pattern",
        "networks that get the boards of Figures 2 and 3 right and those of Figure 4 wrong",
        "yes, its one network",
        Source.TEXT,
        faithful=share(same, len(unit)),
        reproduced=may_happen(same, len(unit)) if judged else None,
        why="a board counts as won if its prediction exceeds 1/2",
    )


def _badly_wrong(unit: Answers, judged: bool) -> Claim:
    counts = [answer["badly_wrong"] for answer in unit]
    return Claim(
        "wrong-unit",
        f"positions wrong by more than {BADLY_WRONG}, labels 0, 1/2, 1",
        Estimate(REPORTED_WRONG, n=ROWS, digits=0),
        Source.TEXT,
        faithful=over_trainings(counts, 0),
        reproduced=same_mean(REPORTED_WRONG, 1, counts, WRONG_MARGIN) if judged else None,
        why="B12: with labels -1, 0, 1 there are thousands (see Figure 1). An error above 0.9 on a "
        "scale from 0 to 1 means that a lost position is taken for a won one, or the reverse",
        kind=Kind.READING,
    )


def _limits(unit: Answers, exact: Mapping[str, float], judged: bool) -> Iterator[Claim]:
    """Check two limits that SeWell names: over-valued centres, and positions hard to predict."""
    kinds = [answer["centre"][str(MOST_IN_THE_CENTRE)] for answer in unit]
    errors = [kind["error"] for kind in kinds]
    yield Claim(
        "centre-over-valued",
        f"predicted minus actual, {MOST_IN_THE_CENTRE} own discs in the centre",
        "over-valued",
        Source.TEXT,
        faithful=over_trainings(errors),
        true=larger_than(errors, 0.0, CENTRE_MARGIN, scale=RESULTS, what="trainings")
        if judged
        else None,
        why=f"{kinds[0]['positions']} positions of the data set, where each side has four discs. "
        "The networks are fitted to these positions, so the mean error of every large group is "
        "near 0 by construction",
    )
    predicted, _ = printed()["4r"]
    lost = exact["4r"] == 0
    yield Claim(
        "figure-4-coin-flip",
        "the board that SeWell finds too close to call",
        Estimate(predicted, note="perhaps close to a coin flip"),
        Source.TEXT,
        faithful=over_trainings([answer["boards"]["4r"] for answer in unit]),
        exact="lost" if lost else "not lost",
        true=Verdict(Answer.DIFFERS if lost else Answer.AGREES, "solver"),
        why="a position of a solved game is won, drawn or lost; a prediction near 1/2 only says "
        "that the network does not know. The text names the left board twice; we take the right "
        "one, whose prediction is near 1/2",
    )


def _error_tables(answers: Mapping[str, Any]) -> Iterator[Table]:
    """Tabulate the errors of the network with labels 0, 1/2, 1 that ships with Fourlab."""
    yield _error_table(
        "Predictions by own discs in the centre column",
        "own discs in the centre",
        {int(discs): statistics for discs, statistics in answers["centre"].items()},
    )
    yield _error_table(
        "Predicted and actual results, by tenths of the prediction",
        "predicted, tenths",
        {_tenth(int(tenth)): statistics for tenth, statistics in answers["expected"].items()},
    )


def _tenth(number: int) -> str:
    """Return the name of a tenth; the outer ones hold the predictions beyond 0 and 1, too."""
    if number == 0:
        return "below 0.1"
    return "0.9 and more" if number == 9 else f"{number / 10:.1f} to {(number + 1) / 10:.1f}"


def _boards_table(
    unit: Answers, signed: Mapping[str, Any], exact: Mapping[str, float], figure: str = ""
) -> Table:
    """Tabulate the predictions: one row per board, of one figure or of all."""
    rows = (
        (
            name,
            *printed()[name],
            *(answer["boards"][name] for answer in unit),
            signed["boards"][name],
            exact[name],
        )
        for name in BOARDS
        if name.startswith(figure)
    )
    ours = (f"ours, network {number}" for number in range(len(unit)))
    head = ("board", "as reported", "printed result", *ours, "ours with labels -1 to 1", "exact")
    return Table("", head, tuple(rows))


def _error_table(title: str, head: str, kinds: Mapping[Any, Mapping[str, float]]) -> Table:
    """Tabulate the statistics of `_by`, one row per kind."""
    rows = (
        (
            kind,
            statistics["positions"],
            f"{statistics['said']:.3f}",
            f"{statistics['actual']:.3f}",
            f"{statistics['error']:+.3f} ± {_half_interval(statistics):.3f}",
        )
        for kind, statistics in kinds.items()
    )
    return Table(
        title,
        (head, "positions", "predicted, average", "actual, average", "predicted minus actual"),
        tuple(rows),
    )


def _half_interval(kind: Mapping[str, float]) -> float:
    """Return half the width of the 95 % interval of a mean error."""
    # Positions of one kind as if independent.
    return Z_95 * kind["sd"] / math.sqrt(kind["positions"])


def _draw(number: str, unit: Answers, exact: Mapping[str, float]) -> Figure:
    figure, all_axes = panels(6.4, 3.4, columns=2)
    for axes, side in zip(all_axes, SIDES, strict=True):
        name = f"{number}{side}"
        predicted, _ = printed()[name]
        _draw_board(axes, _position(name))
        axes.set_title(f"{SIDES[side]}: predicted {predicted} (as reported)", fontsize="medium")
        ours = fmean(answer["boards"][name] for answer in unit)
        axes.set_xlabel(f"ours {ours:.3f}, exact {exact[name]:g}")
    return figure


def _draw_predictions(unit: Answers, exact: Mapping[str, float]) -> Figure:
    figure, (axes,) = panels(7, 3.6)
    places = range(len(BOARDS))
    axes.hlines(
        [exact[name] for name in BOARDS],
        [place - 0.35 for place in places],
        [place + 0.35 for place in places],
        color=COLOURS[3],
        label="exact",
    )
    for place, name in enumerate(BOARDS):
        values = [answer["boards"][name] for answer in unit]
        label = f"ours, {len(unit)} {'network' if len(unit) == 1 else 'networks'}"
        ours: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.6}
        axes.plot([place] * len(values), values, "o", label=label if not place else None, **ours)
    theirs = [predicted for predicted, _ in printed().values()]
    axes.plot(places, theirs, "x", color=REPORTED_COLOUR, markersize=8, label="as reported")
    axes.axhline(0.5, color="#888888", linestyle=":", linewidth=1)
    axes.set_xticks(list(places), [f"Figure {name[0]}\n{SIDES[name[1]]}" for name in BOARDS])
    frame(axes, SMALL, "y", ylabel="predicted result, 0 (lost) to 1 (won)")
    return figure


def _draw_board(axes: Axes, position: Position) -> None:
    """Draw a board; yellow discs have a ring, so colour is not needed."""
    from matplotlib.patches import Circle

    for below_top, cells in enumerate(position.grid()):
        for column, cell in enumerate(cells):
            axes.add_patch(
                Circle((column, -below_top), 0.42, facecolor=DISCS[cell], edgecolor="#445")
            )
            if cell == 2:
                axes.add_patch(
                    Circle((column, -below_top), 0.25, facecolor="none", edgecolor="#8a6500")
                )
    axes.set(
        xlim=(-0.6, position.rules.columns - 0.4),
        ylim=(0.4 - position.rules.rows, 0.6),
        aspect="equal",
        xticks=[],
        yticks=[],
    )
