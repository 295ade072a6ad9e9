"""Gao's Table I and Figures 2 and 3: the search's estimates of the empty board's columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.registry import make
from fourlab.compiled.rollouts import lane_rollouts
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, MARKS, SMALL, Axes, Figure, frame, panels
from fourlab.solver import Solver
from fourlab.studies.compare import fisher, may_happen, mean, share
from fourlab.studies.searches import Floats, Line, Searched, band, search_all, within
from fourlab.studies.workbench import Finding, Part, Picture, Table, Workbench

TABLE_1 = (75, 60, 85, 95, 70, 50, 65)
"""Reported winning probabilities by column, in percent."""
SPECS = {
    "random": "gao:opponent=random",
    "frozen": "gao:opponent=random-frozen",
    "player": "gao:opponent=player",
}
SIMULATIONS = 500
SET = 25
"""Searches per set: one unit of work for the executor."""
ROLLOUTS = 200_000
"""Random games per column."""
EMPTY = Position()
COLUMNS = range(7)


def shares(means: Floats) -> Floats:
    """Convert means from [-1, +1] to w/n in [0, 1]; Gao's search scores a draw like a loss."""
    return (means + 1) / 2


def table_1(bench: Workbench) -> Iterator[Part]:
    """Compare the seven columns after 500 simulations."""
    # The three models of the opponent, with the same number of searches.
    lines = {name: Line(spec, EMPTY, bench.size["sets"], SET) for name, spec in SPECS.items()}
    searched = search_all(bench, "runs", lines)
    exact = bench.calculate(
        "exact", lambda: [str(value) for value in Solver().columns(EMPTY).values()]
    )
    random = bench.calculate("playouts", lambda: [_random_share(column) for column in COLUMNS])
    # float64[runs, 7]
    ours = shares(searched["random"].runs)
    two_players = shares(searched["player"].runs)
    for column, reported in enumerate(TABLE_1):
        yield Finding(
            f"column {column + 1}: winning probability",
            f"{reported} %",
            band(ours[:, column], 2),
            band(two_players[:, column], 2),
            f"{exact[column]} (both perfect)",
            within(reported / 100, ours[:, column]),
            "no known fault: the code is not public; corrected is a two-player tree",
        )
    yield _all_together(ours)
    yield from _mirrored(ours)
    yield from _best_column(searched)
    yield _table(searched, random, exact)


def _best_column(searched: Mapping[str, Searched]) -> Iterator[Finding]:
    """Compare how often one run ranks column 4 first."""
    # Columns count from 0 here: 3 is the report's column 4.
    best = {name: search.share_first(3) for name, search in searched.items()}
    quantity = "column 4 is best in one run"
    yield Finding(
        quantity,
        "yes",
        share(*best["random"]),
        share(*best["player"]),
        "column 4 wins",
        may_happen(*best["random"]),
    )
    yield Finding(
        f"{quantity}, replies frozen",
        "yes",
        share(*best["frozen"]),
        share(*best["random"]),
        "column 4 wins",
        may_happen(*best["frozen"]),
        "B2: in case the code freezes the opponent's replies, as Vannucci & Abril's does",
    )


def _table(
    searched: Mapping[str, Searched], random: Sequence[float], exact: Sequence[str]
) -> Table:
    """Return Table I beside all our searches, random games and perfect play."""
    columns_of_searches = [
        f"{name}: {number}"
        for name in ("replies anew", "replies frozen", "two players")
        for number in ("w/n", "sd", "visits")
    ]
    head = ("column", "report (%)", *columns_of_searches, "random rollouts", "both perfect")
    rows = []
    for column, reported in enumerate(TABLE_1):
        cells = [cell for search in searched.values() for cell in _cells(search, column)]
        rows.append((column + 1, reported, *cells, f"{random[column]:.3f}", exact[column]))
    title = "Table I beside random rollouts and perfect play, 500 simulations in total"
    return Table(title, head, tuple(rows))


def _random_share(column: int) -> float:
    """Return the first player's share of wins after a column if both sides play at random."""
    after = EMPTY.play(column)
    # Rollouts count from the side to move, so the first player's wins are its losses.
    _, _, losses, _ = lane_rollouts(after.own, after.mask, after.rules.geometry, ROLLOUTS, column)
    return losses / ROLLOUTS


def _cells(searched: Searched, column: int) -> tuple[str, str, str]:
    """Return the mean and the standard deviation of a column's w/n, and its mean visits."""
    values = shares(searched.runs)[:, column]
    visits = searched.visits[..., column]
    return f"{values.mean():.3f}", f"{values.std(ddof=1):.3f}", f"{visits.mean():.0f}"


def _all_together(ours: Floats) -> Finding:
    """Test whether the seven reported numbers together look like one of our runs.

    The statistic is the sum of squared deviations from our mean, in standard deviations.
    """
    # Columns share simulations and so are correlated; the reference distribution, made of our own
    # runs, is correlated in the same way.
    middle = ours.mean(axis=0)
    spread = ours.std(axis=0, ddof=1)
    distances = (((ours - middle) / spread) ** 2).sum(axis=1)
    reported = float((((np.array(TABLE_1) / 100 - middle) / spread) ** 2).sum())
    return Finding(
        "all seven: squared distance from our mean, in standard deviations",
        f"{reported:.0f}",
        band(distances, 1),
        agrees=within(reported, distances),
        why="no known fault explains values this high; "
        "ours is the distance of one run from the mean of all runs",
    )


def _mirrored(ours: Floats) -> Iterator[Finding]:
    """Compare mirror images, which have the same value but differ by chance within one run."""
    # Column 4 is its own mirror image.
    for left, right in ((0, 6), (1, 5), (2, 4)):
        reported = TABLE_1[left] - TABLE_1[right]
        differences = 100 * (ours[:, left] - ours[:, right])
        # The wins if each column had 500 simulations of its own.
        wins = [TABLE_1[column] * SIMULATIONS // 100 for column in (left, right)]
        chance = fisher(wins[0], SIMULATIONS, wins[1], SIMULATIONS)
        yield Finding(
            f"column {left + 1} minus its mirror image {right + 1}",
            f"{reported:+d} points",
            f"{band(differences, 1)} points",
            exact="0",
            agrees=within(reported, differences),
            why="mirror symmetry is exact, but the columns of one run share 500 simulations; "
            f"with 500 simulations per column, such a difference would have p = {chance:.0e}",
        )


def _trace(simulations: int, seed: int, number: int) -> list[Any]:
    """Search the empty board; return simulations, means and visits at each mark."""
    agent = make(f"gao:simulations={simulations}")
    assert isinstance(agent, MCTS)
    trace = agent.search(EMPTY, Limit(), np.random.default_rng([seed, number])).trace
    return [
        [mark.simulations, [round(mean or 0.0, 5) for mean in mark.means], mark.visits]
        for mark in trace
        if mark.simulations >= 10  # by then all seven columns have been tried
    ]


def convergence(bench: Workbench) -> Iterator[Part]:
    """Follow the values and visits of the columns during the search."""
    traces = bench.repeat(
        "traces", _trace, bench.size["runs"], bench.size["simulations"], bench.seed
    )
    marks = np.array([mark for mark, _, _ in traces[0]])
    # Both are float64[runs, marks, columns].
    means = [[means for _, means, _ in trace] for trace in traces]
    values = shares(np.array(means, dtype=np.float64))
    visits = np.array([[visits for _, _, visits in trace] for trace in traces], dtype=np.float64)
    # The index of each mark.
    at = {mark: int(np.argmax(marks == mark)) for mark in (80, 100, 400, 500)}
    # float64[runs]: how far the value of column 4 moved in the last fifth of either period.
    early, late = (
        np.abs(values[:, at[end], 3] - values[:, at[begin], 3])
        for begin, end in ((80, 100), (400, 500))
    )
    yield Finding(
        "column 4: changes of the value become smaller",
        "the curves stabilise",
        f"by {mean(early.tolist())} from 80 to 100 simulations; "
        f"by {mean(late.tolist())} from 400 to 500",
        agrees=bool(late.mean() < early.mean()),
    )
    yield Finding(
        "column 4: spread between runs",
        "",
        ", ".join(f"sd {values[:, at[mark], 3].std(ddof=1):.3f} at {mark}" for mark in (100, 500)),
        why="a curve that no longer moves is not yet an accurate value",
    )
    ranks = [
        _rank_correlation(values[run, at[500]], visits[run, at[500]]) for run in range(len(traces))
    ]
    yield Finding(
        "rank correlation of the columns' visits and values after 500 simulations",
        "visits follow values",
        mean(ranks, 2),
        # More than three standard errors above 0.
        agrees=bool(np.mean(ranks) > 3 * np.std(ranks) / np.sqrt(len(ranks)) > 0),
    )
    edge, centre = (
        visits[:, at[500], list(columns)].mean(axis=1) for columns in ((0, 6), (3,))
    )  # float64[runs]
    yield Finding(
        "visits of column 4 and of an edge column (mean of both) after 500 simulations",
        "low values are visited less",
        f"{mean(centre.tolist(), 0)}; and {mean(edge.tolist(), 0)}",
        agrees=bool(centre.mean() > edge.mean()),
    )
    yield _curves("figure-2", "Figure 2: w/n of each column", marks, values, "w/n")
    yield _curves("figure-3", "Figure 3: visits of each column", marks, visits, "visits")


def _rank_correlation(one: Floats, other: Floats) -> float:
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
        f"{caption}. Left, as published: one run of {SIMULATIONS} simulations; right: "
        f"the mean of {len(values)} runs, with the central 95 % of columns 1 and 4"
    )
    data = Table("", tuple(head), tuple(rows))
    return Picture(name, caption, lambda: _draw(marks, values, label), data)


def _draw(marks: Any, values: Floats, label: str) -> Figure:
    figure, (one, many) = panels(10, 4.2, columns=2)
    # The published figure ends here.
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
