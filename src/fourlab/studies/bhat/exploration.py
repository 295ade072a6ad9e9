"""Bhat's Figure 6: the exploration constant c from 0 to 3, with MC40 and with MC200 first."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.q.kernel import search_move
from fourlab.agents.registry import make
from fourlab.arena.statistics import wilson
from fourlab.compiled.random import seed_state
from fourlab.game.position import Position
from fourlab.reporting.figures import (
    COLOURS,
    MARKS,
    OUTSIDE,
    REPORTED_COLOUR,
    SMALL,
    Axes,
    Figure,
    frame,
    panels,
)
from fourlab.studies.bhat.comparisons import Cell, same_curve, varies
from fourlab.studies.bhat.order import (
    CONSTANTS,
    FIGURE_6,
    GAMES,
    Counts,
    Curves,
    order_of_play,
)
from fourlab.studies.bhat.table_5 import BOARD, INKS, NAMES
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Verdict, difference, share
from fourlab.studies.compare import homogeneity
from fourlab.studies.proportions import LEVEL
from fourlab.studies.verdicts import larger_share, same_number
from fourlab.studies.workbench import Part, Picture, Table, Workbench

CELLS = len(CONSTANTS) * 2 * 2
"""Combinations of a constant, an order of play, and the faithful or corrected search."""
FLAT_FROM = CONSTANTS.index(0.4)
"""From this constant on, c makes little difference."""
HALFWAY = CONSTANTS.index(1.6)
CURVE_POINTS = 10
"""Margin of a whole curve, in percentage points at every c."""
POINTS = 3
"""Margin of the effect of c, or of moving first, in percentage points."""
ONE_POINTS = 8
"""Margin of one bar from all others, in percentage points."""
RATIO_DRAWN_IN_B = 6.0
"""Wins / losses of MC200 at c = 1."""
PANELS = "B9: the panels of the ratios are exchanged"
CHANCE = "chance: 50 games per bar are too few to see it, and more games do not show it"
"""Explains an effect that our games do not have."""


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
    yield order_of_play(faithful, corrected)
    yield _ratio_panels()
    yield from _single_constants(faithful, corrected)
    yield _exploration(faithful, corrected)
    yield _second_player(faithful, corrected)
    for first in NAMES:
        yield _flatness(first, faithful, corrected)
    yield _comparison(faithful, corrected)
    yield _bars(
        "figure-6-as-drawn",
        FIGURE_6,
        "Figure 6 as published: the ratios of a and b are exchanged (B9)",
        exchanged=True,
    )
    caption = (
        f"Figure 6 with our games in the report's form and scale: {batches * games:,} games per "
        f"bar, counted per {GAMES}; each ratio is below its own bars"
    )
    yield _bars("figure-6-ours", faithful, caption)


def _won(counts: Sequence[Counts]) -> Cell:
    """Return MC200's wins and the number of games."""
    return sum(cell[1] for cell in counts), sum(map(sum, counts))


def _cells(counts: Sequence[Counts]) -> list[Cell]:
    return [_won((cell,)) for cell in counts]


def _agreement(first: str, faithful: Curves, corrected: Curves) -> Claim:
    """Compare the published bars with ours, cell by cell."""
    # The panel with which this one may have been exchanged.
    second = NAMES[1 - NAMES.index(first)]
    published = _cells(FIGURE_6[first])
    verdict = same_curve(published, _cells(faithful[first]), CURVE_POINTS)
    exchanged = same_curve(published, _cells(faithful[second]), CURVE_POINTS)
    far = max(range(len(CONSTANTS)), key=lambda place: _gap(first, faithful, place))
    reported, ours = (
        100 * count / of for count, of in (published[far], _cells(faithful[first])[far])
    )
    most = f"at c = {CONSTANTS[far]:g} it is largest: {reported:.0f} % published, {ours:.0f} % ours"
    if _is_likely(verdict):
        why = "B5: the search continues below won positions"
    elif _is_likely(exchanged):
        why = (
            "B9: the panels' labels are probably exchanged, which would fit: "
            f"p = {exchanged.p:.2g}. The difference varies with c; {most}"
        )
    else:
        why = (
            "no fault known to us explains the difference: exchanged labels do not fit either. "
            f"It varies with c; {most}"
        )
    return Claim(
        f"figure-6-{first.lower()}-first",
        f"{first} first: MC200's wins, all {len(CONSTANTS)} values of c",
        share(*_won(FIGURE_6[first])),
        Source.FIGURE,
        share(*_won(faithful[first])),
        share(*_won(corrected[first])),
        reproduced=verdict,
        why=why,
        statement="figure-6",
    )


def _gap(first: str, faithful: Curves, place: int) -> float:
    """Return how far apart the published share and ours are for one c."""
    (hers, of), (ours, our_of) = (_won((curves[first][place],)) for curves in (FIGURE_6, faithful))
    return abs(hers / of - ours / our_of)


def _is_likely(verdict: Verdict) -> bool:
    """Return whether the test does not reject equality."""
    return verdict.p is None or verdict.p >= LEVEL


def _ratio_panels() -> Claim:
    """Test whether the ratio drawn in panel b belongs to the bars of panel b."""
    ratios = {first: _ratio(counts[CONSTANTS.index(1.0)]) for first, counts in FIGURE_6.items()}
    return Claim(
        "figure-6-ratio",
        "wins / losses of MC200 at c = 1 in panel b: the line, and the published bars",
        Estimate(RATIO_DRAWN_IN_B, digits=1),
        Source.FIGURE,
        Estimate(ratios["MC200"], digits=1, note=f"in panel a {ratios['MC40']:.1f}"),
        reproduced=same_number(RATIO_DRAWN_IN_B, ratios["MC200"], 0.1),
        why=PANELS,
    )


def _ratio(counts: Counts) -> float:
    return counts[1] / counts[0] if counts[0] else math.nan


def _single_constants(faithful: Curves, corrected: Curves) -> Iterator[Claim]:
    """Test what the report reads off its figure about single values of c."""
    claims = (
        # c, claim, panels of the claim, sign of the claimed effect on MC200's wins
        (0.0, "is unfavourable", NAMES, -1),
        (0.2, "is unfavourable", NAMES, -1),
        (2.0, "is favourable", NAMES, 1),
        (1.0, "is an outlier, in panel a", NAMES[:1], 1),
    )
    for c, claim, claimed_in, sign in claims:
        place = CONSTANTS.index(c)
        # The constants whose effect is flat are the baseline of each claim.
        rest = [other for other in range(FLAT_FROM, len(CONSTANTS)) if other != place]
        yield _effect(
            f"figure-6-c-{c:g}".replace(".", ""),
            f"c = {c:g} gives MC200 {'fewer' if sign < 0 else 'more'} wins: its wins with this c, "
            f"less those with other c from {CONSTANTS[FLAT_FROM]} on",
            claim,
            [
                [_in_panels(curves, names, places) for places in ([place], rest)]
                for curves, names in ((FIGURE_6, claimed_in), (faithful, NAMES), (corrected, NAMES))
            ],
            sign,
            "with little exploration, the search stays with the first lucky column"
            if sign < 0
            else CHANCE,
        )


def _exploration(faithful: Curves, corrected: Curves) -> Claim:
    """Test the report's general conclusion about c."""
    halves = (range(HALFWAY, len(CONSTANTS)), range(FLAT_FROM, HALFWAY))
    return _effect(
        "figure-6-exploration",
        f"larger c give MC200 more wins: its wins with c from {CONSTANTS[HALFWAY]} on, less those "
        f"with c from {CONSTANTS[FLAT_FROM]} to {CONSTANTS[HALFWAY - 1]}",
        "greater exploration is advantageous",
        [
            [_in_panels(curves, NAMES, places) for places in halves]
            for curves in (FIGURE_6, faithful, corrected)
        ],
        1,
        f"from c = {CONSTANTS[FLAT_FROM]} on it makes a difference of a few points at most, which "
        "the published bars cannot show",
    )


def _second_player(faithful: Curves, corrected: Curves) -> Claim:
    """Test whether MC200 wins fewer games as second player."""
    return _effect(
        "figure-6-second-player",
        "moving second gives MC200 fewer wins: its wins as second player, less those as first, "
        f"c from {CONSTANTS[FLAT_FROM]} on",
        "being second reduces the advantage",
        # NAMES order: MC40 first means that MC200 is second.
        [
            [_won(curves[first][FLAT_FROM:]) for first in NAMES]
            for curves in (FIGURE_6, faithful, corrected)
        ],
        -1,
        "B9: the published bars, as labelled, show the opposite of what the report says",
    )


def _effect(
    name: str,
    quantity: str,
    claim: str,
    pairs: Sequence[Sequence[Cell]],
    sign: int,
    why: str,
) -> Claim:
    """Test a direction: MC200's share under one condition and another.

    `pairs` are published, faithful and corrected. The verdicts are on the direction that the text
    claims, so the number in the published bars, which may be of the other sign, is only quoted.
    """
    effects = [difference(share(*one), share(*other)) for one, other in pairs]
    verdicts = [
        larger_share(*one, *other, POINTS) if sign > 0 else larger_share(*other, *one, POINTS)
        for one, other in pairs[1:]
    ]
    if why == CHANCE and any(verdict.answer is Answer.AGREES for verdict in verdicts):
        why = ""
    return Claim(
        name,
        quantity,
        f"{claim}; the bars have {effects[0]}",
        Source.FIGURE,
        effects[1],
        effects[2],
        reproduced=verdicts[0],
        true=verdicts[1],
        why=why,
    )


def _in_panels(curves: Curves, names: Sequence[str], places: Sequence[int]) -> Cell:
    return _won([curves[first][place] for first in names for place in places])


def _flatness(first: str, faithful: Curves, corrected: Curves) -> Claim:
    """Test whether c matters at all from FLAT_FROM on."""
    bars = [_cells(curves[first][FLAT_FROM:]) for curves in (FIGURE_6, faithful, corrected)]
    values = []
    for cells in bars:
        shares = [100 * count / of for count, of in cells]
        p = homogeneity([(count, of - count) for count, of in cells])
        note = f"p = {p:.2g} if c does not matter"
        values.append(Estimate(max(shares) - min(shares), unit="points", digits=1, note=note))
    return Claim(
        f"figure-6-flat-{first.lower()}-first",
        f"{first} first: c matters from {CONSTANTS[FLAT_FROM]} on; MC200's largest share less its "
        "smallest",
        f"yes; the bars have {values[0]}",
        Source.FIGURE,
        values[1],
        values[2],
        reproduced=varies(bars[1], ONE_POINTS),
        true=varies(bars[2], ONE_POINTS),
        why="the claim is that c matters there. If it does, then by a few points, which 50 games "
        "per bar cannot show",
    )


def _comparison(faithful: Curves, corrected: Curves) -> Picture:
    """Draw the published shares and ours on the same axes."""
    versions = {"published": FIGURE_6, "ours, faithful": faithful, "ours, corrected": corrected}
    rows = []
    for first in NAMES:
        for name, curves in versions.items():
            for c, cell in zip(CONSTANTS, _cells(curves[first]), strict=True):
                low, high = wilson(*cell)
                percent = (round(100 * part, 2) for part in (cell[0] / cell[1], low, high))
                rows.append((first, name, c, *percent, cell[1]))

    def draw() -> Figure:
        figure, both = panels(10, 3.8, columns=2, sharey=True)
        for axes, letter, first in zip(both, "ab", NAMES, strict=True):
            for place, (name, curves) in enumerate(versions.items()):
                _curve(axes, place, name, _cells(curves[first]))
            frame(axes, title=f"{letter}: {first} first", xlabel="c", ylim=(0, 100))
        both[0].set_ylabel("games that MC200 wins (%)")
        both[1].legend(**SMALL, loc="lower right")
        return figure

    caption = (
        "Figure 6, the published bars and ours: games that MC200 wins, with 95 % intervals. The "
        f"published ones have {GAMES} games each; the panels are likelier if exchanged (B9)."
    )
    head = ("first", "whose", "c", "MC200 wins (%)", "low (%)", "high (%)", "games")
    return Picture("figure-6", caption, draw, Table("", head, tuple(rows)))


def _curve(axes: Axes, place: int, name: str, cells: Sequence[Cell]) -> None:
    shares = [100 * count / of for count, of in cells]
    low, high = (100 * np.array([wilson(*cell)[end] for cell in cells]) for end in (0, 1))
    colour = (REPORTED_COLOUR, *COLOURS)[place]
    if place == 0:
        errors = [np.subtract(shares, low), np.subtract(high, shares)]
        axes.errorbar(
            CONSTANTS,
            shares,
            errors,
            color=colour,
            fmt=MARKS[0],
            markersize=4,
            capsize=2,
            linewidth=0.8,
            label=name,
        )
        return
    axes.fill_between(CONSTANTS, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(CONSTANTS, shares, color=colour, marker=MARKS[place], markersize=3, label=name)


def _bars(name: str, curves: Curves, caption: str, exchanged: bool = False) -> Picture:
    """Draw bars above ratios; `exchanged` draws each ratio below the other panel's bars."""
    # Whose ratio stands below whose bars.
    below = dict(zip(NAMES, NAMES[::-1] if exchanged else NAMES, strict=True))

    def draw() -> Figure:
        figure, (*bars, left, right) = panels(10, 5.6, columns=2, rows=2, sharex=True, sharey="row")
        for letter, first, upper, lower in zip("ab", NAMES, bars, (left, right), strict=True):
            for place, winner in enumerate(("MC40", "MC200", "draw")):
                upper.bar(
                    # Three bars of width 0.05 around c; constants are 0.2 apart.
                    [c + 0.05 * (place - 1) for c in CONSTANTS],
                    [GAMES * cell[place] / sum(cell) for cell in curves[first]],
                    width=0.05,
                    color=INKS[winner],
                    label=winner,
                )
            frame(upper, grid="y", title=f"{letter}: {first} first", ylim=(0, GAMES))
            ratios = [_ratio(counts) for counts in curves[below[first]]]
            lower.plot(CONSTANTS, ratios, color=INKS["MC200"], marker="o", markersize=4)
            frame(lower, xlabel="c", ylim=(0, 7))
        bars[0].set_ylabel(f"games of {GAMES}")
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
