"""Document 002's future work, done: stronger opponents, judgement in place of lots, and several threads."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.arena.ratings import Rating
from fourlab.arena.results import Results
from fourlab.arena.tally import Tally
from fourlab.arena.tournament import Player, Tournament
from fourlab.experiments.compare import share
from fourlab.experiments.experiment import Finding, Part, Picture
from fourlab.experiments.workbench import Workbench
from fourlab.game.position import Position
from fourlab.lab import figures
from fourlab.lab.tables import Table

BASE, BEST = "the document's search", "+ wins proven"
STEPS = {
    BASE: "gao:simulations={}",
    "the same, 10 × simulations": "gao:simulations={}0",
    "two players in the tree": "gao:simulations={},opponent=player",
    "+ rollouts win and block": "gao:simulations={},opponent=player,rollouts=wins-and-blocks",
    BEST: "mcts:simulations={}",
    "+ 10 × simulations": "mcts:simulations={}0",
    "a network judges": "guided:simulations={}",
}
"""Steps beyond the document, at the same number of simulations if nothing else is said; + means with the step before."""
WHY = {
    "the same, 10 × simulations": "a deeper search of a tree in which the opponent still draws lots",
    "two players in the tree": "an opponent who thinks, too",
    "+ rollouts win and block": "a heuristic in the rollouts",
    BEST: "and the search proves wins and losses, and plays the most visited column",
    "+ 10 × simulations": "deeper search, as several threads allow in the same time",
    "a network judges": "a learned evaluation in place of rollouts",
}
DEPTHS = (2, 4, 6)
THREADS = (1, 2, 4)


def conduct(bench: Workbench) -> Iterator[Part]:
    """Everybody meets everybody, each opening with both colours."""
    steps = [Player(spec.format(bench.size["simulations"]), name=name) for name, spec in STEPS.items()]
    minimax = [Player(f"minimax:depth={depth},tie=random", name=f"minimax {depth}") for depth in DEPTHS]
    tournament = Tournament((*steps, *minimax), openings="random:4", rounds=bench.size["rounds"], seed=bench.seed)
    results = Results(tournament)
    for game in bench.play("games", tournament):
        results.add(game)
    for player in minimax:
        against = [results.share(name, player.label) for name in (BASE, BEST)]
        yield Finding(
            f"games won against {player.label}",
            "future work",
            share(against[0].wins, against[0].games),
            share(against[1].wins, against[1].games),
            why="faithful is the document's search, corrected the one with a tree for two, better rollouts and proofs",
        )
    ratings = {rating.name: rating for rating in results.ratings(bench.seed)}
    for name, why in WHY.items():
        met = results.share(name, BASE)
        told = f"{_gain(results.tally(name, BASE))}; won {share(met.wins, met.games)} against it"
        yield Finding(f"gain: {name}", "future work", "", told, why=why)
    names = list(ratings)
    scores = {
        (one, other): score
        for one in names
        for other in names
        if one != other and (score := results.share(one, other).score) is not None
    }
    head = ("player", "games", "score", "Elo [95 %]", *(f"against {player.label}" for player in minimax))
    rows = [(*_row(ratings[name]), *(_percent(scores.get((name, player.label))) for player in minimax)) for name in names]
    table = Table(f"All against all, {bench.size['simulations']} simulations a move", head, tuple(rows))
    yield table
    caption = "Score in percent of each row's player against each column's"
    yield Picture("cross-table", caption, lambda: figures.cross_table(names, scores), table)
    yield from _parallel(bench)


def _gain(met: Tally) -> str:
    """The lead in Elo over the document's search, by the pairs of games that both played; of one pair nothing can be said.

    Not the difference of two ratings: their intervals are from the mean of all players and do not give one of the difference.
    """
    if met.units < 2:
        return "–"
    elo = met.elo()
    return f"no Elo: {elo}" if elo.value is None else f"{elo} Elo"


def _row(rating: Rating) -> tuple[object, ...]:
    return rating.name, rating.games, _percent(rating.score), str(rating.elo)


def _percent(score: float | None) -> str:
    return "" if score is None else f"{100 * score:.0f} %"


def _parallel(bench: Workbench) -> Iterator[Part]:
    """How many simulations a second threads make: on one tree, and on a tree each."""
    ways = {"one tree for all": "mcts:simulations={},threads={}", "a tree each": "gao:simulations={},threads={},runs={}"}
    found = bench.calculate("speed", lambda: {name: _speeds(spec, bench.size["timed"]) for name, spec in ways.items()})
    for name, speeds in found.items():
        told = ", ".join(f"{threads} threads {speeds[str(threads)] / speeds['1']:.2f}" for threads in THREADS[1:])
        yield Finding(f"speed with threads, {name}", "future work", "1", f"times as fast: {told}", why="on this machine")
    rows = [(name, threads, f"{speeds[str(threads)]:,.0f}") for name, speeds in found.items() for threads in THREADS]
    yield Table("Simulations a second on the empty board", ("search", "threads", "simulations a second"), tuple(rows))


def _speeds(spec: str, simulations: int) -> dict[str, float]:
    """Simulations a second by the number of threads: the best of three turns, taken in turns."""
    best: dict[str, float] = {}
    for turn in range(4):
        for threads in THREADS:
            each = simulations // (threads if "runs" in spec else 1)  # a run's own
            agent: Any = make(spec.format(each, threads, threads))
            before = time.perf_counter()
            done = agent.decide(Position(), Limit(), np.random.default_rng(turn)).stats["simulations"]
            if turn:  # the first is for loading
                best[str(threads)] = max(best.get(str(threads), 0.0), done / (time.perf_counter() - before))
    return best
