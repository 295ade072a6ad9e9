"""Arya's claims about speed, and a game as the text mode prints it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import NamedTuple

import numpy as np

from fourlab.agent import Agent, Analysis, Limit
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.reporting.figures import (
    COLOURS,
    MARKS,
    OUTSIDE,
    REPORTED_COLOUR,
    Figure,
    frame,
    panels,
)
from fourlab.studies.arya.listing import ListedSearch
from fourlab.studies.arya.matches import vanilla
from fourlab.studies.claims import COUNTS, Claim, Estimate, Kind, Source, Value, Verdict, mean_of
from fourlab.studies.compare import moments
from fourlab.studies.reported import reported
from fourlab.studies.rules import Difference, within_error
from fourlab.studies.verdicts import same_number
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

FACTOR = 2
"""A measured speed within this factor of a claim agrees with it, since machines differ."""
FEWEST_TIMES = 3
"""With fewer measurements of a speed there is no verdict."""
COMPILED = "arya-vanilla:seconds=10,faithful=1"
"""The compiled search; the time limit of the call, in CPU seconds, stops it earlier."""
OPENINGS = ("", "4444", "44332", "443321167")
"""Positions in which minimax is timed."""
PRINTED = {
    "who is thinking": ["is thinking"],
    "the move": ["plays column"],
    "rollouts and their time": ["rollouts in"],
    "the winner": ["won!", "It is a draw."],
    "the score so far": ["Results so far"],
}
"""What the text mode is said to print, and the words for it in ours."""


def speed(bench: Workbench) -> Iterator[Part]:
    """Measure rollouts per second and minimax's seconds per move, each several times."""
    rates = {}
    times = bench.size["times"]
    for seconds in bench.size["seconds"]:
        # CPU seconds, not wall-clock time: other programs do not count.
        rates[seconds] = [
            bench.calculate(f"{name}-{seconds:g}s", partial(measure, seconds, times))
            for name, measure in (("listing", _listing_rates), ("compiled", _compiled_rates))
        ]
    claimed = reported("arya-rollouts")
    bars: list[_Speed] = []
    for seconds, fewest, most in zip(*claimed.values(), strict=True):
        if seconds not in rates:
            continue
        measured, compiled_rates = rates[seconds]
        listing, compiled = _mean(measured), _mean(compiled_rates)
        low, high = fewest / seconds, most / seconds
        stated = _range(fewest, most)
        bars.append(_Speed(f"{stated} in {seconds:g} s", low, high, listing, compiled))
        yield Claim(
            f"rollouts-{seconds:g}s-{most:.0f}",
            f"rollouts per CPU second on the empty board, stated as {stated} in {seconds:g} s",
            _range(low, high),
            Source.TEXT,
            faithful=listing,
            corrected=compiled,
            reproduced=near(measured, low, high),
            why=f"ours {_factor(listing.value, low, high)}. The thesis names neither machine nor "
            "interpreter; the author of the listing reports 1,300 to 2,000 rollouts per second. "
            "How fast compiled code is says nothing about the thesis",
            labels={"faithful": "listing, plain Python", "corrected": "the same, compiled"},
            # Both numbers for one second are one statement, which contradicts itself.
            statement=f"rollouts-{seconds:g}s",
        )
    if bars:
        yield _picture(bars)
    for depth, least, most in zip(*reported("arya-minimax-seconds").values(), strict=True):
        no_heuristic, heuristic = (
            _mean(
                bench.calculate(
                    f"minimax-times-{depth:.0f}-{kind}",
                    partial(_seconds_per_move, int(depth), kind, times),
                ),
                1000,
            )
            for kind in ("terminal", "lines")
        )
        yield Claim(
            f"minimax-seconds-{depth:.0f}",
            f"minimax({depth:.0f}): time per move",
            f"{_range(least, most)} s",
            Source.TEXT,
            faithful=replace(no_heuristic, unit="ms", digits=3),
            corrected=replace(heuristic, unit="ms", digits=3),
            why="not compared: the minimax that was timed is not shown, and ours is compiled and "
            "has a transposition table",
            labels={"faithful": "no heuristic", "corrected": "with a heuristic"},
        )


class _Speed(NamedTuple):
    """A stated speed in rollouts per second, and ours."""

    label: str
    low: float
    high: float
    listing: Estimate
    compiled: Estimate


def _mean(measured: list[float], times: float = 1) -> Estimate:
    """Return the mean of measurements, each multiplied; a single one has no interval."""
    values = [times * value for value in measured]
    return mean_of(values, 0, within=COUNTS) if len(values) > 1 else Estimate(values[0], digits=0)


def _range(low: float, high: float) -> Value:
    """Return a reported number, or a reported range as words."""
    return Estimate(low, digits=0) if low == high else f"{low:,.0f} to {high:,.0f}"


def near(rates: Sequence[float], low: float, high: float) -> Verdict | None:
    """Test whether the mean speed is within `FACTOR` of the claimed range; None if too few.

    Speeds are compared by factors, so the test is of their logarithms to the base `FACTOR`: the
    margin is 1.
    """
    if len(rates) < FEWEST_TIMES:
        return None
    logs = [math.log(rate, FACTOR) for rate in rates]
    middle, spread = moments(logs)
    # The nearest end of the range.
    claimed = min(max(middle, math.log(low, FACTOR)), math.log(high, FACTOR))
    difference = Difference(middle - claimed, spread / math.sqrt(len(logs)), len(logs) - 1)
    verdict = within_error(f"t-test of the logarithms to base {FACTOR}", difference, 1, claimed)
    return replace(verdict, margin=f"1, a factor of {FACTOR}")


def _factor(measured: float, low: float, high: float) -> str:
    """Return by which factor a measurement differs from a claimed range."""
    nearest = min(max(measured, low), high)
    factor = max(measured / nearest, nearest / measured)
    return "is within the range" if factor == 1 else f"differs by a factor of {factor:.1f}"


def _picture(speeds: list[_Speed]) -> Picture:
    rows = [
        (one.label, name, value, least, most)
        for one in speeds
        for name, value, least, most in (
            ("as reported", "", one.low, one.high),
            *(
                (name, estimate.value, estimate.low, estimate.high)
                for name, estimate in (("listing", one.listing), ("compiled", one.compiled))
            ),
        )
    ]
    head = ("stated", "version", "rollouts per second", "low", "high")
    return Picture(
        "speeds",
        "Rollouts per second: as reported (a range where one is given), the listing in plain "
        "Python and the same search compiled, means with 95 % intervals, CPU seconds.",
        lambda: _draw(speeds),
        Table("", head, tuple(rows)),
    )


def _draw(speeds: list[_Speed]) -> Figure:
    figure, (axes,) = panels(9, 1.3 + 0.5 * len(speeds))
    for place, one in enumerate(speeds):
        first = place == 0
        axes.plot(
            [one.low, one.high],
            [place - 0.2] * 2,
            "|-",
            color=REPORTED_COLOUR,
            label="as reported" if first else None,
        )
        for version, (name, estimate) in enumerate(
            (("listing, plain Python", one.listing), ("compiled", one.compiled))
        ):
            ends = [estimate.value if end is None else end for end in (estimate.low, estimate.high)]
            axes.errorbar(
                estimate.value,
                place + 0.2 * version,
                xerr=[[estimate.value - ends[0]], [ends[1] - estimate.value]],
                marker=MARKS[version],
                markersize=4,
                capsize=3,
                linestyle="",
                color=COLOURS[version],
                label=name if first else None,
            )
    axes.set_yticks(range(len(speeds)), [one.label for one in speeds], fontsize=8)
    axes.set_ylim(len(speeds) - 0.4, -0.6)  # the first above
    frame(axes, OUTSIDE, "x", xscale="log", xlabel="rollouts per second")
    return figure


def _decide(agent: Agent, position: Position, limit: Limit) -> Analysis:
    return agent.decide(position, limit, np.random.default_rng(0)).analysis


def _listing_rates(seconds: float, times: int) -> list[float]:
    """Return the rollouts per CPU second of the listing, measured some times."""
    rates = []
    for number in range(times):
        search = ListedSearch(seed=number)
        search.search(seconds)
        rates.append(search.rollouts / seconds)
    return rates


def _compiled_rates(seconds: float, times: int) -> list[float]:
    """Return the rollouts per CPU second of the compiled search, measured some times."""
    agent = make(COMPILED)
    _decide(agent, Position("44"), Limit(simulations=10))  # warm-up: compiles the kernels
    return [
        (_decide(make(COMPILED), Position(), Limit(seconds=seconds)).simulations or 0) / seconds
        for _ in range(times)
    ]


def _seconds_per_move(depth: int, evaluation: str, times: int) -> list[float]:
    """Return minimax's median seconds per move over `OPENINGS`, measured some times."""
    spec = f"minimax:depth={depth},evaluation={evaluation}"
    _decide(make(spec), Position("44"), Limit())  # warm-up: compiles the kernels
    medians = []
    for _ in range(times):
        # A new one, since its table would remember the positions.
        agent = make(spec)
        seconds = [_decide(agent, Position(moves), Limit()).seconds or 0.0 for moves in OPENINGS]
        medians.append(float(median(seconds)))
    return medians


def text_mode(bench: Workbench) -> Iterator[Part]:
    """Show two games of either search the way Arya's text mode prints them."""
    for faithful in (True, False):
        version = "as listed" if faithful else "corrected"
        games = bench.calculate(f"text-{int(faithful)}", partial(_two_games, bench, faithful))
        if faithful:
            yield _printed(games)
        yield Text(f"Two games of the search {version} against minimax(4)", games)


def _printed(games: str) -> Claim:
    """Compare what a transcript has with what Arya's text mode is said to print."""
    lines = sum(any(word in games for word in words) for words in PRINTED.values())
    return Claim(
        "text-mode-score",
        "things that the text mode prints: " + ", ".join(PRINTED),
        f"all {len(PRINTED)}",
        Source.TEXT,
        faithful=str(lines),
        reproduced=same_number(len(PRINTED), lines, 0),
        why="a check of our text mode, which was made to print these",
        labels={"faithful": "ours"},
        kind=Kind.DIAGNOSTIC,
    )


def _two_games(bench: Workbench, faithful: bool) -> str:
    """Play two games and return their transcript; the times in it are measured."""
    lines = []
    # Printed as it is, like the dictionary of the thesis.
    score = {"X": 0, "O": 0, "draws": 0}
    for game in (1, 2):
        agents = {
            "X": make("minimax:depth=4,ties=random"),
            "O": make(vanilla(bench.size["rollouts"], faithful)),
        }
        rng = np.random.default_rng([bench.seed, game])
        position = Position()
        # Only the first moves of the first game are shown one by one.
        plies_shown = bench.size["shown"] if game == 1 else 0
        while (outcome := position.outcome()) is None:
            # X moves first.
            name = "XO"[position.ply % 2]
            decision = agents[name].decide(position, Limit(), rng)
            position = position.play(decision.column)
            if position.ply <= plies_shown:
                lines += [f"{name} is thinking...", f"{name} plays column {decision.column + 1}"]
                analysis = decision.analysis
                if analysis.simulations is not None:
                    rollouts = f"{analysis.simulations} rollouts"
                    lines.append(f"Statistics: {rollouts} in {analysis.seconds:.3f} seconds")
                lines += [*_grid(position), ""]
        winner = None if outcome.winner is None else "XO"[outcome.winner]
        score[winner or "draws"] += 1
        lines += [f"Game {game}, after {position.ply} discs:", *_grid(position)]
        lines += [f"{winner} won!" if winner else "It is a draw.", f"Results so far: {score}", ""]
    return "\n".join(lines).rstrip()


def _grid(position: Position) -> list[str]:
    """Draw the board with X for the first player's discs and O for the second's."""
    lines = ["| " + " | ".join(" XO"[cell] for cell in row) + " |" for row in position.grid()]
    numbers = range(1, position.rules.columns + 1)
    return [*lines, "  " + "   ".join(map(str, numbers))]
