"""Figure 6: the exploration constant c from 0 to 3, with MC40 first and with MC200 first."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.q.kernel import search_move
from fourlab.agents.registry import make
from fourlab.arena.tables import Table
from fourlab.compiled.random import seed_state
from fourlab.game.position import Position
from fourlab.studies.bhat.table_5 import BOARD, INKS, NAMES
from fourlab.studies.compare import chi_squared_tail, fisher, homogeneity, p_value, share
from fourlab.studies.experiment import Experiment, Finding, Part, Picture
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONSTANTS = tuple(tenths / 10 for tenths in range(0, 31, 2))
FLAT_FROM = CONSTANTS.index(0.4)
"""From here on it makes little difference."""
GAMES = 50
ENOUGH = 40
"""With fewer games a bar of ours there is no verdict on the labels."""
Counts = tuple[int, int, int]
"""Games won by MC40, by MC200, and drawn."""


def _read(text: str) -> list[Counts]:
    cells = [tuple(map(int, cell.split("/"))) for cell in text.split()]
    return [(one, other, draws) for one, other, draws in cells]


FIGURE_6 = {
    "MC40": _read(
        "20/30/0 15/35/0 13/36/1 12/37/1 11/39/0 7/42/1 13/37/0 18/32/0 "
        "18/32/0 12/38/0 9/41/0 11/39/0 13/37/0 12/38/0 11/39/0 7/43/0"
    ),
    "MC200": _read(
        "22/28/0 19/31/0 12/38/0 12/36/2 15/35/0 18/32/0 14/36/0 17/33/0 "
        "14/36/0 16/33/1 9/41/0 13/37/0 14/36/0 22/28/0 9/41/0 23/27/0"
    ),
}
"""Read off the document's bars, by who begins as it labels them: panel a, panel b."""
RATIO_DRAWN_IN_B = 6.0
"""Wins / losses of MC200 at c = 1."""
Curves = Mapping[str, Sequence[Counts]]
"""By who begins, for every c."""


@dataclass(frozen=True)
class Cell:
    """Games of one c, one order and one kind of search, by number: both players search with that c."""

    seed: int
    games: int
    """So many games at a time."""

    def __call__(self, number: int) -> Counts:
        """Play a batch of cell number modulo CELLS."""
        place, first, faithful = _cell(number % CELLS)
        names = NAMES if first == "MC40" else NAMES[::-1]
        agents = [make(f"bhat-{name.lower()}:faithful={faithful},c={CONSTANTS[place]}") for name in names]
        searches = [(agent.switches(), agent.simulations or 0) for agent in agents if isinstance(agent, MCTS)]
        state, counts = seed_state(np.random.SeedSequence([self.seed, number])), [0, 0, 0]
        for _ in range(self.games):
            winner, state = _play(searches, state)
            counts[2 if winner is None else NAMES.index(names[winner])] += 1
        return counts[0], counts[1], counts[2]


CELLS = len(CONSTANTS) * 2 * 2


def _cell(number: int) -> tuple[int, str, int]:
    """Which c, by its place, who begins, and whether faithful."""
    rest, place = divmod(number, len(CONSTANTS))
    return place, NAMES[rest % 2], 1 - rest // 2


def _play(searches: Sequence[tuple[verbs.Switches, int]], state: int) -> tuple[int | None, int]:
    """Play a game; returns who won, 0 or 1, and the random state."""
    position = Position(board=BOARD)
    g = position.rules.geometry
    tree = np.empty((max(simulations for _, simulations in searches) + 3) * 3 * g.columns, np.int32)
    while (outcome := position.outcome()) is None:
        switches, simulations = searches[position.to_move]
        column, state = search_move(position.own, position.mask, g, switches, simulations, tree, state)
        position = position.play(column)
    return outcome.winner, state


def _curves(faithful: int, found: Sequence[Sequence[int]]) -> dict[str, list[Counts]]:
    totals: dict[str, list[Counts]] = {name: [(0, 0, 0)] * len(CONSTANTS) for name in NAMES}
    for number, (one, other, draws) in enumerate(found):
        place, first, kind = _cell(number % CELLS)
        if kind == faithful:
            before = totals[first][place]
            totals[first][place] = (before[0] + one, before[1] + other, before[2] + draws)
    return totals


def figure_6(bench: Workbench) -> Iterator[Part]:
    """Which c is good, and is the figure drawn rightly?"""
    batches, games = bench.size["batches"], bench.size["games"]
    found = bench.repeat("games", Cell(bench.seed, games), CELLS * batches)
    faithful, corrected = (_curves(each, found) for each in (1, 0))
    for first in NAMES:
        yield _agreement(first, faithful, corrected)
    yield _labels(faithful, corrected)
    yield _ratio_panels()
    yield from _claims(faithful, corrected)
    for first in NAMES:
        yield _flatness(first, faithful, corrected)
    yield _figure(
        "figure-6-as-drawn", FIGURE_6, "Figure 6 as the document draws it: the ratios of a and b are exchanged (B9)", True
    )
    yield _figure("figure-6", FIGURE_6, "Figure 6, the document's games, each ratio below its own bars")
    yield _figure("figure-6-ours", faithful, f"Figure 6, ours, {batches * games:,} games a bar")
    yield _figure("figure-6-corrected", corrected, "Figure 6, ours, won positions not searched on (B5)")


def _won(counts: Sequence[Counts]) -> tuple[int, int]:
    """MC200's wins, and all games."""
    return sum(each[1] for each in counts), sum(map(sum, counts))


def _agreement(first: str, faithful: Curves, corrected: Curves) -> Finding:
    """Cell by cell, the document's bars beside ours."""
    chance, exchanged = (_same_curve(FIGURE_6[first], faithful[each]) for each in (first, NAMES[1 - NAMES.index(first)]))
    if chance >= 0.01:
        why = "B5: a won position is searched on"
    elif exchanged >= 0.01:
        why = "B9: the panels' labels are probably exchanged"
    else:
        why = "no fault known to us explains it: the other label does not fit either"
    return Finding(
        f"{first} first: MC200's wins at all {len(CONSTANTS)} values of c",
        share(*_won(FIGURE_6[first])),
        f"{share(*_won(faithful[first]))}; the curves are one with {p_value(chance)}, with the other label {p_value(exchanged)}",
        share(*_won(corrected[first])),
        agrees=chance >= 0.01,
        why=why,
    )


def _same_curve(ones: Sequence[Counts], others: Sequence[Counts]) -> float:
    """The chance of curves as different as these, if at every c both have one share."""
    statistic = math.fsum(
        (one[1] / sum(one) - other[1] / sum(other)) ** 2 / variance
        for one, other in zip(ones, others, strict=True)
        if (variance := _variance(one, other)) > 0
    )
    return chi_squared_tail(statistic, len(ones))


def _variance(one: Counts, other: Counts) -> float:
    """Of the difference of two shares that are one."""
    won, games = _won((one, other))
    return won / games * (1 - won / games) * (1 / sum(one) + 1 / sum(other))


def _labels(faithful: Curves, corrected: Curves) -> Finding:
    """Which panel is which order?"""
    odds, right = (_log_odds_of_exchange(each) for each in (faithful, corrected))
    fewest = min(sum(each) for curve in faithful.values() for each in curve)
    return Finding(
        "panel a is MC40 first, panel b MC200 first",
        "so labelled",
        f"the exchanged labels are {math.exp(odds):,.3g} times as likely",
        f"{math.exp(right):,.3g} times",
        agrees=odds < math.log(20) if fewest >= ENOUGH else None,
        why="B9: MC200 wins more in the document's panel a than in b, though beginning must help it",
    )


def _log_odds_of_exchange(curves: Curves) -> float:
    """How much likelier the document's counts are with panels a and b exchanged, by our games; natural logarithm."""

    def likelihood(panel: str, first: str) -> float:
        return math.fsum(_log_likelihood(*each) for each in zip(FIGURE_6[panel], curves[first], strict=True))

    exchanged = likelihood("MC40", "MC200") + likelihood("MC200", "MC40")
    return exchanged - likelihood("MC40", "MC40") - likelihood("MC200", "MC200")


def _log_likelihood(theirs: Counts, ours: Counts) -> float:
    """Of the document's wins and other games in one order, if all that is known of MC200's share are our games.

    The share is not ours exactly, it may be any, all alike likely before our games: the counts are beta-binomial.
    """
    wins, others = ours[1] + 1, sum(ours) - ours[1] + 1
    return _log_beta(wins + theirs[1], others + sum(theirs) - theirs[1]) - _log_beta(wins, others)


def _log_beta(one: int, other: int) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)


def _ratio_panels() -> Finding:
    """Does the ratio that the document draws in panel b belong to its bars?"""
    ratios = {first: _ratio(counts[CONSTANTS.index(1.0)]) for first, counts in FIGURE_6.items()}
    return Finding(
        "wins / losses of MC200 at c = 1 in panel b",
        f"{RATIO_DRAWN_IN_B:.1f}",
        f"by the document's own bars {ratios['MC200']:.1f}, and {ratios['MC40']:.1f} in panel a",
        agrees=abs(ratios["MC200"] - RATIO_DRAWN_IN_B) < 0.1,
        why="B9: the panels of the ratios are exchanged",
    )


def _ratio(counts: Counts) -> float:
    return counts[1] / counts[0] if counts[0] else math.nan


def _claims(faithful: Curves, corrected: Curves) -> Iterator[Finding]:
    """What the document reads off its figure."""
    flat = range(FLAT_FROM, len(CONSTANTS))
    others = f"other c from {CONSTANTS[FLAT_FROM]} on"
    for c, said, panels, sign in (
        (0.0, "unfavourable", NAMES, -1),
        (0.2, "unfavourable", NAMES, -1),
        (2.0, "favourable", NAMES, 1),
        (1.0, "an outlier, in panel a", NAMES[:1], 1),
    ):
        place = CONSTANTS.index(c)
        rest = [each for each in flat if each != place]
        shares = [
            [_in_panels(curves, which, places) for places in ([place], rest)]
            for curves, which in ((FIGURE_6, panels), (faithful, NAMES), (corrected, NAMES))
        ]
        chances = [fisher(*one, *other) for one, other in shares]
        (won, games), (won_else, games_else) = shares[1]
        yield Finding(
            f"MC200's wins with c = {c:g}, and with {others}",
            f"{said}; {_beside(*shares[0])}, {p_value(chances[0])}",
            f"{_beside(*shares[1])}, {p_value(chances[1])}",
            f"{_beside(*shares[2])}, {p_value(chances[2])}",
            agrees=chances[1] < 0.01 and sign * (won / games - won_else / games_else) > 0,
            why="without exploration the first lucky column is kept" if sign < 0 else "by chance: more games do not show it",
        )
    orders = [[_won(curves[first][FLAT_FROM:]) for first in NAMES] for curves in (FIGURE_6, faithful, corrected)]
    chances = [fisher(*one, *other) for one, other in orders]
    (won, games), (won_first, games_first) = orders[1]
    yield Finding(
        f"MC200's wins as second and as first player, c from {CONSTANTS[FLAT_FROM]} on",
        f"fewer as second player; bars as labelled {_beside(*orders[0])}",
        f"{_beside(*orders[1])}, {p_value(chances[1])}",
        f"{_beside(*orders[2])}, {p_value(chances[2])}",
        agrees=chances[1] < 0.01 and won / games < won_first / games_first,
        why="B9: true, but the document's bars as labelled say the opposite",
    )


def _in_panels(curves: Curves, panels: Sequence[str], places: Sequence[int]) -> tuple[int, int]:
    return _won([curves[first][place] for first in panels for place in places])


def _beside(one: tuple[int, int], other: tuple[int, int]) -> str:
    return f"{share(*one)} / {share(*other)}"


def _flatness(first: str, faithful: Curves, corrected: Curves) -> Finding:
    """Does c matter at all, c = 0 left out?"""
    told = [_spread(curves[first]) for curves in (FIGURE_6, faithful, corrected)]
    chances = [
        homogeneity([(won, games - won) for won, games in map(_won_of, c[first][1:])]) for c in (FIGURE_6, faithful, corrected)
    ]
    return Finding(
        f"{first} first: whether c matters, c = 0 left out (p of no difference); "
        f"least and greatest share of MC200 from c = {CONSTANTS[FLAT_FROM]} on",
        f"{p_value(chances[0])}; {told[0]}",
        f"{p_value(chances[1])}; {told[1]}",
        f"{p_value(chances[2])}; {told[2]}",
        why="50 games a bar are too few to tell values of c from 0.2 on apart",
    )


def _won_of(counts: Counts) -> tuple[int, int]:
    return _won((counts,))


def _spread(counts: Sequence[Counts]) -> str:
    shares = [100 * won / games for won, games in map(_won_of, counts[FLAT_FROM:])]
    return f"{min(shares):.1f} to {max(shares):.1f} %"


def _figure(name: str, curves: Curves, caption: str, exchanged: bool = False) -> Picture:
    """Bars above, ratios below; `exchanged` draws each ratio below the other's bars."""
    below = dict(zip(NAMES, NAMES[::-1] if exchanged else NAMES, strict=True))

    def draw() -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10, 5.6), layout="constrained")
        panels = figure.subplots(2, 2, sharex=True, sharey="row")
        for column, (letter, first) in enumerate(zip("ab", NAMES, strict=True)):
            _bars(panels[0, column], curves[first])
            panels[0, column].set_title(f"{letter}: {first} first")
            ratios = [_ratio(each) for each in curves[below[first]]]
            panels[1, column].plot(CONSTANTS, ratios, color=INKS["MC200"], marker="o", markersize=4)
            panels[1, column].set_xlabel("c")
            panels[1, column].grid(alpha=0.3)
        panels[0, 0].set_ylabel("games")
        panels[1, 0].set_ylabel("wins / losses of MC200")
        panels[0, 1].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
        return figure

    head = ("first", "c", "MC40", "MC200", "draws", "wins / losses of MC200", "ratio as drawn")
    rows = tuple(
        (first, c, *counts, round(_ratio(counts), 3), round(_ratio(curves[below[first]][place]), 3))
        for first in NAMES
        for place, (c, counts) in enumerate(zip(CONSTANTS, curves[first], strict=True))
    )
    return Picture(name, f"{caption}.", draw, Table("", head, rows))


def _bars(axes: "Axes", counts: Sequence[Counts]) -> None:
    for place, who in enumerate(("MC40", "MC200", "draw")):
        heights = [each[place] for each in counts]
        axes.bar([c + 0.05 * (place - 1) for c in CONSTANTS], heights, width=0.05, color=INKS[who], label=who)
    axes.grid(alpha=0.3, axis="y")


EXPERIMENT = Experiment(
    "001-figure-6",
    ("D1-08",),
    "Figure 6: the exploration constant",
    "c = 2 is favourable, low c is not, c = 1 is an outlier, and being second reduces the advantage of MC200.",
    {
        "smoke": {"batches": 1, "games": 10},
        "quick": {"batches": 10, "games": 100},
        "full": {"batches": 20, "games": 100},
    },
    figure_6,
    (5, 50, 100),
)
