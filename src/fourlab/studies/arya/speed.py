"""Arya's claims about speed and about Connect Four, and a game as the text mode prints it."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean, median

import numpy as np

from fourlab.agent import Agent, Analysis, Limit
from fourlab.agents.opponents import chooser
from fourlab.agents.registry import make
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC
from fourlab.solver import Solver
from fourlab.studies.arya.matches import vanilla
from fourlab.studies.compare import mean, share
from fourlab.studies.workbench import Finding, Part, Table, Text, Workbench
from fourlab.training.test_set import EXAMPLES, win_block_accuracy

CLAIMED = {1.0: (10_000, 30_000), 3.0: (95_530, 95_530), 5.0: (150_000, 150_000)}
"""CPU seconds per move to the fewest and the most rollouts that the thesis gives for them."""
MINIMAX_CLAIMED = {4: (1, 2), 6: (12, 15)}
"""Depths to the range of seconds per move."""
FACTOR = 2
"""A measurement within this factor of a claim agrees with it, since machines differ."""
FASTER = "ours is compiled code on bitboards on a newer machine, so it is expected to be faster"
SEARCHES = {
    "listed": "arya-vanilla:seconds=10,faithful=1",
    "corrected": "arya-vanilla:seconds=10",
}
"""The searches that are timed; the time limit of the call, in CPU seconds, stops them earlier."""
OPENINGS = ("", "4444", "44332", "443321167")
"""Positions in which minimax is timed."""


def speed(bench: Workbench) -> Iterator[Part]:
    """Measure rollouts per second and minimax's seconds per move."""
    for seconds, (fewest, most) in CLAIMED.items():
        budget = seconds / bench.size["shrink"]
        # CPU seconds, not wall-clock time: other programs do not count.
        listed, corrected = (
            bench.calculate(f"{name}-{seconds:g}s", partial(_rollouts, spec, budget)) / budget
            for name, spec in SEARCHES.items()
        )
        yield Finding(
            "rollouts per CPU second on the empty board, "
            f"measured over {budget:g} s (Arya: {seconds:g} s)",
            _range(fewest / seconds, most / seconds),
            f"{listed:,.0f}",
            f"{corrected:,.0f}",
            agrees=_near(listed, fewest / seconds, most / seconds),
            why=f"{FASTER}; plain Python on this machine does not reach Arya's numbers, nor does "
            "the author of the listing, who reports 1,300 to 2,000 per second",
        )
    rate = bench.calculate("plain", partial(_plain_rate, bench.size["plain"]))
    yield Finding(
        "rollouts per second in plain Python",
        _range(*CLAIMED[1.0]),
        f"{rate:,.0f}",
        # The lowest number that the thesis gives for one second.
        agrees=rate >= 10_000,
        why="a different interpreter, machine or board than stated",
    )
    for depth, (least, most) in MINIMAX_CLAIMED.items():
        no_heuristic, heuristic = (
            bench.calculate(f"minimax-{depth}-{kind}", partial(_seconds_per_move, depth, kind))
            for kind in ("terminal", "lines")
        )
        yield Finding(
            f"minimax({depth}): seconds per move",
            _range(least, most),
            f"{no_heuristic:.2g} without heuristic",
            f"{heuristic:.2g}",
            agrees=_near(no_heuristic, least, most),
            why=f"{FASTER}; it also has a transposition table",
        )


def _range(low: float, high: float) -> str:
    return f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"


def _near(measured: float, low: float, high: float) -> bool:
    """Return whether a measurement is within `FACTOR` of the claimed range."""
    return low / FACTOR <= measured <= high * FACTOR


def _decide(agent: Agent, position: Position, limit: Limit) -> Analysis:
    return agent.decide(position, limit, np.random.default_rng(0)).analysis


def _rollouts(spec: str, seconds: float) -> int:
    """Return how many rollouts a search makes on the empty board in `seconds` of CPU time."""
    agent = make(spec)
    _decide(agent, Position("44"), Limit(simulations=10))  # warm-up: compiles the kernels
    return _decide(agent, Position(), Limit(seconds=seconds)).simulations or 0


def _plain_rate(rollouts: int) -> float:
    """Return the rollouts per CPU second of the textbook search, which is plain Python."""
    # No warm-up: plain Python compiles nothing.
    begun = time.process_time()
    _decide(make("textbook"), Position(), Limit(simulations=rollouts))
    return rollouts / (time.process_time() - begun)


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
        yield Text(f"Two games of the search {version} against minimax(4)", games)


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


def theory(bench: Workbench) -> Iterator[Part]:
    """Check Arya's statements about the game, and whether the window-mode minimax can block."""
    scores = bench.calculate("first-columns", _first_columns)
    # From the first player's point of view.
    values = [Result.of_score(score).word for score in scores]
    yield Finding(
        "values of the first player's columns 1 to 7",
        "win in the middle, draw everywhere else",
        "",
        exact=", ".join(values),
        agrees=values == ["draw"] * 3 + ["win"] + ["draw"] * 3,
        why="the columns next to the middle draw, those further out lose",
    )
    yield Finding(
        "the ply at which the middle column wins",
        "41",
        "",
        # A win with the side's last disc scores 1, one disc earlier 2, and so on.
        exact=str(43 - 2 * max(scores)),
        agrees=max(scores) == 1,
    )
    games = bench.calculate("open-columns", partial(_open_columns, bench.size["games"], bench.seed))
    # The reported 7 is the number of columns; in later positions some are full.
    branching = per_game(games)
    yield Finding(
        "mean number of legal columns in random games",
        "7",
        mean(branching, 2),
        agrees=abs(fmean(branching) - 7) < 0.05,
        why="7 is the maximum",
    )
    accuracies = {
        name: bench.calculate(name, partial(_wins_and_blocks, spec))
        for name, spec in _MINIMAXES.items()
    }
    rows = tuple(
        (name, _share(accuracy["wins"]), _share(accuracy["blocks"]))
        for name, accuracy in accuracies.items()
    )
    head = ("minimax", "wins", "blocks")
    yield Table("Immediate wins taken and threats blocked (B18)", head, rows)
    # The share of EXAMPLES in which the threat is blocked.
    window = accuracies["window, depth 4"]["blocks"]
    yield Finding(
        "threats that minimax blocks",
        "fails to block",
        _share(window),
        _share(accuracies["corrected, depth 4"]["blocks"]),
        agrees=window < 0.9,
        why="B18: every disc is placed as the searcher's own, so it never sees the opponent move",
    )


_MINIMAXES = {
    "window, depth 4": "arya-minimax:depth=4,faithful=1",
    "window, depth 6": "arya-minimax:depth=6,faithful=1",
    "window, depth 8": "arya-minimax:depth=8,faithful=1",
    "no heuristic, depth 4": "minimax:depth=4,evaluation=terminal",
    "corrected, depth 4": "arya-minimax:depth=4",
}
"""By the names of their rows, which are also the names of stored results."""


def _first_columns() -> list[int]:
    """Return the exact scores of the first player's columns, from left to right."""
    # Without a limit the solver proves every score, so both bounds are equal.
    return [score.lower for score in Solver().columns(Position()).values()]


def _share(accuracy: float) -> str:
    return share(round(EXAMPLES * accuracy), EXAMPLES)


def _open_columns(games: int, seed: int) -> list[tuple[int, int]]:
    """Play random games; return for each the sum of its legal columns and its positions."""
    rng = np.random.default_rng(seed)
    totals = []
    for _ in range(games):
        position = Position()
        counts = []
        while position.outcome() is None:
            counts.append(len(position.legal_columns()))
            position = position.play(int(rng.choice(position.legal_columns())))
        totals.append((sum(counts), len(counts)))
    return totals


def per_game(games: Sequence[Sequence[int]]) -> list[float]:
    """Return one value per game whose mean is the mean over all positions of all games.

    `games` holds pairs (sum over the positions of a game, number of positions). Positions of one
    game depend on each other, games do not; the values linearise the ratio of the two sums, so
    the usual interval of their mean is the interval of the ratio (the delta method).
    """
    # Over all games.
    columns, positions = (sum(totals) for totals in zip(*games, strict=True))
    ratio = columns / positions
    return [ratio + (total - ratio * count) * len(games) / positions for total, count in games]


def _wins_and_blocks(spec: str) -> dict[str, float]:
    return dict(win_block_accuracy(chooser(spec, CLASSIC), CLASSIC))
