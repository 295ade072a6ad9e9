"""Matches between two players, scored the way Arya scores them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from fourlab.agents.registry import make
from fourlab.arena.statistics import wilson
from fourlab.arena.store import StoredGame
from fourlab.arena.tournament import GamePlayer, Player, Tournament
from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, Axes, Figure, frame, panels
from fourlab.studies.claims import (
    Answer,
    Claim,
    Counts,
    Estimate,
    Source,
    Verdict,
    counts_over_trainings,
    difference,
    over_trainings,
    shares,
)
from fourlab.studies.proportions import LEVEL, freeman_halton
from fourlab.studies.reported import reported
from fourlab.studies.verdicts import (
    FEWEST_TRAININGS,
    at_least_trained,
    half_of_decided,
    same_counts,
    same_trained,
    same_trained_counts,
)
from fourlab.studies.workbench import Part, Picture, Table, Workbench, completed

BOARD = "7x6x4"
FAITHFUL, CORRECTED = "faithful", "corrected"
OUTCOMES = ("wins", "losses", "draws")
"""In the order of the fields of `Score`."""
POINTS = 15
"""Margin in percentage points: the thesis's hundred games cannot show a smaller difference."""
TRAINED_POINTS = 25
"""The margin between trainings of networks: the largest that a share may have."""
TRUE_MEANS = "True asks whether the player named first is the better one"


class Score(NamedTuple):
    """Wins, losses and draws of one player."""

    won: int
    lost: int
    drawn: int

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(self)

    @property
    def counts(self) -> Counts:
        """The score as the value of a claim."""
        return shares(*self)

    def __str__(self) -> str:
        return f"{self.won}-{self.lost}-{self.drawn}"


class Reading(NamedTuple):
    """One interpretation of who played a match: the specs of two agents, and who moves first."""

    first: str
    """Moves first, unless `starts` is "alternate"."""
    second: str
    starts: Literal["fixed", "alternate"] = "fixed"
    part: int = 1
    """It plays one in this many of the games."""


@dataclass(frozen=True)
class Bout:
    """One match of the thesis, with the readings under which it is replayed."""

    name: str
    players: tuple[str, str]
    """Display names, in the order of `Reading.first` and `Reading.second`."""
    scored_player: str
    """The player whose wins, losses and draws are reported."""
    reported: Score
    readings: Mapping[str, Reading]
    """By name; must contain `faithful` and `corrected`, or trainings of them (`training_of`)."""
    why: str | Callable[[Mapping[str, Score]], str] = ""
    """Explanation of a difference between the thesis and the replication.

    A function gets the scores by reading, and those of all trainings of a version together, so that
    the words follow from the games.
    """
    trained: bool = False
    """Whether readings are trainings, whose variance is part of the verdicts."""
    points: int = POINTS
    """The margin of the verdict, in percentage points."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Further readings with a row and bars of their own: the ends of the rows' names."""

    @property
    def title(self) -> str:
        """Both display names: "minimax(4) against Q-learning"."""
        return " against ".join(self.players)


def reported_score(experiment: str) -> Score:
    """Return the score that the thesis gives for an experiment, such as `experiment-3a`."""
    won, lost, drawn = map(int, reported("arya-experiments")[experiment])
    return Score(won, lost, drawn)


def training_of(version: str, seed: int) -> str:
    """Return the name of a reading with one of several trainings of a version."""
    return f"{version}, training {seed}"


def of_version(version: str, played: Mapping[str, list[StoredGame]]) -> list[list[StoredGame]]:
    """Return the games of a version, one list per training; without trainings there is one."""
    prefix = training_of(version, 0)[:-1]
    return [games for name, games in played.items() if name == version or name.startswith(prefix)]


def score(games: Sequence[StoredGame], player: str, side: int | None = None) -> Score:
    """Count the results of a player, over all games or only those it played as `side`."""
    signs = {0: 1, 1: -1}  # stored results are from red's point of view
    results = [
        (game.result or 0) * signs[seat]
        for game in games
        for seat, name in enumerate((game.red, game.yellow))
        if name == player and side in (None, seat)
    ]
    return Score(results.count(1), results.count(-1), results.count(0))


def match(
    bench: Workbench,
    specs: tuple[str, str],
    players: tuple[str, str],
    games: int,
    starts: Literal["fixed", "alternate"] = "alternate",
    openings: str = "empty",
    board: str = BOARD,
) -> Tournament:
    """Return a match of `games` games between two agents, given by spec and display name."""
    entries = tuple(Player(spec, name=label) for spec, label in zip(specs, players, strict=True))
    # A round with alternating starts has two games.
    rounds = games if starts == "fixed" else games // 2
    return Tournament(entries, (board,), openings, rounds, starts, bench.seed)


def _play_game(matches: Sequence[Tournament], number: int) -> StoredGame:
    """Play one game; numbers go through the matches one after the other."""
    for tournament in matches:
        if number < len(tournament):
            # Nothing here reads the records of the searches.
            return GamePlayer(tournament, make)(number)._replace(thoughts="[]")
        number -= len(tournament)
    raise IndexError(number)


def play(bench: Workbench, name: str, matches: Sequence[Tournament]) -> list[list[StoredGame]]:
    """Play several matches and return their games, match by match.

    All games go into one queue, so every worker process stays busy until the end.
    """
    games = iter(bench.repeat(name, _play_game, sum(map(len, matches)), matches))
    return [
        completed(name, [StoredGame(*game) for game in islice(games, len(tournament))])
        for tournament in matches
    ]


def conduct(bench: Workbench, bouts: Sequence[Bout], games: int) -> Iterator[Part]:
    """Play every bout under each of its readings and report the results."""
    for bout, played in zip(bouts, play_bouts(bench, bouts, games), strict=True):
        yield from _report(bout, played)


def play_bouts(
    bench: Workbench, bouts: Sequence[Bout], games: int
) -> list[dict[str, list[StoredGame]]]:
    """Play every bout and return its games by reading."""
    matches = [
        match(
            bench,
            (reading.first, reading.second),
            bout.players,
            max(1, games // reading.part),
            reading.starts,
        )
        for bout in bouts
        for reading in bout.readings.values()
    ]
    # All readings of all bouts, in the order of `matches`.
    played = iter(play(bench, "games", matches))
    return [dict(zip(bout.readings, played, strict=False)) for bout in bouts]


def _report(bout: Bout, played: Mapping[str, list[StoredGame]]) -> Iterator[Part]:
    """Yield a bout's scores beside those in the thesis: claims, tables and a figure."""
    scores = {name: score(games, bout.scored_player) for name, games in played.items()}
    versions = {version: of_version(version, played) for version in (FAITHFUL, CORRECTED)}
    # All trainings of a version together.
    pooled = {
        version: [game for games in trainings for game in games]
        for version, trainings in versions.items()
        if trainings
    }
    totals = {version: score(games, bout.scored_player) for version, games in pooled.items()}
    counts = {
        version: _counts(bout, trainings) for version, trainings in versions.items() if trainings
    }
    other = next(name for name in bout.players if name != bout.scored_player)
    yield Claim(
        bout.name,
        f"{bout.scored_player} against {other}: won / lost / drawn",
        bout.reported.counts,
        Source.TEXT,
        faithful=counts.get(FAITHFUL, ""),
        corrected=counts.get(CORRECTED, ""),
        reproduced=_reproduced(bout, versions[FAITHFUL]),
        true=_true(bout, versions[CORRECTED]),
        why=_why(bout, {**scores, **totals}),
    )
    for reading, ending in bout.also.items():
        yield Claim(
            f"{bout.name}-{ending}",
            f"{bout.scored_player} against {other}: won / lost / drawn ({reading})",
            "",
            Source.OURS,
            corrected=scores[reading].counts,
            why="another opponent than the thesis describes, so there is nothing to compare with",
        )
    yield _explanations(bout, scores)
    yield _by_side(bout, played)
    # Other readings are in the table only; more lines would be hard to distinguish.
    also = {reading: played[reading] for reading in bout.also}
    bars = {**counts, **{reading: scores[reading].counts for reading in also}}
    over = " over trainings" if bout.trained else ""
    yield Picture(
        bout.name,
        f"{bout.title}, as in Figures 44 to 50: final score with 95 % intervals{over}, "
        "and running totals game by game.",
        lambda: _draw(bout, pooled, bars),
        _data(bout, {**pooled, **also}),
    )


def _counts(bout: Bout, trainings: Sequence[Sequence[StoredGame]]) -> Counts:
    """Return the results of a version, with the variance of training if it was trained."""
    of_each = [score(games, bout.scored_player).counts for games in trainings]
    return counts_over_trainings(of_each) if bout.trained else of_each[0]


def _why(bout: Bout, scores: Mapping[str, Score]) -> str:
    """Return the explanation, with what the second verdict means if there is one."""
    words = bout.why if isinstance(bout.why, str) else bout.why(scores)
    return f"{words}. {TRUE_MEANS}" if words else TRUE_MEANS


def fitting(reported_total: Score, scores: Mapping[str, Score]) -> str:
    """Return a sentence about which scores fit the reported one, by an exact test at 5 %."""
    chances = {name: freeman_halton(reported_total, result) for name, result in scores.items()}
    names = [name for name, chance in chances.items() if chance >= LEVEL]
    if names:
        return f"Of these readings, the reported score fits: {'; '.join(names)}"
    largest = max(chances.values())
    number = len(chances)
    return f"None of these {number} readings fits the reported score (p of at most {largest:.2g})"


def won_shares(trainings: Sequence[Sequence[StoredGame]], player: str) -> list[float]:
    """Return the share of all games that a player won, 0 to 1, by training."""
    results = [score(games, player) for games in trainings]
    return [result.won / result.games for result in results]


def rise(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """Return the difference of two means over trainings, in points, with both means."""
    first, last = over_trainings(before, "%"), over_trainings(after, "%")
    note = f"from {first.value:.1f} % to {last.value:.1f} %; trainings: {first.n} and {last.n}"
    return replace(difference(last, first), note=note)


def too_few(trainings: int) -> Verdict:
    """Return the verdict for fewer than FEWEST_TRAININGS trainings, with the reason."""
    return Verdict(
        Answer.CANNOT_TELL,
        f"no test: {trainings} of at least {FEWEST_TRAININGS} trained networks are there",
    )


def _reproduced(bout: Bout, trainings: Sequence[Sequence[StoredGame]]) -> Verdict:
    """Compare the reported score with the faithful games."""
    reported_total = bout.reported
    if not bout.trained:
        only = score(trainings[0], bout.scored_player)
        return same_counts(reported_total.counts, only.counts, bout.points)
    if len(trainings) < FEWEST_TRAININGS:
        return too_few(len(trainings))
    ours = [score(games, bout.scored_player) for games in trainings]
    occurring = sum(any(counts) for counts in zip(reported_total, *ours, strict=True))
    if occurring > 1:
        counts = [result.counts for result in ours]
        return same_trained_counts(reported_total.counts, counts, bout.points)
    # All games ended alike, so that only this share can be compared.
    value = reported_total.won / reported_total.games
    shares_won = [result.won / result.games for result in ours]
    return same_trained(value, reported_total.games, shares_won, bout.points / 100)


def _true(bout: Bout, trainings: Sequence[Sequence[StoredGame]]) -> Verdict:
    """Test what each bout claims, that the scored player is the stronger one, when corrected."""
    if not bout.trained:
        corrected = score(trainings[0], bout.scored_player)
        return half_of_decided(corrected.won, corrected.lost)
    if len(trainings) < FEWEST_TRAININGS:
        return too_few(len(trainings))
    # Of decided games, as without trainings; the fewest of a training bound their precision.
    results = [score(games, bout.scored_player) for games in trainings]
    decided = [result.won + result.lost for result in results]
    if not all(decided):
        return Verdict(Answer.CANNOT_TELL, "no test: a training without decided games")
    shares_won = [result.won / of for result, of in zip(results, decided, strict=True)]
    verdict = at_least_trained(shares_won, min(decided), 0.5)
    return replace(verdict, test=f"{verdict.test} of {sum(decided)} decided games")


def _explanations(bout: Bout, scores: Mapping[str, Score]) -> Table:
    """Tabulate every reading beside the thesis, with the p-value of the same score."""
    rows: list[tuple[str, ...]] = [("Arya", "", "", "", str(bout.reported), "")]
    for name, result in scores.items():
        # Small: these players do not produce the reported score.
        p = freeman_halton(bout.reported, result)
        reading = bout.readings[name]
        begins = bout.players[0] if reading.starts == "fixed" else "alternating"
        specs = map(without_paths, (reading.first, reading.second))
        rows.append((name, *specs, begins, str(result), f"{p:.2g}"))
    score_head = f"{bout.scored_player}: won-lost-drawn"
    head = ("reading", *bout.players, "begins", score_head, "p")
    return Table(f"{bout.title}: which players reproduce the score", head, tuple(rows))


def without_paths(spec: str) -> str:
    """Shorten the path of a Q-table to its last three parts, which do not depend on the run."""
    # The path is quoted in the spec, because it may contain commas.
    head, marker, path = spec.partition('table="')
    if not marker:
        return spec
    return f"{head}table={'/'.join(Path(path.strip(chr(34))).parts[-3:])}"


def _by_side(bout: Bout, played: Mapping[str, Sequence[StoredGame]]) -> Table:
    """Tabulate what Arya's `results` dictionary (Figure 43) holds: the score of each side."""
    rows = [
        (name, player, ("first", "second")[side], *result)
        for name, games in played.items()
        for player in bout.players
        for side in (0, 1)
        # With fixed starts each player has one side only.
        if (result := score(games, player, side)).games
    ]
    head = ("reading", "player", "moves", *OUTCOMES)
    return Table(f"{bout.title}: results by side", head, tuple(rows))


def _data(bout: Bout, played: Mapping[str, Sequence[StoredGame]]) -> Table:
    """Tabulate the running totals that the figure shows."""
    rows: list[tuple[object, ...]] = [("Arya", bout.reported.games, *bout.reported)]
    rows += [
        (name, count, *score(games[:count], bout.scored_player))
        for name, games in played.items()
        # The score after every game, as the thesis draws it.
        for count in range(1, len(games) + 1)
    ]
    return Table(
        f"{bout.scored_player}: results so far", ("reading", "games", *OUTCOMES), tuple(rows)
    )


def error_bars(counts: Iterable[tuple[int, int]]) -> tuple[list[float], list[float]]:
    """Return the lengths of 95 % Wilson error bars below and above shares, in percentage points.

    `counts` are pairs of successes and trials.
    """
    intervals = [(100 * won / trials, *wilson(won, trials)) for won, trials in counts]
    # Rounding can push an end of the interval past the share itself.
    below = [max(0.0, middle - 100 * low) for middle, low, _ in intervals]
    above = [max(0.0, 100 * high - middle) for middle, _, high in intervals]
    return below, above


def _draw(
    bout: Bout,
    played: Mapping[str, Sequence[StoredGame]],
    bars: Mapping[str, Counts],
) -> Figure:
    """Draw the scores in `bars`, and the running totals of the games in `played`."""
    figure, (scores, running) = panels(9, 3.2, columns=2)
    _draw_scores(scores, bout, bars)
    for place, (name, games) in enumerate(played.items()):
        counts = range(1, len(games) + 1)
        totals = [score(games[:count], bout.scored_player) for count in counts]
        # Colours stand for readings, line styles for outcomes.
        for outcome, line in enumerate(("-", "--", ":")):
            running.plot(
                counts,
                [total[outcome] for total in totals],
                line,
                color=COLOURS[place + 1],
                label=f"{name}: {OUTCOMES[outcome]}",
            )
    label = f"results so far of {bout.scored_player}"
    frame(running, {"fontsize": "x-small"}, "y", xlabel="games", ylabel=label)
    figure.suptitle(bout.title, fontsize="medium")
    return figure


def _draw_scores(axes: Axes, bout: Bout, ours: Mapping[str, Counts]) -> None:
    """Draw final scores as grouped bars: first that of the thesis, then ours."""
    totals = {"Arya": bout.reported.counts, **ours}
    # The bars of an outcome are side by side around its place, and share 0.87 of its room.
    room = 0.87 / len(totals)
    for place, (name, counts) in enumerate(totals.items()):
        left = [outcome + room * (place - (len(totals) - 1) / 2) for outcome in range(3)]
        estimates = [counts.share(outcome) for outcome in counts.counts]
        shares = [one.value for one in estimates]
        # Rounding can push an end of the interval past the share itself; equal trainings have none.
        errors = [
            [0.0 if one.low is None else max(0.0, one.value - one.low) for one in estimates],
            [0.0 if one.high is None else max(0.0, one.high - one.value) for one in estimates],
        ]
        trained = f"{counts.trainings} trainings, " if counts.trainings > 1 else ""
        axes.bar(
            left,
            shares,
            width=0.93 * room,
            yerr=errors,
            capsize=2,
            error_kw={"linewidth": 0.8, "alpha": 0.7},
            # As many places as there are readings; the first is the thesis.
            color=COLOURS[place] if place else REPORTED_COLOUR,
            label=f"{name}, {trained}{counts.n} games",
        )
        for x, height, above in zip(left, shares, errors[1], strict=True):
            # Above the error bar.
            axes.annotate(
                f"{height:.3g} %",
                (x, height + above),
                (0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=7 if len(totals) < 4 else 5.5,
            )
    axes.set_xticks(range(3), [f"{bout.scored_player} {word}" for word in OUTCOMES], fontsize=8)
    # The upper limit leaves room for the legend, and more for a fourth line of it.
    limits = {"ylim": (0, 80 + 22 * len(totals)), "yticks": range(0, 101, 20)}
    legend = {"fontsize": "x-small", "loc": "upper right"}
    frame(axes, legend, "y", ylabel="% of games", **limits)
