"""Document 002's Table I and Figures 2 and 3: what the search thinks of the empty board's columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.registry import make
from fourlab.arena.tables import Table
from fourlab.compiled.rollouts import lane_rollouts
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, MARKS
from fourlab.solver import Solver
from fourlab.studies.compare import fisher, may_happen, mean, share
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.searches import Floats, Line, Searched, band, search_all, within
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLE_1 = (75, 60, 85, 95, 70, 50, 65)
"""Winning probabilities by column, in percent."""
SIMULATIONS, SET, PLAYOUTS = 500, 25, 200_000
EMPTY = Position()
COLUMNS = range(7)


def shares(means: Floats) -> Floats:
    """w/n of means from -1 to +1; a draw is no win."""
    return (means + 1) / 2


def table_1(bench: Workbench) -> Iterator[Part]:
    """The seven columns after 500 simulations."""
    specs = {"random": "gao:opponent=random", "frozen": "gao:opponent=random-frozen", "player": "gao:opponent=player"}
    found = search_all(bench, "runs", {name: Line(spec, EMPTY, bench.size["sets"], SET) for name, spec in specs.items()})
    exact = bench.calculate("exact", lambda: [str(each) for each in Solver().columns(EMPTY).values()])
    flat = bench.calculate("playouts", lambda: [_flat(column) for column in COLUMNS])
    ours, two = shares(found["random"].runs), shares(found["player"].runs)
    for column, reported in enumerate(TABLE_1):
        yield Finding(
            f"column {column + 1}: winning probability",
            f"{reported} %",
            band(ours[:, column], 2),
            band(two[:, column], 2),
            f"{exact[column]} (both perfect)",
            within(reported / 100, ours[:, column]),
            "no fault is known, its code is not public; corrected is a tree for two players",
        )
    yield _all_together(ours)
    yield from _mirrored(ours)
    best = {name: each.share_first(3) for name, each in found.items()}
    agrees = may_happen(*best["random"])
    what = "column 4 is best in one run"
    yield Finding(what, "yes", share(*best["random"]), share(*best["player"]), "column 4 wins", agrees)
    frozen = "B2: if its code froze the opponent's replies, as document 000's did"
    agrees = may_happen(*best["frozen"])
    yield Finding(
        f"{what}, replies frozen", "yes", share(*best["frozen"]), share(*best["random"]), "column 4 wins", agrees, frozen
    )
    searched = [
        f"{name}: {what}" for name in ("replies anew", "replies frozen", "two players") for what in ("w/n", "sd", "visits")
    ]
    rows = (
        (
            column + 1,
            TABLE_1[column],
            *(cell for each in found.values() for cell in _cells(each, column)),
            f"{flat[column]:.3f}",
            exact[column],
        )
        for column in COLUMNS
    )
    head = ("column", "document, %", *searched, "random playouts", "both perfect")
    yield Table("Table I beside playouts and the truth, 500 simulations in all", head, tuple(rows))


def _flat(column: int) -> float:
    """The share of games that the first player wins by a column if both sides draw lots."""
    after = EMPTY.play(column)
    return lane_rollouts(after.own, after.mask, after.rules.geometry, PLAYOUTS, column)[2] / PLAYOUTS


def _cells(found: Searched, column: int) -> tuple[str, str, str]:
    values, visits = shares(found.runs)[:, column], found.visits[..., column]
    return f"{values.mean():.3f}", f"{values.std(ddof=1):.3f}", f"{visits.mean():.0f}"


def _all_together(ours: Floats) -> Finding:
    """Whether all seven numbers together look like one of our runs: how far from the mean, in standard deviations, squared."""
    middle, spread = ours.mean(axis=0), ours.std(axis=0, ddof=1)
    distances = (((ours - middle) / spread) ** 2).sum(axis=1)
    theirs = float((((np.array(TABLE_1) / 100 - middle) / spread) ** 2).sum())
    return Finding(
        "all seven: squared distance from our mean, in standard deviations",
        f"{theirs:.0f}",
        band(distances, 1),
        agrees=within(theirs, distances),
        why="no fault is known that would explain such levels; ours is how far one run lies from the mean of all",
    )


def _mirrored(ours: Floats) -> Iterator[Finding]:
    """Mirror images are worth the same; but one run's differ by chance."""
    for left, right in ((0, 6), (1, 5), (2, 4)):
        theirs, differences = TABLE_1[left] - TABLE_1[right], 100 * (ours[:, left] - ours[:, right])
        counts = [5 * TABLE_1[column] for column in (left, right)]  # as if of 500 simulations each
        chance = fisher(counts[0], SIMULATIONS, counts[1], SIMULATIONS)
        yield Finding(
            f"column {left + 1} less its mirror image {right + 1}",
            f"{theirs:+d} points",
            f"{band(differences, 1)} points",
            truth="0",
            agrees=within(theirs, differences),
            why="mirror symmetry is exact, but the columns of one run share 500 simulations; "
            f"if it were 500 a column, chance would differ so with p = {chance:.0e}",
        )


@dataclass(frozen=True)
class _Traces:
    """The work: searches with their root as it converges, by their numbers."""

    simulations: int
    seed: int

    def __call__(self, number: int) -> list[Any]:
        agent = make(f"gao:simulations={self.simulations}")
        assert isinstance(agent, MCTS)
        trace = agent.search(EMPTY, Limit(), np.random.default_rng([self.seed, number])).trace
        all_tried = [each for each in trace if each.simulations >= 10]
        return [[each.simulations, [round(mean or 0.0, 5) for mean in each.means], each.visits] for each in all_tried]


def convergence(bench: Workbench) -> Iterator[Part]:
    """Values and visits as the search goes on."""
    traces = bench.repeat("traces", _Traces(bench.size["simulations"], bench.seed), bench.size["runs"])
    marks = np.array([mark for mark, _, _ in traces[0]])
    values = shares(np.array([[means for _, means, _ in trace] for trace in traces], dtype=np.float64))  # [runs, marks, columns]
    visits = np.array([[seen for _, _, seen in trace] for trace in traces], dtype=np.float64)
    at = {mark: int(np.argmax(marks == mark)) for mark in (80, 100, 400, 500)}
    early, late = (np.abs(values[:, at[end], 3] - values[:, at[begin], 3]) for begin, end in ((80, 100), (400, 500)))
    yield Finding(
        "column 4: the value changes less and less",
        "the curves stabilise",
        f"by {mean(early.tolist())} from 80 to 100 simulations; by {mean(late.tolist())} from 400 to 500",
        agrees=bool(late.mean() < early.mean()),
    )
    yield Finding(
        "column 4: between one run and another",
        "",
        ", ".join(f"sd {values[:, at[mark], 3].std(ddof=1):.3f} at {mark}" for mark in (100, 500)),
        why="a curve that lies still is not yet a value that is known",
    )
    ranks = [_rank_correlation(values[run, at[500]], visits[run, at[500]]) for run in range(len(traces))]
    yield Finding(
        "visits and values of the columns after 500: rank correlation",
        "visits follow values",
        mean(ranks, 2),
        agrees=bool(np.mean(ranks) > 3 * np.std(ranks) / np.sqrt(len(ranks)) > 0),
    )
    edge, centre = (visits[:, at[500], list(columns)].mean(axis=1) for columns in ((0, 6), (3,)))  # by run
    yield Finding(
        "visits of column 4 and of an edge column (mean of both) after 500",
        "low values are visited less",
        f"{mean(centre.tolist(), 0)}; and {mean(edge.tolist(), 0)}",
        agrees=bool(centre.mean() > edge.mean()),
    )
    yield _curves("figure-2", "Figure 2: w/n of each column", marks, values, "w/n")
    yield _curves("figure-3", "Figure 3: visits of each column", marks, visits, "visits")


def _rank_correlation(one: Floats, other: Floats) -> float:
    """Spearman's, equal values sharing their rank."""
    ranks = [np.array([(values < each).sum() + (values == each).sum() / 2 for each in values]) for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _curves(name: str, caption: str, marks: Any, values: Floats, label: str) -> Picture:
    head = ("simulations", *(f"column {column + 1}, {what}" for what in ("one run", "mean of runs") for column in COLUMNS))
    average = values.mean(axis=0)
    rows = [(int(mark), *(f"{each:.5g}" for each in (*values[0, at], *average[at]))) for at, mark in enumerate(marks)]
    caption += f": left as the document drew it, one run of {SIMULATIONS} simulations; right the mean of {len(values)} runs"
    caption += ", with the middle 95 % of columns 1 and 4"
    return Picture(name, caption, lambda: _draw(marks, values, label), Table("", head, tuple(rows)))


def _draw(marks: Any, values: Floats, label: str) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    one, many = figure.subplots(1, 2)
    short = marks <= SIMULATIONS
    _plot(one, marks[short], values[0, short])
    _plot(many, marks, values.mean(axis=0))
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    for column in (0, 3):  # the least and the best; all seven would hide each other
        many.fill_between(marks, low[:, column], high[:, column], color=COLOURS[column], alpha=0.15, linewidth=0)
    many.set_xscale("log")
    if label == "visits":
        many.set_yscale("log")
    for axes in (one, many):
        axes.set_xlabel("simulations")
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    one.legend(fontsize="small")
    return figure


def _plot(axes: "Axes", marks: Any, values: Floats) -> None:
    for column in COLUMNS:
        style: dict[str, Any] = {"color": COLOURS[column], "marker": MARKS[column], "label": f"column {column + 1}"}
        axes.plot(marks, values[:, column], markersize=3, linewidth=1.2, **style)
