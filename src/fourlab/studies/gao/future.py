"""Gao's future work, carried out: stronger opponents, better evaluation and several threads."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.arena.results import Results
from fourlab.arena.store import StoredGame
from fourlab.arena.tally import Tally
from fourlab.arena.tournament import GamePlayer, Player, Tournament
from fourlab.game.position import Position
from fourlab.reporting import figures
from fourlab.studies.compare import share
from fourlab.studies.workbench import Finding, Part, Picture, Table, Workbench, completed

BASE, BEST = "the report's search", "+ wins proven"
STORED_NAMES = {BASE: "the document's search"}
"""Names under which games are stored, where these differ: stored games keep their names."""
STEPS = {
    BASE: "gao:simulations={}",
    "the same, 10 × simulations": "gao:simulations={}0",
    "two players in the tree": "gao:simulations={},opponent=player",
    "+ rollouts win and block": "gao:simulations={},opponent=player,rollouts=wins-and-blocks",
    BEST: "mcts:simulations={}",
    "+ 10 × simulations": "mcts:simulations={}0",
    "a network judges": "guided:simulations={}",
}
"""The players: improvements of the report's search, where + adds to the step before.

The number of simulations is the same for all unless the name says otherwise. The names are stored
with the games, see `STORED_NAMES`.
"""
WHY = {
    "the same, 10 × simulations": "a deeper search, but the opponent in the tree still plays "
    "at random",
    "two players in the tree": "the opponent in the tree searches, too",
    "+ rollouts win and block": "a heuristic in the rollouts",
    BEST: "the search also proves wins and losses, and plays the most visited column",
    "+ 10 × simulations": "a deeper search at ten times the cost",
    "a network judges": "a learned evaluation in place of rollouts",
}
DEPTHS = (2, 4, 6)
"""Search depths of the minimax opponents, in plies."""
THREADS = (1, 2, 4)
WAYS = {
    "one tree for all": "mcts:simulations={},threads={}",
    "a tree each": "gao:simulations={},threads={},runs={}",
}
"""Two ways to use threads; the names are keys of stored results."""
TURNS = 5
"""Timed turns, of which the best counts."""
SECONDS = 0.01
"""Time per move of the games by the clock."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Play a round robin, with every opening played by both colours, and measure threads."""
    steps = [
        Player(spec.format(bench.size["simulations"]), name=name) for name, spec in STEPS.items()
    ]
    # Ties at random, else minimax would repeat its games.
    minimax = [
        Player(f"minimax:depth={depth},ties=random", name=f"minimax {depth}") for depth in DEPTHS
    ]
    tournament = Tournament(
        (*steps, *minimax), openings="random:4", rounds=bench.size["rounds"], seed=bench.seed
    )
    # Counted as in any tournament, with pairs of games as units.
    results = Results(tournament)
    for game in bench.play("games", _stored(tournament)):
        results.add(_renamed(game))
    opponents = [player.label for player in minimax]
    yield from _gains(results, opponents)
    ratings = {rating.name: rating for rating in results.ratings(bench.seed)}
    # Best rating first, in rows and columns.
    names = list(ratings)
    scores = {
        (one, other): score
        for one in names
        for other in names
        if one != other and (score := results.share(one, other).score) is not None
    }
    head = ("player", "games", "score", "Elo [95 %]", *(f"against {name}" for name in opponents))
    rows = [
        (
            name,
            rating.games,
            _percent(rating.score),
            str(rating.elo),
            *(_percent(scores.get((name, opponent))) for opponent in opponents),
        )
        for name, rating in ratings.items()
    ]
    title = f"Round robin, {bench.size['simulations']} simulations per move"
    table = Table(title, head, tuple(rows))
    yield table
    caption = "Score of each row's player against each column's player, in percent"
    yield Picture("cross-table", caption, lambda: figures.cross_table(names, scores), table)
    yield from _parallel(bench)


def _stored(tournament: Tournament) -> Tournament:
    """Return the tournament with the names under which its games are stored."""
    players = (
        replace(player, name=STORED_NAMES.get(player.name, player.name))
        for player in tournament.players
    )
    return replace(tournament, players=tuple(players))


def _renamed(game: StoredGame) -> StoredGame:
    """Return a stored game with the names that are shown."""
    shown = {stored: name for name, stored in STORED_NAMES.items()}
    return game._replace(
        red=shown.get(game.red, game.red), yellow=shown.get(game.yellow, game.yellow)
    )


def _gains(results: Results, opponents: list[str]) -> Iterator[Finding]:
    """Compare results against minimax, and each step with the report's search."""
    for opponent in opponents:
        # Faithful and corrected, as the table of findings names them.
        base, best = (results.share(name, opponent) for name in (BASE, BEST))
        yield Finding(
            f"games won against {opponent}",
            "future work",
            share(base.wins, base.games),
            share(best.wins, best.games),
            why="faithful is the report's search; corrected has a two-player tree, "
            "better rollouts and proofs",
        )
    for name, why in WHY.items():
        # Direct games only.
        against = results.share(name, BASE)
        gain = _gain(results.tally(name, BASE))
        won = share(against.wins, against.games)
        yield Finding(
            f"gain: {name}",
            "future work",
            "",
            f"{gain}; won {won} against the report's search",
            why=why,
        )


def _gain(tally: Tally) -> str:
    """Return the lead in Elo from the pairs of games that two players played with each other.

    The difference of their ratings would not do: its interval cannot be derived from those of the
    two ratings, which are relative to the mean of all players. One pair has no interval.
    """
    # A variance takes two units.
    if tally.units < 2:
        return "–"
    elo = tally.elo()
    return f"no Elo: {elo}" if elo.value is None else f"{elo} Elo"


def _percent(score: float | None) -> str:
    return "" if score is None else f"{100 * score:.0f} %"


def _parallel(bench: Workbench) -> Iterator[Part]:
    """Measure what threads gain in simulations per second, and in games at equal time."""
    measured = bench.calculate(
        "speed", lambda: {name: _speeds(spec, bench.size["timed"]) for name, spec in WAYS.items()}
    )
    rows = []
    for name, speeds in measured.items():
        # The speed of one thread is the measure of the others.
        single, _ = speeds["1"]
        gains = []
        for threads in THREADS:
            speed, processors = speeds[str(threads)]
            rows.append((name, threads, f"{speed:,.0f}", f"{processors:.2f}"))
            if threads > 1:
                gains.append(
                    f"{threads} threads {speed / single:.2f} on {processors:.1f} processors"
                )
        yield Finding(
            f"speed with threads, {name}",
            "future work",
            "1",
            f"speed-up: {', '.join(gains)}",
            why="wall-clock time on one machine; "
            "the processors are those that other programs left to the search",
        )
    yield _strength(bench)
    head = ("search", "threads", "simulations a second", "processors it had")
    yield Table("Simulations per second on the empty board", head, tuple(rows))


def _speeds(spec: str, simulations: int) -> dict[str, tuple[float, float]]:
    """Return simulations per second and processors used, by number of threads.

    The numbers of threads take turns, and the best of TURNS turns counts. All do the same work:
    the same number of trees of the same size.
    """
    best: dict[str, tuple[float, float]] = {}
    # With a tree each, there are as many trees for one thread as for four.
    trees = max(THREADS) if "runs" in spec else 1
    for turn in range(TURNS + 1):
        for threads in THREADS:
            agent: Any = make(spec.format(max(simulations // trees, 1), threads, trees))
            wall_before = time.perf_counter()
            cpu_before = time.process_time()
            decision = agent.decide(Position(), Limit(), np.random.default_rng(turn))
            seconds = time.perf_counter() - wall_before
            cpu_seconds = time.process_time() - cpu_before
            # CPU seconds per second are the processors that the search really had.
            if turn:  # the first turn warms up
                measured = (decision.analysis.simulations / seconds, cpu_seconds / seconds)
                best[str(threads)] = max(best.get(str(threads), (0.0, 0.0)), measured)
    return best


def _timed_pair(seed: int, rounds: int, number: int) -> dict[str, Any]:
    """Play a pair of games by the clock, two threads against one.

    Returns the results of two threads, moving first and second (1, 0 or -1), and the processors
    used, the average over both sides.
    """
    players = tuple(Player(f"mcts:seconds={SECONDS},threads={threads}") for threads in (2, 1))
    tournament = Tournament(players, openings="random:4", rounds=rounds, seed=seed)
    wall_before = time.perf_counter()
    cpu_before = time.process_time()
    games = completed(
        "games by the clock",
        [GamePlayer(tournament, make)(2 * number + swapped) for swapped in (0, 1)],
    )
    cpu_seconds = time.process_time() - cpu_before
    processors = cpu_seconds / (time.perf_counter() - wall_before)
    # A stored result is the first player's.
    results = [(game.result or 0) * sign for game, sign in zip(games, (1, -1), strict=True)]
    return {"results": results, "processors": processors}


def _strength(bench: Workbench) -> Finding:
    """Let two threads play one thread with the same time per move."""
    rounds = bench.size["timed_rounds"]
    pairs = list[dict[str, Any]]()
    # One pair after another: games in parallel would compete for the threads' processors.
    for played in range(1, rounds + 1):
        pairs = bench.repeat("threads", _timed_pair, played, bench.seed, rounds)
    results = [pair["results"] for pair in pairs]
    # Scores of 0, ½ and 1 from results of -1, 0 and 1.
    tally = Tally.of_pairs([((one + 1) / 2, (other + 1) / 2) for one, other in results])
    games = [result for pair in results for result in pair]
    processors = sum(pair["processors"] for pair in pairs) / len(pairs)
    return Finding(
        f"strength with 2 threads on one tree, against 1 thread at the same {SECONDS:g} s per move",
        "future work",
        "",
        f"{_gain(tally)}; won {share(games.count(1), len(games))}, {games.count(0)} drawn",
        why=f"one game at a time on one machine, with {processors:.1f} processors on average over "
        "both sides; below about 1.5 the second thread had no processor to itself; "
        "games by the clock are not repeatable",
    )
