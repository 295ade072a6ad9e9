"""Bhat's Figure 8 and Table 7: games to a hundred wins, by epsilon, alpha and gamma."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourlab.arena.statistics import wilson
from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, MARKS
from fourlab.studies.bhat.learner import (
    FAITHFUL_MC25,
    MC25,
    ROWS,
    learn,
    random_player,
    settings_of,
)
from fourlab.studies.compare import chi_squared_tail, consistent, mean, p_value, share
from fourlab.studies.experiment import Experiment, Finding, Part, Picture
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


@dataclass(frozen=True)
class Race:
    """Count games to a number of wins against MC25, one run per number.

    A run changes one parameter and leaves the others at the report's values.
    """

    seed: int
    wins: int
    faithful: bool

    def __call__(self, number: int) -> int:
        """Return the number of games."""
        rows, name, value = RUNS[number % len(RUNS)]
        opponents = FAITHFUL_MC25 if self.faithful else MC25
        settings = settings_of(
            rows, self.faithful, **{name: value}, wins=self.wins, games=MOST_GAMES, **opponents
        )
        return learn(settings, [self.seed, number, int(self.faithful)])[1].games


@dataclass(frozen=True)
class Baseline:
    """Play a batch of games of a random player against MC25, selected by number."""

    seed: int
    games: int
    faithful: bool
    """Whether MC25 has fault B5, like the opponent of the learner with which it is compared."""

    def __call__(self, number: int) -> tuple[int, int, int]:
        """Return the results; the rows of the board are `ROWS[number % len(ROWS)]`."""
        opponents = FAITHFUL_MC25 if self.faithful else MC25
        settings = settings_of(ROWS[number % len(ROWS)], self.faithful, **opponents)
        return random_player(settings, self.games, [self.seed, number, 2 if self.faithful else 3])


@dataclass(frozen=True)
class Chance:
    """The games a random player needs: a negative binomial distribution."""

    won: int
    games: int

    def expected(self, wins: int) -> float:
        """Return the mean number of games to `wins` wins."""
        return wins * self.games / max(self.won, 1)

    def spread(self, wins: int) -> float:
        """Return the standard deviation of that number."""
        p = max(self.won, 1) / self.games
        return math.sqrt(wins * (1 - p)) / p

    def __str__(self) -> str:
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
        _sweeps(bench.repeat(name, Race(bench.seed, wins, name == "faithful"), runs), wins)
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
        truth="about 95 % for a random player",
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
        Baseline(bench.seed, bench.size["games"], faithful),
        len(ROWS) * bench.size["batches"],
    )
    chances = {}
    for place, rows in enumerate(ROWS):
        results = batches[place :: len(ROWS)]
        chances[rows] = Chance(sum(counts[1] for counts in results), sum(map(sum, results)))
    return chances


def _sweeps(games: Sequence[int], wins: int) -> list[Sweep]:
    """Return the sweeps, scaled to a hundred wins."""
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
    games = [number * wins / WINS for number in scaled]
    middle = math.fsum(games) / len(games)
    p = wins / middle
    statistic = 0.0
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
    def draw() -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(11, 3.6), layout="constrained")
        panels = figure.subplots(1, len(ROWS), sharey=True)
        for axes, letter, rows in zip(panels, "abc", ROWS, strict=True):
            middle = chances[rows].expected(WINS)
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
            axes.set_title(f"{letter}: {rows} rows")
            axes.set_xlabel("value of the parameter")
            axes.grid(alpha=0.3)
        panels[0].set_ylabel(f"games to {WINS} wins")
        panels[-1].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
        return figure

    rows = tuple((*run, round(games)) for run, games in sweep.items())
    head = ("rows", "parameter", "value", "games")
    return Picture(name, f"{caption}.", draw, Table("", head, rows))


EXPERIMENT = Experiment(
    "001-figure-8",
    ("D1-09", "D1-10", "D1-11"),
    "Figure 8 and Table 7: epsilon, alpha and gamma",
    "For each number of rows, certain values of epsilon, alpha and gamma need the fewest games "
    "to 100 wins against MC25.",
    {
        "smoke": {"wins": 4, "sweeps": 1, "games": 200, "batches": 1},
        "quick": {"wins": WINS, "sweeps": 3, "games": 2000, "batches": 40},
        "full": {"wins": WINS, "sweeps": 10, "games": 2000, "batches": 100},
    },
    figure_8,
    (8, 50, 170),
)
