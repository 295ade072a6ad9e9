"""Bhat's Figure 8 and Table 7: games to a hundred wins, by epsilon, alpha and gamma."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourlab.arena.statistics import wilson
from fourlab.reporting.figures import COLOURS, MARKS, OUTSIDE, Figure, frame, panels
from fourlab.studies.bhat.learner import (
    FAITHFUL_MC25,
    MC25,
    ROWS,
    learn,
    random_player,
    settings_of,
)
from fourlab.studies.compare import chi_squared_tail, consistent, mean, p_value, share
from fourlab.studies.workbench import Finding, Part, Picture, Table, Workbench

PARAMETERS = ("epsilon", "alpha", "gamma")
TENTHS = tuple(tenth / 10 for tenth in range(1, 11))
RUNS = [(rows, name, value) for rows in ROWS for name in PARAMETERS for value in TENTHS]
"""One sweep: ninety runs."""
WINS = 100
FIGURE_8_MEANS = {2: 1727, 3: 2019, 4: 1584}
"""By rows: the mean of the thirty published numbers of games, read off the figure."""
FIGURE_8_RANGE = (1325, 2515)
TABLE_7 = {2: (0.6, 0.4, 0.3), 3: (0.7, 0.1, 0.9), 4: (0.4, 0.5, 1.0)}
"""By rows: the best epsilon, alpha and gamma according to the report."""
TOLERANCE = 0.2
"""About two standard deviations of the number of games to a hundred wins, relative to its mean."""
MOST_GAMES = 1_000_000
"""A limit that no run reaches."""
GREY = "the grey band holds 95 % of the runs of a random player"
Sweep = Mapping[tuple[int, str, float], float]
"""Games by rows, parameter and its value."""


def race(seed: int, wins: int, faithful: bool, number: int) -> int:
    """Return the games to a number of wins against MC25 in run `number % len(RUNS)`.

    A run changes one parameter and leaves the others at the report's values.
    """
    rows, name, value = RUNS[number % len(RUNS)]
    settings = settings_of(
        rows, faithful, **{name: value}, wins=wins, games=MOST_GAMES, **_mc25(faithful)
    )
    # The last number separates the random streams: 0 and 1 here, 2 and 3 in `baseline`.
    return learn(settings, [seed, number, int(faithful)])[1].games


def baseline(seed: int, games: int, faithful: bool, number: int) -> tuple[int, int, int]:
    """Return a random player's results against MC25, on boards of `ROWS[number % len(ROWS)]`.

    With `faithful`, MC25 has fault B5, like the opponent of the learner with which it is compared.
    """
    settings = settings_of(ROWS[number % len(ROWS)], faithful, **_mc25(faithful))
    return random_player(settings, games, [seed, number, 2 if faithful else 3])


def _mc25(faithful: bool) -> dict[str, Any]:
    return FAITHFUL_MC25 if faithful else MC25


@dataclass(frozen=True)
class Chance:
    """The games a random player needs: a negative binomial distribution."""

    won: int
    games: int

    def expected(self, wins: int) -> float:
        """Return the mean number of games to `wins` wins."""
        # At smoke scale a random player may win no game at all.
        return wins * self.games / max(self.won, 1)

    def spread(self, wins: int) -> float:
        """Return the standard deviation of that number."""
        # The variance of a negative binomial number of trials is wins (1 - p) / p².
        p = max(self.won, 1) / self.games
        return math.sqrt(wins * (1 - p)) / p

    def __str__(self) -> str:
        # The fewer wins, the more games: the ends of the interval change places.
        low, high = wilson(self.won, self.games)
        interval = f"[{WINS / high:,.0f}, {WINS / low:,.0f}]"
        expected = f"{self.expected(WINS):,.0f} {interval}, sd {self.spread(WINS):.0f}"
        return f"{expected}; it wins {100 * self.won / self.games:.1f} %"


def figure_8(bench: Workbench) -> Iterator[Part]:
    """Test whether any parameter matters."""
    wins = bench.size["wins"]
    chances, corrected_chances = (_chances(bench, faithful) for faithful in (True, False))
    runs = len(RUNS) * bench.size["sweeps"]
    faithful, corrected = (
        _sweeps(bench.repeat(name, race, runs, bench.seed, wins, name == "faithful"), wins)
        for name in ("faithful", "corrected")
    )
    for rows in ROWS:
        yield _mean(rows, faithful, corrected, chances[rows])
        yield _random(rows, chances[rows], corrected_chances[rows])
    yield Finding(
        f"fewest and most games to {WINS} wins in {len(RUNS)} runs",
        "{:,} to {:,}".format(*FIGURE_8_RANGE),
        f"{min(faithful[0].values()):,.0f} to {max(faithful[0].values()):,.0f}",
        f"{min(corrected[0].values()):,.0f} to {max(corrected[0].values()):,.0f}",
    )
    yield Finding(
        f"runs within {TOLERANCE:.0%} of what a random player needs",
        "",
        share(*_near(faithful, chances)),
        share(*_near(corrected, corrected_chances)),
        exact="about 95 % for a random player",
        why="each compared with a random player against the same MC25",
    )
    for rows in ROWS:
        yield _optimum(rows, faithful, corrected, wins)
    yield _table_7(faithful, corrected)
    note = "" if wins == WINS else f", scaled from {wins} wins"
    caption = f"Figure 8: games to {WINS} wins by parameter, our first sweep{note}; {GREY}"
    yield _figure("figure-8", faithful[0], wins, chances, caption)
    caption = (
        "Figure 8 with constant alpha, decreasing epsilon (B7) and MC25 without its fault (B5)"
        f"{note}; {GREY} against that MC25"
    )
    yield _figure("figure-8-corrected", corrected[0], wins, corrected_chances, caption)


def _chances(bench: Workbench, faithful: bool) -> dict[int, Chance]:
    """Return the games that a random player needs against the learner's MC25, by rows."""
    batches = bench.repeat(
        "baseline" if faithful else "baseline-corrected",
        baseline,
        len(ROWS) * bench.size["batches"],
        bench.seed,
        bench.size["games"],
        faithful,
    )
    chances = {}
    for place, rows in enumerate(ROWS):
        # As `baseline` deals numbers to rows.
        results = batches[place :: len(ROWS)]
        # Counts hold the opponent's wins first, then the player's.
        chances[rows] = Chance(sum(counts[1] for counts in results), sum(map(sum, results)))
    return chances


def _sweeps(games: Sequence[int], wins: int) -> list[Sweep]:
    """Return the sweeps, scaled to a hundred wins."""
    # Smoke scale stops at fewer wins; games grow in proportion.
    scaled = [number * WINS / wins for number in games]
    return [
        dict(zip(RUNS, scaled[begin : begin + len(RUNS)], strict=True))
        for begin in range(0, len(scaled), len(RUNS))
    ]


def _games(sweeps: Sequence[Sweep], rows: int) -> list[float]:
    return [games for sweep in sweeps for run, games in sweep.items() if run[0] == rows]


def _mean(
    rows: int, faithful: Sequence[Sweep], corrected: Sequence[Sweep], chance: Chance
) -> Finding:
    ours = _games(faithful, rows)
    runs = len(PARAMETERS) * len(TENTHS)
    return Finding(
        f"{rows} rows: games to {WINS} wins, mean over all parameters",
        f"{FIGURE_8_MEANS[rows]:,} in {runs} runs",
        mean(ours, 0),
        mean(_games(corrected, rows), 0),
        agrees=consistent(FIGURE_8_MEANS[rows], ours, runs),
        why="B7: epsilon reaches 1 after about twenty games, so the learner is a random player, "
        f"which needs {chance.expected(WINS):,.0f}",
    )


def _random(rows: int, chance: Chance, corrected_chance: Chance) -> Finding:
    """Show the random player's games against either MC25; fault B5 makes MC25 weaker."""
    return Finding(
        f"{rows} rows: games to {WINS} wins that a random player needs",
        "",
        str(chance),
        str(corrected_chance),
        why="B5: the faithful MC25 searches below won positions, the corrected one does not, "
        "as against the learners",
    )


def _near(sweeps: Sequence[Sweep], chances: Mapping[int, Chance]) -> tuple[int, int]:
    """Return how many runs are about as long as a random player's, and the number of runs."""
    near = []
    for sweep in sweeps:
        for (rows, _, _), games in sweep.items():
            expected = chances[rows].expected(WINS)
            # Both are numbers of games to WINS wins.
            near.append(abs(games - expected) <= TOLERANCE * expected)
    return sum(near), len(near)


def _optimum(
    rows: int, faithful: Sequence[Sweep], corrected: Sequence[Sweep], wins: int
) -> Finding:
    """Test whether there is a best parameter beyond chance."""
    chance, corrected_chance = (
        _dispersion(_games(sweeps, rows), wins) for sweeps in (faithful, corrected)
    )
    best, corrected_best = (
        [_best(sweep, rows) for sweep in sweeps] for sweeps in (faithful, corrected)
    )
    return Finding(
        f"Table 7, {rows} rows: best epsilon / alpha / gamma, sweep by sweep; "
        "p that the runs differ by chance alone",
        _slashed(TABLE_7[rows]),
        f"{'; '.join(map(_slashed, best))}; {p_value(chance)}",
        f"{'; '.join(map(_slashed, corrected_best))}; {p_value(corrected_chance)}",
        agrees=chance < 0.01 and set(best) == {TABLE_7[rows]},
        why="B7: with epsilon at 1 the runs are a random player's, "
        "and which of them is shortest is chance",
    )


def _dispersion(scaled: Sequence[float], wins: int) -> float:
    """Return the p-value of the spread of runs, if all are negative binomial with one mean."""
    # Back to the games played, whose variance is known.
    games = [number * wins / WINS for number in scaled]
    middle = math.fsum(games) / len(games)
    # The maximum likelihood estimate if all runs have one probability.
    p = wins / middle
    statistic = 0.0
    # If every game was won, all runs are equally long and nothing is dispersed.
    if p < 1:
        variance = wins * (1 - p) / p**2
        statistic = math.fsum((number - middle) ** 2 for number in games) / variance
    return chi_squared_tail(statistic, len(games) - 1)


def _best(sweep: Sweep, rows: int) -> tuple[float, ...]:
    """Return the values of epsilon, alpha and gamma with the fewest games."""
    return tuple(min(TENTHS, key=lambda value: sweep[rows, name, value]) for name in PARAMETERS)


def _slashed(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values)


def _table_7(faithful: Sequence[Sweep], corrected: Sequence[Sweep]) -> Table:
    table = []
    for rows in ROWS:
        table.append((rows, "report", *(f"{value:.1f}" for value in TABLE_7[rows])))
        for name, sweeps in (("ours, faithful", faithful), ("ours, corrected", corrected)):
            for number, sweep in enumerate(sweeps, 1):
                best = (
                    f"{value:.1f} ({sweep[rows, parameter, value]:,.0f} games)"
                    for parameter, value in zip(PARAMETERS, _best(sweep, rows), strict=True)
                )
                table.append((rows, f"{name}, sweep {number}", *best))
    head = ("rows", "whose", *PARAMETERS)
    return Table("Table 7: the parameters with the fewest games", head, tuple(table))


def _figure(
    name: str, sweep: Sweep, wins: int, chances: Mapping[int, Chance], caption: str
) -> Picture:
    def draw() -> Figure:
        figure, all_axes = panels(11, 3.6, columns=len(ROWS), sharey=True)
        for axes, letter, rows in zip(all_axes, "abc", ROWS, strict=True):
            middle = chances[rows].expected(WINS)
            # Two standard deviations, scaled like the games themselves.
            half = 2 * chances[rows].spread(wins) * WINS / wins
            axes.axhspan(middle - half, middle + half, color="#888888", alpha=0.2, linewidth=0)
            axes.axhline(middle, color="#888888", linewidth=0.8)
            for place, parameter in enumerate(PARAMETERS):
                axes.plot(
                    TENTHS,
                    [sweep[rows, parameter, value] for value in TENTHS],
                    color=COLOURS[place],
                    marker=MARKS[place],
                    markersize=4,
                    label=parameter,
                )
            frame(axes, title=f"{letter}: {rows} rows", xlabel="value of the parameter")
        all_axes[0].set_ylabel(f"games to {WINS} wins")
        all_axes[-1].legend(**OUTSIDE)
        return figure

    rows = tuple((*run, round(games)) for run, games in sweep.items())
    head = ("rows", "parameter", "value", "games")
    return Picture(name, f"{caption}.", draw, Table("", head, rows))
