"""Monte Carlo tree search: speed, memory, threads and time limits, with OpenSpiel in one run."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from open_spiel.python.algorithms import mcts as openspiel_python

from fourlab import Limit, Position, Stop
from fourlab.agents.mcts.agent import MCTS
from fourlab.bridges.openspiel import game_of, mcts_bot
from fourlab.game.rules import CLASSIC
from fourlab.reporting.speed import rates

OPENSPIEL = game_of(CLASSIC)
COUNTS = (1_000, 10_000, 100_000, 1_000_000)
LIKE_OPENSPIEL: dict[str, Any] = {"c": 2.0, "rollouts": "uniform"}
SIMULATIONS_PER_TURN = 100_000
"""Short searches are repeated until they have this many: a single one measures a cold cache."""


def search(seed: int, **settings: Any) -> Any:
    """Search from the empty board; returns the analysis."""
    return MCTS(**settings).decide(Position(), Limit(), np.random.default_rng(seed)).analysis


def ours(simulations: int, **settings: Any) -> int:
    done = 0
    for move in range(max(1, SIMULATIONS_PER_TURN // simulations)):
        done += int(search(1 + move, simulations=simulations, **settings).simulations)
    return done


def openspiel(simulations: int) -> int:
    moves = max(1, SIMULATIONS_PER_TURN // simulations)
    for move in range(moves):
        bot = mcts_bot(OPENSPIEL, simulations, seed=1 + move)
        bot.mcts_search(OPENSPIEL.new_initial_state())
    return moves * simulations


def openspiel_in_python(simulations: int) -> int:
    evaluator = openspiel_python.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = openspiel_python.MCTSBot(
        OPENSPIEL, 2.0, simulations, evaluator, solve=True, random_state=np.random.RandomState(1)
    )
    bot.mcts_search(OPENSPIEL.new_initial_state())
    return simulations


def print_speed() -> None:
    """Print simulations per second, and ratios to OpenSpiel with the same number of simulations."""
    competitors: dict[str, Callable[[], int]] = {
        "OpenSpiel in Python, 1,000": lambda: openspiel_in_python(1_000)
    }
    for count in (1_000, 10_000, 100_000):
        competitors[f"OpenSpiel in C++, {count:,}"] = partial(openspiel, count)
    for count in COUNTS:
        competitors[f"fourlab like it, {count:,}"] = partial(ours, count, **LIKE_OPENSPIEL)
    competitors["fourlab as it plays, 100,000"] = partial(ours, 100_000)
    competitors["fourlab without proofs, 100,000"] = partial(
        ours, 100_000, proofs=False, **LIKE_OPENSPIEL
    )
    measured = rates(competitors, turns=3)
    print("simulations from the empty board, per CPU second of one thread")
    print("(c = 2, uniform rollouts, proofs unless stated), compared with OpenSpiel at the same")
    print("number of simulations (at 100,000 for more)")
    for name, rate in measured.items():
        peer = f"OpenSpiel in C++, {name.split(', ')[1]}"
        in_cpp = rate / measured.get(peer, measured["OpenSpiel in C++, 100,000"])
        in_python = rate / measured["OpenSpiel in Python, 1,000"]
        print(f"  {name:34} {rate:>12,.0f}  {in_cpp:>7.1f} x C++  {in_python:>7,.0f} x Python")


def print_memory() -> None:
    """Print bytes per simulation."""
    for simulations in (100_000, 1_000_000):
        analysis = search(1, simulations=simulations, **LIKE_OPENSPIEL)
        size = analysis.memory_bytes / analysis.simulations
        print(f"memory: {size:.1f} bytes per simulation at {simulations:,}")


def best_of_five(**settings: Any) -> dict[int, float]:
    """Return simulations per second of wall-clock time with one and with two threads."""
    best = {1: 0.0, 2: 0.0}
    for _ in range(5):
        for threads in best:
            analysis = search(1, threads=threads, **settings, **LIKE_OPENSPIEL)
            best[threads] = max(best[threads], analysis.simulations / analysis.seconds)
    return best


def print_threads() -> None:
    """Print the gain from a second thread, on one tree and on independent trees."""
    print("threads, simulations per second of wall-clock time, best of five")
    for name, settings in (
        ("one tree", {"simulations": 400_000}),
        ("four runs", {"simulations": 200_000, "runs": 4}),
    ):
        best = best_of_five(**settings)
        ratio = best[2] / best[1]
        print(f"  {name}: one thread {best[1]:,.0f}, two {best[2]:,.0f}: {ratio:.2f} x")


def print_lateness() -> None:
    """Print by how much a time limit is exceeded, and how soon a stop flag ends the search."""
    agent = MCTS()
    late = []
    for seed in range(200):
        before = time.perf_counter()
        agent.decide(Position("44"), Limit(seconds=0.05), np.random.default_rng(seed))
        late.append((time.perf_counter() - before - 0.05) * 1000)
    print(f"a limit of 50 ms is exceeded by {median_and_99(late)}")
    late = []
    for seed in range(100):
        stop = Stop()
        stopped_at: list[float] = []

        def set_stop(stop: Stop = stop, stopped_at: list[float] = stopped_at) -> None:
            stop.set()
            stopped_at.append(time.perf_counter())

        threading.Timer(0.03, set_stop).start()
        agent.decide(Position("44"), Limit(stop=stop), np.random.default_rng(seed))
        late.append((time.perf_counter() - stopped_at[0]) * 1000)
    print(f"a stop flag ends the search after {median_and_99(late)}")


def median_and_99(milliseconds: list[float]) -> str:
    median, most = np.percentile(milliseconds, (50, 99))
    return f"{median:.2f} ms (median), {most:.2f} ms (99 %)"


def main() -> None:
    print_speed()
    print_memory()
    print_threads()
    print_lateness()


if __name__ == "__main__":
    main()
