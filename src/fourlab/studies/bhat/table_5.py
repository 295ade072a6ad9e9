"""Table 5 and Figures 3 to 5: fifty games with MC40 as first player, fifty with MC200."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourlab.arena.statistics import Z_95, wilson
from fourlab.arena.store import StoredGame
from fourlab.arena.tables import Table
from fourlab.arena.tournament import Player, Tournament
from fourlab.reporting.figures import COLOURS, MARKS
from fourlab.studies.compare import mean, same_share, share
from fourlab.studies.experiment import Experiment, Finding, Part, Picture
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOARD = "5x6x4"
NAMES = ("MC40", "MC200")
TABLE_5 = {"MC40": (12, 36, 2), "MC200": (10, 40, 0)}
"""By who begins: games won by MC40 and by MC200, and drawn."""
SHOWN = 50
"""So many games the document's figures show."""
FIGURE_5 = {"MC40": "0.33 to 0.83", "MC200": "0.25 to 0.85"}
"""By who begins: from which mean value of a game to which the colours go."""
ALMOST_ALL = 0.95
"""The document says in almost all games; so much we take it to mean."""
INKS = {"MC40": COLOURS[0], "MC200": COLOURS[4], "draw": COLOURS[6]}
"""As the document draws them: blue, purple, pink."""


@dataclass(frozen=True)
class Outcome:
    """What the figures show of a game."""

    winner: str
    """MC40, MC200 or draw."""
    moves: int
    confidence: dict[str, float]
    """By player: the mean value, wins / playouts, of the positions that it chose to move to."""


def _outcomes(bench: Workbench, first: str, faithful: int) -> list[Outcome]:
    players = tuple(Player(f"bhat-{each.lower()}:faithful={faithful}", name=each) for each in (first, _other(first)))
    tournament = Tournament(players, (BOARD,), "empty", bench.size["games"], "fixed", bench.seed)
    name = f"{first}-first{'-faithful' if faithful else ''}"
    return [_outcome(game) for game in bench.play(name, tournament, thoughts=True)]


def _other(name: str) -> str:
    return NAMES[1 - NAMES.index(name)]


def _outcome(game: StoredGame) -> Outcome:
    # The agents' values go from -1 to +1, the document's from 0 to 1.
    values = [((thought.value or 0.0) + 1) / 2 for thought in game.record.thoughts]
    confidence = {name: math.fsum(own) / len(own) for name, own in ((game.red, values[::2]), (game.yellow, values[1::2]))}
    return Outcome({1: game.red, -1: game.yellow}.get(game.result or 0, "draw"), game.plies, confidence)


def table_5(bench: Workbench) -> Iterator[Part]:
    """Who wins, how fast and how confidently, by who begins."""
    faithful, corrected = ({first: _outcomes(bench, first, each) for first in NAMES} for each in (1, 0))
    for first in NAMES:
        yield from _results(first, faithful[first], corrected[first])
    yield _speed(faithful, corrected)
    yield _legend(faithful["MC200"])
    for first in NAMES:
        yield from _confidence(first, faithful[first], corrected[first])
    shown = {first: outcomes[:SHOWN] for first, outcomes in faithful.items()}
    yield _figure_3_or_4("figure-3", "MC40", shown["MC40"], {})
    wrong = {"MC40": "Draw", "MC200": "MC40", "draw": "MC200"}
    yield _figure_3_or_4("figure-4-as-drawn", "MC200", shown["MC200"], wrong)
    yield _figure_3_or_4("figure-4", "MC200", shown["MC200"], {})
    yield _figure_5(shown)


def _results(first: str, faithful: Sequence[Outcome], corrected: Sequence[Outcome]) -> Iterator[Finding]:
    for place, who in enumerate((*NAMES, "draw")):
        reported = TABLE_5[first][place]
        ours, right = (sum(each.winner == who for each in outcomes) for outcomes in (faithful, corrected))
        yield Finding(
            f"{first} first: {'draws' if who == 'draw' else f'{who} wins'}",
            share(reported, SHOWN),
            share(ours, len(faithful)),
            share(right, len(corrected)),
            agrees=same_share(reported, SHOWN, ours, len(faithful)),
            why="B5: a won position is searched on, and its children are counted for whoever has a line first",
        )


def _speed(faithful: dict[str, list[Outcome]], corrected: dict[str, list[Outcome]]) -> Finding:
    """The claim of Figures 3 and 4."""
    lengths, right = (
        [[each.moves for each in outcomes[first] if each.winner == "MC200"] for first in ("MC200", "MC40")]
        for outcomes in (faithful, corrected)
    )
    return Finding(
        "Figures 3 and 4: moves of the games that MC200 wins, as first and as second player",
        "fewer as first player",
        " / ".join(mean(each, 1) for each in lengths),
        " / ".join(mean(each, 1) for each in right),
        agrees=_fewer(*lengths),
        why="one move of it is no merit: the first player's last disc is the odd one",
    )


def _fewer(ones: Sequence[int], others: Sequence[int]) -> bool:
    """Whether a mean is smaller than another beyond doubt (Welch)."""
    one, other = ((math.fsum(each) / len(each), len(each), each) for each in (ones, others))
    variance = math.fsum(
        math.fsum((value - middle) ** 2 for value in values) / (count * max(count - 1, 1))
        for middle, count, values in (one, other)
    )
    return other[0] - one[0] > Z_95 * math.sqrt(variance)


def _legend(outcomes: Sequence[Outcome]) -> Finding:
    """Whose the points of Figure 4 are can be told from their parity."""
    odd, even = ([each.winner for each in outcomes if each.moves % 2 == rest and each.winner != "draw"] for rest in (1, 0))
    return Finding(
        "Figure 4, MC200 first: who won the games of an odd and of an even number of moves",
        "MC40 / draw",
        f"{' or '.join(sorted(set(odd))) or 'nobody'} / {' or '.join(sorted(set(even))) or 'nobody'}",
        truth="the first player / the second player, and a draw only with a full board",
        agrees=set(odd) == {"MC40"} and not even,
        why="B9: the legend's names are one place off",
    )


def _confidence(first: str, faithful: Sequence[Outcome], corrected: Sequence[Outcome]) -> Iterator[Finding]:
    """Figure 5 and what is said of it."""
    more, right = (sum(each.confidence["MC200"] > each.confidence["MC40"] for each in games) for games in (faithful, corrected))
    yield Finding(
        f"Figure 5, {first} first: games in which MC200's mean value is the higher one",
        "almost all",
        share(more, len(faithful)),
        share(right, len(corrected)),
        agrees=wilson(more, len(faithful))[1] >= ALMOST_ALL,
        why=f"higher on average, but not in {ALMOST_ALL:.0%} of the games; the document's own figure has exceptions",
    )
    for name in NAMES:
        ours, better = ([each.confidence[name] for each in games] for games in (faithful, corrected))
        yield Finding(f"Figure 5, {first} first: mean value of {name}", "", mean(ours), mean(better))
    shown = [value for each in faithful[:SHOWN] for value in each.confidence.values()]
    yield Finding(
        f"Figure 5, {first} first: least and greatest mean value of a game",
        FIGURE_5[first],
        f"{min(shown):.2f} to {max(shown):.2f} of the games shown",
    )


def _figure_3_or_4(file: str, first: str, outcomes: Sequence[Outcome], renamed: dict[str, str]) -> Picture:
    """Moves by game; `renamed` is what the document's legend says instead."""

    def draw() -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 3.2), layout="constrained")
        axes = figure.subplots()
        for place, who in enumerate((*NAMES, "draw")):
            points = [(game, each.moves) for game, each in enumerate(outcomes, 1) if each.winner == who]
            if points:
                name = renamed.get(who, who)
                axes.plot(*zip(*points, strict=True), linestyle="", marker=MARKS[place], color=INKS[who], label=name)
        axes.set_xlabel("game")
        axes.set_ylabel("moves")
        axes.locator_params(axis="y", integer=True)
        axes.set_title(f"{first} first")
        axes.grid(alpha=0.3)
        axes.legend(title="won by", fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
        return figure

    number = "3" if first == "MC40" else "4"
    said = ", with the document's legend, in which every name is one place off (B9)" if renamed else ""
    rows = tuple((game, each.moves, each.winner) for game, each in enumerate(outcomes, 1))
    caption = f"Figure {number}: moves of our first {len(outcomes)} games with {first} first, by winner{said}."
    return Picture(file, caption, draw, Table("", ("game", "moves", "won by"), rows))


def _figure_5(shown: dict[str, list[Outcome]]) -> Picture:
    def draw() -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.6), layout="constrained")
        for axes, (first, outcomes) in zip(figure.subplots(2, 1), shown.items(), strict=True):
            grid = [[each.confidence[name] for each in outcomes] for name in NAMES]
            extent = (0.5, len(outcomes) + 0.5, 1.5, -0.5)  # games count from 1
            image = axes.imshow(grid, cmap="viridis", aspect="auto", interpolation="nearest", extent=extent)
            axes.set_yticks((0, 1), NAMES)
            axes.set_title(f"{first} first", fontsize="medium")
            figure.colorbar(image, ax=axes, label="mean value")
        axes.set_xlabel("game")
        return figure

    head = ("first", "game", *(f"mean value of {name}" for name in NAMES))
    rows = tuple(
        (first, game, *(round(each.confidence[name], 4) for name in NAMES))
        for first, outcomes in shown.items()
        for game, each in enumerate(outcomes, 1)
    )
    caption = "Figure 5: the mean value, wins / playouts, of the positions each player chose, game by game."
    return Picture("figure-5", caption, draw, Table("", head, rows))


EXPERIMENT = Experiment(
    "001-table-5",
    ("D1-04", "D1-05", "D1-06", "D1-07"),
    "Table 5 and Figures 3 to 5: MC40 against MC200",
    "MC200 wins 36 of 50 games when MC40 begins and 40 of 50, in fewer moves, when it begins itself; "
    "the value it gives to its moves is higher in almost all games.",
    {"smoke": {"games": 10}, "quick": {"games": 1000}, "full": {"games": 3000}},
    table_5,
    (8, 25, 70),
)
