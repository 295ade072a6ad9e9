"""Figures, drawn by matplotlib without a screen."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fourlab.errors import UserError
from fourlab.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#1b6ca8", "#e07a1f", "#2e8b57", "#c0392b", "#7d5ba6", "#8c6d46", "#d16ba5")
MARKS = ("o", "s", "^", "D", "v", "P", "X")


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


def save(figure: "Figure", file: Path) -> None:
    """Write the figure; the ending of the name says as what. The same figure gives the same bytes."""
    import matplotlib

    kind = file.suffix.lstrip(".").lower()
    if kind not in ("svg", "png", "pdf"):
        raise UserError(f"a figure is written as .svg, .png or .pdf, not {file.name}")
    stable = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}[kind]
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "fourlab", "svg.fonttype": "none"}):
        figure.savefig(drawn, format=kind, metadata=stable)
    write_atomically(file, drawn.getvalue())
