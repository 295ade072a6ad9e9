"""Gao's Table I: the search's estimates of the empty board's columns after 500 simulations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fourlab.compiled.rollouts import lane_rollouts
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, SMALL, Figure, frame, panels
from fourlab.solver import Solver
from fourlab.studies.claims import Answer, Claim, Estimate, Kind, Source, Verdict, band_of, share
from fourlab.studies.proportions import freeman_halton
from fourlab.studies.reported import reported
from fourlab.studies.rules import PERCENT
from fourlab.studies.searches import Floats, Line, Searched, central_interval, search_all
from fourlab.studies.verdicts import may_happen, same_number, typical
from fourlab.studies.workbench import Part, Picture, Table, Workbench

TABLE_1 = tuple(map(int, reported("gao-table-1")["winning probability (%)"]))
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
MARGIN = 20.0
"""Margin of a column's value, in points: single runs differ by 9 points (standard deviation)."""
MIRROR_MARGIN = 20.0
"""Margin of the difference of two columns in one run, in points; reported ones are smaller."""
DISTANCE_MARGIN = 30.0
"""Margin of the squared distance; that of a run of ours is 7 on average, one per column."""
PRINTED = 0.5
"""Reported points are whole numbers."""
NO_FAULT = (
    "no known fault explains values this high, because the program is not public. Games between "
    "random players are won less often, too, and longer searches do not reach these levels "
    "(Figures 2 and 3). Corrected is a tree of two players"
)


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
    # float64[runs, 7], in percent like the report
    ours = 100 * shares(searched["random"].runs)
    two_players = 100 * shares(searched["player"].runs)
    for column, printed in enumerate(TABLE_1):
        yield Claim(
            f"table-1-column-{column + 1}",
            f"column {column + 1}: winning probability",
            Estimate(printed, unit="%", digits=0),
            Source.TEXT,
            faithful=_percent(ours[:, column]),
            corrected=_percent(two_players[:, column]),
            exact=f"{exact[column]} (both perfect)",
            reproduced=typical(
                printed, ours[:, column].tolist(), MARGIN, f"{MARGIN:g} points", PERCENT
            ),
            statement="table-1",
        )
    yield _all_together(ours)
    yield from _mirrored(ours)
    yield from _best_column(searched, exact)
    table = _table(searched, random, exact)
    yield table
    yield Picture(
        "table-1",
        f"Table I and our {len(ours):,} runs: bars are means, lines the central 95 % of single "
        "runs. Below the columns are their results under perfect play",
        lambda: _draw(ours, two_players, random, exact),
        table,
    )


def _percent(values: Floats) -> Estimate:
    return replace(band_of(values.tolist(), 1), unit="%")


def _best_column(searched: Mapping[str, Searched], exact: Sequence[str]) -> Iterator[Claim]:
    """Compare how often one run ranks column 4 first."""
    # Columns count from 0 here: 3 is the report's column 4.
    best = {name: search.share_first(3) for name, search in searched.items()}
    winning = [column + 1 for column, value in enumerate(exact) if value.startswith("wins")]
    true = Verdict(Answer.AGREES if winning == [4] else Answer.DIFFERS, "comparison")
    quantity = "column 4 is best in one run"
    yield Claim(
        "table-1-best",
        quantity,
        "yes",
        Source.TEXT,
        faithful=share(*best["random"]),
        corrected=share(*best["player"]),
        exact="column 4 wins",
        reproduced=may_happen(*best["random"]),
        true=true,
        why="column 4 is the only first move that wins, "
        "but a single run of 500 simulations often prefers another",
    )
    yield Claim(
        "table-1-best-frozen",
        f"{quantity}, replies frozen",
        "yes",
        Source.TEXT,
        faithful=share(*best["frozen"]),
        corrected=share(*best["random"]),
        exact="column 4 wins",
        reproduced=may_happen(*best["frozen"]),
        true=true,
        labels={"faithful": "replies frozen", "corrected": "replies sampled anew"},
        why="B2: in case the program freezes the opponent's replies, as Vannucci & Abril's does",
        kind=Kind.READING,
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
    for column, printed in enumerate(TABLE_1):
        cells = [cell for search in searched.values() for cell in _cells(search, column)]
        rows.append((column + 1, printed, *cells, f"{random[column]:.3f}", exact[column]))
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


def _all_together(ours: Floats) -> Claim:
    """Test whether the seven reported numbers together look like one of our runs.

    The statistic is the sum of squared deviations from our mean, in standard deviations.
    """
    # Columns share simulations and so are correlated; the reference distribution, made of our own
    # runs, is correlated in the same way.
    middle = ours.mean(axis=0)
    spread = ours.std(axis=0, ddof=1)
    distances = (((ours - middle) / spread) ** 2).sum(axis=1)
    printed = float((((np.array(TABLE_1) - middle) / spread) ** 2).sum())
    return Claim(
        "table-1-distance",
        "all seven: squared distance of a run from our mean, in standard deviations",
        Estimate(printed, digits=0),
        Source.TEXT,
        faithful=band_of(distances.tolist(), 1),
        reproduced=typical(
            printed,
            distances.tolist(),
            DISTANCE_MARGIN,
            f"{DISTANCE_MARGIN:g} squared standard deviations",
        ),
        why=NO_FAULT,
        kind=Kind.DIAGNOSTIC,
    )


def _mirrored(ours: Floats) -> Iterator[Claim]:
    """Compare mirror images, which have the same value but differ by chance within one run."""
    # Column 4 is its own mirror image.
    pairs = ((0, 6), (1, 5), (2, 4))
    chances = []
    for pair in pairs:
        # The wins if each column had 500 simulations of its own.
        left, right = (TABLE_1[column] * SIMULATIONS // 100 for column in pair)
        chances.append(
            f"{freeman_halton((left, SIMULATIONS - left), (right, SIMULATIONS - right)):.1g}"
        )
    for left, right in pairs:
        printed = TABLE_1[left] - TABLE_1[right]
        differences = ours[:, left] - ours[:, right]
        yield Claim(
            f"table-1-mirror-{left + 1}-{right + 1}",
            f"column {left + 1} less its mirror image {right + 1}",
            Estimate(printed, unit="points", digits=0),
            Source.TEXT,
            faithful=replace(band_of(differences.tolist(), 1), unit="points"),
            exact=Estimate(0.0, digits=0),
            reproduced=typical(
                printed, differences.tolist(), MIRROR_MARGIN, f"{MIRROR_MARGIN:g} points"
            ),
            true=same_number(printed, 0, PRINTED, (-100, 100)),
            why="mirror symmetry is exact, but the columns of one run share 500 simulations; with "
            f"500 simulations per column, such differences would have p = {', '.join(chances)}",
            kind=Kind.DIAGNOSTIC,
        )


def _draw(ours: Floats, two_players: Floats, random: Sequence[float], exact: list[str]) -> Figure:
    figure, (axes,) = panels(9, 4.2)
    places = np.arange(len(TABLE_1))
    bars = (("ours, random opponent", ours, COLOURS[0]), ("two players", two_players, COLOURS[2]))
    axes.bar(places - 0.3, TABLE_1, 0.26, label="Table I", color=REPORTED_COLOUR)
    for number, (label, values, colour) in enumerate(bars):
        means = values.mean(axis=0)
        intervals = [central_interval(values[:, column]) for column in COLUMNS]
        low, high = np.array(intervals).T
        axes.bar(
            places + 0.3 * number,
            means,
            0.26,
            # Distances from the mean; it may lie outside of the interval of a few runs.
            yerr=np.maximum([means - low, high - means], 0),
            label=label,
            color=colour,
            error_kw={"linewidth": 1, "ecolor": "#444444"},
        )
    axes.plot(
        places + 0.15,
        [100 * number for number in random],
        linestyle="",
        marker="D",
        markersize=4,
        color="black",
        label="both at random",
    )
    axes.set_xticks(places, [f"{column + 1}\n{exact[column]}" for column in COLUMNS])
    # Above the bars, which reach up to 95 %.
    legend = {**SMALL, "ncols": 4, "loc": "upper center"}
    frame(axes, legend, "y", xlabel="column", ylabel="wins (%)", ylim=(0, 115))
    return figure
