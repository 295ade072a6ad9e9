"""Figures, drawn by matplotlib without a display.

Matplotlib is the optional extra `plots`: callers check `can_draw` first, and reports show
`NEEDS_PLOTS` in place of figures they cannot draw.
"""

import io
import threading
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.reporting.svg import compact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fourlab.reporting.curves import Curve

COLOURS = ("#1b6ca8", "#e07a1f", "#2e8b57", "#c0392b", "#7d5ba6", "#8c6d46", "#d16ba5")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
INSTALL = "pip install 'fourlab[plots]'"
NEEDS_PLOTS = f"figures need: {INSTALL}"
"""What a report shows in place of its figures."""
DRAWING = threading.Lock()
"""matplotlib's settings are global, so only one figure is drawn at a time."""


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


class Snapshot(Protocol):
    """The root of a search after a number of simulations."""

    @property
    def simulations(self) -> int:
        """The number of simulations so far."""
        ...

    @property
    def visits(self) -> tuple[int, ...]:
        """Visits per column."""
        ...

    @property
    def means(self) -> tuple[float | None, ...]:
        """Mean results per column, None before the first visit."""
        ...


def _figure(width: float, height: float) -> "Figure":
    """Return an empty figure; sizes are in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def convergence(trace: Sequence[Snapshot], title: str) -> "Figure":
    """Draw the means and visits of every column against the number of simulations.

    Vannucci & Abril and Gao asked for such plots.
    """
    figure = _figure(10, 4.2)
    means, visits = figure.subplots(1, 2)
    for column, total in enumerate(trace[-1].visits):
        if total == 0:
            continue
        style = {
            "color": COLOURS[column % 7],
            "marker": MARKS[column % 7],
            "markersize": 3,
            "markevery": 5,
            "label": f"column {column + 1}",
            "linewidth": 1.2,
        }
        mean_points = [
            (snapshot.simulations, snapshot.means[column])
            for snapshot in trace
            if snapshot.means[column] is not None
        ]
        means.plot(*zip(*mean_points, strict=True), **style)
        visit_points = [
            (snapshot.simulations, snapshot.visits[column])
            for snapshot in trace
            if snapshot.visits[column] > 0
        ]
        visits.plot(*zip(*visit_points, strict=True), **style)
    for axes, label in ((means, "mean result for the side to move"), (visits, "visits")):
        axes.set(xscale="log", xlabel="simulations", ylabel=label)
        axes.grid(alpha=0.3)
    # Means lie between -1 and +1.
    means.set_ylim(-1.05, 1.05)
    visits.set_yscale("log")
    visits.legend(fontsize="small")
    figure.suptitle(title)
    return figure


def lengths(counts: Mapping[int, int]) -> "Figure":
    """Draw the number of games by length in plies; the last disc of odd lengths is red's."""
    figure = _figure(7, 2.8)
    axes = figure.subplots()
    for name, colour, remainder in (
        ("red's last disc", COLOURS[3], 1),
        ("yellow's last disc", COLOURS[1], 0),
    ):
        plies = [length for length in sorted(counts) if length % 2 == remainder]
        axes.bar(plies, [counts[length] for length in plies], width=0.8, color=colour, label=name)
    axes.set(xlabel="plies", ylabel="games")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3, axis="y")
    return figure


def first_columns(counts: Mapping[int, tuple[int, int, int]]) -> "Figure":
    """Draw the results of the side that moves first after the opening, by its first column.

    `counts` has wins, draws and losses by column.
    """
    figure = _figure(7, 2.8)
    axes = figure.subplots()
    columns = sorted(counts)
    labels = [str(column) for column in columns]
    bottom = [0] * len(counts)
    outcomes = (("won", COLOURS[0]), ("drawn", "#b8b8b8"), ("lost", COLOURS[1]))
    for place, (name, colour) in enumerate(outcomes):
        heights = [counts[column][place] for column in columns]
        axes.bar(labels, heights, bottom=bottom, color=colour, label=name, width=0.7)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    axes.set(xlabel="first column after the opening", ylabel="games")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3, axis="y")
    return figure


def estimates(
    values: Mapping[str, tuple[float, float | None, float | None]], label: str
) -> "Figure":
    """Draw values with their intervals, one row for each.

    An interval is (value, low, high); an arrow stands for an end that is None.
    """
    figure = _figure(7, 1.2 + 0.38 * len(values))
    axes = figure.subplots()
    ends = [end for value in values.values() for end in value if end is not None]
    margin = 0.15 * (max(ends) - min(ends)) or 50.0
    for row, (value, low, high) in enumerate(values.values()):
        left = value - margin if low is None else low
        right = value + margin if high is None else high
        axes.plot([left, right], [row, row], color=COLOURS[0], linewidth=2)
        for end, bound, arrow in ((left, low, "<"), (right, high, ">")):
            mark = arrow if bound is None else "|"
            axes.plot(end, row, marker=mark, color=COLOURS[0], markersize=7)
        axes.plot(value, row, marker="o", color=COLOURS[0])
    axes.set_yticks(range(len(values)), list(values), parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.grid(alpha=0.3, axis="x")
    return figure


def running_score(scores: Sequence[float], agent: str) -> "Figure":
    """Draw the mean score after every opening with its 95 % band (normal approximation)."""
    import numpy as np

    figure = _figure(7, 2.8)
    axes = figure.subplots()
    number = np.arange(1, len(scores) + 1)
    mean = np.cumsum(scores) / number
    variance = np.maximum(np.cumsum(np.square(scores)) / number - mean**2, 0)
    band = 1.96 * np.sqrt(variance / number)
    low = np.clip(mean - band, 0, 1)
    high = np.clip(mean + band, 0, 1)
    axes.fill_between(number, low, high, color=COLOURS[0], alpha=0.2, linewidth=0)
    axes.plot(number, mean, color=COLOURS[0])
    axes.axhline(0.5, color="#888888", linewidth=0.8)
    axes.set_ylim(0, 1)
    axes.set_xlabel("openings played")
    axes.set_ylabel(f"score of {agent}" if len(agent) < 25 else "score", parse_math=False)
    axes.grid(alpha=0.3)
    return figure


def training(rows: Sequence[Mapping[str, Any]], unit: str, curves: "Sequence[Curve]") -> "Figure":
    """Draw metrics against progress, with one panel for every curve."""
    from fourlab.reporting.curves import number

    figure = _figure(7, 0.6 + 2.1 * len(curves))
    panels = figure.subplots(len(curves), 1, sharex=True, squeeze=False)[:, 0]
    for axes, curve in zip(panels, curves, strict=True):
        for place, name in enumerate(curve.names):
            points = [
                (row[unit], value) for row in rows if (value := number(row, name)) is not None
            ]
            if points:
                style = {
                    "color": COLOURS[place % 7],
                    "marker": "o" if len(points) < 40 else "",
                    "markersize": 3,
                    "label": name,
                    "linewidth": 1.2,
                }
                axes.plot(*zip(*points, strict=True), **style)
        # A logarithmic axis needs something above zero.
        if curve.logarithmic and axes.dataLim.y1 > 0:
            axes.set_yscale("log")
        axes.set_ylabel(curve.label)
        axes.grid(alpha=0.3)
        if len(curve.names) > 1:
            # To the right of the panel, where it hides no points.
            axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    panels[-1].set_xlabel(unit)
    return figure


def cross_table(names: Sequence[str], scores: Mapping[tuple[str, str], float]) -> "Figure":
    """Draw the score of every row's agent against every column's."""
    size = len(names)
    figure = _figure(3.2 + 0.62 * size, 1.4 + 0.42 * size)
    axes = figure.subplots()
    grid = [[scores.get((one, other), float("nan")) for other in names] for one in names]
    axes.imshow(grid, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            if (score := scores.get((one, other))) is not None:
                ink = "white" if abs(score - 0.5) > 0.3 else "black"
                axes.text(column, row, f"{100 * score:.0f}", color=ink, **style)
    axes.set_xticks(range(size), [str(i + 1) for i in range(size)])
    axes.set_yticks(
        range(size), [f"{name}  {i + 1}" for i, name in enumerate(names)], parse_math=False
    )
    axes.set_xlabel("score in percent of row against column")
    return figure


def win_chance(
    plies: Sequence[int],
    chances: Sequence[float],
    estimates: Sequence[float | None],
    mistakes: Sequence[int],
) -> "Figure":
    """Draw red's expected score along a game, proven and estimated.

    `mistakes` are indices into `plies`; they are marked.
    """
    figure = _figure(9, 2.8)
    axes = figure.subplots()
    axes.fill_between(plies, 0.5, chances, step="post", color=COLOURS[3], alpha=0.15, linewidth=0)
    axes.step(
        plies, chances, where="post", color=COLOURS[3], linewidth=2, label="proven, else estimated"
    )
    points = [
        (ply, estimate)
        for ply, estimate in zip(plies, estimates, strict=True)
        if estimate is not None
    ]
    if points:
        xs, ys = map(list, zip(*points, strict=True))
        axes.plot(xs, ys, color=COLOURS[0], linewidth=1, linestyle="--", label="estimated")
    if mistakes:
        style: dict[str, Any] = {"linestyle": "", "marker": "X", "markersize": 8, "color": "black"}
        mistake_plies = [plies[place] for place in mistakes]
        mistake_chances = [chances[place] for place in mistakes]
        axes.plot(mistake_plies, mistake_chances, label="mistakes", **style)
    axes.set_ylim(-0.05, 1.05)
    axes.set_yticks((0, 0.5, 1), ("yellow wins", "draw", "red wins"))
    axes.set_xlabel("discs on the board")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def render(figure: "Figure", kind: str, salt: str = "fourlab") -> bytes:
    """Return the figure as svg, png or pdf. Equal figures give equal bytes.

    Figures on the same page need different salts, which make the ids of their elements unique.
    """
    import matplotlib

    # Left out: what would differ from one run or version to the next.
    varying = {"svg": "Date", "png": "Software", "pdf": "CreationDate"}[kind]
    image = io.BytesIO()
    with (
        DRAWING,
        matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}),
        warnings.catch_warnings(),
    ):
        # A glyph that is missing here may exist in the reader's fonts.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(image, format=kind, metadata={varying: None})
    if kind == "svg":
        return compact(image.getvalue().decode()).encode()
    return image.getvalue()


def save(figure: "Figure", file: Path, salt: str = "fourlab") -> None:
    """Write the figure to a file; the suffix chooses svg, png or pdf."""
    kind = file.suffix.lstrip(".").lower()
    if kind not in ("svg", "png", "pdf"):
        raise UserError(f"a figure is written as .svg, .png or .pdf, not {file.name}")
    write_atomically(file, render(figure, kind, salt))
