"""Document 000's bonus: the same search on the empty board, the mean of 15 runs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fourlab.arena.tables import Table
from fourlab.arena.tournament import Player, Tournament
from fourlab.compiled.rollouts import lane_rollouts
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS
from fourlab.solver import Solver
from fourlab.studies.compare import consistent, may_happen, mean, share
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.searches import Floats, Line, band, search_all
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORTED = (0.147, 0.115, 0.190, 0.353, 0.169, 0.062, 0.078)
"""The printed means by column, the first the leftmost."""
EPOCHS, ITERATIONS, OWN_MOVES = 15, 1000, 8
SPECS = {
    "faithful": f"vannucci-abril:faithful=1,simulations={ITERATIONS}",
    "corrected": f"vannucci-abril:simulations={ITERATIONS}",
}
PLAYOUTS = 200_000
FROZEN = "B1, B2: visits are spread more evenly, and what beats the frozen replies is found; both raise the means"


def conduct(bench: Workbench) -> Iterator[Part]:
    """The columns' values, and games."""
    empty = Position()
    found = search_all(bench, "runs", {name: Line(spec, empty, bench.size["sets"], EPOCHS) for name, spec in SPECS.items()})
    exact = bench.calculate("exact", lambda: {str(column): str(each) for column, each in Solver().columns(empty).items()})
    flat = bench.calculate("playouts", lambda: [_flat(empty.play(column), column) for column in range(7)])
    ours = {name: each.runs for name, each in found.items()}
    for column, reported in enumerate(REPORTED):
        yield Finding(
            f"column {column + 1}: mean of {EPOCHS} runs",
            f"{reported:.3f}",
            mean(ours["faithful"][:, column].tolist()),
            mean(ours["corrected"][:, column].tolist()),
            f"{exact[str(column)]} (both perfect)",
            consistent(reported, ours["faithful"][:, column].tolist(), of=EPOCHS),
            FROZEN,
        )
    sets = [each.sets_first(3) for each in found.values()]
    yield Finding(
        f"column 4 has the best mean of {EPOCHS} runs",
        "yes",
        share(*sets[0]),
        share(*sets[1]),
        "column 4 wins",
        may_happen(*sets[0]),
    )
    yield _games(bench)
    rows = [
        (
            column + 1,
            REPORTED[column],
            *(f"{each[:, column].mean():.3f}" for each in ours.values()),
            f"{flat[column]:.3f}",
            exact[str(column)],
        )
        for column in range(7)
    ]
    data = Table(
        "The empty board", ("column", "document", "faithful", "corrected", "both at random", "both perfect"), tuple(rows)
    )
    yield data
    heights = {"document": list(REPORTED)} | {name: each.mean(axis=0).tolist() for name, each in ours.items()}
    heights["both at random"] = flat
    yield Picture(
        "empty-board",
        "The empty board's columns, and what they are worth to perfect players",
        lambda: _bars(heights, exact),
        data,
    )


def _flat(after: Position, seed: int) -> float:
    """What a column is worth if both sides draw lots from there on; the side to move is the other one."""
    wins, _, losses, _ = lane_rollouts(after.own, after.mask, after.rules.geometry, PLAYOUTS, seed)
    return (losses - wins) / PLAYOUTS


def _games(bench: Workbench) -> Finding:
    """Games against a random opponent by the means of 15 runs."""
    players = (Player(f"{SPECS['faithful']},runs={EPOCHS}", name="faithful"), Player("random"))
    games = bench.play(
        "games", Tournament(players, openings="empty", rounds=bench.size["games"], starts="fixed", seed=bench.seed)
    )
    lengths = np.array([(game.plies + 1) // 2 for game in games if game.result == 1], dtype=np.float64)
    if not lengths.size:
        return Finding("own moves until the game is won", str(OWN_MOVES), "never")
    told = f"{band(lengths, 1)}; won {share(len(lengths), len(games))}"
    return Finding("own moves until the game is won", str(OWN_MOVES), told, agrees=_so_many_moves(lengths))


def _so_many_moves(lengths: Floats) -> bool | None:
    """Whether games as long as the document's, and as short, may well be among ours."""
    so_extreme = min((lengths >= OWN_MOVES).sum(), (lengths <= OWN_MOVES).sum())
    return may_happen(int(so_extreme), len(lengths))


def _bars(heights: dict[str, list[float]], exact: dict[str, str]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.6), layout="constrained")
    axes = figure.subplots()
    for place, (name, values) in enumerate(heights.items()):
        axes.bar(np.arange(7) + 0.2 * (place - 1.5), values, width=0.2, color=COLOURS[place], label=name)
    axes.set_xticks(range(7), [f"{column + 1}\n{exact[str(column)]}" for column in range(7)])
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_ylabel("mean result")
    axes.legend(fontsize="small")
    axes.grid(axis="y", alpha=0.3)
    return figure
