"""Vannucci & Abril's remedy: the mean of 25 searches, for Figure 2 and every move of the line."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, Axes, Figure, panels
from fourlab.solver import Solver
from fourlab.studies.compare import consistent, may_happen, share
from fourlab.studies.searches import (
    Floats,
    Line,
    Searched,
    band,
    resampled,
    resampled_means,
    search_all,
    within,
)
from fourlab.studies.vannucci_abril.exact import (
    ACTIONS,
    GIVEN,
    REPORTED,
    exact_values,
    with_decimals,
)
from fourlab.studies.workbench import Finding, Part, Picture, Table, Workbench

RUNS = 25
ITERATIONS = 1000
"""As in the notebooks; the text says 2048 iterations, and the command's default is 1048."""
SPREAD = {4: 0.109, 6: 0.311}
"""The standard deviation of the report's 25 runs, derived from the running means it prints."""
MARKERS = {4: 0.713, 6: 0.450}
"""The mean markers of Figure 2, which are means of running means."""
OWN_MOVES = ((4, ()), (6, (4, 6)), (4, (4, 6, 6, 4)))
"""The agent's moves in the report, each with the moves of both sides before it."""
SPECS = {
    "faithful": f"vannucci-abril:faithful=1,simulations={ITERATIONS}",
    "corrected": f"vannucci-abril:simulations={ITERATIONS}",
}
FROZEN = "B1, B2: √log(N/n) never stops exploring, and the opponent's reply is frozen"


def why(place: int, corrected: Searched) -> str:
    """Explain the means of an action, given by its index in ACTIONS.

    The corrected search is far from the exact value of action 6, which it hardly visits.
    """
    if place == 0:
        return FROZEN
    # float64[columns]: the visits of all sets and runs.
    visits = corrected.visits.sum(axis=(0, 1))
    return (
        f"{FROZEN}; the corrected UCT hardly visits it "
        f"({100 * visits[place] / visits.sum():.1f} % of visits), "
        "and a mean over visits, which includes refuted continuations, is not a value"
    )


def running(values: Floats) -> Floats:
    """Return the means of the first row, the first two rows, the first three rows, …"""
    return np.array(np.cumsum(values, axis=0) / np.arange(1, len(values) + 1)[:, None])


def figure_2(bench: Workbench) -> Iterator[Part]:
    """Compare the means and the spread of 25 searches."""
    lines = {name: Line(spec, GIVEN, bench.size["sets"], RUNS) for name, spec in SPECS.items()}
    searched = search_all(bench, "runs", lines)
    exact = exact_values(GIVEN)
    faithful, corrected = searched["faithful"], searched["corrected"]
    means = {
        name: resampled_means(search.runs, RUNS, bench.seed) for name, search in searched.items()
    }
    for place, action in enumerate(ACTIONS):
        # The mean of our first 25 runs, then the distribution of such means.
        ours = {
            name: f"{search.means[0, :, place].mean():.3f}; "
            f"resampled means {band(means[name][:, place])}"
            for name, search in searched.items()
        }
        yield Finding(
            f"action {action}: mean of {RUNS} runs",
            f"{REPORTED[action]:.4f}",
            ours["faithful"],
            ours["corrected"],
            exact=with_decimals(exact[action]),
            agrees=consistent(REPORTED[action], faithful.runs[:, place].tolist(), of=RUNS),
            why=why(place, corrected),
        )
    yield from _spreads(faithful, corrected, bench.seed)
    yield _ranking(
        "one run ranks action 4 first", "", faithful.share_first(0), corrected.share_first(0)
    )
    yield _ranking(
        f"the mean of {RUNS} runs ranks action 4 first",
        "yes",
        faithful.sets_first(0),
        corrected.sets_first(0),
    )
    # float64[RUNS, columns]: the first set, as many runs as the report has.
    first = faithful.means[0]
    yield _picture(
        "figure-2-as-drawn",
        "Figure 2 as published: 25 successive running means (B3)",
        {"": running(first)},
    )
    yield _picture(
        "figure-2",
        "Figure 2 corrected: 25 independent values; dashed lines mark the exact values",
        {"as coded (B1, B2)": first, "corrected": corrected.means[0]},
        exact,
    )


def _spreads(faithful: Searched, corrected: Searched, seed: int) -> Iterator[Finding]:
    """Compare the spread of runs with the spread of the running means that the report draws."""
    # float64[RESAMPLES, RUNS, columns]
    sets = resampled(faithful.runs, RUNS, seed)
    # The running means of every resampled set, as the report's program keeps them.
    averaged = np.cumsum(sets, axis=1) / np.arange(1, RUNS + 1)[:, None]
    for place, action in enumerate(ACTIONS):
        # float64[RESAMPLES]: the spread of one run, estimated from 25.
        deviations = sets[:, :, place].std(axis=1, ddof=1)
        yield Finding(
            f"action {action}: standard deviation of one run",
            f"{SPREAD[action]:.3f}",
            band(deviations),
            f"{corrected.runs[:, place].std(ddof=1):.3f}",
            agrees=within(SPREAD[action], deviations),
            why="not in the report, but derived from its running means; "
            "ours is estimated from sets of 25 runs",
        )
    for place, action in enumerate(ACTIONS):
        # The last running mean is the mean of all 25 runs, which the caption prints.
        offset = averaged[:, :, place].mean(axis=1) - averaged[:, -1, place]
        yield Finding(
            f"action {action}: mean marker of Figure 2 minus the mean in its caption",
            f"{MARKERS[action] - REPORTED[action]:+.3f}",
            band(offset),
            "0",
            agrees=within(MARKERS[action] - REPORTED[action], offset),
            why="B3: the marker is a mean of running means",
        )
        # Interquartile ranges, the heights of the boxes.
        boxes, boxes_drawn = (
            np.subtract(*np.quantile(values[:, :, place], [0.75, 0.25], axis=1))
            for values in (sets, averaged)
        )
        ratios = boxes / boxes_drawn
        yield Finding(
            f"action {action}: box of independent runs, relative to the box drawn",
            "about 5" if action == 6 else "",
            band(ratios, 1),
            "1",
            agrees=within(5, ratios) if action == 6 else None,
            why="B3: successive running means lie ever closer together",
        )


def _ranking(
    quantity: str, reported: str, faithful: tuple[int, int], corrected: tuple[int, int]
) -> Finding:
    # Quantities that the report does not give are shown without a verdict.
    agrees = may_happen(*faithful) if reported else None
    return Finding(quantity, reported, share(*faithful), share(*corrected), "yes", agrees, FROZEN)


def _picture(
    name: str, caption: str, sets: dict[str, Floats], exact: dict[int, Fraction] | None = None
) -> Picture:
    head = ("run", *(f"action {action} {title}".strip() for title in sets for action in ACTIONS))
    rows = [
        (run + 1, *(f"{values[run, place]:.6f}" for values in sets.values() for place in (0, 1)))
        for run in range(RUNS)
    ]
    return Picture(name, caption, lambda: _boxes(sets, exact or {}), Table("", head, tuple(rows)))


def _boxes(sets: dict[str, Floats], exact: dict[int, Fraction]) -> Figure:
    """Draw box plots in the report's style: filled, with mean markers and a dashed grid."""
    width = 1 + 4.2 * len(sets)
    figure, all_axes = panels(width, 4.2, columns=len(sets), sharey=True)
    figure.suptitle("Convergence of actions for the first move", fontsize="large")
    for axes, (title, values) in zip(all_axes, sets.items(), strict=True):
        _box(axes, values, exact)
        axes.set_title(title, fontsize="medium")
    return figure


def _box(axes: Axes, values: Floats, exact: dict[int, Fraction]) -> None:
    boxes = axes.boxplot(
        [values[:, 0], values[:, 1]],
        patch_artist=True,
        showmeans=True,
        medianprops={"color": "black"},
    )
    for place, action in enumerate(ACTIONS):
        boxes["boxes"][place].set_facecolor(COLOURS[place])
        boxes["boxes"][place].set_alpha(0.6)
        if action in exact:
            # Boxes stand at 1, 2, …
            axes.hlines(
                float(exact[action]), place + 0.6, place + 1.4, color=COLOURS[3], linestyle="--"
            )
    axes.set_xticks([1, 2], [f"Action {action}" for action in ACTIONS])
    axes.set(xlabel="Actions", ylabel="Mean value")
    axes.grid(axis="y", linestyle="--", alpha=0.6)


def own_moves(bench: Workbench) -> Iterator[Part]:
    """Rank the actions at each of the agent's moves along the reported line."""
    positions = list[Position]()
    lines = dict[str, Line]()
    for number, (_, before) in enumerate(OWN_MOVES):
        position = GIVEN
        for column in before:
            position = position.play(column)
        positions.append(position)
        for name, spec in SPECS.items():
            # One piece of work for all three positions, because workers are slow to start.
            lines[f"{name} {number}"] = Line(spec, position, bench.size["sets"], RUNS)
    searched = search_all(bench, "moves", lines)
    solver = Solver()
    rows = []
    for number, (position, (move, before)) in enumerate(zip(positions, OWN_MOVES, strict=True)):
        exact = exact_values(position)
        columns = position.legal_columns()
        searches = [searched[f"{name} {number}"] for name in SPECS]
        # The share of sets, since the report ranks by the mean of one set.
        faithful, corrected = (search.sets_first(columns.index(move)) for search in searches)
        after = f" after {' '.join(map(str, before))}" if before else ""
        yield Finding(
            f"the agent's move {number + 1}{after}",
            str(move),
            f"{move} in {share(*faithful)} means of {RUNS} runs",
            f"{move} in {share(*corrected)}",
            exact=str(max(exact, key=lambda column: exact[column])),
            agrees=may_happen(*faithful),
            why=FROZEN,
        )
        for column, solved in solver.columns(position).items():
            place = columns.index(column)
            means = [f"{search.runs[:, place].mean():.3f}" for search in searches]
            rows.append(
                (number + 1, column, *means, with_decimals(exact[column]), str(solved)),
            )
    head = (
        "own move",
        "action",
        "mean value, faithful",
        "mean value, corrected",
        "exact against a random opponent",
        "both perfect",
    )
    yield Table("Value of each action along the line 4 (6) 6 (4) 4", head, tuple(rows))
