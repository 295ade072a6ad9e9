"""SeWell's Figures 2 to 4: predictions for six boards, and how often the network errs badly."""

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourlab.arena.statistics import Z_95, wilson
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.reporting.figures import Axes, Figure, panels
from fourlab.studies.compare import same_share
from fourlab.studies.sewell.network import EPOCHS, ROWS, SHIPPED, train_network
from fourlab.studies.workbench import Finding, Part, Picture, Table, Workbench

BOARDS = {"2l": 1.223, "2r": 1.25, "3l": -0.021, "3r": -0.233, "4l": 0.693, "4r": 0.524}
"""The boards of the figures, left and right, with the predictions printed below them."""
SIDES = {"l": "left", "r": "right"}
BADLY_WRONG = 0.9
"""Absolute error above which a prediction counts as badly wrong."""
REPORTED_WRONG = 87
MOST_IN_THE_CENTRE = 4
"""Most own discs in the centre column; positions of the data set have four own discs in all."""
DISCS = ("white", "#d83933", "#f2b90d")
"""Colours of an empty cell, a red disc and a yellow disc."""
SCALES = {"unit": "0, 1/2, 1", "signed": "-1, 0, 1"}
"""Labels of a lost, drawn and won position."""
Floats = NDArray[np.float64]
Answers = Mapping[str, Sequence[Mapping[str, Any]]]
"""Results of `_answers`, by labels; the first of each is the network that ships with Fourlab."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Compare networks trained on either scale with SeWell's predictions and the exact results."""
    # Only additional networks have to be trained; the first two ship with Fourlab.
    if bench.size["networks"] and find_spec("torch") is None:
        raise UserError("003-figures-2-4 needs torch: pip install 'fourlab[train]'")
    networks = 2 + 2 * bench.size["networks"]
    results = bench.repeat("networks", _answers, networks, bench.folder.resolve(), bench.seed)
    # As `_answers` divides the numbers.
    answers = {labels: results[place::2] for place, labels in enumerate(SHIPPED)}
    exact = bench.calculate("exact", _solve)
    for name, reported in BOARDS.items():
        yield _board_finding(name, reported, answers, exact[name])
    yield from _badly_wrong(answers)
    unit = answers["unit"][0]
    signed = answers["signed"][0]
    yield from _limits(unit)
    boards = {name: (unit["boards"][name], signed["boards"][name], exact[name]) for name in BOARDS}
    yield Picture(
        "figures-2-to-4",
        "The boards of Figures 2 to 4 with SeWell's predictions, those of our networks of the same "
        "kind, and the exact results: on the scale 0 (lost) to 1 (won), and on the scale -1 (lost) "
        "to 1 (won). Red is to move.",
        lambda: _draw(boards),
        Table(
            "",
            ("board", "report", "ours", "ours, -1 to 1", "exact"),
            tuple((name, BOARDS[name], *boards[name]) for name in BOARDS),
        ),
    )


def _answers(folder: Path, seed: int, number: int) -> dict[str, Any]:
    """Evaluate a network, after training it where needed.

    Even numbers have labels -1, 0, 1, odd ones 0, 1/2, 1. Numbers 0 and 1 ship with Fourlab.
    """
    copy, place = divmod(number, len(SHIPPED))
    labels, net = list(SHIPPED.items())[place]
    if copy:
        settings = {"labels": labels, "epochs": EPOCHS, "seed": seed + copy}
        # The folder's name is that of earlier versions, whose trainings can be resumed.
        run = train_network(folder / f"network-{number}" / "training-0", settings)
        net = str(run.folder / "value.onnx")
    return _evaluate(net, labels)


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


def _board_finding(name: str, reported: float, answers: Answers, exact: float) -> Finding:
    """Compare the predictions for one board of the figures."""
    unit, signed = (
        [answer["boards"][name] for answer in answers[labels]] for labels in ("unit", "signed")
    )
    return Finding(
        f"Figure {name[0]} {SIDES[name[1]]}: prediction",
        f"{reported}",
        f"{_range(unit)} with labels {SCALES['unit']}",
        f"{_range(signed)} with labels {SCALES['signed']}",
        exact={1.0: "won: 1, or 1", 0.5: "drawn: 1/2, or 0", 0.0: "lost: 0, or -1"}[exact],
        agrees=(reported > 0.5) == (median(unit) > 0.5),
        why="B12: in the figures, lost boards are near 0, as on the scale 0, 1/2, 1, but the text "
        "has labels -1, 0, 1; agrees: on the same side of 1/2, the most that the value of a single "
        "network can show",
    )


def _range(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def _badly_wrong(answers: Answers) -> Iterator[Finding]:
    """Compare the number of bad errors, for either scale of the labels."""
    for labels, scale in SCALES.items():
        counts = [answer["badly_wrong"] for answer in answers[labels]]
        # The test takes a count; the median of several networks may be halfway.
        middle = round(median(counts))
        ours = _count(middle)
        if len(counts) > 1:
            ours += f" ({min(counts):,} to {max(counts):,}, {len(counts)} networks)"
        yield Finding(
            f"wrong by more than {BADLY_WRONG} with labels {scale}",
            _count(REPORTED_WRONG),
            ours,
            agrees=same_share(REPORTED_WRONG, ROWS, middle, ROWS),
            why="B12: possible only with labels 0, 1/2, 1",
        )


def _count(count: int) -> str:
    """Format a number of positions of the data set, with its Wilson interval."""
    low, high = (round(ROWS * end) for end in wilson(count, ROWS))
    return f"{count:,} [{low:,}, {high:,}] of {ROWS:,}"


def _limits(answers: Mapping[str, Any]) -> Iterator[Part]:
    """Check two limits that SeWell names: over-valued centres, and positions hard to predict."""
    centre = answers["centre"]
    most = centre[str(MOST_IN_THE_CENTRE)]
    fewer = centre[str(MOST_IN_THE_CENTRE - 1)]
    yield Finding(
        f"predicted minus actual, {MOST_IN_THE_CENTRE} own discs in the centre",
        "over-valued",
        _error(most),
        agrees=_over_valued(most),
        why="by the network with labels 0, 1/2, 1 on the data set, where each side has four "
        "discs; fitted to these positions, it has by construction a mean error near 0 on every "
        "large group of them, so only small, extreme groups are informative: with "
        f"{MOST_IN_THE_CENTRE - 1} discs the error is {_error(fewer)}",
    )
    yield _error_table(
        "Predictions by own discs in the centre column",
        "own discs in the centre",
        {int(discs): statistics for discs, statistics in centre.items()},
    )
    yield _error_table(
        "Predicted and actual results, by tenths of the prediction",
        "said, tenths",
        {
            f"{int(tenth) / 10:.1f} to {(int(tenth) + 1) / 10:.1f}": statistics
            for tenth, statistics in answers["expected"].items()
        },
    )


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
        (head, "positions", "said, average", "actual, average", "said minus actual"),
        tuple(rows),
    )


def _error(kind: Mapping[str, float]) -> str:
    return f"{kind['error']:+.3f} ± {_half_interval(kind):.3f} ({kind['positions']:,} positions)"


def _half_interval(kind: Mapping[str, float]) -> float:
    """Return half the width of the 95 % interval of a mean error."""
    # Positions of one kind as if independent.
    return Z_95 * kind["sd"] / math.sqrt(kind["positions"])


def _over_valued(kind: Mapping[str, float]) -> bool | None:
    """Return whether the mean error is above 0; None if its interval contains 0."""
    return kind["error"] > 0 if abs(kind["error"]) > _half_interval(kind) else None


def _draw(boards: Mapping[str, tuple[float, float, float]]) -> Figure:
    # Left and right boards of a figure stand below each other.
    figure, all_axes = panels(9, 6.4, columns=3, rows=2)
    for place, (name, (unit, signed, exact)) in enumerate(boards.items()):
        axes = all_axes[place % 2 * 3 + place // 2]
        _draw_board(axes, _position(name))
        title = f"Figure {name[0]} {SIDES[name[1]]}: predicted {BOARDS[name]}"
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel(
            f"ours {unit:.3f}, exact {exact:g}\n"
            f"of -1 to 1: ours {signed:.3f}, exact {2 * exact - 1:g}"
        )
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
