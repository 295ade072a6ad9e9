"""Bhat's Figure 6: the exploration constant c from 0 to 3, with MC40 and with MC200 first."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.q.kernel import search_move
from fourlab.agents.registry import make
from fourlab.compiled.random import seed_state
from fourlab.game.position import Position
from fourlab.reporting.figures import OUTSIDE, Axes, Figure, frame, panels
from fourlab.studies.bhat.table_5 import BOARD, INKS, NAMES
from fourlab.studies.compare import chi_squared_tail, fisher, homogeneity, p_value, share
from fourlab.studies.workbench import Finding, Part, Picture, Table, Workbench

CONSTANTS = tuple(tenths / 10 for tenths in range(0, 31, 2))
CELLS = len(CONSTANTS) * 2 * 2
"""Combinations of a constant, an order of play, and the faithful or corrected search."""
FLAT_FROM = CONSTANTS.index(0.4)
"""From this constant on, c makes little difference."""
ENOUGH = 40
"""With fewer games of ours per bar there is no verdict on the labels."""
Counts = tuple[int, int, int]
"""Games won by MC40, games won by MC200, and draws."""


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
"""Read off the published bars, by first player as labelled: panel a, panel b."""
RATIO_DRAWN_IN_B = 6.0
"""Wins / losses of MC200 at c = 1."""
Curves = Mapping[str, Sequence[Counts]]
"""Counts for every c, by first player."""


def play_cell(seed: int, games: int, number: int) -> list[int]:
    """Play a batch of games of cell `number % CELLS`; both players use the same c."""
    place, first, faithful = _cell(number % CELLS)
    names = NAMES if first == "MC40" else NAMES[::-1]
    agents = [
        make(f"bhat-{name.lower()}:faithful={faithful},c={CONSTANTS[place]}") for name in names
    ]
    searches = [
        (agent.switches(), agent.simulations or 0) for agent in agents if isinstance(agent, MCTS)
    ]
    # The random state runs through the games of a batch; batches are independent of each other.
    state = seed_state(np.random.SeedSequence([seed, number]))
    counts = [0, 0, 0]  # as in Counts
    for _ in range(games):
        winner, state = _play(searches, state)
        counts[2 if winner is None else NAMES.index(names[winner])] += 1
    return counts


def _cell(number: int) -> tuple[int, str, int]:
    """Return the index of c, the first player, and 1 for the faithful search or 0."""
    # Numbers go through the constants, then the orders of play, then faithful and corrected.
    rest, place = divmod(number, len(CONSTANTS))
    return place, NAMES[rest % 2], 1 - rest // 2


def _play(searches: Sequence[tuple[verbs.Switches, int]], state: int) -> tuple[int | None, int]:
    """Play a game; return the winner (0, 1 or None) and the new random state."""
    position = Position(board=BOARD)
    geometry = position.rules.geometry
    simulations = max(simulations for _, simulations in searches)
    # The larger search's tree serves both players, so that moves allocate nothing.
    tree = np.empty((simulations + 3) * verbs.PARTS * geometry.columns, np.int32)
    while (outcome := position.outcome()) is None:
        switches, simulations = searches[position.to_move]
        column, state = search_move(
            position.own, position.mask, geometry, switches, simulations, tree, state
        )
        position = position.play(column)
    return outcome.winner, state


def _curves(faithful: int, batches: Sequence[Sequence[int]]) -> dict[str, list[Counts]]:
    """Add up the batches of the faithful (1) or the corrected (0) search."""
    totals: dict[str, list[Counts]] = {name: [(0, 0, 0)] * len(CONSTANTS) for name in NAMES}
    for number, (one, other, draws) in enumerate(batches):
        place, first, switch = _cell(number % CELLS)
        if switch == faithful:
            # Batches of one cell are CELLS apart.
            before = totals[first][place]
            totals[first][place] = (before[0] + one, before[1] + other, before[2] + draws)
    return totals


def figure_6(bench: Workbench) -> Iterator[Part]:
    """Test the claims about c, and whether the figure's panels are labelled correctly."""
    batches = bench.size["batches"]
    games = bench.size["games"]
    played = bench.repeat("games", play_cell, CELLS * batches, bench.seed, games)
    # In the words of the option `faithful`: 1 with fault B5, 0 without.
    faithful, corrected = (_curves(switch, played) for switch in (1, 0))
    for first in NAMES:
        yield _agreement(first, faithful, corrected)
    yield _labels(faithful, corrected)
    yield _ratio_panels()
    yield from _claims(faithful, corrected)
    yield _second_player(faithful, corrected)
    for first in NAMES:
        yield _flatness(first, faithful, corrected)
    yield _figure(
        "figure-6-as-drawn",
        FIGURE_6,
        "Figure 6 as published: the ratios of a and b are exchanged (B9)",
        exchanged=True,
    )
    yield _figure(
        "figure-6", FIGURE_6, "Figure 6 with the published games, each ratio below its own bars"
    )
    yield _figure(
        "figure-6-ours", faithful, f"Figure 6 with our games, {batches * games:,} per bar"
    )
    yield _figure(
        "figure-6-corrected",
        corrected,
        "Figure 6 with our games and a search that stops at won positions (B5)",
    )


def _won(counts: Sequence[Counts]) -> tuple[int, int]:
    """Return MC200's wins and the number of games."""
    return sum(cell[1] for cell in counts), sum(map(sum, counts))


def _agreement(first: str, faithful: Curves, corrected: Curves) -> Finding:
    """Compare the published bars with ours, cell by cell."""
    # The panel with which this one may have been exchanged.
    second = NAMES[1 - NAMES.index(first)]
    chance = _same_curve(FIGURE_6[first], faithful[first])
    exchanged = _same_curve(FIGURE_6[first], faithful[second])
    if chance >= 0.01:
        why = "B5: the search continues below won positions"
    elif exchanged >= 0.01:
        why = "B9: the panels' labels are probably exchanged"
    else:
        why = "no fault known to us explains it: exchanged labels do not fit either"
    return Finding(
        f"{first} first: MC200's wins at all {len(CONSTANTS)} values of c",
        share(*_won(FIGURE_6[first])),
        f"{share(*_won(faithful[first]))}; the curves are equal with {p_value(chance)}, "
        f"with exchanged labels {p_value(exchanged)}",
        share(*_won(corrected[first])),
        agrees=chance >= 0.01,
        why=why,
    )


def _same_curve(ones: Sequence[Counts], others: Sequence[Counts]) -> float:
    """Return the p-value of a chi-squared test that two curves have equal shares at every c."""
    statistic = math.fsum(
        (one[1] / sum(one) - other[1] / sum(other)) ** 2 / variance
        for one, other in zip(ones, others, strict=True)
        if (variance := _variance(one, other)) > 0
    )
    # One squared standard normal difference per constant.
    return chi_squared_tail(statistic, len(ones))


def _variance(one: Counts, other: Counts) -> float:
    """Return the variance of the difference of two observed shares if the true ones are equal."""
    # Under the null hypothesis both have the pooled share.
    won, games = _won((one, other))
    return won / games * (1 - won / games) * (1 / sum(one) + 1 / sum(other))


def _labels(faithful: Curves, corrected: Curves) -> Finding:
    """Test which panel shows which order of play."""
    odds, corrected_odds = (_log_odds_of_exchange(curves) for curves in (faithful, corrected))
    fewest = min(sum(cell) for curve in faithful.values() for cell in curve)
    return Finding(
        "panel a is MC40 first, panel b MC200 first",
        "labelled so",
        f"exchanged labels are {math.exp(odds):,.3g} times as likely",
        f"{math.exp(corrected_odds):,.3g} times",
        # Odds of 20 to 1 are strong evidence (Kass and Raftery 1995).
        agrees=odds < math.log(20) if fewest >= ENOUGH else None,
        why="B9: MC200 wins more in the published panel a than in b, "
        "although moving first must help it",
    )


def _log_odds_of_exchange(curves: Curves) -> float:
    """Return the log of how much likelier the published counts are with a and b exchanged."""

    def log_likelihood(panel: str, first: str) -> float:
        cells = zip(FIGURE_6[panel], curves[first], strict=True)
        return math.fsum(_log_likelihood(reported, ours) for reported, ours in cells)

    exchanged = log_likelihood("MC40", "MC200") + log_likelihood("MC200", "MC40")
    return exchanged - log_likelihood("MC40", "MC40") - log_likelihood("MC200", "MC200")


def _log_likelihood(reported: Counts, ours: Counts) -> float:
    """Return the log-likelihood of the reported wins of MC200, given our games.

    MC200's true share is unknown: with a uniform prior and our games as evidence, the reported
    counts of one order of play are beta-binomial.
    """
    wins = ours[1] + 1
    others = sum(ours) - ours[1] + 1
    # The binomial coefficient is the same for both orders of play and cancels.
    after = _log_beta(wins + reported[1], others + sum(reported) - reported[1])
    return after - _log_beta(wins, others)


def _log_beta(one: int, other: int) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)


def _ratio_panels() -> Finding:
    """Test whether the ratio drawn in panel b belongs to the bars of panel b."""
    ratios = {first: _ratio(counts[CONSTANTS.index(1.0)]) for first, counts in FIGURE_6.items()}
    return Finding(
        "wins / losses of MC200 at c = 1 in panel b",
        f"{RATIO_DRAWN_IN_B:.1f}",
        f"{ratios['MC200']:.1f} by the published bars, and {ratios['MC40']:.1f} in panel a",
        agrees=abs(ratios["MC200"] - RATIO_DRAWN_IN_B) < 0.1,
        why="B9: the panels of the ratios are exchanged",
    )


def _ratio(counts: Counts) -> float:
    return counts[1] / counts[0] if counts[0] else math.nan


def _claims(faithful: Curves, corrected: Curves) -> Iterator[Finding]:
    """Test what the report reads off its figure about single values of c."""
    claims = (
        # c, claim, panels of the claim, sign of the claimed effect on MC200's wins
        (0.0, "unfavourable", NAMES, -1),
        (0.2, "unfavourable", NAMES, -1),
        (2.0, "favourable", NAMES, 1),
        (1.0, "an outlier, in panel a", NAMES[:1], 1),
    )
    for c, claim, claimed_in, sign in claims:
        place = CONSTANTS.index(c)
        # The constants whose effect is flat are the baseline of each claim.
        rest = [other for other in range(FLAT_FROM, len(CONSTANTS)) if other != place]
        shares = [
            [_in_panels(curves, names, places) for places in ([place], rest)]
            for curves, names in ((FIGURE_6, claimed_in), (faithful, NAMES), (corrected, NAMES))
        ]
        chances = [fisher(*one, *other) for one, other in shares]
        (won, games), (won_else, games_else) = shares[1]
        texts = [
            f"{_beside(*pair)}, {p_value(chance)}"
            for pair, chance in zip(shares, chances, strict=True)
        ]
        yield Finding(
            f"MC200's wins with c = {c:g}, and with other c from {CONSTANTS[FLAT_FROM]} on",
            f"{claim}; {texts[0]}",
            texts[1],
            texts[2],
            # A claim agrees if its effect is significant in our games and has its sign.
            agrees=chances[1] < 0.01 and sign * (won / games - won_else / games_else) > 0,
            why="with little exploration, the search stays with the first lucky column"
            if sign < 0
            else "chance: more games do not show it",
        )


def _second_player(faithful: Curves, corrected: Curves) -> Finding:
    """Test whether MC200 wins fewer games as second player."""
    orders = [
        [_won(curves[first][FLAT_FROM:]) for first in NAMES]
        for curves in (FIGURE_6, faithful, corrected)
    ]
    chances = [fisher(*one, *other) for one, other in orders]
    # NAMES order: MC40 first means that MC200 is second.
    (won, games), (won_first, games_first) = orders[1]
    return Finding(
        f"MC200's wins as second and as first player, c from {CONSTANTS[FLAT_FROM]} on",
        f"fewer as second player; bars as labelled {_beside(*orders[0])}",
        f"{_beside(*orders[1])}, {p_value(chances[1])}",
        f"{_beside(*orders[2])}, {p_value(chances[2])}",
        agrees=chances[1] < 0.01 and won / games < won_first / games_first,
        why="B9: true, but the published bars, as labelled, show the opposite",
    )


def _in_panels(curves: Curves, panels: Sequence[str], places: Sequence[int]) -> tuple[int, int]:
    return _won([curves[first][place] for first in panels for place in places])


def _beside(one: tuple[int, int], other: tuple[int, int]) -> str:
    return f"{share(*one)} / {share(*other)}"


def _flatness(first: str, faithful: Curves, corrected: Curves) -> Finding:
    """Test whether c matters at all, apart from c = 0."""
    texts = []
    for curves in (FIGURE_6, faithful, corrected):
        pairs = [_won((counts,)) for counts in curves[first]]
        # Without c = 0, where nothing explores and MC200 does differ.
        chance = homogeneity([(won, games - won) for won, games in pairs[1:]])
        shares = [100 * won / games for won, games in pairs[FLAT_FROM:]]
        texts.append(f"{p_value(chance)}; {min(shares):.1f} to {max(shares):.1f} %")
    return Finding(
        f"{first} first: whether c matters, without c = 0 (p of no difference); "
        f"smallest and largest share of MC200 from c = {CONSTANTS[FLAT_FROM]} on",
        texts[0],
        texts[1],
        texts[2],
        why="50 games per bar are too few to distinguish values of c from 0.2 on",
    )


def _figure(name: str, curves: Curves, caption: str, exchanged: bool = False) -> Picture:
    """Draw bars above ratios; `exchanged` draws each ratio below the other panel's bars."""
    # Whose ratio stands below whose bars.
    below = dict(zip(NAMES, NAMES[::-1] if exchanged else NAMES, strict=True))

    def draw() -> Figure:
        figure, (*bars, left, right) = panels(10, 5.6, columns=2, rows=2, sharex=True, sharey="row")
        for letter, first, upper, lower in zip("ab", NAMES, bars, (left, right), strict=True):
            _bars(upper, curves[first])
            upper.set_title(f"{letter}: {first} first")
            ratios = [_ratio(counts) for counts in curves[below[first]]]
            lower.plot(CONSTANTS, ratios, color=INKS["MC200"], marker="o", markersize=4)
            frame(lower, xlabel="c")
        bars[0].set_ylabel("games")
        left.set_ylabel("wins / losses of MC200")
        bars[1].legend(**OUTSIDE)
        return figure

    head = ("first", "c", "MC40", "MC200", "draws", "wins / losses of MC200", "ratio as drawn")
    rows = tuple(
        (first, c, *counts, round(_ratio(counts), 3), round(_ratio(curves[below[first]][place]), 3))
        for first in NAMES
        for place, (c, counts) in enumerate(zip(CONSTANTS, curves[first], strict=True))
    )
    return Picture(name, f"{caption}.", draw, Table("", head, rows))


def _bars(axes: Axes, counts: Sequence[Counts]) -> None:
    for place, winner in enumerate(("MC40", "MC200", "draw")):
        axes.bar(
            # Three bars of width 0.05 around c; constants are 0.2 apart.
            [c + 0.05 * (place - 1) for c in CONSTANTS],
            [cell[place] for cell in counts],
            width=0.05,
            color=INKS[winner],
            label=winner,
        )
    frame(axes, grid="y")
