"""Document 000's remedy: the mean of 25 searches, drawn as Figure 2, for every move of its line."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from fourlab.arena.tables import Table
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS
from fourlab.solver import Solver
from fourlab.studies.compare import consistent, may_happen, share
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.searches import Floats, Line, Searched, band, drawn, means_of_so_many, search_all, within
from fourlab.studies.vannucci_abril.exact import ACTIONS, GIVEN, REPORTED, exact_values, told
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RUNS, ITERATIONS = 25, 1000
"""As the notebooks had it; the text says 2048 iterations, and the command's default was 1048."""
SPREAD = {4: 0.109, 6: 0.311}
"""The standard deviation of the document's 25 runs, worked out from the running means that it printed."""
MARKERS = {4: 0.713, 6: 0.450}
"""The mean markers of Figure 2: the means of the running means."""
OWN_MOVES = ((4, ()), (6, (4, 6)), (4, (4, 6, 6, 4)))
"""Our moves by the document, each after what both sides had played."""
SPECS = {
    "faithful": f"vannucci-abril:faithful=1,simulations={ITERATIONS}",
    "corrected": f"vannucci-abril:simulations={ITERATIONS}",
}
FROZEN = "B1, B2: √log(N/n) never stops exploring, and the opponent's reply is frozen"


def why(place: int, corrected: Searched) -> str:
    """Why an action's means are what they are; the corrected search is far from the truth where it hardly looks."""
    if place == 0:
        return FROZEN
    visits = corrected.visits.sum(axis=(0, 1))
    seldom = f"corrected, UCT hardly visits it ({100 * visits[place] / visits.sum():.1f} % of visits)"
    return f"{FROZEN}; {seldom}, and a mean over visits, which counts what was tried and found bad, is not a value"


def running(values: Floats) -> Floats:
    """The mean of the first, the first two, the first three …"""
    return np.array(np.cumsum(values, axis=0) / np.arange(1, len(values) + 1)[:, None])


def figure_2(bench: Workbench) -> Iterator[Part]:
    """25 searches, their means and their spread."""
    lines = {name: Line(spec, GIVEN, bench.size["sets"], RUNS) for name, spec in SPECS.items()}
    found = search_all(bench, "runs", lines)
    exact = exact_values(GIVEN)
    faithful, corrected = found["faithful"], found["corrected"]
    resampled = {name: means_of_so_many(each.runs, RUNS, bench.seed) for name, each in found.items()}
    for place, action in enumerate(ACTIONS):
        ours = {
            name: f"{each.means[0, :, place].mean():.3f}; such means: {band(resampled[name][:, place])}"
            for name, each in found.items()
        }
        yield Finding(
            f"action {action}: mean of {RUNS} runs",
            f"{REPORTED[action]:.4f}",
            ours["faithful"],
            ours["corrected"],
            truth=told(exact[action]),
            agrees=consistent(REPORTED[action], faithful.runs[:, place].tolist(), of=RUNS),
            why=why(place, corrected),
        )
    yield from _spreads(faithful, corrected, bench.seed)
    yield _ranking("one run ranks action 4 first", "", faithful.share_first(0), corrected.share_first(0))
    yield _ranking(f"the mean of {RUNS} runs ranks action 4 first", "yes", faithful.sets_first(0), corrected.sets_first(0))
    first = faithful.means[0]
    yield _picture(
        "figure-2-as-drawn", "Figure 2 as the document drew it: 25 successive running means (B3)", {"": running(first)}
    )
    sides = {"as coded (B1, B2)": first, "corrected": corrected.means[0]}
    yield _picture("figure-2", "Figure 2 as it should be: 25 independent values, dashed the exact ones", sides, exact)


def _spreads(faithful: Searched, corrected: Searched, seed: int) -> Iterator[Finding]:
    """How far runs are from each other, and what becomes of that if running means are drawn."""
    again = drawn(faithful.runs, RUNS, seed)
    averaged = np.cumsum(again, axis=1) / np.arange(1, RUNS + 1)[:, None]
    for place, action in enumerate(ACTIONS):
        deviations = again[:, :, place].std(axis=1, ddof=1)
        yield Finding(
            f"action {action}: standard deviation of one run",
            f"{SPREAD[action]:.3f}",
            band(deviations),
            f"{corrected.runs[:, place].std(ddof=1):.3f}",
            agrees=within(SPREAD[action], deviations),
            why="not in the document: worked out from its running means; ours are what 25 runs show",
        )
    for place, action in enumerate(ACTIONS):
        off = averaged[:, :, place].mean(axis=1) - averaged[:, -1, place]
        yield Finding(
            f"action {action}: mean marker of Figure 2 less the mean that its caption gives",
            f"{MARKERS[action] - REPORTED[action]:+.3f}",
            band(off),
            "0",
            agrees=within(MARKERS[action] - REPORTED[action], off),
            why="B3: the marker is a mean of running means",
        )
        boxes, boxes_drawn = (np.subtract(*np.quantile(each[:, :, place], [0.75, 0.25], axis=1)) for each in (again, averaged))
        yield Finding(
            f"action {action}: box of independent runs, in boxes as drawn",
            "about 5" if action == 6 else "",
            band(boxes / boxes_drawn, 1),
            "1",
            agrees=within(5, boxes / boxes_drawn) if action == 6 else None,
            why="B3: running means lie closer and closer together",
        )


def _ranking(what: str, document: str, faithful: tuple[int, int], corrected: tuple[int, int]) -> Finding:
    agrees = may_happen(*faithful) if document else None
    return Finding(what, document, share(*faithful), share(*corrected), "yes", agrees, FROZEN)


def _picture(name: str, caption: str, panels: dict[str, Floats], exact: dict[int, Fraction] | None = None) -> Picture:
    head = ("run", *(f"action {action} {panel}".strip() for panel in panels for action in ACTIONS))
    rows = [(run + 1, *(f"{each[run, place]:.6f}" for each in panels.values() for place in (0, 1))) for run in range(RUNS)]
    return Picture(name, caption, lambda: _boxes(panels, exact or {}), Table("", head, tuple(rows)))


def _boxes(panels: dict[str, Floats], exact: dict[int, Fraction]) -> "Figure":
    """Box plots as the document's: filled, with mean markers and a dashed grid."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1 + 4.2 * len(panels), 4.2), layout="constrained")
    figure.suptitle("Convergence of actions for the first move", fontsize="large")
    for axes, (title, values) in zip(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels.items(), strict=True):
        _box(axes, values, exact)
        axes.set_title(title, fontsize="medium")
    return figure


def _box(axes: "Axes", values: Floats, exact: dict[int, Fraction]) -> None:
    boxes = axes.boxplot([values[:, 0], values[:, 1]], patch_artist=True, showmeans=True, medianprops={"color": "black"})
    for place, action in enumerate(ACTIONS):
        boxes["boxes"][place].set_facecolor(COLOURS[place])
        boxes["boxes"][place].set_alpha(0.6)
        if action in exact:
            axes.hlines(float(exact[action]), place + 0.6, place + 1.4, color=COLOURS[3], linestyle="--")
    axes.set_xticks([1, 2], [f"Action {action}" for action in ACTIONS])
    axes.set_xlabel("Actions")
    axes.set_ylabel("Mean value")
    axes.grid(axis="y", linestyle="--", alpha=0.6)


def own_moves(bench: Workbench) -> Iterator[Part]:
    """The same for the moves that follow."""
    positions, lines = list[Position](), dict[str, Line]()
    for number, (_, before) in enumerate(OWN_MOVES):
        position = GIVEN
        for column in before:
            position = position.play(column)
        positions.append(position)
        lines |= {f"{name} {number}": Line(spec, position, bench.size["sets"], RUNS) for name, spec in SPECS.items()}
    found = search_all(bench, "moves", lines)
    solver, rows = Solver(), []
    for number, (position, (move, before)) in enumerate(zip(positions, OWN_MOVES, strict=True)):
        exact, place = exact_values(position), position.legal_columns().index(move)
        sets = {name: found[f"{name} {number}"].sets_first(place) for name in SPECS}
        best = max(exact, key=lambda column: exact[column])
        yield Finding(
            f"own move {number + 1}{' after ' + ' '.join(map(str, before)) if before else ''}",
            str(move),
            f"{move} by {share(*sets['faithful'])} means of {RUNS} runs",
            f"{move} by {share(*sets['corrected'])}",
            truth=str(best),
            agrees=may_happen(*sets["faithful"]),
            why=FROZEN,
        )
        for column, solved in solver.columns(position).items():
            at = position.legal_columns().index(column)
            means = [f"{found[f'{name} {number}'].runs[:, at].mean():.3f}" for name in SPECS]
            rows.append((number + 1, column, *means, told(exact[column]), str(solved)))
    head = ("own move", "action", "mean value, faithful", "mean value, corrected", "exact against lots", "both perfect")
    yield Table("What each action is worth along the line 4 (6) 6 (4) 4", head, tuple(rows))
