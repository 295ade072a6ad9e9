"""Figures, drawn by matplotlib without a display.

Matplotlib is the optional extra `plots`: callers check `can_draw` first, and reports show
`NEEDS_PLOTS` in place of figures they cannot draw.
"""

import io
import threading
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.reporting.curves import Curve, number
from fourlab.reporting.svg import compact

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:
    # For annotations only: matplotlib is imported when a figure is drawn.
    Axes = Figure = Any

COLOURS = ("#1b6ca8", "#e07a1f", "#2e8b57", "#c0392b", "#7d5ba6", "#8c6d46", "#d16ba5")
REPORTED_COLOUR = "#4d4d4d"
"""The colour of a report's own numbers, on every page; none of COLOURS."""
MARKS = ("o", "s", "^", "D", "v", "P", "X")
"""COLOURS and markers by place in a legend; both differ, so that colour is never the only cue."""
SMALL: dict[str, Any] = {"fontsize": "small"}
OUTSIDE: dict[str, Any] = {**SMALL, "loc": "upper left", "bbox_to_anchor": (1, 1)}
"""Legends inside a panel, and to the right of it, where they hide no points."""
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


def require(what: str) -> None:
    """Raise UserError, naming what was wanted, if matplotlib is not installed."""
    if not can_draw():
        raise UserError(f"{what} needs matplotlib: {INSTALL}")


def in_notebooks(figure: Figure) -> Figure:
    """Let a figure show itself in notebooks, which otherwise know only those of pyplot."""
    # The title and the size make ids differ between the figures of one notebook.
    salt = f"{figure.get_suptitle()} {figure.get_size_inches()}"
    figure._repr_svg_ = lambda: render(figure, "svg", salt).decode()  # type: ignore[attr-defined]
    return figure


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


def panels(
    width: float, height: float, columns: int = 1, rows: int = 1, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure and its panels, row by row; sizes are in inches.

    `shared` are further arguments of matplotlib's `subplots`, such as sharey=True.
    """
    # Not pyplot, which keeps figures and looks for a display.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **shared).flat)


def frame(
    axes: Axes,
    legend: Mapping[str, Any] | None = None,
    grid: Literal["both", "x", "y"] = "both",
    **settings: Any,
) -> None:
    """Set labels, limits and scales of a panel, draw its grid and, if given, its legend."""
    axes.set(**settings)
    axes.grid(alpha=0.3, axis=grid)
    if legend is not None:
        axes.legend(**legend)


def convergence(trace: Sequence[Snapshot], title: str) -> Figure:
    """Draw the means and visits of every column against the number of simulations.

    Vannucci & Abril and Gao asked for such plots.
    """
    figure, (means, visits) = panels(10, 4.2, columns=2)
    # Visits never shrink, so the last snapshot shows which columns were tried.
    for column, total in enumerate(trace[-1].visits):
        if total == 0:
            continue
        style: dict[str, Any] = {
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
    label = "mean result for the side to move"
    # Means lie between -1 and +1.
    frame(means, xscale="log", xlabel="simulations", ylabel=label, ylim=(-1.05, 1.05))
    frame(visits, SMALL, xscale="log", xlabel="simulations", ylabel="visits", yscale="log")
    figure.suptitle(title)
    return figure


def lengths(counts: Mapping[int, int]) -> Figure:
    """Draw the number of games by length in plies; the last disc of odd lengths is red's."""
    figure, (axes,) = panels(7, 2.8)
    for name, colour, remainder in (
        ("red's last disc", COLOURS[3], 1),
        ("yellow's last disc", COLOURS[1], 0),
    ):
        plies = [length for length in sorted(counts) if length % 2 == remainder]
        axes.bar(plies, [counts[length] for length in plies], width=0.8, color=colour, label=name)
    frame(axes, SMALL, "y", xlabel="plies", ylabel="games")
    return figure


def first_columns(counts: Mapping[int, tuple[int, int, int]]) -> Figure:
    """Draw the results of the side that moves first after the opening, by its first column.

    `counts` has wins, draws and losses by column.
    """
    figure, (axes,) = panels(7, 2.8)
    columns = sorted(counts)
    labels = [str(column) for column in columns]
    # Stacked bars: each begins where the one below ends.
    bottom = [0] * len(counts)
    outcomes = (("won", COLOURS[0]), ("drawn", "#b8b8b8"), ("lost", COLOURS[1]))
    for place, (name, colour) in enumerate(outcomes):
        heights = [counts[column][place] for column in columns]
        axes.bar(labels, heights, bottom=bottom, color=colour, label=name, width=0.7)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    frame(axes, SMALL, "y", xlabel="first column after the opening", ylabel="games")
    return figure


def estimates(values: Mapping[str, tuple[float, float | None, float | None]], label: str) -> Figure:
    """Draw values with their intervals, one row for each.

    An interval is (value, low, high); an arrow stands for an end that is None.
    """
    figure, (axes,) = panels(7, 1.2 + 0.38 * len(values))
    ends = [end for value in values.values() for end in value if end is not None]
    # Room for arrows; 50 (Elo) if all values are equal.
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
    # The first row on top.
    axes.invert_yaxis()
    frame(axes, grid="x", xlabel=label)
    return figure


def running_score(scores: Sequence[float], agent: str) -> Figure:
    """Draw the mean score after every opening with its 95 % band (normal approximation)."""
    import numpy as np

    figure, (axes,) = panels(7, 2.8)
    count = np.arange(1, len(scores) + 1)
    mean = np.cumsum(scores) / count
    # The variance of all scores so far; rounding may push it just below 0.
    variance = np.maximum(np.cumsum(np.square(scores)) / count - mean**2, 0)
    half = 1.96 * np.sqrt(variance / count)
    low, high = np.clip([mean - half, mean + half], 0, 1)
    axes.fill_between(count, low, high, color=COLOURS[0], alpha=0.2, linewidth=0)
    axes.plot(count, mean, color=COLOURS[0])
    axes.axhline(0.5, color="#888888", linewidth=0.8)
    frame(axes, xlabel="openings played", ylim=(0, 1))
    # Names of agents may contain $, which would begin a formula.
    axes.set_ylabel(f"score of {agent}" if len(agent) < 25 else "score", parse_math=False)
    return figure


def training(rows: Sequence[Mapping[str, Any]], unit: str, curves: Sequence[Curve]) -> Figure:
    """Draw metrics against progress, with one panel for every curve."""
    figure, all_axes = panels(7, 0.6 + 2.1 * len(curves), rows=len(curves), sharex=True)
    for axes, curve in zip(all_axes, curves, strict=True):
        for place, name in enumerate(curve.names):
            points = [
                (row[unit], value) for row in rows if (value := number(row, name)) is not None
            ]
            if points:
                # Markers of many points would hide the line.
                marker = "o" if len(points) < 40 else ""
                style: dict[str, Any] = {"color": COLOURS[place % 7], "linewidth": 1.2}
                axes.plot(
                    *zip(*points, strict=True), marker=marker, markersize=3, label=name, **style
                )
        # A logarithmic axis needs something above zero.
        if curve.logarithmic and axes.dataLim.y1 > 0:
            axes.set_yscale("log")
        frame(axes, OUTSIDE if len(curve.names) > 1 else None, ylabel=curve.label)
    all_axes[-1].set_xlabel(unit)
    return figure


def cross_table(names: Sequence[str], scores: Mapping[tuple[str, str], float]) -> Figure:
    """Draw the score of every row's agent against every column's."""
    size = len(names)
    figure, (axes,) = panels(3.2 + 0.62 * size, 1.4 + 0.42 * size)
    # NaN, for pairs that did not meet, stays white.
    grid = [[scores.get((one, other), float("nan")) for other in names] for one in names]
    axes.imshow(grid, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            if (score := scores.get((one, other))) is not None:
                # Both ends of the colour map are dark.
                ink = "white" if abs(score - 0.5) > 0.3 else "black"
                axes.text(column, row, f"{100 * score:.0f}", color=ink, **style)
    axes.set_xticks(range(size), [str(i + 1) for i in range(size)])
    axes.set_yticks(
        range(size), [f"{i + 1}  {name}" for i, name in enumerate(names)], parse_math=False
    )
    axes.set_xlabel("score in percent of row against column")
    return figure


def win_chance(
    plies: Sequence[int],
    chances: Sequence[float],
    estimates: Sequence[float | None],
    mistakes: Sequence[int],
) -> Figure:
    """Draw red's expected score along a game, proven and estimated.

    `mistakes` are indices into `plies`; they are marked.
    """
    figure, (axes,) = panels(9, 2.8)
    axes.fill_between(plies, 0.5, chances, step="post", color=COLOURS[3], alpha=0.15, linewidth=0)
    # A chance holds from one disc to the next.
    axes.step(
        plies, chances, where="post", color=COLOURS[3], linewidth=2, label="proven, else estimated"
    )
    points = [
        (ply, estimate)
        for ply, estimate in zip(plies, estimates, strict=True)
        if estimate is not None
    ]
    if points:
        style: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1, "linestyle": "--"}
        axes.plot(*zip(*points, strict=True), label="estimated", **style)
    if mistakes:
        style = {"linestyle": "", "marker": "X", "markersize": 8, "color": "black"}
        points = [(plies[place], chances[place]) for place in mistakes]
        axes.plot(*zip(*points, strict=True), label="mistakes", **style)
    axes.set_yticks((0, 0.5, 1), ("yellow wins", "draw", "red wins"))
    frame(axes, OUTSIDE, xlabel="discs on the board", ylim=(-0.05, 1.05))
    return figure


def render(figure: Figure, kind: str, salt: str = "fourlab") -> bytes:
    """Return the figure as svg, png or pdf. Equal figures give equal bytes.

    Figures on the same page need different salts, which make the ids of their elements unique.
    """
    import matplotlib

    # Left out: what would differ from one run to the next. PDF files still name their program.
    varying = {"svg": "Date", "png": "Software", "pdf": "CreationDate"}[kind]
    # Equal bytes: ids are hashed from the salt, and text stays text, so that no font is embedded.
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
        # Matplotlib writes six decimals and much white space.
        return compact(image.getvalue().decode()).encode()
    return image.getvalue()


def save(figure: Figure, file: Path, salt: str = "fourlab") -> None:
    """Write the figure to a file; the suffix chooses svg, png or pdf."""
    kind = file.suffix.lstrip(".").lower()
    if kind not in ("svg", "png", "pdf"):
        raise UserError(f"a figure is written as .svg, .png or .pdf, not {file.name}")
    write_atomically(file, render(figure, kind, salt))
