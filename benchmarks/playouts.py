"""Random games, perft and start-up, compared with OpenSpiel and plain Python in one run."""

import random
import subprocess
import sys
import time

import pyspiel

from fourlab import Position
from fourlab.compiled.counting import perft
from fourlab.compiled.rollouts import lane_rollouts, rollouts
from fourlab.reporting.speed import rates

G = Position().rules.geometry
OPENSPIEL = pyspiel.load_game("connect_four")
PEER = "OpenSpiel driven from Python"


def openspiel_games(games: int) -> int:
    for _ in range(games):
        state = OPENSPIEL.new_initial_state()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
    return games


def openspiel_perft(state: pyspiel.State, depth: int) -> int:
    if depth == 0 or state.is_terminal():
        return int(depth == 0)
    return sum(openspiel_perft(state.child(action), depth - 1) for action in state.legal_actions())


def main() -> None:
    measured = rates(
        {
            PEER: lambda: openspiel_games(2_000),
            "fourlab, scalar": lambda: sum(rollouts(0, 0, G, 500_000, 1)[:3]),
            "fourlab, lanes": lambda: sum(lane_rollouts(0, 0, G, 1_000_000, 1)[:3]),
        }
    )
    print("random games from the empty board, per CPU second of one thread")
    for name, rate in measured.items():
        print(f"  {name:30} {rate:>14,.0f}  {rate / measured[PEER]:>8,.1f} x")

    measured = rates(
        {
            PEER: lambda: openspiel_perft(OPENSPIEL.new_initial_state(), 5),
            "fourlab": lambda: perft(0, 0, G, 9),
        }
    )
    print("perft, leaves per CPU second")
    for name, rate in measured.items():
        print(f"  {name:30} {rate:>14,.0f}  {rate / measured[PEER]:>8,.1f} x")
    before = time.process_time()
    leaves = perft(0, 0, G, 10)
    print(f"  perft 10: {leaves:,} leaves in {time.process_time() - before:.2f} CPU s")

    print("start-up of a command, wall-clock time, best of five")
    best: dict[str, float] = {}
    peer = "python -c 'import numpy'"
    commands = {
        "python -c pass": ["-c", "pass"],
        peer: ["-c", "import numpy"],
        "fourlab --help": ["-m", "fourlab", "--help"],
        "fourlab show 4453": ["-m", "fourlab", "show", "4453"],
    }
    for _ in range(5):
        for name, command in commands.items():
            before = time.perf_counter()
            subprocess.run([sys.executable, *command], capture_output=True, check=True)
            best[name] = min(best.get(name, 9e9), time.perf_counter() - before)
    for name, seconds in best.items():
        print(f"  {name:30} {seconds:>12.3f} s  {seconds / best[peer]:>8.1f} x")


if __name__ == "__main__":
    main()
