"""Gao's Figures 2 and 3, and the claim that the search converges to an optimal strategy."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.registry import make
from fourlab.arena.statistics import wilson
from fourlab.reporting.figures import COLOURS, MARKS, SMALL, Axes, Figure, frame, panels
from fourlab.studies.arya.alpha import judged
from fourlab.studies.claims import RESULTS, SHARES, Claim, Estimate, Kind, Source, mean_of, share
from fourlab.studies.gao.root import COLUMNS, EMPTY, SIMULATIONS, TABLE_1, shares
from fourlab.studies.searches import Floats, best_places
from fourlab.studies.verdicts import (
    at_least,
    larger_paired,
    larger_paired_share,
    larger_than,
    typical,
)
from fourlab.studies.workbench import Part, Picture, Table, Workbench
from fourlab.training.test_set import solved_positions

SPECS = {"traces": "gao:simulations={}", "traces-two-players": "gao:simulations={},opponent=player"}
"""The report's search and the corrected one, by the name of the stored work."""
LABELS = ("random opponent in the tree", "two players in the tree")
"""The same two searches in figures."""
FIRST = 50
"""Simulations of the first point of the claim; at ten, chance decides."""
OPTIMAL = 0.95
"""Our reading of "an optimal strategy": this share of choices keeps the game-theoretic value."""
LEVEL = 0.2
"""Margin of w/n."""
CHANGE = 0.005
"""Margin of the change of w/n between two marks."""
CORRELATION = 0.2
"""Margin of rank correlations."""
VISITS = 20.0
"""Margin of visits, of 500."""
POINTS = 15
"""Margin of shares of runs, in percentage points."""
NOT_ACCURATE = "a curve that no longer moves is not yet an accurate value"


@dataclass(frozen=True)
class Traces:
    """Many searches of the empty board at growing numbers of simulations."""

    marks: Any
    """int64[marks]: numbers of simulations."""
    values: Floats
    """float64[runs, marks, columns]: w/n."""
    visits: Floats
    """float64[runs, marks, columns]"""

    def at(self, simulations: int) -> int:
        """Return the index of a mark."""
        return int(np.argmax(self.marks == simulations))

    def changes(self, begin: int, end: int) -> list[float]:
        """Return by run how far the value of column 4 moved from one mark to another."""
        # Columns count from 0 here: 3 is the report's column 4.
        moved = np.abs(self.values[:, self.at(end), 3] - self.values[:, self.at(begin), 3])
        return [float(change) for change in moved]

    def chose_4(self, simulations: int) -> tuple[int, int]:
        """Return how many runs would play column 4 at a mark, and the number of runs."""
        return int(self.first_4()[:, self.at(simulations)].sum()), len(self.values)

    def gained_4(self, begin: int, end: int) -> tuple[int, int, int]:
        """Return how many runs choose column 4 only at the second of two marks, only at the first.

        The number of runs is last.
        """
        first = self.first_4()
        before, after = first[:, self.at(begin)], first[:, self.at(end)]
        return int((after & ~before).sum()), int((before & ~after).sum()), len(self.values)

    def first_4(self) -> Any:
        """Return for every run and mark whether column 4 has the best w/n; bool[runs, marks]."""
        # The report plays the child with the highest w/n.
        return best_places(self.values) == 3


def _trace(spec: str, seed: int, number: int) -> list[Any]:
    """Search the empty board; return simulations, means and visits at each mark."""
    agent = make(spec)
    assert isinstance(agent, MCTS)
    trace = agent.search(EMPTY, Limit(), np.random.default_rng([seed, number])).trace
    return [
        [mark.simulations, [round(mean or 0.0, 5) for mean in mark.means], mark.visits]
        for mark in trace
        if mark.simulations >= 10  # by then all seven columns have been tried
    ]


def _traces(bench: Workbench, name: str) -> Traces:
    spec = SPECS[name].format(bench.size["simulations"])
    stored = bench.repeat(name, _trace, bench.size["runs"], spec, bench.seed)
    means = [[means for _, means, _ in trace] for trace in stored]
    visits = [[visits for _, _, visits in trace] for trace in stored]
    return Traces(
        np.array([mark for mark, _, _ in stored[0]]),
        shares(np.array(means, dtype=np.float64)),
        np.array(visits, dtype=np.float64),
    )


def conduct(bench: Workbench) -> Iterator[Part]:
    """Follow the values and visits of the columns, and the choice, during the search."""
    faithful, corrected = (_traces(bench, name) for name in SPECS)
    yield from _stabilise(faithful, corrected)
    yield from _visits(faithful, corrected)
    yield from _optimal(faithful, corrected)
    yield from _positions(bench)
    marks = faithful.marks
    yield _curves("figure-2", "Figure 2: w/n of each column", marks, faithful.values, "w/n")
    yield _curves("figure-3", "Figure 3: visits of each column", marks, faithful.visits, "visits")
    yield _choices(faithful, corrected)


def _stabilise(faithful: Traces, corrected: Traces) -> Iterator[Claim]:
    """Compare how far values move early and late, and how far runs are apart."""
    early, late = (
        [traces.changes(begin, end) for traces in (faithful, corrected)]
        # The last fifth of either period.
        for begin, end in ((80, 100), (400, 500))
    )
    yield Claim(
        "figure-2-change-early",
        "column 4: change of w/n from 80 to 100 simulations",
        "",
        Source.OURS,
        faithful=mean_of(early[0]),
        corrected=mean_of(early[1]),
    )
    yield Claim(
        "figure-2-change-late",
        "column 4: change of w/n from 400 to 500 simulations is smaller",
        "the curves stabilise",
        Source.TEXT,
        faithful=mean_of(late[0]),
        corrected=mean_of(late[1]),
        reproduced=larger_paired(early[0], late[0], CHANGE, what="runs"),
        true=larger_paired(early[1], late[1], CHANGE, what="runs"),
    )
    for mark in (100, 500):
        spreads = [traces.values[:, traces.at(mark), 3] for traces in (faithful, corrected)]
        estimates = [Estimate(float(runs.std(ddof=1)), n=len(runs)) for runs in spreads]
        yield Claim(
            f"figure-2-spread-{mark}",
            f"column 4: standard deviation of w/n between runs at {mark} simulations",
            "",
            Source.OURS,
            faithful=estimates[0],
            corrected=estimates[1],
            why=NOT_ACCURATE,
        )

    final = [traces.values[:, -1, 3].tolist() for traces in (faithful, corrected)]
    reported = TABLE_1[3] / 100
    yield Claim(
        "figure-2-level",
        f"column 4: w/n after {int(faithful.marks[-1]):,} simulations",
        Estimate(reported, digits=2, note=f"Table I, {SIMULATIONS} simulations"),
        Source.TEXT,
        faithful=mean_of(final[0]),
        corrected=mean_of(final[1]),
        reproduced=typical(reported, final[0], LEVEL, f"{LEVEL:g} of w/n", SHARES),
        why="would more simulations than stated explain the levels of Table I?",
        kind=Kind.DIAGNOSTIC,
    )


def _visits(faithful: Traces, corrected: Traces) -> Iterator[Claim]:
    """Test whether visits follow values."""
    both = (faithful, corrected)
    end = faithful.at(SIMULATIONS)
    ranks = [
        [
            rank_correlation(values[end], visits[end])
            for values, visits in zip(traces.values, traces.visits, strict=True)
        ]
        for traces in both
    ]
    # A mean of 0 is no correlation.
    tests = [larger_than(numbers, 0.0, CORRELATION, scale=RESULTS) for numbers in ranks]
    yield Claim(
        "figure-3-rank",
        f"rank correlation of the columns' visits and values after {SIMULATIONS} simulations",
        "visits follow values",
        Source.TEXT,
        faithful=mean_of(ranks[0], 2),
        corrected=mean_of(ranks[1], 2),
        reproduced=tests[0],
        true=tests[1],
    )
    edge, centre = (
        [traces.visits[:, end, list(columns)].mean(axis=1).tolist() for traces in both]
        for columns in ((0, 6), (3,))
    )
    yield Claim(
        "figure-3-edge",
        f"visits of an edge column (mean of both) after {SIMULATIONS} simulations",
        "",
        Source.OURS,
        faithful=mean_of(edge[0], 0),
        corrected=mean_of(edge[1], 0),
    )
    yield Claim(
        "figure-3-centre",
        f"visits of column 4 after {SIMULATIONS} simulations, more than an edge column has",
        "low values are visited less",
        Source.TEXT,
        faithful=mean_of(centre[0], 0),
        corrected=mean_of(centre[1], 0),
        reproduced=larger_paired(centre[0], edge[0], VISITS, "visits", (0, SIMULATIONS), "runs"),
        true=larger_paired(centre[1], edge[1], VISITS, "visits", (0, SIMULATIONS), "runs"),
    )


def _optimal(faithful: Traces, corrected: Traces) -> Iterator[Claim]:
    """Test whether the choice becomes the only winning column, column 4."""
    both = (faithful, corrected)
    last = int(faithful.marks[-1])
    early, middle, late = (
        [traces.chose_4(mark) for traces in both] for mark in (FIRST, SIMULATIONS, last)
    )
    for slug, mark, counts in (("first", FIRST, early), ("report", SIMULATIONS, middle)):
        yield Claim(
            f"optimal-{slug}",
            f"runs that choose column 4 after {mark} simulations",
            "",
            Source.OURS,
            faithful=share(*counts[0]),
            corrected=share(*counts[1]),
            exact="column 4 wins, no other",
        )
    yield Claim(
        "optimal-last",
        f"runs that choose column 4 after {last:,} simulations",
        "the search converges to an optimal strategy",
        Source.TEXT,
        faithful=share(*late[0]),
        corrected=share(*late[1]),
        exact="column 4 wins, no other",
        reproduced=larger_paired_share(*faithful.gained_4(FIRST, last), POINTS),
        true=at_least(*late[1], OPTIMAL),
        why=f"reproduced means that the share is larger than after {FIRST} simulations, true that "
        f"it is at least {100 * OPTIMAL:g} % with two players in the tree. Both hold for the first "
        "move; a strategy is more, as the next rows show",
        statement="optimal",
    )


def _keeps(specs: tuple[str, ...], count: int, seed: int, number: int) -> list[bool]:
    """Choose a move in position `number` of `count` solved ones.

    Returns for each spec whether the move keeps the game-theoretic value; nothing if all moves do.
    """
    positions, scores = solved_positions(count)
    rng = np.random.default_rng([seed, number])
    columns = [make(spec).decide(positions[number], Limit(), rng).column for spec in specs]
    mistakes = [judged(column, scores[number]) for column in columns]
    return [not mistake for mistake, is_possible in mistakes if is_possible]


def _positions(bench: Workbench) -> Iterator[Claim]:
    """Test the strategy in positions where a mistake is possible."""
    count = bench.size["positions"]
    budgets = {"report": SIMULATIONS, "last": bench.size["simulations"]}
    specs = tuple(spec.format(number) for number in budgets.values() for spec in SPECS.values())
    stored = bench.repeat("positions", _keeps, count, specs, count, bench.seed)
    # bool[positions, specs]
    kept = np.array([row for row in stored if row], dtype=bool)
    for place, (slug, simulations) in enumerate(budgets.items()):
        faithful, corrected = (
            (int(kept[:, 2 * place + which].sum()), len(kept)) for which in (0, 1)
        )
        yield Claim(
            f"optimal-positions-{slug}",
            f"solved positions with a possible mistake: {simulations:,} simulations keep the "
            "game-theoretic value",
            "the search converges to an optimal strategy" if slug == "last" else "",
            Source.TEXT,
            faithful=share(*faithful),
            corrected=share(*corrected),
            exact="all",
            reproduced=at_least(*faithful, OPTIMAL) if slug == "last" else None,
            true=at_least(*corrected, OPTIMAL) if slug == "last" else None,
            why="the value of perfect play by both sides. The report's tree expects random "
            "replies, and so may miss a threat however long it searches",
            statement="optimal",
        )


def rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation; equal values share their rank."""
    ranks = [
        # Ties get the mean of the places they share, up to a constant.
        np.array([(values < value).sum() + (values == value).sum() / 2 for value in values])
        for values in (one, other)
    ]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _curves(name: str, caption: str, marks: Any, values: Floats, label: str) -> Picture:
    """Return a figure of one run and of the mean of all runs, with its data."""
    kinds = ("one run", "mean of runs")
    head = ["simulations"]
    head += [f"column {column + 1}, {kind}" for kind in kinds for column in COLUMNS]
    average = values.mean(axis=0)
    rows = [
        (int(mark), *(f"{value:.5g}" for value in (*values[0, at], *average[at])))
        for at, mark in enumerate(marks)
    ]
    caption = (
        f"{caption}, both panels ours, since the report's figure was not available: one run of "
        f"{SIMULATIONS} simulations, in the report's form (left), and the mean of "
        f"{len(values):,} runs, with the central 95 % of columns 1 and 4 (right)"
    )
    data = Table("", tuple(head), tuple(rows))
    return Picture(name, caption, lambda: _draw(marks, values, label), data)


def _draw(marks: Any, values: Floats, label: str) -> Figure:
    figure, (one, many) = panels(10, 4.2, columns=2)
    # The report has no more simulations.
    short = marks <= SIMULATIONS
    _plot(one, marks[short], values[0, short])
    _plot(many, marks, values.mean(axis=0))
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    for column in (0, 3):  # the worst and the best; seven bands would hide each other
        many.fill_between(
            marks, low[:, column], high[:, column], color=COLOURS[column], alpha=0.15, linewidth=0
        )
    many.set(xscale="log", yscale="log" if label == "visits" else "linear")
    for axes in (one, many):
        frame(axes, xlabel="simulations", ylabel=label)
    one.set_title("one run", fontsize="medium")
    many.set_title(f"mean of {len(values):,} runs", fontsize="medium")
    one.legend(**SMALL)
    return figure


def _plot(axes: Axes, marks: Any, values: Floats) -> None:
    for column in COLUMNS:
        axes.plot(
            marks,
            values[:, column],
            markersize=3,
            linewidth=1.2,
            color=COLOURS[column],
            marker=MARKS[column],
            label=f"column {column + 1}",
        )


def _choices(faithful: Traces, corrected: Traces) -> Picture:
    """Return a figure of the share of runs that choose column 4, with its data."""
    both = (faithful, corrected)
    # float64[marks] each, in percent
    chosen = [100 * traces.first_4().mean(axis=0) for traces in both]
    rows = [
        (int(mark), *(f"{column[at]:.4g}" for column in chosen))
        for at, mark in enumerate(faithful.marks)
    ]
    caption = (
        f"Does the search converge to an optimal strategy? The share of {len(faithful.values):,} "
        "runs whose best w/n is that of column 4, the only first move that wins, with 95 % "
        f"intervals. Dotted: the report's {SIMULATIONS} simulations, and a choice at random"
    )
    head = ("simulations", *(f"{label} (%)" for label in LABELS))
    return Picture("optimal", caption, lambda: _draw_choices(both), Table("", head, tuple(rows)))


def _draw_choices(both: tuple[Traces, ...]) -> Figure:
    figure, (axes,) = panels(8, 4.2)
    for number, (label, traces) in enumerate(zip(LABELS, both, strict=True)):
        counts = traces.first_4().sum(axis=0)
        runs = len(traces.values)
        low, high = np.array([wilson(int(count), runs) for count in counts]).T
        colour = COLOURS[2 * number]
        axes.fill_between(traces.marks, 100 * low, 100 * high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(
            traces.marks,
            100 * counts / runs,
            color=colour,
            marker=MARKS[number],
            markersize=3,
            label=label,
        )
    dotted: dict[str, Any] = {"color": "#888888", "linestyle": ":", "linewidth": 1}
    axes.axvline(SIMULATIONS, **dotted)
    axes.axhline(100 / len(COLUMNS), **dotted)
    frame(
        axes,
        {**SMALL, "loc": "upper left"},
        xscale="log",
        ylim=(0, 102),
        xlabel="simulations",
        ylabel="runs that choose column 4 (%)",
    )
    return figure
