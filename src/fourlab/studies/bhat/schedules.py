"""Figure 8 and Table 7: how many games a learner needs for a hundred wins, by epsilon, alpha and gamma."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourlab.arena.statistics import wilson
from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, MARKS
from fourlab.studies.bhat.learner import FAITHFUL_MC25, MC25, ROWS, learn, random_player, settings_of
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
"""By rows: the mean of the thirty numbers of games that the document draws, read off."""
FIGURE_8_RANGE = (1325, 2515)
TABLE_7 = {2: (0.6, 0.4, 0.3), 3: (0.7, 0.1, 0.9), 4: (0.4, 0.5, 1.0)}
"""By rows: the epsilon, alpha and gamma that the document finds best."""
TOLERANCE = 0.2
"""Two standard deviations of the number of games to a hundred wins, roughly."""
Sweep = Mapping[tuple[int, str, float], float]
"""Games by rows, parameter and its value."""


@dataclass(frozen=True)
class Race:
    """Games until so many are won against MC25, run by run: one parameter is changed, the others are as the document has them."""

    seed: int
    wins: int
    faithful: bool

    def __call__(self, number: int) -> int:
        """How many games it took."""
        rows, name, value = RUNS[number % len(RUNS)]
        opponents = FAITHFUL_MC25 if self.faithful else MC25
        settings = settings_of(rows, self.faithful, **{name: value}, wins=self.wins, games=MOST_GAMES, **opponents)
        return learn(settings, [self.seed, number, int(self.faithful)])[1].games


MOST_GAMES = 1_000_000
"""Nobody needs so many."""


@dataclass(frozen=True)
class Baseline:
    """A random player against MC25, so many games at a time; the number's remainder tells the rows."""

    seed: int
    games: int
    faithful: bool
    """Whether MC25 has its fault B5, as it has against the learner beside it."""

    def __call__(self, number: int) -> tuple[int, int, int]:
        """How the games ended."""
        opponents = FAITHFUL_MC25 if self.faithful else MC25
        settings = settings_of(ROWS[number % len(ROWS)], self.faithful, **opponents)
        return random_player(settings, self.games, [self.seed, number, 2 if self.faithful else 3])


@dataclass(frozen=True)
class Chance:
    """What a random player would need: a negative binomial number of games."""

    won: int
    games: int

    def expected(self, wins: int) -> float:
        """The mean number of games to so many wins."""
        return wins * self.games / max(self.won, 1)

    def spread(self, wins: int) -> float:
        """Its standard deviation."""
        p = max(self.won, 1) / self.games
        return math.sqrt(wins * (1 - p)) / p

    def __str__(self) -> str:
        low, high = wilson(self.won, self.games)
        expected = f"{self.expected(WINS):,.0f} [{WINS / high:,.0f}, {WINS / low:,.0f}], sd {self.spread(WINS):.0f}"
        return f"{expected}; it wins {100 * self.won / self.games:.1f} %"


def figure_8(bench: Workbench) -> Iterator[Part]:
    """Does any parameter matter?"""
    wins, sweeps = bench.size["wins"], bench.size["sweeps"]
    chances, right_chances = (_chances(bench, name == "faithful") for name in ("faithful", "corrected"))
    faithful, corrected = (
        _sweeps(bench.repeat(name, Race(bench.seed, wins, name == "faithful"), len(RUNS) * sweeps), wins)
        for name in ("faithful", "corrected")
    )
    for rows in ROWS:
        yield _mean(rows, faithful, corrected, chances[rows])
        yield _random(rows, chances[rows], right_chances[rows])
    yield Finding(
        f"fewest and most games to {WINS} wins in {len(RUNS)} runs",
        "{:,} to {:,}".format(*FIGURE_8_RANGE),
        f"{min(faithful[0].values()):,.0f} to {max(faithful[0].values()):,.0f}",
        f"{min(corrected[0].values()):,.0f} to {max(corrected[0].values()):,.0f}",
    )
    yield _within(faithful, chances, corrected, right_chances)
    for rows in ROWS:
        yield _optimum(rows, faithful, corrected, wins)
    yield _table_7(faithful, corrected)
    note = "" if wins == WINS else f", counted to {wins} wins"
    caption = f"Figure 8: games to {WINS} wins by parameter, our first sweep{note}; {_GREY}"
    yield _figure("figure-8", faithful[0], wins, chances, caption)
    caption = (
        f"Figure 8 with alpha constant, epsilon falling (B7) and MC25 without its fault (B5){note}; {_GREY} against that MC25"
    )
    yield _figure("figure-8-corrected", corrected[0], wins, right_chances, caption)


_GREY = "grey is where nineteen of twenty runs of a random player end"


def _chances(bench: Workbench, faithful: bool) -> dict[int, Chance]:
    """What a random player would need against the same MC25 as the learner, by rows."""
    baseline, name = Baseline(bench.seed, bench.size["games"], faithful), "baseline" if faithful else "baseline-corrected"
    found = bench.repeat(name, baseline, len(ROWS) * bench.size["batches"])
    return {rows: Chance(sum(each[1] for each in part), sum(map(sum, part))) for rows, part in _by_rows(found)}


def _by_rows(found: Sequence[Sequence[int]]) -> Iterator[tuple[int, list[Sequence[int]]]]:
    for place, rows in enumerate(ROWS):
        yield rows, list(found[place :: len(ROWS)])


def _sweeps(games: Sequence[int], wins: int) -> list[Sweep]:
    """As many as there are, scaled to a hundred wins."""
    scaled = [each * WINS / wins for each in games]
    return [dict(zip(RUNS, scaled[begin : begin + len(RUNS)], strict=True)) for begin in range(0, len(scaled), len(RUNS))]


def _games(sweeps: Sequence[Sweep], rows: int) -> list[float]:
    return [games for sweep in sweeps for run, games in sweep.items() if run[0] == rows]


def _mean(rows: int, faithful: Sequence[Sweep], corrected: Sequence[Sweep], chance: Chance) -> Finding:
    ours, runs = _games(faithful, rows), len(PARAMETERS) * len(TENTHS)
    return Finding(
        f"{rows} rows: games to {WINS} wins, mean of all parameters",
        f"{FIGURE_8_MEANS[rows]:,} of {runs} runs",
        mean(ours, 0),
        mean(_games(corrected, rows), 0),
        agrees=consistent(FIGURE_8_MEANS[rows], ours, runs),
        why=f"B7: epsilon is 1 after some twenty games: the learner is a random player, who needs {chance.expected(WINS):,.0f}",
    )


def _random(rows: int, chance: Chance, right: Chance) -> Finding:
    """Each side's random player has its own MC25: B5 makes it weaker."""
    return Finding(
        f"{rows} rows: games to {WINS} wins that a random player needs",
        "",
        str(chance),
        str(right),
        why="B5: on the left MC25 searches won positions on, on the right it does not, as against the learners",
    )


def _within(
    faithful: Sequence[Sweep], chances: Mapping[int, Chance], corrected: Sequence[Sweep], right_chances: Mapping[int, Chance]
) -> Finding:
    return Finding(
        f"runs within {TOLERANCE:.0%} of what a random player needs",
        "",
        share(*_near(faithful, chances)),
        share(*_near(corrected, right_chances)),
        truth="about 95 % for a random player",
        why="each beside a random player against its own MC25",
    )


def _near(sweeps: Sequence[Sweep], chances: Mapping[int, Chance]) -> tuple[int, int]:
    """How many runs are as long as a random player's, of how many."""
    games = [(each, chances[run[0]].expected(WINS)) for sweep in sweeps for run, each in sweep.items()]
    return sum(abs(each - expected) <= TOLERANCE * expected for each, expected in games), len(games)


def _optimum(rows: int, faithful: Sequence[Sweep], corrected: Sequence[Sweep], wins: int) -> Finding:
    """Is there a best parameter, beyond chance?"""
    chance, right = (_dispersion(_games(sweeps, rows), wins) for sweeps in (faithful, corrected))
    found = {_best(sweep, rows) for sweep in faithful}
    return Finding(
        f"Table 7, {rows} rows: best epsilon / alpha / gamma, sweep by sweep; p that all runs differ by chance alone",
        _slashed(TABLE_7[rows]),
        f"{'; '.join(_slashed(_best(sweep, rows)) for sweep in faithful)}; {p_value(chance)}",
        f"{'; '.join(_slashed(_best(sweep, rows)) for sweep in corrected)}; {p_value(right)}",
        agrees=chance < 0.01 and found == {TABLE_7[rows]},
        why="B7: with epsilon 1 the runs are a random player's, and which of them is shortest is luck",
    )


def _dispersion(scaled: Sequence[float], wins: int) -> float:
    """The chance that numbers of games differ so much, if each is negative binomial with their common mean."""
    games = [each * wins / WINS for each in scaled]
    middle = math.fsum(games) / len(games)
    p = wins / middle
    statistic = math.fsum((each - middle) ** 2 for each in games) / (wins * (1 - p) / p**2) if p < 1 else 0.0
    return chi_squared_tail(statistic, len(games) - 1)


def _best(sweep: Sweep, rows: int) -> tuple[float, ...]:
    return tuple(min(TENTHS, key=lambda value: sweep[rows, name, value]) for name in PARAMETERS)


def _slashed(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values)


def _table_7(faithful: Sequence[Sweep], corrected: Sequence[Sweep]) -> Table:
    rows = []
    for each in ROWS:
        rows.append((each, "document", *(f"{value:.1f}" for value in TABLE_7[each])))
        for name, sweeps in (("ours, faithful", faithful), ("ours, corrected", corrected)):
            for number, sweep in enumerate(sweeps, 1):
                best = (
                    f"{value:.1f} ({sweep[each, p, value]:,.0f} games)"
                    for p, value in zip(PARAMETERS, _best(sweep, each), strict=True)
                )
                rows.append((each, f"{name}, sweep {number}", *best))
    return Table("Table 7: the parameters with the fewest games", ("rows", "whose", *PARAMETERS), tuple(rows))


def _figure(name: str, sweep: Sweep, wins: int, chances: Mapping[int, Chance], caption: str) -> Picture:
    def draw() -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(11, 3.6), layout="constrained")
        panels = figure.subplots(1, len(ROWS), sharey=True)
        for axes, letter, rows in zip(panels, "abc", ROWS, strict=True):
            middle, half = chances[rows].expected(WINS), 2 * chances[rows].spread(wins) * WINS / wins
            axes.axhspan(middle - half, middle + half, color="#888888", alpha=0.2, linewidth=0)
            axes.axhline(middle, color="#888888", linewidth=0.8)
            for place, parameter in enumerate(PARAMETERS):
                games = [sweep[rows, parameter, value] for value in TENTHS]
                axes.plot(TENTHS, games, color=COLOURS[place], marker=MARKS[place], markersize=4, label=parameter)
            axes.set_title(f"{letter}: {rows} rows")
            axes.set_xlabel("value of the parameter")
            axes.grid(alpha=0.3)
        panels[0].set_ylabel(f"games to {WINS} wins")
        panels[-1].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
        return figure

    rows = tuple((*run, round(games)) for run, games in sweep.items())
    return Picture(name, f"{caption}.", draw, Table("", ("rows", "parameter", "value", "games"), rows))


EXPERIMENT = Experiment(
    "001-figure-8",
    ("D1-09", "D1-10", "D1-11"),
    "Figure 8 and Table 7: epsilon, alpha and gamma",
    "Certain values of epsilon, alpha and gamma, others for each number of rows, need the fewest games to 100 wins against MC25.",
    {
        "smoke": {"wins": 4, "sweeps": 1, "games": 200, "batches": 1},
        "quick": {"wins": WINS, "sweeps": 3, "games": 2000, "batches": 40},
        "full": {"wins": WINS, "sweeps": 10, "games": 2000, "batches": 100},
    },
    figure_8,
    (8, 50, 170),
)
