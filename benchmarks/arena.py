"""The arena beside its own agents: what matches cost on top of thinking, and what a second worker brings.

    python benchmarks/arena.py

Overhead: agents that think 10 ms a move; the wall clock of one worker beside the sum of the agents' own times.
Efficiency: games per second of two workers over twice those of one. Two processors may share a core, so the peer, in the
same run, is the same games in plain loops, in one process and in two. Turns are interleaved and the best one counts; the
start of processes is not counted, for a long match pays it once.
"""

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.arena.play import play_tournament
from fourlab.arena.store import Store
from fourlab.arena.tournament import GamePlayer, Player, Tournament
from fourlab.jobs.executors.local import Local


def arena(tournament: Tournament, workers: int) -> tuple[float, float]:
    """Play it with workers: games a second, and wall clock over the agents' own time, between 20 % and 90 % of the games."""
    marks: list[tuple[float, int, float]] = []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "games.sqlite") as store:
        play_tournament(
            tournament,
            store,
            Local(workers),
            make,
            lambda results, games: marks.append((time.perf_counter(), results.games, sum(results.seconds.values()))),
        )
    window = [mark for mark in marks if 0.2 * len(tournament) <= mark[1] <= 0.9 * len(tournament)]
    seconds, games, own = (last - first for first, last in zip(window[0], window[-1], strict=True))
    return games / seconds, workers * seconds / own if own else 0.0


def _loop(tournament: Tournament, part: int, parts: int, barrier: Any, seconds: Any) -> None:
    play = GamePlayer(tournament, make)
    play(0)
    barrier.wait()
    before = time.perf_counter()
    for number in range(part, len(tournament), parts):
        play(number)
    seconds[part] = time.perf_counter() - before


def plain(tournament: Tournament, processes: int) -> float:
    """Play it in loops that know nothing of each other: games a second."""
    spawn = multiprocessing.get_context("spawn")
    barrier, seconds = spawn.Barrier(processes), spawn.Array("d", processes)
    running = [spawn.Process(target=_loop, args=(tournament, i, processes, barrier, seconds)) for i in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    return len(tournament) / max(seconds)


def best(turns: int, *measures: Callable[[], float]) -> list[float]:
    found = [0.0] * len(measures)
    for _ in range(turns):
        found = [max(before, measure()) for before, measure in zip(found, measures, strict=True)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    turns = parser.parse_args().turns

    ten_ms = Tournament((Player("mcts", Limit(seconds=0.01), "a"), Player("mcts", Limit(seconds=0.01), "b")), rounds=20)
    overhead = min(arena(ten_ms, 1)[1] for _ in range(turns)) - 1
    print(f"overhead at 10 ms a move: {overhead:.2%} of the agents' own time (target: under 5 %)", flush=True)

    kinds = {
        "quick agents (random, rules)": Tournament((Player("random"), Player("rules")), rounds=3000),
        "10 ms a move (mcts)": Tournament((Player("mcts:simulations=15000"), Player("mcts:simulations=14000")), rounds=25),
        "0.1 s a move (mcts)": Tournament((Player("mcts:simulations=200000"), Player("mcts:simulations=190000")), rounds=6),
    }
    for name, games in kinds.items():
        measures = [lambda n=n, games=games: arena(games, n)[0] for n in (1, 2)]
        measures += [lambda n=n, games=games: plain(games, n) for n in (1, 2)]
        one, two, plain_one, plain_two = best(turns, *measures)
        print(
            f"{name}: {one:.1f} games/s with one worker, {two:.1f} with two: efficiency {two / one / 2:.2f} (target: 0.9); "
            f"plain loops {plain_two / plain_one / 2:.2f}; two workers beside two plain loops {two / plain_two:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
