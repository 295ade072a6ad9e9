"""The picture of moves that keep the exact value on Bhat's boards."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fourlab.arena.statistics import wilson
from fourlab.reporting.figures import COLOURS, MARKS, SMALL, Axes, Figure, frame, panels
from fourlab.studies.bhat.table_5 import NAMES
from fourlab.studies.workbench import Picture, Table

LEAST_DRAWN = 5
"""Plies with fewer positions are tabulated, but not drawn."""
DISCS = "discs on the board"
LINES = ("random", *NAMES, "learner")
"""The players of the picture, in the order of their colours."""


class Point(NamedTuple):
    """A point of the picture: a share in per cent with its 95 % interval."""

    rows: int
    by: str
    """What `at` counts: discs on the board, or c."""
    at: float
    player: str
    share: float
    low: float
    high: float
    n: int
    """Positions; a learner is asked about them after every training."""


def counted_point(rows: int, by: str, at: float, player: str, kept: np.ndarray) -> Point:
    """Return the point of a search, whose units are positions."""
    count, of = int(kept.sum()), int(kept.size)
    low, high = wilson(count, of)
    return Point(rows, by, at, player, 100 * count / of, 100 * low, 100 * high, of)


def picture(points: Sequence[Point], boards: tuple[int, int], c: float) -> Picture:
    """Draw the shares by discs on two boards, given by their rows, and on the first by c.

    `c` is the constant of the shares by discs.
    """

    def draw() -> Figure:
        figure, (left, middle, right) = panels(12, 3.8, columns=3, sharey=True)
        for axes, rows, by in (
            (left, boards[0], DISCS),
            (middle, boards[1], DISCS),
            (right, boards[0], "c"),
        ):
            own = [point for point in points if (point.rows, point.by) == (rows, by)]
            _lines(axes, own)
            # Lines may run below the legend, so they shine through.
            legend = {**SMALL, "loc": "lower right", "framealpha": 0.5} if axes.lines else None
            frame(axes, legend, title=f"{rows} rows, by {by.split()[0]}", xlabel=by)
        left.set_ylabel("moves that keep the exact value (%)")
        left.set_ylim(0, 102)
        return figure

    caption = (
        "The exact truth: moves that keep the game-theoretic value, of positions of random games "
        f"in which it can be lost. Left and middle: by discs on the board, c = {c:g}, "
        f"where there are at least {LEAST_DRAWN} positions; right: by c. Shaded: 95 % intervals, "
        "over positions or, for the learner, which is asked at its own turns only, over its "
        "trainings."
    )
    head = ("rows", "by", "at", "player", "kept (%)", "low", "high", "positions")
    rows = [(*point[:4], *(f"{number:.2f}" for number in point[4:7]), point.n) for point in points]
    return Picture("truth", caption, draw, Table("", head, tuple(rows)))


def _lines(axes: Axes, points: Sequence[Point]) -> None:
    """Draw one line for every player, with a band."""
    for name in dict.fromkeys(point.player for point in points):
        # Two forms of one player have one colour and different lines.
        place = LINES.index(name.split(",")[0])
        _, _, at, _, shares, low, high, _ = zip(
            *(point for point in points if point.player == name), strict=True
        )
        colour = COLOURS[place]
        line = "--" if name.endswith("as coded") else "-"
        axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(at, shares, line, color=colour, marker=MARKS[place], markersize=3, label=name)
