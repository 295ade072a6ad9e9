"""Bhat's Figure 8 and Table 7: games to a hundred wins, by epsilon, alpha and gamma."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourlab.reporting.figures import COLOURS, MARKS, OUTSIDE, Figure, frame, panels
from fourlab.studies.bhat.comparisons import depends
from fourlab.studies.bhat.learner import (
    FAITHFUL_MC25,
    MC25,
    PARAMETERS,
    PRINTED,
    ROWS,
    learn,
    random_player,
    settings_of,
)
from fourlab.studies.claims import (
    Answer,
    Claim,
    Estimate,
    Source,
    Verdict,
    brief,
    mean_of,
    share,
)
from fourlab.studies.compare import chi_squared_tail, moments
from fourlab.studies.reported import reported
from fourlab.studies.verdicts import FEWEST_TRAININGS, larger_mean, same_mean, same_share
from fourlab.studies.workbench import Part, Picture, Table, Workbench

TENTHS = tuple(tenth / 10 for tenth in range(1, 11))
RUNS = [(rows, name, value) for rows in ROWS for name in PARAMETERS for value in TENTHS]
"""One sweep: ninety runs, each of them a training of its own."""
PER_ROWS = len(PARAMETERS) * len(TENTHS)
WINS = 100
TOLERANCE = 0.2
"""About two standard deviations of the number of games to a hundred wins, relative to its mean."""
MOST_GAMES = 1_000_000
"""A limit that no run reaches."""
READING = 15.0
"""The error of a number read off Figure 8, in games."""
GAMES_MARGIN = 150.0
"""Margin of the mean number of games to a hundred wins."""
NEAR_POINTS = 10.0
"""Margin of the share of runs near a random player's, in percentage points."""
LEARNED = 1.0
"""Margin of the games won in training, in percentage points."""
DEPENDS = 0.1
"""Margin of the effect of the parameters: as large as the chance of a single run."""
GREY = "the grey band holds 95 % of the runs of a random player"
RANDOM = (
    "B7: epsilon reaches 1 after eleven to fifteen games with the program's default parameters, "
    "depending on the rows, so the learner is a random player"
)
Sweep = Mapping[tuple[int, str, float], float]
"""Games by rows, parameter and its value."""


def _published() -> dict[tuple[int, str, float], float]:
    data = reported("bhat-figure-8")
    places = list(zip(data["rows"], data["value of the parameter"], strict=True))
    return {
        (int(rows), name, float(value)): float(games)
        for name in PARAMETERS
        for (rows, value), games in zip(places, data[f"games by {name}"], strict=True)
    }


FIGURE_8 = _published()
"""The published curves, read off: one sweep."""


def race(seed: int, wins: int, faithful: bool, number: int) -> int:
    """Return the games to a number of wins against MC25 in run `number % len(RUNS)`.

    A run changes one parameter and leaves the others at the program's defaults.
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

    batches: Sequence[tuple[int, int]]
    """Games won and played, batch by batch."""

    @property
    def probability(self) -> float:
        """The share of games won."""
        won = sum(won for won, _ in self.batches)
        # At smoke scale a random player may win no game at all.
        return max(won, 1) / sum(games for _, games in self.batches)

    @property
    def shares(self) -> list[float]:
        """The games won in every batch, in per cent."""
        return [100 * won / games for won, games in self.batches]

    def expected(self, wins: int) -> float:
        """Return the mean number of games to `wins` wins."""
        return wins / self.probability

    def spread(self, wins: int) -> float:
        """Return the standard deviation of that number."""
        # The variance of a negative binomial number of trials is wins (1 - p) / p².
        return math.sqrt(wins * (1 - self.probability)) / self.probability


Chances = Mapping[int, Chance]
"""A random player's, by rows."""


@dataclass(frozen=True)
class Sweeps:
    """Our sweeps with one form of the learner, and the random player beside it."""

    sweeps: Sequence[Sweep]
    chances: Chances

    def games(self, rows: int) -> list[float]:
        """Return the games to WINS wins in all runs."""
        return [games for sweep in self.sweeps for run, games in sweep.items() if run[0] == rows]

    def won(self, rows: int) -> list[float]:
        """Return the share of games won in each run, in per cent."""
        return [100 * WINS / games for games in self.games(rows)]

    def by_setting(self, rows: int) -> list[list[float]]:
        """Return the games to WINS wins of every setting, sweep by sweep."""
        return [[sweep[run] for sweep in self.sweeps] for run in RUNS if run[0] == rows]

    def near(self) -> tuple[int, int]:
        """Return how many runs are about as long as a random player's, and the number of runs."""
        return _near(self.sweeps, self.chances)


def figure_8(bench: Workbench) -> Iterator[Part]:
    """Test whether any parameter matters."""
    wins = bench.size["wins"]
    runs = len(RUNS) * bench.size["sweeps"]
    faithful, corrected = (
        Sweeps(
            _scaled(bench.repeat(name, race, runs, bench.seed, wins, name == "faithful"), wins),
            _chances(bench, name == "faithful"),
        )
        for name in ("faithful", "corrected")
    )
    # At the report's own number of wins only, and with a spread of trainings.
    judged = wins == WINS and bench.size["sweeps"] >= FEWEST_TRAININGS
    for rows in ROWS:
        yield _mean(rows, faithful, corrected, judged)
    for rows in ROWS:
        yield _learning(rows, faithful, corrected, judged)
    yield _range(faithful, corrected)
    yield _nearness(faithful, corrected, judged)
    for rows in ROWS:
        yield _spread(rows, faithful, corrected)
    for rows in ROWS:
        yield _optimum(rows, faithful, corrected, judged)
    yield _lowest()
    yield _table_7(faithful.sweeps, corrected.sweeps)
    note = "" if wins == WINS else f", scaled from {wins} wins"
    caption = (
        f"Figure 8, published and ours: games to {WINS} wins by parameter, our first sweep{note}; "
        f"{GREY}"
    )
    yield _figure("figure-8", [FIGURE_8, faithful.sweeps[0]], wins, faithful.chances, caption)
    caption = (
        "Figure 8 with constant alpha, decreasing epsilon (B7) and MC25 without its fault (B5)"
        f"{note}; {GREY} against that MC25"
    )
    sweeps = [corrected.sweeps[0]]
    yield _figure("figure-8-corrected", sweeps, wins, corrected.chances, caption)


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
    return {
        # As `baseline` deals numbers to rows; the opponent's wins come first, then the player's.
        rows: Chance([(counts[1], sum(counts)) for counts in batches[place :: len(ROWS)]])
        for place, rows in enumerate(ROWS)
    }


def _scaled(games: Sequence[int], wins: int) -> list[Sweep]:
    """Return the sweeps, scaled to a hundred wins."""
    # Smoke scale stops at fewer wins; games grow in proportion.
    scaled = [number * WINS / wins for number in games]
    return [
        dict(zip(RUNS, scaled[begin : begin + len(RUNS)], strict=True))
        for begin in range(0, len(scaled), len(RUNS))
    ]


def _near(sweeps: Sequence[Sweep], chances: Chances) -> tuple[int, int]:
    near = [
        abs(games - chances[rows].expected(WINS)) <= TOLERANCE * chances[rows].expected(WINS)
        for sweep in sweeps
        for (rows, _, _), games in sweep.items()
    ]
    return sum(near), len(near)


def _hers(rows: int) -> list[float]:
    return [games for run, games in FIGURE_8.items() if run[0] == rows]


def _mean(rows: int, faithful: Sweeps, corrected: Sweeps, judged: bool) -> Claim:
    hers = _hers(rows)
    ours = faithful.games(rows)
    middle, _ = moments(hers)
    return Claim(
        f"figure-8-mean-{rows}-rows",
        f"{rows} rows: games to {WINS} wins, mean over all parameters",
        mean_of(hers, 0),
        Source.FIGURE,
        mean_of(ours, 0),
        mean_of(corrected.games(rows), 0),
        reproduced=same_mean(middle, PER_ROWS, ours, GAMES_MARGIN) if judged else None,
        why=RANDOM,
        statement="figure-8-mean",
    )


def _learning(rows: int, faithful: Sweeps, corrected: Sweeps, judged: bool) -> Claim:
    """Test whether the learner wins more games in training than a random player does."""
    random = [sweeps.chances[rows] for sweeps in (faithful, corrected)]
    both = [sweeps.won(rows) for sweeps in (faithful, corrected)]
    verdicts = [
        larger_mean(won, chance.shares, LEARNED, "points") if judged else None
        for won, chance in zip(both, random, strict=True)
    ]
    percent = [f"{100 * chance.probability:.1f} %" for chance in random]
    hers = [100 * WINS / games for games in _hers(rows)]
    return Claim(
        f"figure-8-learning-{rows}-rows",
        f"{rows} rows: the learner wins more games in training than a random player would; games "
        f"won, up to {WINS} wins",
        f"yes; the curves have {brief(mean_of(hers, 1, '%'))}",
        Source.FIGURE,
        mean_of(both[0], 1, "%"),
        mean_of(both[1], 1, "%"),
        reproduced=verdicts[0],
        true=verdicts[1],
        why=f"the verdicts are on learning, not on the number. {RANDOM}. A random player wins "
        f"{percent[0]} against MC25 with fault B5, and {percent[1]} without it",
        statement="figure-8-learning",
    )


def _range(faithful: Sweeps, corrected: Sweeps) -> Claim:
    hers, ours, better = (
        f"{min(sweep.values()):,.0f} to {max(sweep.values()):,.0f}"
        for sweep in (FIGURE_8, faithful.sweeps[0], corrected.sweeps[0])
    )
    return Claim(
        "figure-8-range",
        f"fewest and most games to {WINS} wins in {len(RUNS)} runs",
        hers,
        Source.FIGURE,
        ours,
        better,
    )


def _nearness(faithful: Sweeps, corrected: Sweeps, judged: bool) -> Claim:
    hers = _near([FIGURE_8], faithful.chances)
    ours = faithful.near()
    return Claim(
        "figure-8-near-random",
        f"runs within {TOLERANCE:.0%} of what a random player needs",
        share(*hers),
        Source.FIGURE,
        share(*ours),
        share(*corrected.near()),
        exact="about 95 % for a random player",
        reproduced=same_share(*hers, *ours, NEAR_POINTS) if judged else None,
        why=f"{RANDOM}. Each form is compared with a random player against the same MC25",
    )


def _spread(rows: int, faithful: Sweeps, corrected: Sweeps) -> Claim:
    """State how much runs differ, beside how much chance alone makes them differ."""
    values = []
    for games in (_hers(rows), faithful.games(rows), corrected.games(rows)):
        note = f"p = {_dispersion(games, WINS):.2g} for chance alone"
        values.append(Estimate(moments(games)[1], n=len(games), digits=0, note=note))
    return Claim(
        f"figure-8-spread-{rows}-rows",
        f"{rows} rows: standard deviation of the games to {WINS} wins, over all parameters",
        values[0],
        Source.FIGURE,
        values[1],
        values[2],
        exact=f"{faithful.chances[rows].spread(WINS):.0f} for a random player",
        why="if every game is won with the same probability, whatever the parameters are, runs "
        "differ by the negative binomial distribution",
        statement="figure-8-spread",
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


def _optimum(rows: int, faithful: Sweeps, corrected: Sweeps, judged: bool) -> Claim:
    """Test whether there are best parameters beyond chance."""
    both = (faithful, corrected)
    best = ["; ".join(_slashed(_best(sweep, rows)) for sweep in form.sweeps[:3]) for form in both]
    verdicts = [depends(form.by_setting(rows), DEPENDS) if judged else None for form in both]
    return Claim(
        f"table-7-{rows}-rows",
        f"{rows} rows: the games to {WINS} wins depend on epsilon, alpha and gamma; their best "
        "values in up to three sweeps",
        f"yes; Table 7 has {_slashed(PRINTED[rows])}",
        Source.TEXT,
        faithful=best[0],
        corrected=best[1],
        reproduced=verdicts[0],
        true=verdicts[1],
        why="the verdicts are on the dependence, not on the values of Table 7. "
        f"{RANDOM}. Which of its runs is shortest is chance",
        statement="table-7",
    )


def _best(sweep: Sweep, rows: int) -> tuple[float, ...]:
    """Return the values of epsilon, alpha and gamma with the fewest games."""
    return tuple(min(TENTHS, key=lambda value: sweep[rows, name, value]) for name in PARAMETERS)


def _slashed(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values)


def _lowest() -> Claim:
    """Compare Table 7 with the curves from which it is taken."""
    higher = []
    for rows in ROWS:
        lowest = _best(FIGURE_8, rows)
        for name, value, other in zip(PARAMETERS, PRINTED[rows], lowest, strict=True):
            games, fewest = FIGURE_8[rows, name, value], FIGURE_8[rows, name, other]
            if games > fewest + READING:
                places = f"{games:.0f} games at {value:g}, {fewest:.0f} at {other:g}"
                higher.append(f"{name} with {rows} rows ({places})")
    agrees = Answer.DIFFERS if higher else Answer.AGREES
    return Claim(
        "table-7-from-figure-8",
        "parameters of Table 7 that are not where the curve of Figure 8 is lowest",
        "none",
        Source.TEXT,
        faithful="; ".join(higher) or "none",
        reproduced=Verdict(agrees, "comparison", f"{READING:g} games"),
        why="Table 7 and Figure 8 of the report itself, the latter read off",
    )


def _table_7(faithful: Sequence[Sweep], corrected: Sequence[Sweep]) -> Table:
    table = []
    for rows in ROWS:
        table.append((rows, "report", *(f"{value:.1f}" for value in PRINTED[rows])))
        for name, sweeps in (
            ("Figure 8, read off", [FIGURE_8]),
            ("ours, faithful", faithful),
            ("ours, corrected", corrected),
        ):
            for number, sweep in enumerate(sweeps, 1):
                best = (
                    f"{value:.1f} ({sweep[rows, parameter, value]:,.0f} games)"
                    for parameter, value in zip(PARAMETERS, _best(sweep, rows), strict=True)
                )
                whose = name if sweeps == [FIGURE_8] else f"{name}, sweep {number}"
                table.append((rows, whose, *best))
    head = ("rows", "whose", *PARAMETERS)
    return Table("Table 7: the parameters with the fewest games", head, tuple(table))


def _figure(
    name: str, sweeps: Sequence[Sweep], wins: int, chances: Chances, caption: str
) -> Picture:
    """Draw sweeps below each other on the same axes; of two, the first is the published one."""
    whose = ["published", "ours"] if len(sweeps) > 1 else ["ours"]

    def draw() -> Figure:
        figure, all_axes = panels(
            11, 3.4 * len(sweeps), columns=len(ROWS), rows=len(sweeps), sharey=True, sharex=True
        )
        for place, axes in enumerate(all_axes):
            line, column = divmod(place, len(ROWS))
            rows = ROWS[column]
            middle = chances[rows].expected(WINS)
            # Two standard deviations, scaled like the games themselves.
            half = 2 * chances[rows].spread(wins) * WINS / wins
            axes.axhspan(middle - half, middle + half, color="#888888", alpha=0.2, linewidth=0)
            axes.axhline(middle, color="#888888", linewidth=0.8)
            for number, parameter in enumerate(PARAMETERS):
                axes.plot(
                    TENTHS,
                    [sweeps[line][rows, parameter, value] for value in TENTHS],
                    color=COLOURS[number],
                    marker=MARKS[number],
                    markersize=4,
                    label=parameter,
                )
            frame(axes, title=f"{'abc'[column]}: {rows} rows, {whose[line]}")
            if line == len(sweeps) - 1:
                axes.set_xlabel("value of the parameter")
            if column == 0:
                axes.set_ylabel(f"games to {WINS} wins")
        all_axes[len(ROWS) - 1].legend(**OUTSIDE)
        return figure

    rows = tuple(
        (owner, *run, round(sweep[run]))
        for owner, sweep in zip(whose, sweeps, strict=True)
        for run in RUNS
    )
    head = ("whose", "rows", "parameter", "value", "games")
    return Picture(name, f"{caption}.", draw, Table("", head, rows))
