"""Document 002's future work, done: stronger opponents, judgement in place of lots, and several threads."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.arena.ratings import Rating
from fourlab.arena.results import Results
from fourlab.arena.tables import Table
from fourlab.arena.tally import Tally
from fourlab.arena.tournament import GamePlayer, Player, Tournament
from fourlab.game.position import Position
from fourlab.reporting import figures
from fourlab.studies.compare import share
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.workbench import Workbench, whole

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
    "+ 10 × simulations": "deeper search, which costs ten times the work",
    "a network judges": "a learned evaluation in place of rollouts",
}
DEPTHS = (2, 4, 6)
THREADS = (1, 2, 4)
WAYS = {"one tree for all": "mcts:simulations={},threads={}", "a tree each": "gao:simulations={},threads={},runs={}"}
TURNS, SECONDS = 5, 0.01


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
    """What threads gain: simulations a second, on one tree and on a tree each, and games won in the same time."""
    found = bench.calculate("speed", lambda: {name: _speeds(spec, bench.size["timed"]) for name, spec in WAYS.items()})
    for name, speeds in found.items():
        gains = (
            f"{threads} threads {speeds[str(threads)][0] / speeds['1'][0]:.2f} on {speeds[str(threads)][1]:.1f} processors"
            for threads in THREADS[1:]
        )
        yield Finding(
            f"speed with threads, {name}",
            "future work",
            "1",
            f"times as fast: {', '.join(gains)}",
            why="on this machine, by the clock on the wall; a search has the processors that others leave it, so they are told",
        )
    yield _strength(bench)
    rows = [
        (name, threads, f"{speeds[str(threads)][0]:,.0f}", f"{speeds[str(threads)][1]:.2f}")
        for name, speeds in found.items()
        for threads in THREADS
    ]
    head = ("search", "threads", "simulations a second", "processors it had")
    yield Table("Simulations a second on the empty board", head, tuple(rows))


def _speeds(spec: str, simulations: int) -> dict[str, tuple[float, float]]:
    """By threads: simulations a second and processors used, in the best of five turns, taken in turns.

    All do the same work: as many trees of the same size, by however many threads.
    """
    best: dict[str, tuple[float, float]] = {}
    trees = max(THREADS) if "runs" in spec else 1
    for turn in range(TURNS + 1):
        for threads in THREADS:
            agent: Any = make(spec.format(max(simulations // trees, 1), threads, trees))
            before, used = time.perf_counter(), time.process_time()
            done = agent.decide(Position(), Limit(), np.random.default_rng(turn)).analysis.simulations
            seconds, used = time.perf_counter() - before, time.process_time() - used
            if turn:  # the first is for loading
                best[str(threads)] = max(best.get(str(threads), (0.0, 0.0)), (done / seconds, used / seconds))
    return best


@dataclass(frozen=True)
class _Timed:
    """The work: pairs of games by the clock, two threads against one, by their numbers."""

    seed: int
    rounds: int

    def __call__(self, number: int) -> dict[str, Any]:
        """The results for two threads, as first player and as second, and how many processors both sides used on average."""
        players = tuple(Player(f"mcts:seconds={SECONDS},threads={threads}") for threads in (2, 1))
        tournament = Tournament(players, openings="random:4", rounds=self.rounds, seed=self.seed)
        before, used = time.perf_counter(), time.process_time()
        games = whole("games by the clock", [GamePlayer(tournament, make)(2 * number + swapped) for swapped in (0, 1)])
        processors = (time.process_time() - used) / (time.perf_counter() - before)
        results = [(game.result or 0) * sign for game, sign in zip(games, (1, -1), strict=True)]
        return {"results": results, "processors": processors}


def _strength(bench: Workbench) -> Finding:
    """Two threads against one in the same time."""
    rounds, pairs = bench.size["timed_rounds"], list[dict[str, Any]]()
    for played in range(1, rounds + 1):  # one after another: games side by side would take the threads' processors
        pairs = bench.repeat("threads", _Timed(bench.seed, rounds), played)
    tally = Tally.of_pairs([((one + 1) / 2, (other + 1) / 2) for one, other in (pair["results"] for pair in pairs)])
    results = [result for pair in pairs for result in pair["results"]]
    processors = sum(pair["processors"] for pair in pairs) / len(pairs)
    return Finding(
        f"strength with 2 threads on one tree, against 1 in the same {SECONDS:g} s a move",
        "future work",
        "",
        f"{_gain(tally)}; won {share(results.count(1), len(results))}, {results.count(0)} drawn",
        why=f"on this machine, one game at a time, with {processors:.1f} processors on average of both sides; with fewer"
        " than about 1.5 the second thread had none to itself; games by the clock are not repeatable",
    )
