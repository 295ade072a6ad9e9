"""The arena: its overhead, and the gain from a second worker.

    python benchmarks/arena.py

Overhead compares the wall-clock time of one worker with the thinking time of its agents, at 10 ms
per move. Efficiency is the games per second of two workers divided by twice those of one. Two
processors may share a core, so the peer, in the same run, is the same games in plain loops, in one
process and in two. Turns are interleaved and the best one counts. Starting processes is left out,
because a long match pays for it once.
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
    """Play a tournament on workers.

    Returns games per second, and wall-clock time divided by the agents' thinking time, measured
    between 20 % and 90 % of the games.
    """
    marks: list[tuple[float, int, float]] = []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "games.sqlite") as store:
        play_tournament(
            tournament,
            store,
            Local(workers),
            make,
            lambda results, games: marks.append(
                (time.perf_counter(), results.games, sum(results.seconds.values()))
            ),
        )
    window = [mark for mark in marks if 0.2 * len(tournament) <= mark[1] <= 0.9 * len(tournament)]
    seconds, games, thinking = (
        last - first for first, last in zip(window[0], window[-1], strict=True)
    )
    return games / seconds, workers * seconds / thinking if thinking else 0.0


def _loop(tournament: Tournament, part: int, parts: int, barrier: Any, seconds: Any) -> None:
    play = GamePlayer(tournament, make)
    play(0)
    barrier.wait()
    before = time.perf_counter()
    for number in range(part, len(tournament), parts):
        play(number)
    seconds[part] = time.perf_counter() - before


def plain(tournament: Tournament, processes: int) -> float:
    """Play a tournament in independent loops; returns games per second."""
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(processes)
    seconds = spawn.Array("d", processes)
    running = [
        spawn.Process(target=_loop, args=(tournament, i, processes, barrier, seconds))
        for i in range(processes)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join()
    return len(tournament) / max(seconds)


def best(turns: int, *measures: Callable[[], float]) -> list[float]:
    """Return the best result of every measure over `turns` interleaved turns."""
    results = [0.0] * len(measures)
    for _ in range(turns):
        for i, measure in enumerate(measures):
            results[i] = max(results[i], measure())
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=3)
    turns = parser.parse_args().turns

    ten_ms = Tournament(
        (Player("mcts", Limit(seconds=0.01), "a"), Player("mcts", Limit(seconds=0.01), "b")),
        rounds=20,
    )
    overhead = min(arena(ten_ms, 1)[1] for _ in range(turns)) - 1
    print(
        f"overhead at 10 ms per move: {overhead:.2%} of the thinking time (target: under 5 %)",
        flush=True,
    )

    kinds = {
        "quick agents (random, rules)": Tournament(
            (Player("random"), Player("rules")), rounds=3000
        ),
        "10 ms per move (mcts)": Tournament(
            (Player("mcts:simulations=15000"), Player("mcts:simulations=14000")), rounds=25
        ),
        "0.1 s per move (mcts)": Tournament(
            (Player("mcts:simulations=200000"), Player("mcts:simulations=190000")), rounds=6
        ),
    }
    for name, games in kinds.items():
        measures = [lambda n=n, games=games: arena(games, n)[0] for n in (1, 2)]
        measures += [lambda n=n, games=games: plain(games, n) for n in (1, 2)]
        one, two, plain_one, plain_two = best(turns, *measures)
        print(
            f"{name}: {one:.1f} games/s with one worker, {two:.1f} with two: "
            f"efficiency {two / one / 2:.2f} (target: 0.9); "
            f"plain loops {plain_two / plain_one / 2:.2f}; "
            f"two workers compared with two plain loops {two / plain_two:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
