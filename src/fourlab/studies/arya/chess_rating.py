"""The rating of Arya's chess player, anchored to an engine that is limited to a stated rating.

The engine at its lowest rating beats the player in nearly every game, so direct games give only an
upper bound. A ladder of players leads down from it: the same engine, which plays a growing share
of its moves at random, to a player whose moves are all random. Ratings of all players are fitted
together (Bradley-Terry), with the engine's stated rating as the anchor.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fourlab.arena.ratings import Rating, Unit, bootstrap
from fourlab.arena.statistics import Z_95, elo_of, score_of
from fourlab.arena.tally import Tally
from fourlab.errors import UserError
from fourlab.reporting import figures
from fourlab.reporting.figures import COLOURS, MARKS, SMALL, Figure
from fourlab.studies.ablation import gains
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Value, Verdict, shares
from fourlab.studies.gao.future import gain
from fourlab.studies.proportions import LEVEL
from fourlab.studies.rules import Difference, within_error
from fourlab.studies.workbench import Part, Picture, Table, Workbench

if TYPE_CHECKING:
    from fourlab.chess.engine import RatedEngine
    from fourlab.chess.match import ChessGame, ChessMatch
    from fourlab.chess.players import ChessPlayer

REPORTED = 142
"""The rating that the thesis states, on chess.com."""
MARGIN = 500
"""The smallest difference of ratings that matters, in Elo: an expected score of 95 %."""
SCALES = 150
"""Standard deviation of the difference between two scales of ratings, in Elo: our assumption.

It stands for chess.com's scale against that of engines, and for a rating from few games.
"""
ENGINE = "engine"
RUNGS = {
    ENGINE: 0.0,
    "10 % random": 0.1,
    "25 % random": 0.25,
    "50 % random": 0.5,
    "75 % random": 0.75,
}
"""The ladder: the engine with this share of random moves."""
LINKS = (
    ("arya", ENGINE, "direct"),
    ("arya", "75 % random", "arya"),
    ("arya", "random", "arya"),
    ("improved", "10 % random", "improved"),
    (ENGINE, "10 % random", "rungs"),
    ("10 % random", "25 % random", "rungs"),
    ("25 % random", "50 % random", "rungs"),
    ("50 % random", "75 % random", "rungs"),
    ("75 % random", "random", "rungs"),
)
"""Two players, and the size that has the number of their games. The order is that of the seeds."""
WHY = (
    "faithful is the search with the thesis's 50 rollouts per move; improved has 400, a different "
    "player, whose rating decides nothing about the reported one. Both are "
    "on the scale of the engine, not of chess.com, where no rating is below 100; the test allows "
    f"for a difference between the scales, of {SCALES} Elo as a standard deviation"
)
WHY_BOUND = (
    "an engine that wins nearly every game only bounds the rating from above. The bound takes the "
    "upper 97.5 % Clopper-Pearson end of the share of games not lost as the score"
)
BOUND_TEST = "binomial test, one-sided at 2.5 %, whether a player of this rating loses as often"
LOW_END = 0.025
"""Probability below the lower end of a 95 % interval, and above the upper end."""


@dataclass(frozen=True)
class _Games:
    """Plays one game by number; numbers run through the links one after the other."""

    command: tuple[str, ...]
    """Runs the engine; empty if it is not installed and all games are stored."""
    games: tuple[int, ...]
    """By link."""
    seed: int

    def match(self, link: int) -> "ChessMatch":
        """Return the openings and random numbers of a link."""
        from fourlab.chess.match import ChessMatch

        # The names do not matter here; every link has openings of its own.
        seed = len(LINKS) * self.seed + link
        return ChessMatch(("arya", "random"), self.games[link], seed=seed)

    def place(self, number: int) -> tuple[int, int]:
        """Return the link of a game, and its number there."""
        for link, games in enumerate(self.games):
            if number < games:
                return link, number
            number -= games
        raise ValueError(f"there is no game {number}")

    def __call__(self, number: int) -> dict[str, Any]:
        """Play one game; the engine's own name and rating are stored with it."""
        from fourlab.chess.engine import ABSENT, rated_engine

        if not self.command:
            raise UserError(ABSENT)
        link, game = self.place(number)
        with ExitStack() as stack:
            # One process for each side that needs it: neither sees what the other has searched.
            engines = {
                name: stack.enter_context(rated_engine(*self.command))
                for name in LINKS[link][:2]
                if name in RUNGS
            }
            players = (_player(name, engines) for name in LINKS[link][:2])
            played = self.match(link).play(game, *players)
            engine = next(iter(engines.values()), None)
        about = {"engine": engine.name, "elo": engine.elo} if engine else {}
        return {"link": link, **asdict(played), **about}


def _player(name: str, engines: Mapping[str, "RatedEngine"]) -> "ChessPlayer":
    from fourlab.chess.players import Mixed, player

    if name not in RUNGS:
        return player(name)
    return Mixed(engines[name], RUNGS[name]) if RUNGS[name] else engines[name]


def conduct(bench: Workbench) -> Iterator[Part]:
    """Play the ladder and rate all players; without the engine, say so."""
    from fourlab.chess.engine import ABSENT, find_program

    program = find_program()
    if program is None and not (bench.folder / "games.json").exists():
        yield Claim(
            "chess-rating", "rating", _reported(), Source.TEXT, faithful=f"not measured: {ABSENT}"
        )
        return
    command = () if program is None else (program,)
    work = _Games(command, tuple(bench.size[size] for _, _, size in LINKS), bench.seed)
    games = bench.repeat("games", work, sum(work.games))
    name, anchor = _engine(games)
    tallies, summaries = _results(work, games)
    ratings = _ratings(tallies, anchor, bench.seed)
    arya, improved = (_estimate(ratings[player], anchor) for player in ("arya", "improved"))
    yield Claim(
        "chess-rating",
        f"rating, where {name} has {anchor:,} at its lowest",
        _reported(),
        Source.TEXT,
        faithful=arya,
        corrected=improved,
        reproduced=_judged(arya),
        why=WHY,
        labels={"corrected": "improved"},
    )
    won, drawn, lost = (summaries[0][result]["count"] for result in ("wins", "draws", "losses"))
    yield Claim(
        "chess-rating-direct",
        f"games against {name} at {anchor:,} Elo: won / lost / drawn",
        "",
        Source.OURS,
        faithful=shares(won, lost, drawn),
    )
    yield bound(won + drawn, won + drawn + lost, anchor)
    lead = tallies[LINKS.index(("arya", "random", "arya"))]
    yield Claim(
        "chess-rating-random",
        "lead over a player of random moves, the end of the ladder",
        "",
        Source.OURS,
        faithful=gain(lead),
        true=gains(lead),
    )
    yield from _shown(ratings, tallies, summaries, anchor)
    yield _all_games(games)


def _reported() -> Estimate:
    return Estimate(REPORTED, unit="Elo", digits=0, note="chess.com, no games listed")


def _engine(games: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """Return the name and the rating of the engine, which must be the same in all games."""
    engines = {(game["engine"], game["elo"]) for game in games if "engine" in game}
    if len(engines) != 1:
        raise UserError(f"the games have different engines: {sorted(engines)}")
    return engines.pop()


def _results(
    work: _Games, games: Sequence[Mapping[str, Any]]
) -> tuple[list[Tally], list[dict[str, Any]]]:
    """Return the pairs of games of every link, and the summary of each."""
    from fourlab.chess.match import summarize

    summaries = []
    for link in range(len(LINKS)):
        of_link = [_game(game) for game in games if game["link"] == link]
        summaries.append(summarize(work.match(link), of_link))
    return [Tally(tuple(summary["counts"])) for summary in summaries], summaries


def _game(stored: Mapping[str, Any]) -> "ChessGame":
    from fourlab.chess.match import ChessGame

    return ChessGame(**{name: stored[name] for name in ChessGame.__dataclass_fields__})


def _ratings(tallies: Sequence[Tally], anchor: int, seed: int) -> dict[str, Rating]:
    """Return the ratings of all players relative to the engine, strongest first."""
    names = list(dict.fromkeys(name for one, other, _ in LINKS for name in (one, other)))
    units: list[Unit] = []
    for (one, other, _), tally in zip(LINKS, tallies, strict=True):
        for half_points, count in enumerate(tally.counts):
            units += [(names.index(one), names.index(other), half_points / 4, 2)] * count
    rated = bootstrap(names, units, seed, anchor=names.index(ENGINE))
    return {rating.name: rating for rating in rated}


def _estimate(rating: Rating, anchor: int) -> Value:
    """Return a rating on the engine's scale."""
    elo = rating.elo
    if elo.value is None:
        return f"no rating: {elo.why}"
    if elo.low is None or elo.high is None:
        return f"{anchor + elo.value:.0f} Elo, without an interval"
    ends = (anchor + elo.low, anchor + elo.high)
    return Estimate(anchor + elo.value, *ends, rating.games, unit="Elo", digits=0)


def _judged(rating: Value) -> Verdict | None:
    """Compare a rating with the reported one; None if it has no interval."""
    if not isinstance(rating, Estimate) or rating.n is None:
        return None
    error = math.hypot(rating.half / Z_95, SCALES)
    # Pairs of games are the units.
    difference = Difference(rating.value - REPORTED, error, rating.n // 2 - 1)
    return within_error("t-test", difference, MARGIN, REPORTED, unit="Elo")


def bound(not_lost: int, games: int, anchor: int) -> Claim:
    """Return the upper bound of the rating from games against the engine alone.

    The test asks whether a player of the reported rating would have lost as many games. A share of
    games not lost is at least the score, so it is taken for the score: the bound is conservative.
    """
    high = upper_end(not_lost, games)
    p = binomial_tail(not_lost, games, score_of(REPORTED - anchor))
    # A bound can refute a rating, but not show it.
    answer = Answer.DIFFERS if p < LEVEL / 2 else Answer.CANNOT_TELL
    # A player who is stronger by the margin loses fewer games: how often the test would notice it.
    aside = score_of(REPORTED + SCALES - anchor)
    fewest = next(
        count
        for count in range(games + 2)
        if binomial_tail(count, games, score_of(REPORTED - anchor)) < LEVEL / 2
    )
    power = binomial_tail(fewest, games, aside)
    ends = Estimate(anchor + elo_of(high), n=games, unit="Elo", digits=0, note="upper bound")
    return Claim(
        "chess-rating-bound",
        "rating from the direct games alone",
        _reported(),
        Source.TEXT,
        faithful=ends if high < 1 else "no bound",
        reproduced=Verdict(answer, BOUND_TEST, f"{SCALES} Elo", p, power),
        why=WHY_BOUND,
        statement="chess-rating",
    )


def binomial_tail(count: int, of: int, probability: float) -> float:
    """Return the probability of at least `count` successes of `of`."""
    if count <= 0:
        return 1.0
    return math.fsum(
        math.comb(of, k) * probability**k * (1 - probability) ** (of - k)
        for k in range(count, of + 1)
    )


def upper_end(count: int, of: int) -> float:
    """Return the upper end of the 95 % interval of a share (Clopper and Pearson, 1934)."""
    if count == of:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        # The largest share with which so few successes have a probability of 2.5 %.
        if 1 - binomial_tail(count + 1, of, middle) > LOW_END:
            low = middle
        else:
            high = middle
    return high


def _shown(
    ratings: Mapping[str, Rating],
    tallies: Sequence[Tally],
    summaries: Sequence[Mapping[str, Any]],
    anchor: int,
) -> Iterator[Part]:
    """Yield the table of matches and the figure of ratings."""
    rows = []
    for (one, other, _), tally, summary in zip(LINKS, tallies, summaries, strict=True):
        won, drawn, lost = (summary[result]["count"] for result in ("wins", "draws", "losses"))
        length = f"{summary['plies']['mean']:.0f}"
        numbers = (won + drawn + lost, won, drawn, lost, length, str(tally.elo()))
        rows.append((f"{one} against {other}", *numbers))
    head = ("match", "games", "won", "drawn", "lost", "plies a game", "Elo (95 %)")
    yield Table("Matches of the ladder", head, tuple(rows))
    points = [
        (name, anchor + elo.value, *(None if end is None else anchor + end for end in ends))
        for name, rating in ratings.items()
        if (elo := rating.elo).value is not None and (ends := (elo.low, elo.high))
    ]
    caption = (
        f"Ratings on the scale of the engine, which has {anchor:,} at its lowest, with 95 % "
        "bootstrap intervals. The ladder is the same engine with a share of random moves."
    )
    table = Table("ladder", ("player", "rating", "rating low", "rating high"), tuple(points))
    yield Picture("ladder", caption, lambda: _draw_ladder(points), table)


def _draw_ladder(points: Sequence[tuple[Any, ...]]) -> Figure:
    figure, (axes,) = figures.panels(8, 0.45 * len(points) + 1.2)
    for place, (name, rating, low, high) in enumerate(points):
        own = name in ("arya", "improved")
        colour = COLOURS[1] if own else COLOURS[0]
        ends = [rating if end is None else end for end in (low, high)]
        axes.plot(ends, [place, place], color=colour, linewidth=2, alpha=0.6)
        axes.plot(rating, place, color=colour, marker=MARKS[1] if own else MARKS[0])
        axes.annotate(
            f"{rating:,.0f}",
            (rating, place),
            (0, 7),
            textcoords="offset points",
            ha="center",
            **SMALL,
        )
    label = f"the thesis: {REPORTED} on chess.com"
    axes.axvline(REPORTED, color=COLOURS[3], linestyle="--", linewidth=1, label=label)
    axes.set_yticks(range(len(points)), [_named(name) for name, *_ in points])
    axes.invert_yaxis()
    axes.margins(y=0.12)
    figures.frame(axes, {**SMALL, "loc": "lower right"}, "x", xlabel="rating on the engine's scale")
    return figure


def _named(name: str) -> str:
    if RUNGS.get(name):
        return f"engine, {name}"
    return {"random": "all moves random", ENGINE: "engine at its lowest"}.get(name, name)


def _all_games(games: Sequence[Mapping[str, Any]]) -> Picture:
    """Return a figure of the lengths of all games, whose data are the games themselves."""
    head = ("white", "black", "start", "moves", "result", "ending", "plies")
    rows = []
    for game in games:
        # Colours are swapped in odd games.
        white, black = LINKS[game["link"]][:2][:: -1 if game["number"] % 2 else 1]
        fields = (game["start"], game["moves"], game["result"], game["ending"])
        rows.append((white, black, *fields, len(game["moves"].split())))
    caption = (
        "Length of the games of every match, and how they ended; the data have all moves in UCI "
        "notation."
    )
    return Picture("games", caption, lambda: _draw_games(games), Table("games", head, tuple(rows)))


def _draw_games(games: Sequence[Mapping[str, Any]]) -> Figure:
    figure, (axes,) = figures.panels(9, 0.45 * len(LINKS) + 1.2)
    # By the first player of the match.
    words = {1.0: "first player won", 0.5: "drawn", 0.0: "second player won"}
    for place, (score, label) in enumerate(words.items()):
        chosen = [game for game in games if _score_of_first(game) == score]
        heights = [game["link"] + 0.22 * (place - 1) for game in chosen]
        lengths = [len(game["moves"].split()) for game in chosen]
        axes.plot(
            lengths,
            heights,
            linestyle="",
            marker=MARKS[place],
            markersize=3,
            alpha=0.6,
            color=COLOURS[place],
            label=label,
        )
    counts = Counter(game["link"] for game in games)
    labels = [
        f"{one} – {other}, {counts[link]} games" for link, (one, other, _) in enumerate(LINKS)
    ]
    axes.set_yticks(range(len(LINKS)), labels)
    axes.invert_yaxis()
    above = {**SMALL, "loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": len(words)}
    figures.frame(axes, above, "x", xlabel="plies")
    return figure


def _score_of_first(game: Mapping[str, Any]) -> float:
    white = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}[game["result"]]
    return 1 - white if game["number"] % 2 else white
