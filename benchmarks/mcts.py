"""Monte Carlo tree search: simulations per second, memory, threads and punctuality, beside OpenSpiel in one run."""

import threading
import time

import numpy as np
from open_spiel.python.algorithms import mcts as openspiel_python

from fourlab import Limit, Position, Stop
from fourlab.agents.mcts.agent import MCTS
from fourlab.bridges.openspiel import game_of, mcts_bot
from fourlab.game.rules import CLASSIC
from fourlab.reporting.speed import rates

OPENSPIEL = game_of(CLASSIC)
COUNTS = (1_000, 10_000, 100_000, 1_000_000)
LIKE_OPENSPIEL = {"c": 2.0, "rollouts": "uniform"}


PIECE = 100_000
"""Simulations in a row, as many moves as that takes: one short search alone measures a cold cache."""


def ours(simulations: int, **settings: object) -> int:
    done = 0
    for move in range(max(1, PIECE // simulations)):
        agent = MCTS(simulations=simulations, **settings)  # type: ignore[arg-type]
        found = agent.decide(Position(), Limit(), np.random.default_rng(1 + move))
        done += int(found.analysis.simulations)
    return done


def openspiel(simulations: int) -> int:
    moves = max(1, PIECE // simulations)
    for move in range(moves):
        bot = mcts_bot(OPENSPIEL, simulations, seed=1 + move)
        bot.mcts_search(OPENSPIEL.new_initial_state())
    return moves * simulations


def openspiel_in_python(simulations: int) -> int:
    evaluator = openspiel_python.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = openspiel_python.MCTSBot(OPENSPIEL, 2.0, simulations, evaluator, solve=True, random_state=np.random.RandomState(1))
    bot.mcts_search(OPENSPIEL.new_initial_state())
    return simulations


def main() -> None:
    measured = rates(
        {
            "OpenSpiel in Python, 1,000": lambda: openspiel_in_python(1_000),
            **{f"OpenSpiel in C++, {n:,}": lambda n=n: openspiel(n) for n in (1_000, 10_000, 100_000)},  # type: ignore[misc]
            **{f"fourlab like it, {n:,}": lambda n=n: ours(n, **LIKE_OPENSPIEL) for n in COUNTS},  # type: ignore[misc]
            "fourlab as it plays, 100,000": lambda: ours(100_000),
            "fourlab without solver, 100,000": lambda: ours(100_000, solver=False, **LIKE_OPENSPIEL),
        },
        turns=3,
    )
    print("simulations from the empty board, per CPU second of one thread (c = 2, uniform rollouts, solver on unless said),")
    print("beside OpenSpiel with as many simulations (its 100,000 for more)")
    for name, rate in measured.items():
        peer = f"OpenSpiel in C++, {name.split(', ')[1]}"
        in_cpp = rate / measured.get(peer, measured["OpenSpiel in C++, 100,000"])
        in_python = rate / measured["OpenSpiel in Python, 1,000"]
        print(f"  {name:34} {rate:>12,.0f}  {in_cpp:>7.1f} x C++  {in_python:>7,.0f} x Python")

    for simulations in (100_000, 1_000_000):
        stats = MCTS(simulations=simulations, **LIKE_OPENSPIEL).decide(Position(), Limit(), np.random.default_rng(1)).analysis  # type: ignore[arg-type]
        print(f"memory: {stats.memory_bytes / stats.simulations:.1f} bytes a simulation at {simulations:,}")

    print("threads on one tree, simulations per second on the wall, best of five")
    best = {1: 0.0, 2: 0.0}
    for _ in range(5):
        for threads in best:
            stats = (
                MCTS(simulations=400_000, threads=threads, **LIKE_OPENSPIEL)
                .decide(Position(), Limit(), np.random.default_rng(1))
                .analysis
            )  # type: ignore[arg-type]
            best[threads] = max(best[threads], stats.simulations / stats.seconds)
    print(f"  one {best[1]:,.0f}, two {best[2]:,.0f}: {best[2] / best[1]:.2f} x")
    apart = {1: 0.0, 2: 0.0}
    for _ in range(5):
        for threads in apart:
            agent = MCTS(simulations=200_000, runs=4, threads=threads, **LIKE_OPENSPIEL)  # type: ignore[arg-type]
            stats = agent.decide(Position(), Limit(), np.random.default_rng(1)).analysis
            apart[threads] = max(apart[threads], stats.simulations / stats.seconds)
    print(f"  four runs: one {apart[1]:,.0f}, two {apart[2]:,.0f}: {apart[2] / apart[1]:.2f} x")

    agent, late = MCTS(), []
    for seed in range(200):
        before = time.perf_counter()
        agent.decide(Position("44"), Limit(seconds=0.05), np.random.default_rng(seed))
        late.append((time.perf_counter() - before - 0.05) * 1000)
    print(f"a limit of 50 ms is overrun by {np.median(late):.2f} ms (median), {np.percentile(late, 99):.2f} ms (99 %)")
    late = []
    for seed in range(100):
        stop, when = Stop(), []
        timer = threading.Timer(0.03, lambda stop=stop, when=when: (stop.set(), when.append(time.perf_counter())))  # type: ignore[misc]
        timer.start()
        agent.decide(Position("44"), Limit(stop=stop), np.random.default_rng(seed))
        late.append((time.perf_counter() - when[0]) * 1000)
    print(f"a stop flag ends the search after {np.median(late):.2f} ms (median), {np.percentile(late, 99):.2f} ms (99 %)")


if __name__ == "__main__":
    main()
