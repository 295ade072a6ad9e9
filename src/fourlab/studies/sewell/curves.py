"""Document 003's measure of learning: the average result of every ten games, and from which ten on all are won."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLOCK = 10
"""Games that are averaged."""
Runs = Sequence[Mapping[str, Any]]
"""What Lessons tells of each run."""


def blocks(results: Sequence[int]) -> list[float]:
    """The average result of every ten games."""
    return [math.fsum(results[start : start + BLOCK]) / BLOCK for start in range(0, len(results) - BLOCK + 1, BLOCK)]


def won_from(results: Sequence[int]) -> float:
    """From which block on, counted from 1, every game is won; infinite if the last is not."""
    lost = [number for number, average in enumerate(blocks(results), start=1) if average < 1]
    last = len(blocks(results))
    return math.inf if lost and lost[-1] == last else (lost[-1] if lost else 0) + 1


def told_won_from(runs: Runs) -> str:
    """The blocks from which all is won, for people."""
    found = sorted(won_from(run["results"]) for run in runs)
    never = found.count(math.inf)
    ends = [each for each in found if each < math.inf]
    if not ends:
        return f"not within {len(blocks(runs[0]['results']))} points"
    told = f"{median(found):g} (median of {len(runs)} runs, {ends[0]:g} to {ends[-1]:g})"
    return f"{told}, {never} of them never" if never else told


def all_games(runs: Runs) -> list[float]:
    """The average result of all games, by run."""
    return [math.fsum(run["results"]) / len(run["results"]) for run in runs]


def table(title: str, kinds: Mapping[str, Runs]) -> Table:
    """Every run in a row."""
    head = ("runs", "number", "all won from point", "average of all games", "rollouts", "own columns a game")
    rows = []
    for kind, runs in kinds.items():
        for number, run in enumerate(runs):
            games, begun = len(run["results"]), won_from(run["results"])
            columns = run["plies"] / games / 2
            average = f"{math.fsum(run['results']) / games:.3f}"
            rows.append((kind, number, "never" if begun == math.inf else int(begun), average, run["rollouts"], f"{columns:.1f}"))
    return Table(title, head, tuple(rows))


def data(kinds: Mapping[str, Runs]) -> Table:
    """The points of the curves of all runs."""
    names = [(kind, number) for kind, runs in kinds.items() for number in range(len(runs))]
    averages = [blocks(kinds[kind][number]["results"]) for kind, number in names]
    head = ("point", *(f"{kind}, run {number}" for kind, number in names))
    return Table("", head, tuple((point + 1, *values) for point, values in enumerate(zip(*averages, strict=True))))


def draw_one(results: Sequence[int], title: str) -> "Figure":
    """The curve of one run, as the document draws it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(range(len(blocks(results))), blocks(results), color=COLOURS[0])
    axes.set_title(title)
    axes.set_xlabel("Iters")
    axes.set_ylabel("Avg win")
    axes.grid(alpha=0.3)
    return figure


def draw_kinds(kinds: Mapping[str, Runs]) -> "Figure":
    """A panel for each kind: every run, and the average of all."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * len(kinds), 3.4), layout="constrained")
    panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for place, (axes, (kind, runs)) in enumerate(zip(panels, kinds.items(), strict=True)):
        curves = [blocks(run["results"]) for run in runs]
        games = [BLOCK * (point + 1) for point in range(len(curves[0]))]
        for curve in curves:
            axes.plot(games, curve, color=COLOURS[place], alpha=0.3, linewidth=0.8)
        axes.plot(games, [math.fsum(each) / len(each) for each in zip(*curves, strict=True)], color=COLOURS[place], linewidth=2)
        _frame(axes, kind)
    panels[0].set_ylabel("average result of ten games")
    return figure


def draw_averages(kinds: Mapping[str, Runs]) -> "Figure":
    """The averages of all runs of each kind in one panel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for place, (kind, runs) in enumerate(kinds.items()):
        curves = [blocks(run["results"]) for run in runs]
        games = [BLOCK * (point + 1) for point in range(len(curves[0]))]
        averages = [math.fsum(each) / len(each) for each in zip(*curves, strict=True)]
        axes.plot(games, averages, color=COLOURS[place], label=f"{kind} ({len(runs)})")
    _frame(axes, "")
    axes.set_ylabel("average result of ten games")
    axes.legend(fontsize="small", loc="lower right")
    return figure


def _frame(axes: "Axes", title: str) -> None:
    axes.set_title(title, fontsize="medium")
    axes.set_ylim(-1.05, 1.05)
    axes.set_xlabel("games")
    axes.grid(alpha=0.3)
