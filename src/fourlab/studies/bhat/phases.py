"""Bhat's Figures 1 and 2: the four phases of one simulation, from a search in plain Python."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fourlab.agents.mcts.textbook import ConnectFour, Node, TextbookSearch
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, Axes, Figure, panels
from fourlab.studies.bhat.table_5 import BOARD
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Verdict, mean_of
from fourlab.studies.verdicts import same_mean
from fourlab.studies.workbench import Part, Picture, Table, Workbench

C = math.sqrt(2)
"""The report's exploration constant, for values from 0 to 1."""
SIMULATIONS = 40
DRAWN = 12
"""The simulation of the picture: the tree has two levels by then."""
MARGIN = 0.05
"""Margin of the value of the middle column, of 1."""
MIDDLE = 2
PHASES = ("1 selection", "2 expansion", "3 simulation", "4 backpropagation")
GREY, PATH = "#bbbbbb", COLOURS[3]


@dataclass(frozen=True)
class Level:
    """The moves at one node of the path, before and after a simulation."""

    before: Sequence[tuple[int, int]]
    """Wins and visits of every move; (0, 0) for one that has not been tried."""
    after: Sequence[tuple[int, int]]
    chosen: int
    """The place of the path's move among them."""
    is_new: bool
    """Whether this simulation expanded the node."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Compare the plain program with the compiled search, and draw one simulation."""
    runs = bench.size["runs"]
    plain = bench.repeat("plain", plain_value, runs, bench.seed)
    compiled = bench.repeat("compiled", compiled_value, runs, bench.seed)
    one, other = mean_of(plain), mean_of(compiled)
    difference = one.value - other.value
    half = math.hypot(one.half, other.half)
    yield Claim(
        "figure-2-twin",
        f"value of the middle column after {SIMULATIONS} rollouts: Figure 2 in plain Python, less "
        "the compiled search of the other experiments",
        "",
        Source.OURS,
        faithful=Estimate(difference, difference - half, difference + half, runs),
        exact=Estimate(0.0, digits=0),
        # Both programs are ours: do the experiments run what the report describes?
        true=same_mean(other.value, runs, plain, MARGIN),
    )
    yield Claim(
        "figure-1-expansion",
        "children that an expansion creates",
        "an unexplored child is picked at random",
        Source.TEXT,
        faithful="all of them, and one is picked at random",
        reproduced=Verdict(Answer.AGREES, "reading of the program"),
    )
    yield Claim(
        "figure-1-trees",
        "game trees",
        "the two versions maintain separate game trees",
        Source.TEXT,
        faithful="a new tree for every move: nothing is kept",
        reproduced=Verdict(Answer.DIFFERS, "reading of the program"),
        why="the trees are separate, but not maintained: what a search learned is lost",
    )
    levels, result = simulation(bench.seed)
    rows = [
        (depth, move + 1, "yes" if move == level.chosen else "", *before, *after)
        for depth, level in enumerate(levels, 1)
        for move, (before, after) in enumerate(zip(level.before, level.after, strict=True))
    ]
    head = ("depth", "column", "on the path", "wins before", "visits before", "wins", "visits")
    caption = (
        f"Figure 1 with a real search: simulation {DRAWN} on the empty board, with wins / rollouts "
        f"of every child of the path. {result}."
    )
    yield Picture("figure-1", caption, lambda: _draw(levels, result), Table("", head, tuple(rows)))


def _search(rng: np.random.Generator) -> TextbookSearch[Position, int]:
    """Return the search of Figure 2 as coded: results are -1 or +1, so c is twice as large."""
    return TextbookSearch(
        ConnectFour(),
        lambda n: int(rng.integers(n)),
        c=2 * C,
        expand_all=True,
        past_wins=True,
        # Wins are counted, so a draw is as bad as a loss.
        draw=-1.0,
        ties="last",
    )


def plain_value(seed: int, number: int) -> float:
    """Return the value of the middle column after a search in plain Python."""
    rng = np.random.default_rng([seed, number])
    root = _search(rng).search(Position(board=BOARD), SIMULATIONS)
    edge = root.edges[MIDDLE]
    return (edge.total / edge.visits + 1) / 2


def compiled_value(seed: int, number: int) -> float:
    """Return the value of the middle column after a compiled search."""
    agent = make(f"bhat-mc{SIMULATIONS}:faithful=1")
    decision = agent.decide(Position(board=BOARD), rng=np.random.default_rng([seed, number]))
    return ((decision.analysis.columns[MIDDLE].value or 0.0) + 1) / 2


def simulation(seed: int) -> tuple[list[Level], str]:
    """Return simulation DRAWN, level by level, and its result in words."""
    search = _search(np.random.default_rng(seed))
    root = search.make_node(Position(board=BOARD), visits=0)
    for number in range(1, DRAWN + 1):
        nodes = len(search.nodes)
        path, result, _, rolled_out = search.descend(root)
        before = [_counts(node) for node, _ in path]
        search.back_up(path, result, rolled_out)
        root.visits += 1
        if number == DRAWN:
            # Nodes are numbered as they are made.
            old = {id(node) for node in search.nodes[:nodes]}
    levels = [
        Level(counts, _counts(node), node.edges.index(edge), id(node) not in old)
        for counts, (node, edge) in zip(before, path, strict=True)
    ]
    # The result is that of the side that moved last; player 1 moves at even plies.
    first_wins = result > 0 if len(path) % 2 else result < 0
    words = "draw" if result == 0 else f"player {1 if first_wins else 2} wins"
    return levels, f"The random game from the new child: {words}"


def _counts(node: Node[Position, int]) -> list[tuple[int, int]]:
    """Return the wins and visits of every move at a node."""
    # Totals are wins less the other results.
    return [(round((edge.total + edge.visits) / 2), edge.visits) for edge in node.edges]


def _draw(levels: Sequence[Level], result: str) -> Figure:
    figure, all_axes = panels(12, 3.8, columns=len(PHASES))
    for phase, axes in enumerate(all_axes):
        # The new node has no children before it is expanded.
        shown = [level for level in levels if phase > 0 or not level.is_new]
        _tree(axes, phase, shown)
        if phase >= 2:
            x, y = _place(levels[-1].chosen, len(levels))
            axes.annotate(
                result.rpartition(": ")[2],
                (x, y - 0.2),
                (x, y - 1.0),
                ha="center",
                fontsize="small",
                arrowprops={"arrowstyle": "<-" if phase == 2 else "->", "linestyle": "--"},
            )
        axes.set(title=PHASES[phase], xlim=(-0.7, 4.7), ylim=(-len(levels) - 1.4, 0.5))
        axes.axis("off")
    return figure


def _place(move: int, depth: int) -> tuple[float, float]:
    return float(move), float(-depth)


def _tree(axes: Axes, phase: int, levels: Sequence[Level]) -> None:
    """Draw the children of the path, with the path in colour."""
    parent = (float(MIDDLE), 0.0)
    box: dict[str, Any] = {"boxstyle": "round,pad=0.25", "facecolor": "white"}
    axes.text(*parent, "root", ha="center", va="center", fontsize="small", bbox=box)
    for depth, level in enumerate(levels, 1):
        counts = level.after if phase == len(PHASES) - 1 else level.before
        for move, (wins, visits) in enumerate(counts):
            on_path = move == level.chosen
            colour = PATH if on_path else GREY
            place = _place(move, depth)
            axes.plot(*zip(parent, place, strict=True), color=colour, linewidth=1, zorder=0)
            axes.text(
                *place,
                f"{wins}/{visits}",
                ha="center",
                va="center",
                fontsize="x-small",
                bbox={**box, "edgecolor": colour},
            )
        parent = _place(level.chosen, depth)
