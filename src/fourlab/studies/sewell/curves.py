"""SeWell's learning curve: the average result of every ten games."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, SMALL, Figure, frame, panels

BLOCK = 10
"""Games averaged into one point of the curve."""
AVERAGE = "average result of ten games"
GAMES_AXES: dict[str, Any] = {"ylim": (-1.05, 1.05), "xlabel": "games"}
Runs = Sequence[Mapping[str, Any]]
"""Results of `TreeTraining`, one per run."""


def blocks(results: Sequence[int]) -> list[float]:
    """Return the points of the curve: the average result of every ten games, -1 to +1."""
    return [
        math.fsum(results[start : start + BLOCK]) / BLOCK
        # An incomplete block at the end is left out.
        for start in range(0, len(results) - BLOCK + 1, BLOCK)
    ]


def won_from(results: Sequence[int]) -> float:
    """Return the point, counted from 1, from which every game is won; infinity if there is none."""
    points = blocks(results)
    # An average of 1 means that all ten games were won.
    not_won = [number for number, average in enumerate(points, start=1) if average < 1]
    if not not_won:
        return 1
    last = not_won[-1]
    # If the last point falls short, there is no such point.
    return math.inf if last == len(points) else last + 1


def describe_won_from(runs: Runs) -> str:
    """Describe `won_from` of several runs in words."""
    points = sorted(won_from(run["results"]) for run in runs)
    finite = [point for point in points if point < math.inf]
    # Infinite points sort last, so the median counts them as later than any other.
    never = len(points) - len(finite)
    if not finite:
        return f"not within {len(blocks(runs[0]['results']))} points"
    text = f"{median(points):g} (median of {len(runs)} runs, {finite[0]:g} to {finite[-1]:g})"
    return f"{text}, {never} of them never" if never else text


def mean_results(runs: Runs) -> list[float]:
    """Return the average result of all games of each run."""
    return [math.fsum(run["results"]) / len(run["results"]) for run in runs]


def mean_curve(runs: Runs) -> list[float]:
    """Return the curve averaged over several runs."""
    curves = [blocks(run["results"]) for run in runs]
    return [math.fsum(points) / len(points) for points in zip(*curves, strict=True)]


def table(title: str, kinds: Mapping[str, Runs]) -> Table:
    """Return a table with one row per run."""
    head = (
        "runs",
        "number",
        "all won from point",
        "average of all games",
        "rollouts",
        "own columns a game",
    )
    rows = (
        (
            kind,
            number,
            "never" if (point := won_from(run["results"])) == math.inf else int(point),
            f"{average:.3f}",
            run["rollouts"],
            # Half of the plies are the learner's.
            f"{run['plies'] / len(run['results']) / 2:.1f}",
        )
        for kind, runs in kinds.items()
        for number, (run, average) in enumerate(zip(runs, mean_results(runs), strict=True))
    )
    return Table(title, head, tuple(rows))


def data(kinds: Mapping[str, Runs]) -> Table:
    """Return the points of all curves, one column per run."""
    names = [(kind, number) for kind, runs in kinds.items() for number in range(len(runs))]
    curves = [blocks(kinds[kind][number]["results"]) for kind, number in names]
    # One column per run, so that all curves can be drawn from the file.
    head = ("point", *(f"{kind}, run {number}" for kind, number in names))
    rows = tuple((point, *values) for point, values in enumerate(zip(*curves, strict=True), 1))
    return Table("", head, rows)


def draw_one(results: Sequence[int], title: str) -> Figure:
    """Draw the curve of one run with SeWell's axis labels."""
    figure, (axes,) = panels(7, 3.6)
    axes.plot(range(len(blocks(results))), blocks(results), color=COLOURS[0])
    frame(axes, title=title, xlabel="Iters", ylabel="Avg win")
    return figure


def draw_kinds(kinds: Mapping[str, Runs]) -> Figure:
    """Draw one panel per kind, with all its runs and their average."""
    figure, all_axes = panels(3.4 * len(kinds), 3.4, columns=len(kinds), sharey=True)
    for place, (axes, (kind, runs)) in enumerate(zip(all_axes, kinds.items(), strict=True)):
        average = mean_curve(runs)
        games = [BLOCK * (point + 1) for point in range(len(average))]
        for run in runs:
            curve = blocks(run["results"])
            axes.plot(games, curve, color=COLOURS[place], alpha=0.3, linewidth=0.8)
        axes.plot(games, average, color=COLOURS[place], linewidth=2)
        axes.set_title(kind, fontsize="medium")
        frame(axes, **GAMES_AXES)
    all_axes[0].set_ylabel(AVERAGE)
    return figure


def draw_averages(kinds: Mapping[str, Runs]) -> Figure:
    """Draw the average curve of every kind in one panel."""
    figure, (axes,) = panels(7, 3.8)
    for place, (kind, runs) in enumerate(kinds.items()):
        average = mean_curve(runs)
        games = [BLOCK * (point + 1) for point in range(len(average))]
        axes.plot(games, average, color=COLOURS[place], label=f"{kind} ({len(runs)})")
    frame(axes, {**SMALL, "loc": "lower right"}, ylabel=AVERAGE, **GAMES_AXES)
    return figure
