"""Random games, counting and start-up: ours beside OpenSpiel and plain Python, in one run."""

import random
import subprocess
import sys
import time

import pyspiel

from fourlab import Position
from fourlab.kernels.count import perft
from fourlab.kernels.rollout import lane_rollouts, rollouts
from fourlab.lab.speed import rates

G = Position().rules.geometry
OPENSPIEL = pyspiel.load_game("connect_four")


def openspiel_games(games: int) -> int:
    for _ in range(games):
        state = OPENSPIEL.new_initial_state()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
    return games


def main() -> None:
    measured = rates(
        {
            "OpenSpiel driven from Python": lambda: openspiel_games(2_000),
            "fourlab, scalar": lambda: sum(rollouts(0, 0, G, 500_000, 1)[:3]),
            "fourlab, lanes": lambda: sum(lane_rollouts(0, 0, G, 1_000_000, 1)[:3]),
        }
    )
    print("random games from the empty board, per CPU second of one thread")
    for name, rate in measured.items():
        print(f"  {name:30} {rate:>14,.0f}  {rate / measured['OpenSpiel driven from Python']:>8,.1f} x")

    before = time.process_time()
    leaves = perft(0, 0, G, 10)
    print(f"perft 10: {leaves:,} leaves in {time.process_time() - before:.2f} CPU s")

    print("start of a command, best of five, wall time")
    for name, command in {
        "python -c pass": ["-c", "pass"],
        "fourlab --help": ["-m", "fourlab", "--help"],
        "fourlab show 4453": ["-m", "fourlab", "show", "4453"],
    }.items():
        seconds = []
        for _ in range(5):
            before = time.perf_counter()
            subprocess.run([sys.executable, *command], capture_output=True, check=True)
            seconds.append(time.perf_counter() - before)
        print(f"  {name:30} {min(seconds):.3f} s")


if __name__ == "__main__":
    main()
