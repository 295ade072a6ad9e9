"""SeWell's learning curve: the average result of every ten games.

SeWell calls ten games an iteration and counts them from 0, and so do we.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, SMALL, Axes, Figure, frame, panels
from fourlab.studies.claims import ANYTHING, COUNTS, Estimate, mean_of
from fourlab.studies.reported import reported

BLOCK = 10
"""Games of an iteration, which are averaged into one point of the curve."""
AVERAGE = "average result of ten games"
AXES: dict[str, Any] = {"ylim": (-1.08, 1.08), "xlabel": "iterations of ten games"}
BAND = (0.05, 0.95)
"""Quantiles of the runs between which a figure is shaded."""
ONE_RUN = "one run"
Runs = Sequence[Mapping[str, Any]]
"""Results of `TreeTraining`, one per run."""
Floats = NDArray[np.float64]


def over_trainings(
    values: Sequence[float],
    digits: int = 3,
    unit: str = "",
    within: tuple[float, float] = ANYTHING,
) -> Estimate:
    """Return a mean over independent trainings; a single one has no interval."""
    if len(values) == 1:
        return Estimate(float(values[0]), unit=unit, digits=digits, note=ONE_RUN)
    return mean_of(values, digits, unit, within)


def reported_curve() -> list[float]:
    """Return SeWell's curve of Experiment 1, read off its figure."""
    return [float(point) for point in reported("sewell-experiment-1")["average result"]]


def blocks(results: Sequence[int]) -> list[float]:
    """Return the points of the curve: the average result of every ten games, -1 to +1."""
    return [
        math.fsum(results[start : start + BLOCK]) / BLOCK
        # An incomplete block at the end is left out.
        for start in range(0, len(results) - BLOCK + 1, BLOCK)
    ]


def won_from(points: Sequence[float]) -> int | None:
    """Return the first iteration from which every game is won, from 0; None if there is none."""
    # An average of 1 means that all ten games were won.
    not_won = [place for place, average in enumerate(points) if average < 1]
    if not not_won:
        return 0
    return None if not_won[-1] == len(points) - 1 else not_won[-1] + 1


def iterations(runs: Runs) -> list[float]:
    """Return `won_from` of each run; a run that never gets there counts as the whole length."""
    curves = [blocks(run["results"]) for run in runs]
    firsts = [won_from(points) for points in curves]
    return [
        float(len(points) if first is None else first)
        for points, first in zip(curves, firsts, strict=True)
    ]


def winners(runs: Runs) -> int:
    """Return how many runs win every game from some iteration on."""
    return sum(won_from(blocks(run["results"])) is not None for run in runs)


def mean_iterations(runs: Runs) -> Estimate:
    """Return the mean of `iterations` with its interval over runs."""
    never = len(runs) - winners(runs)
    length = len(blocks(runs[0]["results"]))
    mean = over_trainings(iterations(runs), 1, within=COUNTS)
    notes = [mean.note, f"{never} never, counted as {length}" if never else ""]
    return replace(mean, note=", ".join(filter(None, notes)))


def mean_results(runs: Runs) -> list[float]:
    """Return the average result of all games of each run."""
    return [math.fsum(run["results"]) / len(run["results"]) for run in runs]


def mean_step(points: Sequence[float]) -> float:
    """Return how far apart neighbouring points are, on average, before all games are won."""
    first = won_from(points)
    before = points if first is None else points[: first + 1]
    steps = [abs(later - earlier) for earlier, later in pairwise(before)]
    return math.fsum(steps) / len(steps) if steps else 0.0


def mean_curve(runs: Runs) -> Floats:
    """Return the curve averaged over several runs: float64[points]."""
    return np.asarray(_curves(runs).mean(axis=0))


def _curves(runs: Runs) -> Floats:
    """Return the curves of all runs: float64[runs, points]."""
    return np.array([blocks(run["results"]) for run in runs])


def table(title: str, kinds: Mapping[str, Runs]) -> Table:
    """Return a table with one row per run."""
    head = (
        "runs",
        "number",
        "all won from iteration",
        "average of all games",
        "rollouts",
        "own columns a game",
    )
    rows = (
        (
            kind,
            number,
            "never" if (first := won_from(blocks(run["results"]))) is None else first,
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
    head = ("iteration", *(f"{kind}, run {number}" for kind, number in names))
    rows = tuple((point, *values) for point, values in enumerate(zip(*curves, strict=True)))
    return Table("", head, rows)


def beside_reported(runs: Runs) -> Table:
    """Return the reported curve beside the mean, the band and the first of our runs."""
    curves = _curves(runs)
    low, high = np.quantile(curves, BAND, axis=0)
    numbers = zip(curves.mean(axis=0), low, high, curves[0], strict=True)
    points = reported_curve()
    rows = (
        (place, points[place], *(round(float(number), 4) for number in row))
        for place, row in enumerate(numbers)
    )
    head = ("iteration", "as reported", "ours, mean", "5 % of runs", "95 % of runs", "first run")
    return Table("", head, tuple(rows))


def draw_beside_reported(runs: Runs) -> Figure:
    """Draw SeWell's curve and ours on the same axes."""
    figure, (left, right) = panels(9, 3.6, columns=2, sharey=True)
    figure.suptitle("Avg win vs Iters", fontsize="large")
    points = reported_curve()
    left.plot(range(len(points)), points, color=REPORTED_COLOUR)
    left.set_title("as reported (read off)", fontsize="medium")
    shade(right, runs, 1, f"mean of {len(runs)} runs")
    right.plot(blocks(runs[0]["results"]), color=COLOURS[0], linewidth=0.8, label="first run")
    right.set_title("ours, as coded (shaded: 90 % of the runs)", fontsize="medium")
    frame(left, xlim=(-1, 50), ylabel=AVERAGE, **AXES)
    frame(right, {**SMALL, "loc": "lower right"}, xlim=(-1, 50), **AXES)
    return figure


def shade(axes: Axes, runs: Runs, place: int, label: str) -> None:
    """Draw the mean of runs, and shade between the quantiles of BAND."""
    curves = _curves(runs)
    low, high = np.quantile(curves, BAND, axis=0)
    where = range(curves.shape[1])
    axes.fill_between(where, low, high, color=COLOURS[place], alpha=0.18, linewidth=0)
    axes.plot(where, curves.mean(axis=0), color=COLOURS[place], linewidth=2, label=label)


def draw_kinds(kinds: Mapping[str, Runs]) -> Figure:
    """Draw one panel per kind, with all its runs and their average."""
    figure, all_axes = panels(3.4 * len(kinds), 3.4, columns=len(kinds), sharey=True)
    for place, (axes, (kind, runs)) in enumerate(zip(all_axes, kinds.items(), strict=True)):
        for run in runs:
            curve = blocks(run["results"])
            axes.plot(curve, color=COLOURS[place], alpha=0.3, linewidth=0.8)
        axes.plot(mean_curve(runs), color=COLOURS[place], linewidth=2)
        axes.set_title(kind, fontsize="medium")
        frame(axes, **AXES)
    all_axes[0].set_ylabel(AVERAGE)
    return figure
