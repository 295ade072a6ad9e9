"""Two players and their games, counted as document 004 counts them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from fourlab.agents.registry import make
from fourlab.arena.statistics import wilson
from fourlab.arena.store import StoredGame
from fourlab.arena.tables import Table
from fourlab.arena.tournament import GamePlayer, Player, Tournament
from fourlab.reporting.figures import COLOURS
from fourlab.studies.compare import fisher, same_share, share
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.workbench import Workbench, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOARD = ("7x6x4",)
FAITHFUL, CORRECTED = "faithful", "corrected"
WORDS = ("wins", "losses", "draws")
ENOUGH = 40
"""Fewer games than that cannot tell the document's shares from others."""


class Score(NamedTuple):
    """Games as one player sees them."""

    won: int
    lost: int
    drawn: int

    @property
    def games(self) -> int:
        """All of them."""
        return sum(self)

    def __str__(self) -> str:
        return f"{self.won}-{self.lost}-{self.drawn}"


class Reading(NamedTuple):
    """Two agents by their specs."""

    first: str
    """Moves first, unless colours alternate."""
    second: str
    starts: Literal["fixed", "alternate"] = "fixed"


@dataclass(frozen=True)
class Bout:
    """One match of the document."""

    name: str
    players: tuple[str, str]
    """What the two are called."""
    hero: str
    """The player whose score is told."""
    reported: Score
    readings: Mapping[str, Reading]
    """Who they may have been; two of these are `faithful` and `corrected`."""
    why: str = ""
    """What explains a difference."""
    comparable: bool = True
    """Whether the faithful players may be the document's; else its numbers stand beside ours without a verdict."""


def score(games: Sequence[StoredGame], player: str, side: int | None = None) -> Score:
    """Count a player's games, all or those on one side."""
    views = {0: 1, 1: -1}
    seen = [
        (game.result or 0) * views[seat]
        for game in games
        for seat, name in enumerate((game.red, game.yellow))
        if name == player and side in (None, seat)
    ]
    return Score(seen.count(1), seen.count(-1), seen.count(0))


def match(
    bench: Workbench,
    specs: tuple[str, str],
    players: tuple[str, str],
    games: int,
    starts: Literal["fixed", "alternate"] = "alternate",
    openings: str = "empty",
) -> Tournament:
    """Games of two agents by their specs, each under a name of its own."""
    entries = tuple(Player(spec, name=label) for spec, label in zip(specs, players, strict=True))
    return Tournament(entries, BOARD, openings, games if starts == "fixed" else games // 2, starts, bench.seed)


@dataclass(frozen=True)
class _Games:
    """Plays the games of several matches, numbered one match after the other."""

    matches: tuple[Tournament, ...]

    def __call__(self, number: int) -> StoredGame:
        """Play one; its thoughts are not kept."""
        for each in self.matches:
            if number < len(each):
                return GamePlayer(each, make)(number)._replace(thoughts="[]")
            number -= len(each)
        raise IndexError(number)


def play(bench: Workbench, name: str, matches: Sequence[Tournament]) -> list[list[StoredGame]]:
    """All games of some matches, match by match; playing them together keeps every process busy to the end."""
    games = iter(bench.repeat(name, _Games(tuple(matches)), sum(map(len, matches))))
    return [whole(name, [StoredGame(*game) for game in islice(games, len(each))]) for each in matches]


def conduct(bench: Workbench, bouts: Sequence[Bout], games: int) -> Iterator[Part]:
    """Play bouts in every reading of who their players were, and tell."""
    matches = [
        match(bench, (reading.first, reading.second), bout.players, games, reading.starts)
        for bout in bouts
        for reading in bout.readings.values()
    ]
    played = iter(play(bench, "games", matches))
    for bout in bouts:
        yield from _tell(bout, dict(zip(bout.readings, played, strict=False)))


def _tell(bout: Bout, played: Mapping[str, list[StoredGame]]) -> Iterator[Part]:
    """A bout's numbers beside the document's, as findings, tables and bars."""
    scores = {name: score(each, bout.hero) for name, each in played.items()}
    faithful, corrected = scores[FAITHFUL], scores[CORRECTED]
    other = next(name for name in bout.players if name != bout.hero)
    enough = faithful.games >= ENOUGH
    for place, word in enumerate(WORDS):
        yield Finding(
            f"{bout.hero} against {other}: {word}",
            share(bout.reported[place], bout.reported.games),
            share(faithful[place], faithful.games),
            share(corrected[place], corrected.games),
            agrees=same_share(bout.reported[place], bout.reported.games, faithful[place], faithful.games)
            if bout.comparable and enough
            else None,
            why=bout.why if enough or not bout.comparable else f"too few games to tell. {bout.why}",
        )
    yield _explanations(bout, scores)
    yield _by_side(bout, played)
    shown = {name: played[name] for name in (FAITHFUL, CORRECTED)}
    yield Picture(
        bout.name,
        f"{' against '.join(bout.players)}, as in Figures 44 to 50: the score with 95 % intervals, and the results "
        "so far as games were played.",
        lambda: _draw(bout, shown),
        _data(bout, shown),
    )


def _explanations(bout: Bout, scores: Mapping[str, Score]) -> Table:
    """Every reading beside the document: how likely such a difference is if both come from one share."""
    rows: list[tuple[str, ...]] = [("the document", "", "", "", str(bout.reported), "")]
    for name, found in scores.items():
        chance = fisher(bout.reported.won, bout.reported.games, found.won, found.games)
        reading = bout.readings[name]
        begins = bout.players[0] if reading.starts == "fixed" else "in turn"
        specs = map(without_paths, (reading.first, reading.second))
        rows.append((name, *specs, begins, str(found), f"{chance:.2g}"))
    head = ("reading", *bout.players, "begins", f"{bout.hero}: won-lost-drawn", "p of its wins")
    return Table(f"{' against '.join(bout.players)}: which players explain it", head, tuple(rows))


def without_paths(spec: str) -> str:
    """A table that was learned here is told by its last folders: the same wherever the run is."""
    head, path, tail = spec.partition('table="')
    return spec if not path else f"{head}table={'/'.join(Path(tail.strip(chr(34))).parts[-3:])}"


def _by_side(bout: Bout, played: Mapping[str, Sequence[StoredGame]]) -> Table:
    """The dictionary `results` of the document's Figure 43, which counts each side's losses too."""
    rows = [
        (name, player, ("first", "second")[side], *found)
        for name, games in played.items()
        for player in bout.players
        for side in (0, 1)
        if (found := score(games, player, side)).games
    ]
    return Table(f"{' against '.join(bout.players)}: results by side", ("reading", "player", "moves", *WORDS), tuple(rows))


def _data(bout: Bout, played: Mapping[str, Sequence[StoredGame]]) -> Table:
    rows: list[tuple[object, ...]] = [("document", bout.reported.games, *bout.reported)]
    rows += [
        (name, count, *score(games[:count], bout.hero)) for name, games in played.items() for count in range(1, len(games) + 1)
    ]
    return Table(f"{bout.hero}: results so far", ("reading", "games", *WORDS), tuple(rows))


def _errors(found: Score) -> tuple[list[float], list[float]]:
    """How far Wilson's intervals reach below and above the shares, in percent."""
    ends = [(100 * count / found.games, *(100 * end for end in wilson(count, found.games))) for count in found]
    return [max(0.0, middle - low) for middle, low, _ in ends], [max(0.0, high - middle) for middle, _, high in ends]


def _draw(bout: Bout, played: Mapping[str, Sequence[StoredGame]]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    bars, running = figure.subplots(1, 2)
    totals = {"document": bout.reported, **{name: score(games, bout.hero) for name, games in played.items()}}
    for place, (name, found) in enumerate(totals.items()):
        left = [word + 0.29 * (place - 1) for word in range(3)]
        shares = [100 * each / found.games for each in found]
        bars.bar(
            left,
            shares,
            width=0.27,
            yerr=_errors(found),
            capsize=2,
            error_kw={"linewidth": 0.8, "alpha": 0.7},
            color=COLOURS[place],
            label=f"{name}, {found.games} games",
        )
        for x, each, above in zip(left, shares, _errors(found)[1], strict=True):
            bars.annotate(f"{each:.3g} %", (x, each + above), (0, 2), textcoords="offset points", ha="center", fontsize=7)
    bars.set_xticks(range(3), [f"{bout.hero} {word}" for word in WORDS], fontsize=8)
    bars.set_ylabel("% of games")
    bars.set_ylim(0, 125)  # room for the legend
    bars.set_yticks(range(0, 101, 20))
    bars.legend(fontsize="x-small", loc="upper right")
    for place, (name, games) in enumerate(played.items()):
        so_far = [score(games[:count], bout.hero) for count in range(1, len(games) + 1)]
        for word, line in enumerate(("-", "--", ":")):
            running.plot(
                range(1, len(games) + 1),
                [each[word] for each in so_far],
                line,
                color=COLOURS[place + 1],
                label=f"{name}: {WORDS[word]}",
            )
    running.set_xlabel("games")
    running.set_ylabel(f"results so far of {bout.hero}")
    running.legend(fontsize="x-small")
    for axes in (bars, running):
        axes.grid(alpha=0.3, axis="y")
    figure.suptitle(" against ".join(bout.players), fontsize="medium")
    return figure
