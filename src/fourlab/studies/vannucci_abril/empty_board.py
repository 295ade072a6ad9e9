"""Vannucci & Abril's bonus: the same search on the empty board, the mean of 15 runs."""

from collections.abc import Iterator, Mapping

import numpy as np

from fourlab.arena.tournament import Player, Tournament
from fourlab.compiled.rollouts import lane_rollouts
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, SMALL, Figure, frame, panels
from fourlab.solver import Solver
from fourlab.studies.claims import RESULTS, Claim, Estimate, Source, band_of, mean_of, share
from fourlab.studies.reported import reported
from fourlab.studies.searches import Line, Searched, search_all
from fourlab.studies.vannucci_abril.runs import SPECS
from fourlab.studies.verdicts import at_least, may_happen, same_mean
from fourlab.studies.workbench import Part, Picture, Table, Workbench

REPORTED = tuple(reported("vannucci-abril-empty-board")["mean"].tolist())
"""The printed means by column, from left to right."""
EPOCHS = 15
"""Runs per mean."""
OWN_MOVES = 8
"""The agent's moves until it wins."""
MARGIN = 0.1
"""Margin of mean values, of the scale from -1 to +1; 15 runs cannot show less."""
ROLLOUTS = 200_000
"""Random games per column."""
FROZEN = (
    "B1, B2: visits are spread more evenly, and the search exploits the frozen replies; "
    "both raise the means"
)


def conduct(bench: Workbench) -> Iterator[Part]:
    """Compare the values of the columns and the lengths of games."""
    empty = Position()
    searched = search_all(
        bench,
        "runs",
        {name: Line(spec, empty, bench.size["sets"], EPOCHS) for name, spec in SPECS.items()},
    )
    exact = bench.calculate(
        "exact",
        lambda: {str(column): str(value) for column, value in Solver().columns(empty).items()},
    )
    random = bench.calculate(
        "playouts", lambda: [_random_value(empty.play(column), column) for column in range(7)]
    )
    yield from _columns(searched, exact)
    yield _games(bench)
    # The keys are the legend of the figure and the head of the table.
    means = {"report": list(REPORTED)}
    means |= {name: search.runs.mean(axis=0).tolist() for name, search in searched.items()}
    means["both at random"] = random
    rows = []
    for column, printed in enumerate(REPORTED):
        ours = [f"{search.runs[:, column].mean():.3f}" for search in searched.values()]
        rows.append((column, printed, *ours, f"{random[column]:.3f}", exact[str(column)]))
    yield Table("The empty board", ("action", *means, "both perfect"), tuple(rows))
    bars = {
        name: [mean_of(search.runs[:, column].tolist()) for column in range(7)]
        for name, search in searched.items()
    }
    without_spread = {"report": list(REPORTED), "both at random": random}
    bars |= {name: [Estimate(value) for value in values] for name, values in without_spread.items()}
    bars = {name: bars[name] for name in means}
    cells = tuple(
        (
            column,
            name,
            *("" if end is None else f"{end:.4f}" for end in (one.value, one.low, one.high)),
        )
        for name, values in bars.items()
        for column, one in enumerate(values)
    )
    yield Picture(
        "empty-board",
        "Values of the empty board's actions, with their results under perfect play; of our "
        "searches, means of runs with 95 % intervals.",
        lambda: _bars(bars, exact),
        Table("", ("action", "version", "value", "low", "high"), cells),
    )


def _columns(searched: Mapping[str, Searched], exact: Mapping[str, str]) -> Iterator[Claim]:
    """Compare the columns' means and the best column."""
    # In the order of SPECS.
    faithful, corrected = searched.values()
    for column, printed in enumerate(REPORTED):
        runs = faithful.runs[:, column].tolist()
        yield Claim(
            f"empty-board-action-{column}",
            f"action {column}: mean of {EPOCHS} runs",
            Estimate(printed, n=EPOCHS),
            Source.NOTEBOOK,
            mean_of(runs),
            mean_of(corrected.runs[:, column].tolist()),
            f"{exact[str(column)]} (both perfect)",
            same_mean(printed, EPOCHS, runs, MARGIN, RESULTS),
            why=FROZEN,
            statement="empty-board-values",
        )
    best = faithful.sets_first(3)
    corrected_best = corrected.sets_first(3)
    yield Claim(
        "empty-board-best",
        f"action 3 has the best mean of {EPOCHS} runs",
        "yes",
        Source.NOTEBOOK,
        share(*best),
        share(*corrected_best),
        "action 3 wins",
        may_happen(*best),
        at_least(*corrected_best, 0.95),
    )


def _random_value(after: Position, seed: int) -> float:
    """Return the mean result, for the side that just moved, if both sides play at random."""
    wins, _, losses, _ = lane_rollouts(after.own, after.mask, after.rules.geometry, ROLLOUTS, seed)
    # Rollouts count from the point of view of the side to move.
    return (losses - wins) / ROLLOUTS


def _games(bench: Workbench) -> Claim:
    """Compare the length of games against a random opponent, decided by means of 15 runs."""
    players = (Player(f"{SPECS['faithful']},runs={EPOCHS}", name="faithful"), Player("random"))
    games = bench.play(
        "games",
        Tournament(
            players, openings="empty", rounds=bench.size["games"], starts="fixed", seed=bench.seed
        ),
    )
    # The agent has red and moves first; a result of 1 is red's win.
    moves = [(game.plies + 1) // 2 for game in games if game.result == 1]
    quantity = f"the agent's moves until it wins; it won {share(len(moves), len(games))}"
    # At smoke scale it may not win at all.
    return Claim(
        "empty-board-moves",
        quantity,
        Estimate(OWN_MOVES, digits=0),
        Source.NOTEBOOK,
        band_of(moves, 1) if moves else "never",
        # One game has one length: all that can be tested is whether such games happen.
        reproduced=may_happen(moves.count(OWN_MOVES), len(moves)) if moves else None,
    )


def _bars(bars: dict[str, list[Estimate]], exact: dict[str, str]) -> Figure:
    figure, (axes,) = panels(8, 3.6)
    for place, (name, values) in enumerate(bars.items()):
        axes.bar(
            # Four bars of width 0.2, centred on the column.
            np.arange(7) + 0.2 * (place - 1.5),
            [one.value for one in values],
            width=0.2,
            # A value without an interval has half a width of 0, and no caps.
            yerr=[one.half for one in values] if values[0].half else None,
            error_kw={"linewidth": 1, "capsize": 2},
            color=REPORTED_COLOUR if name == "report" else COLOURS[place],
            label=name,
        )
    axes.set_xticks(range(7), [f"{column}\n{exact[str(column)]}" for column in range(7)])
    axes.axhline(0, color="black", linewidth=0.8)
    frame(axes, SMALL, "y", ylabel="mean result")
    return figure
