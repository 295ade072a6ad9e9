"""Bhat's Table 5 and Figures 3 to 5: fifty games with MC40 moving first, fifty with MC200."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fourlab.arena.store import StoredGame
from fourlab.arena.tournament import Player, Tournament
from fourlab.reporting.figures import COLOURS, MARKS, OUTSIDE, Figure, frame, panels
from fourlab.studies.claims import (
    Answer,
    Claim,
    Counts,
    Estimate,
    Source,
    Verdict,
    mean_of,
    share,
)
from fourlab.studies.reported import reported
from fourlab.studies.verdicts import (
    at_least,
    half_of_decided,
    larger_mean,
    same_counts,
    same_mean,
    same_share,
)
from fourlab.studies.workbench import Part, Picture, Table, Workbench

BOARD = "5x6x4"
NAMES = ("MC40", "MC200")
RESULTS = ("MC40 wins", "MC200 wins", "draws")
"""Columns of the report's data."""
TABLE_5 = {
    f"MC{first:.0f}": tuple(int(reported("bhat-table-5")[name][row]) for name in RESULTS)
    for row, first in enumerate(reported("bhat-table-5")["rollouts of the first player"])
}
"""By first player: games won by MC40, games won by MC200, and draws."""
SHOWN = 50
"""Games in each of the report's figures."""
PROBABLY = 0.5
"""Our reading of the report's "probably": more often than not."""
ALMOST_ALL = 0.95
"""Our reading of the report's "almost all games"."""
POINTS = 20
"""Margin in percentage points: fifty games cannot show a smaller difference."""
MOVES = 1.0
"""Margin in moves: the first player's parity alone makes a difference of one move."""
LENGTH = 3.0
"""Margin of the mean length of a game, in moves: fifty games cannot show less."""
VALUE = 0.06
"""Margin of a mean value, of 1."""
INKS = {"MC40": COLOURS[0], "MC200": COLOURS[4], "draw": COLOURS[6]}
"""The report's colours: blue, purple, pink."""
SHIFTED_LEGEND = {"MC40": "Draw", "MC200": "MC40", "draw": "MC200"}
"""The names in the legend of Figure 4 in place of the right ones (B9)."""


@dataclass(frozen=True)
class ShownGame:
    """What the figures show of a game."""

    winner: str
    """MC40, MC200 or draw."""
    moves: int
    confidence: dict[str, float]
    """By player: the mean value (wins / rollouts, 0 to 1) of the positions it moved to."""
    columns: tuple[int, ...] = ()
    """The moves; empty for the report's games, which are not available."""


def _published() -> dict[str, list[ShownGame]]:
    """Return the report's games, read off Figures 3 to 5, by first player."""
    points, colours = reported("bhat-figures-3-4"), reported("bhat-figure-5")
    games: dict[str, list[ShownGame]] = {name: [] for name in NAMES}
    for row, first in enumerate(points["rollouts of the first player"]):
        winners = zip((*NAMES, "draw"), RESULTS, strict=True)
        winner = next(winner for winner, column in winners if points[column][row])
        confidence = {name: float(colours[f"mean value of {name}"][row]) for name in NAMES}
        games[f"MC{first:.0f}"].append(ShownGame(winner, int(points["moves"][row]), confidence))
    return games


PUBLISHED = _published()
"""The games of the report's figures."""


def _shown_games(bench: Workbench, first: str, faithful: int) -> list[ShownGame]:
    # Each name once, in the order of play.
    second = NAMES[1 - NAMES.index(first)]
    players = tuple(
        Player(f"bhat-{name.lower()}:faithful={faithful}", name=name) for name in (first, second)
    )
    tournament = Tournament(players, (BOARD,), "empty", bench.size["games"], "fixed", bench.seed)
    # The name of the stored games.
    name = f"{first}-first{'-faithful' if faithful else ''}"
    return [_shown_game(game) for game in bench.play(name, tournament, thoughts=True)]


def _shown_game(game: StoredGame) -> ShownGame:
    # Agents' values are in [-1, +1], the report's in [0, 1].
    values = [((thought.value or 0.0) + 1) / 2 for thought in game.record.thoughts]
    confidence = {
        name: math.fsum(own) / len(own)
        # Red, the first player, made the moves at even indices.
        for name, own in ((game.red, values[::2]), (game.yellow, values[1::2]))
    }
    winner = {1: game.red, -1: game.yellow}.get(game.result or 0, "draw")
    return ShownGame(winner, game.plies, confidence, tuple(game.record.columns))


def table_5(bench: Workbench) -> Iterator[Part]:
    """Compare winners, lengths of games and mean values, by first player."""
    faithful, corrected = (
        {first: _shown_games(bench, first, switch) for first in NAMES} for switch in (1, 0)
    )
    for first in NAMES:
        yield _results(first, faithful[first], corrected[first])
    for first in NAMES:
        yield _length(first, faithful[first], corrected[first])
    yield _speed(faithful, corrected)
    yield _legend(faithful["MC200"])
    for first in NAMES:
        yield from _confidence(first, faithful[first], corrected[first])
    yield _unique(faithful, corrected)
    shown = {first: outcomes[:SHOWN] for first, outcomes in faithful.items()}
    yield _figure_3_or_4("figure-3", "MC40", shown["MC40"], {})
    yield _figure_3_or_4("figure-4-as-drawn", "MC200", shown["MC200"], SHIFTED_LEGEND)
    yield _figure_3_or_4("figure-4", "MC200", shown["MC200"], {})
    yield _figure_5(shown)


def _length(first: str, faithful: Sequence[ShownGame], corrected: Sequence[ShownGame]) -> Claim:
    """Compare the lengths of games in Figure 3 or 4."""
    hers, ours, better = (
        [outcome.moves for outcome in outcomes]
        for outcomes in (PUBLISHED[first], faithful, corrected)
    )
    number = _number(first)
    return Claim(
        f"figure-{number}-length",
        f"Figure {number}, {first} first: moves of a game",
        mean_of(hers, 1),
        Source.FIGURE,
        mean_of(ours, 1),
        mean_of(better, 1),
        reproduced=same_mean(math.fsum(hers) / len(hers), len(hers), ours, LENGTH),
        why="a drawn game takes all 30 moves, and two of the report's games were drawn"
        if first == "MC40"
        else "",
        statement="figures-3-4-length",
    )


def _number(first: str) -> str:
    return "3" if first == "MC40" else "4"


def _unique(faithful: dict[str, list[ShownGame]], corrected: dict[str, list[ShownGame]]) -> Claim:
    """Test the conclusion's statement about games: of as many as hers, and of all of ours."""
    distinct = []
    for outcomes in (faithful, corrected):
        games = [outcome.columns for first in NAMES for outcome in outcomes[first]]
        distinct.append((len(set(games)), len(games)))
    sets = all_different(faithful)
    true = Answer.AGREES if distinct[1][0] == distinct[1][1] else Answer.DIFFERS
    return Claim(
        "unique-games",
        f"sets of {2 * SHOWN} games, as many as the report's, of which no two are equal (as "
        "coded), and different games among all (corrected)",
        "probably every game ever played is unique",
        Source.TEXT,
        faithful=share(sum(sets), len(sets)) if sets else "too few games",
        # Whether a game is new depends on all others, so there is no binomial interval.
        corrected=Estimate(distinct[1][0], n=distinct[1][1], digits=0),
        reproduced=at_least(sum(sets), len(sets), PROBABLY) if sets else None,
        true=Verdict(true, "comparison"),
        why=f"reproduced means that {2 * SHOWN} games are all different more often than not, true "
        "that no two of all our games are equal; as coded, "
        f"{distinct[0][0]:,} of {distinct[0][1]:,} are different. There are many more possible "
        "games than were ever played, but good players agree on the first moves",
        labels={"faithful": "sets without equal games", "corrected": "different games"},
    )


def all_different(outcomes: Mapping[str, Sequence[ShownGame]]) -> list[bool]:
    """Return for sets of games, SHOWN with either player first, whether all are different."""
    number = min(len(games) for games in outcomes.values()) // SHOWN
    sets = [
        [game.columns for games in outcomes.values() for game in games[SHOWN * n : SHOWN * (n + 1)]]
        for n in range(number)
    ]
    return [len(set(games)) == len(games) for games in sets]


def _results(first: str, faithful: Sequence[ShownGame], corrected: Sequence[ShownGame]) -> Claim:
    mc40, mc200, drawn = TABLE_5[first]
    reported = Counts({"MC40": mc40, "MC200": mc200, "draw": drawn})
    ours = _counts(faithful)
    better = _counts(corrected)
    return Claim(
        f"table-5-{first.lower()}-first",
        f"{first} first: MC40 wins / MC200 wins / draws",
        reported,
        Source.TEXT,
        faithful=ours,
        corrected=better,
        reproduced=same_counts(reported, ours, POINTS),
        # The claim behind the table: more rollouts win more games.
        true=half_of_decided(better.counts["MC200"], better.counts["MC40"]),
        why="B5: the search continues below won positions "
        "and credits them to the side whose line is found first"
        + (". No fault known to us explains two draws in fifty games" if drawn else ""),
        statement="table-5",
    )


def _counts(outcomes: Sequence[ShownGame]) -> Counts:
    winners = [outcome.winner for outcome in outcomes]
    return Counts({name: winners.count(name) for name in (*NAMES, "draw")})


def _speed(faithful: dict[str, list[ShownGame]], corrected: dict[str, list[ShownGame]]) -> Claim:
    """Test the claim of Figures 3 and 4."""
    hers, lengths, better = (
        [
            [outcome.moves for outcome in outcomes[first] if outcome.winner == "MC200"]
            # MC200 as first player, then as second.
            for first in ("MC200", "MC40")
        ]
        for outcomes in (PUBLISHED, faithful, corrected)
    )
    return Claim(
        "figures-3-4-moves",
        "Figures 3 and 4: moves that a win takes MC200 as second player, less those as first",
        _difference(*hers),
        Source.FIGURE,
        _difference(*lengths),
        _difference(*better),
        reproduced=larger_mean(lengths[1], lengths[0], MOVES),
        true=larger_mean(better[1], better[0], MOVES),
        why="one move of the difference is parity: the first player wins with an odd-numbered move",
    )


def _difference(first: Sequence[int], second: Sequence[int]) -> Estimate:
    """Return how many moves more the second mean has, with its 95 % interval."""
    one = mean_of(first)
    other = mean_of(second)
    difference = other.value - one.value
    half = math.hypot(other.half, one.half)
    low, high = difference - half, difference + half
    return Estimate(difference, low, high, len(first) + len(second), digits=1)


def _legend(outcomes: Sequence[ShownGame]) -> Claim:
    """Test the legend of Figure 4: the parity of a game's length determines its winner."""
    odd, even = (
        {
            outcome.winner
            for outcome in outcomes
            if outcome.moves % 2 == parity and outcome.winner != "draw"
        }
        for parity in (1, 0)
    )
    winners = [" or ".join(sorted(names)) or "nobody" for names in (odd, even)]
    # As labelled, MC40 wins the odd games and nobody the even ones.
    as_labelled = odd == {"MC40"} and not even
    verdict = Verdict(Answer.AGREES if as_labelled else Answer.DIFFERS, "comparison")
    return Claim(
        "figure-4-legend",
        "Figure 4, MC200 first: winners of games with an odd and with an even number of moves",
        "MC40 / draw",
        Source.FIGURE,
        " / ".join(winners),
        exact="the first player / the second player, and a draw only with a full board",
        reproduced=verdict,
        true=verdict,
        why="B9: the legend's names are shifted by one place",
    )


def _confidence(
    first: str, faithful: Sequence[ShownGame], corrected: Sequence[ShownGame]
) -> Iterator[Claim]:
    """Compare Figure 5 and the claim about it."""
    hers, ours, better = (
        sum(outcome.confidence["MC200"] > outcome.confidence["MC40"] for outcome in outcomes)
        for outcomes in (PUBLISHED[first], faithful, corrected)
    )
    slug = f"figure-5-{first.lower()}-first"
    yield Claim(
        slug,
        f"Figure 5, {first} first: games in which MC200's mean value is higher; "
        'the text says "almost all"',
        share(hers, SHOWN),
        Source.FIGURE,
        share(ours, len(faithful)),
        share(better, len(corrected)),
        reproduced=same_share(hers, SHOWN, ours, len(faithful), POINTS),
        true=at_least(better, len(corrected), ALMOST_ALL),
        why=_almost_all(first, better, len(corrected)),
        statement="figure-5",
    )
    for name in NAMES:
        values, own, sound = (
            [outcome.confidence[name] for outcome in outcomes]
            for outcomes in (PUBLISHED[first], faithful, corrected)
        )
        yield Claim(
            f"{slug}-{name.lower()}",
            f"Figure 5, {first} first: mean value of {name}",
            mean_of(values),
            Source.FIGURE,
            mean_of(own),
            mean_of(sound),
            reproduced=same_mean(math.fsum(values) / len(values), len(values), own, VALUE),
            statement="figure-5-values",
        )
    # The extremes of more games would be further apart.
    hers_shown, shown = (
        [value for outcome in outcomes[:SHOWN] for value in outcome.confidence.values()]
        for outcomes in (PUBLISHED[first], faithful)
    )
    yield Claim(
        f"{slug}-range",
        f"Figure 5, {first} first: smallest and largest mean value of a game",
        f"{min(hers_shown):.2f} to {max(hers_shown):.2f}",
        Source.FIGURE,
        f"{min(shown):.2f} to {max(shown):.2f} in the games shown",
        statement="figure-5-range",
    )


def _almost_all(first: str, count: int, of: int) -> str:
    """Explain in how many games MC200's mean value is higher, in the report's and in ours."""
    hers = sum(game.confidence["MC200"] > game.confidence["MC40"] for game in PUBLISHED[first])
    return (
        f"almost all is read as {100 * ALMOST_ALL:g} % of the games; the published figure has "
        f"{hers} of {SHOWN}, and without B5 ours have {100 * count / of:.0f} %"
    )


def _figure_3_or_4(
    file: str, first: str, outcomes: Sequence[ShownGame], renamed: dict[str, str]
) -> Picture:
    """Draw moves by game; `renamed` maps the right names to those of the published legend."""
    versions = {"published": PUBLISHED[first], "ours": outcomes}

    def draw() -> Figure:
        figure, both = panels(8, 5.6, rows=2, sharex=True, sharey=True)
        for axes, (whose, games) in zip(both, versions.items(), strict=True):
            for place, winner in enumerate((*NAMES, "draw")):
                points = [
                    (game, outcome.moves)
                    for game, outcome in enumerate(games, 1)
                    if outcome.winner == winner
                ]
                if points:
                    axes.plot(
                        *zip(*points, strict=True),
                        linestyle="",
                        marker=MARKS[place],
                        color=INKS[winner],
                        label=renamed.get(winner, winner),
                    )
            axes.locator_params(axis="y", integer=True)
            legend = {"title": "won by", **OUTSIDE}
            frame(axes, legend, ylabel="moves", title=f"{first} first, {whose}")
        both[1].set_xlabel("game")
        return figure

    caption = (
        f"Figure {_number(first)}, published (read off) and ours: moves of {len(outcomes)} games "
        f"with {first} first, by winner"
    )
    if renamed:
        caption += ", with the published legend, whose names are shifted by one place (B9)"
    rows = tuple(
        (whose, game, outcome.moves, outcome.winner)
        for whose, games in versions.items()
        for game, outcome in enumerate(games, 1)
    )
    return Picture(file, f"{caption}.", draw, Table("", ("whose", "game", "moves", "won by"), rows))


def _figure_5(shown: dict[str, list[ShownGame]]) -> Picture:
    maps = [
        (first, whose, games[first])
        for first in NAMES
        for whose, games in (("published", PUBLISHED), ("ours", shown))
    ]

    def draw() -> Figure:
        figure, all_axes = panels(9, 6.4, rows=len(maps))
        for axes, (first, whose, outcomes) in zip(all_axes, maps, strict=True):
            grid = [[outcome.confidence[name] for outcome in outcomes] for name in NAMES]
            extent = (0.5, len(outcomes) + 0.5, 1.5, -0.5)  # games count from 1
            # One column per game, one row per player, and the same colours in all maps.
            image = axes.imshow(
                grid,
                cmap="viridis",
                aspect="auto",
                interpolation="nearest",
                extent=extent,
                vmin=0.2,
                vmax=0.9,
            )
            axes.set_yticks((0, 1), NAMES)
            axes.set_title(f"{first} first, {whose}", fontsize="medium")
        all_axes[-1].set_xlabel("game")
        figure.colorbar(image, ax=all_axes, label="mean value")
        return figure

    head = ("first", "whose", "game", *(f"mean value of {name}" for name in NAMES))
    rows = tuple(
        (first, whose, game, *(round(outcome.confidence[name], 4) for name in NAMES))
        for first, whose, outcomes in maps
        for game, outcome in enumerate(outcomes, 1)
    )
    caption = (
        "Figure 5, published (read off) and ours: the mean value, wins / rollouts, of the "
        "positions each player moved to, game by game."
    )
    return Picture("figure-5", caption, draw, Table("", head, rows))
