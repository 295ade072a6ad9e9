"""Arya's claims about speed, and a game as the text mode prints it."""

from collections.abc import Iterator
from functools import partial
from statistics import median

import numpy as np

from fourlab.agent import Agent, Analysis, Limit
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.studies.arya.listing import ListedSearch
from fourlab.studies.arya.matches import vanilla
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Value, Verdict, mean_of
from fourlab.studies.reported import reported
from fourlab.studies.verdicts import same_number
from fourlab.studies.workbench import Part, Text, Workbench

FACTOR = 2
"""A measurement within this factor of a claim agrees with it, since machines differ."""
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
    """Measure rollouts per second and minimax's seconds per move."""
    rates = {}
    for seconds in bench.size["seconds"]:
        # CPU seconds, not wall-clock time: other programs do not count.
        rates[seconds] = [
            bench.calculate(f"{name}-{seconds:g}s", partial(measure, seconds, bench.size["times"]))
            for name, measure in (("listing", _listing_rates), ("compiled", _compiled_rates))
        ]
    claimed = reported("arya-rollouts")
    for seconds, fewest, most in zip(*claimed.values(), strict=True):
        if seconds not in rates:
            continue
        listing, compiled = map(_mean, rates[seconds])
        yield Claim(
            f"rollouts-{seconds:g}s-{most:.0f}",
            f"rollouts per CPU second on the empty board, over {seconds:g} s: the listing in plain "
            "Python (faithful), the same search compiled (corrected)",
            _range(fewest / seconds, most / seconds),
            Source.TEXT,
            faithful=listing,
            corrected=compiled,
            reproduced=_near(listing.value, fewest / seconds, most / seconds),
            true=_reached(compiled.value, fewest / seconds),
            why="the thesis names neither machine nor interpreter; the author of the listing "
            "reports 1,300 to 2,000 rollouts per second",
        )
    for depth, least, most in zip(*reported("arya-minimax-seconds").values(), strict=True):
        no_heuristic, heuristic = (
            bench.calculate(
                f"minimax-{depth:.0f}-{kind}", partial(_seconds_per_move, int(depth), kind)
            )
            for kind in ("terminal", "lines")
        )
        yield Claim(
            f"minimax-seconds-{depth:.0f}",
            f"minimax({depth:.0f}): time per move, without a heuristic (faithful) and with one "
            "(corrected)",
            f"{_range(least, most)} s",
            Source.TEXT,
            faithful=Estimate(1000 * no_heuristic, unit="ms", digits=2),
            corrected=Estimate(1000 * heuristic, unit="ms", digits=2),
            why="not compared: the minimax that was timed is not shown, and ours is compiled and "
            "has a transposition table",
        )


def _mean(rates: list[float]) -> Estimate:
    """Return the mean of some measurements; a single one has no interval."""
    return mean_of(rates, 0) if len(rates) > 1 else Estimate(rates[0], digits=0)


def _range(low: float, high: float) -> Value:
    """Return a reported number, or a reported range as words."""
    return Estimate(low, digits=0) if low == high else f"{low:,.0f} to {high:,.0f}"


def _near(measured: float, low: float, high: float) -> Verdict:
    """Return whether a measurement is within `FACTOR` of the claimed range."""
    near = low / FACTOR <= measured <= high * FACTOR
    return Verdict(Answer.AGREES if near else Answer.DIFFERS, "comparison", f"a factor of {FACTOR}")


def _reached(measured: float, claimed: float) -> Verdict:
    """Return whether a measurement is at least what is claimed."""
    answer = Answer.AGREES if measured >= claimed else Answer.DIFFERS
    return Verdict(answer, "comparison, at least as many")


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


def _seconds_per_move(depth: int, evaluation: str) -> float:
    """Return minimax's median seconds per move over `OPENINGS`."""
    agent = make(f"minimax:depth={depth},evaluation={evaluation}")
    _decide(agent, Position("44"), Limit())  # warm-up: compiles the kernels
    return float(
        median(_decide(agent, Position(moves), Limit()).seconds or 0.0 for moves in OPENINGS)
    )


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
