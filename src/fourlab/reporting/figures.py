"""Figures, drawn by matplotlib without a screen.

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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fourlab.reporting.curves import Curve

COLOURS = ("#1b6ca8", "#e07a1f", "#2e8b57", "#c0392b", "#7d5ba6", "#8c6d46", "#d16ba5")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
INSTALL = "pip install 'fourlab[plots]'"
NEEDS_PLOTS = f"figures need: {INSTALL}"
"""What a report shows where its figures would be."""
DRAWING = threading.Lock()
"""matplotlib's settings are those of the whole program, so one figure is drawn at a time."""


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


class Snapshot(Protocol):
    """The root of a search after some simulations."""

    @property
    def simulations(self) -> int:
        """How many."""
        ...

    @property
    def visits(self) -> tuple[int, ...]:
        """Per column."""
        ...

    @property
    def means(self) -> tuple[float | None, ...]:
        """Per column, None before the first visit."""
        ...


def convergence(trace: Sequence[Snapshot], title: str) -> "Figure":
    """Means and visits of every column against simulations, as documents 000 and 002 wanted to see them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    means, visits = figure.subplots(1, 2)
    columns = [column for column in range(len(trace[-1].visits)) if trace[-1].visits[column] > 0]
    for column in columns:
        style = {
            "color": COLOURS[column % 7],
            "marker": MARKS[column % 7],
            "markersize": 3,
            "markevery": 5,
            "label": f"column {column + 1}",
        }
        known = [(each.simulations, each.means[column]) for each in trace if each.means[column] is not None]
        means.plot(*zip(*known, strict=True), linewidth=1.2, **style)
        seen = [(each.simulations, each.visits[column]) for each in trace if each.visits[column] > 0]
        visits.plot(*zip(*seen, strict=True), linewidth=1.2, **style)
    for axes, label in ((means, "mean result for the side to move"), (visits, "visits")):
        axes.set_xscale("log")
        axes.set_xlabel("simulations")
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    means.set_ylim(-1.05, 1.05)
    visits.set_yscale("log")
    visits.legend(fontsize="small")
    figure.suptitle(title)
    return figure


def lengths(counts: Mapping[int, int]) -> "Figure":
    """How many games had how many plies; odd lengths are red's wins."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = figure.subplots()
    for name, colour, remainder in (("red's last disc", COLOURS[3], 1), ("yellow's last disc", COLOURS[1], 0)):
        plies = [length for length in sorted(counts) if length % 2 == remainder]
        axes.bar(plies, [counts[length] for length in plies], width=0.8, color=colour, label=name)
    axes.set_xlabel("plies")
    axes.set_ylabel("games")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3, axis="y")
    return figure


def first_columns(counts: Mapping[int, tuple[int, int, int]]) -> "Figure":
    """Wins, draws and losses of the side that moved first after the opening, by its column."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = figure.subplots()
    columns, below = sorted(counts), [0] * len(counts)
    for place, (name, colour) in enumerate((("won", COLOURS[0]), ("drawn", "#b8b8b8"), ("lost", COLOURS[1]))):
        heights = [counts[column][place] for column in columns]
        axes.bar([str(column) for column in columns], heights, bottom=below, color=colour, label=name, width=0.7)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set_xlabel("first column after the opening")
    axes.set_ylabel("games")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3, axis="y")
    return figure


def estimates(values: Mapping[str, tuple[float, float | None, float | None]], label: str) -> "Figure":
    """Numbers with their intervals, one below the other; an end without a bound is an arrow."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 1.2 + 0.38 * len(values)), layout="constrained")
    axes = figure.subplots()
    ends = [end for value in values.values() for end in value if end is not None]
    margin = 0.15 * (max(ends) - min(ends)) or 50.0
    for row, (value, low, high) in enumerate(values.values()):
        left, right = (value - margin if low is None else low), (value + margin if high is None else high)
        axes.plot([left, right], [row, row], color=COLOURS[0], linewidth=2)
        for end, bound, mark in ((left, low, "<"), (right, high, ">")):
            axes.plot(end, row, marker=mark if bound is None else "|", color=COLOURS[0], markersize=7)
        axes.plot(value, row, marker="o", color=COLOURS[0])
    axes.set_yticks(range(len(values)), list(values), parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.grid(alpha=0.3, axis="x")
    return figure


def running_score(scores: Sequence[float], agent: str) -> "Figure":
    """The mean score after each unit with its normal 95 % band."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = figure.subplots()
    number = np.arange(1, len(scores) + 1)
    mean = np.cumsum(scores) / number
    band = 1.96 * np.sqrt(np.maximum(np.cumsum(np.square(scores)) / number - mean**2, 0) / number)
    axes.fill_between(number, np.clip(mean - band, 0, 1), np.clip(mean + band, 0, 1), color=COLOURS[0], alpha=0.2, linewidth=0)
    axes.plot(number, mean, color=COLOURS[0])
    axes.axhline(0.5, color="#888888", linewidth=0.8)
    axes.set_ylim(0, 1)
    axes.set_xlabel("openings played")
    axes.set_ylabel(f"score of {agent}" if len(agent) < 25 else "score", parse_math=False)
    axes.grid(alpha=0.3)
    return figure


def training(rows: Sequence[Mapping[str, Any]], unit: str, curves: "Sequence[Curve]") -> "Figure":
    """Metrics against what is done, a panel for each curve."""
    from matplotlib.figure import Figure

    from fourlab.reporting.curves import number

    figure = Figure(figsize=(7, 0.6 + 2.1 * len(curves)), layout="constrained")
    panels = figure.subplots(len(curves), 1, sharex=True, squeeze=False)[:, 0]
    for axes, curve in zip(panels, curves, strict=True):
        for place, name in enumerate(curve.names):
            points = [(row[unit], value) for row in rows if (value := number(row, name)) is not None]
            if points:
                mark = "o" if len(points) < 40 else ""
                axes.plot(
                    *zip(*points, strict=True), color=COLOURS[place % 7], marker=mark, markersize=3, label=name, linewidth=1.2
                )
        if curve.logarithmic and axes.dataLim.y1 > 0:  # only then there is something to show
            axes.set_yscale("log")
        axes.set_ylabel(curve.label)
        axes.grid(alpha=0.3)
        if len(curve.names) > 1:
            axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))  # outside, where no points are
    panels[-1].set_xlabel(unit)
    return figure


def cross_table(names: Sequence[str], scores: Mapping[tuple[str, str], float]) -> "Figure":
    """The score of each row's agent against each column's."""
    from matplotlib.figure import Figure

    size = len(names)
    figure = Figure(figsize=(3.2 + 0.62 * size, 1.4 + 0.42 * size), layout="constrained")
    axes = figure.subplots()
    grid = [[scores.get((one, other), float("nan")) for other in names] for one in names]
    axes.imshow(grid, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            if (score := scores.get((one, other))) is not None:
                ink = "white" if abs(score - 0.5) > 0.3 else "black"
                axes.text(column, row, f"{100 * score:.0f}", ha="center", va="center", fontsize=8, color=ink)
    axes.set_xticks(range(size), [str(i + 1) for i in range(size)])
    axes.set_yticks(range(size), [f"{name}  {i + 1}" for i, name in enumerate(names)], parse_math=False)
    axes.set_xlabel("score in percent of row against column")
    return figure


def win_chance(
    plies: Sequence[int], chances: Sequence[float], estimates: Sequence[float | None], mistakes: Sequence[int]
) -> "Figure":
    """Red's expected score along a game: the truth as steps, the estimate beside it; mistakes, by their place, are marked."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.8), layout="constrained")
    axes = figure.subplots()
    axes.fill_between(plies, 0.5, chances, step="post", color=COLOURS[3], alpha=0.15, linewidth=0)
    axes.step(plies, chances, where="post", color=COLOURS[3], linewidth=2, label="proven, else estimated")
    guessed = [(ply, estimate) for ply, estimate in zip(plies, estimates, strict=True) if estimate is not None]
    if guessed:
        axes.plot(*zip(*guessed, strict=True), color=COLOURS[0], linewidth=1, linestyle="--", label="estimated")
    if mistakes:
        marked = [plies[place] for place in mistakes], [chances[place] for place in mistakes]
        axes.plot(*marked, linestyle="", marker="X", markersize=8, color="black", label="mistakes")
    axes.set_ylim(-0.05, 1.05)
    axes.set_yticks((0, 0.5, 1), ("yellow wins", "draw", "red wins"))
    axes.set_xlabel("discs on the board")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def render(figure: "Figure", kind: str, salt: str = "fourlab") -> bytes:
    """Draw the figure as svg, png or pdf. The same figure gives the same bytes.

    Figures that are to share a page need different salts, or their parts would have the same names.
    """
    import matplotlib

    stable = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}[kind]
    drawn = io.BytesIO()
    with DRAWING, matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the reader's fonts may have what ours lacks
        figure.savefig(drawn, format=kind, metadata=stable)
    return drawn.getvalue()


def save(figure: "Figure", file: Path, salt: str = "fourlab") -> None:
    """Write the figure; the ending of the name says as what."""
    kind = file.suffix.lstrip(".").lower()
    if kind not in ("svg", "png", "pdf"):
        raise UserError(f"a figure is written as .svg, .png or .pdf, not {file.name}")
    write_atomically(file, render(figure, kind, salt))
