"""Mistakes of MCTS on given positions, against simulations and against milliseconds.

A mistake is a column with a worse result (win, draw, loss) than the best one, according to our
solver. The peer is OpenSpiel's C++ MCTSBot in the same run. Files have one position per line
(moves, columns from 1); positions in which all columns are equally good say nothing.

    python benchmarks/mistakes.py POSITIONS… --plot mistakes.svg
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyspiel

from fourlab import Limit, Position, make
from fourlab.arena.statistics import wilson
from fourlab.solver import Solver

OPENSPIEL = pyspiel.load_game("connect_four")
Chooser = Callable[[str, int], int]


def ours(spec: str) -> Chooser:
    agent = make(spec)
    return lambda moves, seed: (
        agent.decide(Position(moves), Limit(), np.random.default_rng([7, seed])).column
    )


def openspiel(simulations: int) -> Chooser:
    def choose(moves: str, seed: int) -> int:
        state = OPENSPIEL.new_initial_state()
        for move in moves:
            state.apply_action(int(move) - 1)
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.MCTSBot(
            OPENSPIEL,
            evaluator,
            2.0,
            simulations,
            1000,
            True,
            seed,
            False,
            pyspiel.ChildSelectionPolicy.UCT,
        )
        return int(bot.step(state))

    return choose


def measure(
    choose: Chooser, positions: list[str], results: list[dict[int, int]]
) -> tuple[int, float]:
    """Return the number of mistakes, and the CPU milliseconds per position."""
    mistakes = 0
    before = time.thread_time()
    for seed, (moves, by_column) in enumerate(zip(positions, results, strict=True)):
        mistakes += by_column[choose(moves, seed)] < max(by_column.values())
    return mistakes, (time.thread_time() - before) / len(positions) * 1000


def results_of(moves: str) -> dict[int, int]:
    """Return the exact result of every column."""
    solutions = Solver().columns(Position(moves), weak=True)
    return {column: solution.result or 0 for column, solution in solutions.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=200, help="positions per file")
    parser.add_argument(
        "--most", type=int, default=100_000, help="largest number of simulations of ours"
    )
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    budgets = [10**power for power in range(2, 8) if 10**power <= arguments.most]
    players = {f"fourlab mcts, {n:,}": (n, ours(f"mcts:simulations={n}")) for n in budgets}
    players |= {f"OpenSpiel C++, {n:,}": (n, openspiel(n)) for n in (100, 1_000, 10_000)}
    curves: dict[str, dict[str, list[tuple[int, float, float]]]] = {}
    for file in arguments.files:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
        positions = [line.split()[0] for line in lines[: arguments.count]]
        results = [results_of(moves) for moves in positions]
        print(f"{file.name}: {len(positions)} positions")
        for name, (simulations, choose) in players.items():
            mistakes, milliseconds = measure(choose, positions, results)
            low, high = wilson(mistakes, len(positions))
            share = mistakes / len(positions)
            rate = f"{share:6.1%}  [{low:.1%}, {high:.1%}]"
            print(f"  {name:28} {rate}  {milliseconds:9.2f} ms", flush=True)
            curve = curves.setdefault(file.name, {}).setdefault(name.split(",")[0], [])
            curve.append((simulations, milliseconds, share))
    if arguments.plot:
        draw(curves, arguments.plot)


def draw(curves: dict[str, dict[str, list[tuple[int, float, float]]]], file: Path) -> None:
    """Draw mistakes against simulations and time, one row of panels for every file."""
    from matplotlib.figure import Figure

    from fourlab.reporting.figures import COLOURS, save

    figure = Figure(figsize=(10, 3.6 * len(curves)), layout="constrained")
    rows = figure.subplots(len(curves), 2, squeeze=False)
    for (name, players), row in zip(curves.items(), rows, strict=True):
        for axes, place, label in (
            (row[0], 0, "simulations"),
            (row[1], 1, "CPU milliseconds per move"),
        ):
            for colour, mark, (player, points) in zip(COLOURS, "os", players.items(), strict=False):
                xs = [point[place] for point in points]
                ys = [100 * point[2] for point in points]
                axes.plot(xs, ys, marker=mark, color=colour, label=player)
            axes.set_xscale("log")
            axes.set_xlabel(label)
            axes.set_ylabel("mistakes, %")
            axes.set_ylim(bottom=0)
            axes.set_title(name)
            axes.grid(alpha=0.3)
            axes.legend(fontsize="small")
    save(figure, file)


if __name__ == "__main__":
    main()
