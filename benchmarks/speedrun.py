"""From nothing to AlphaZero.jl's published strength, in as little CPU time as possible.

Trains the network of the current record by self-play, searches with 600 simulations per move, and
counts mistakes: columns with a worse result (win, draw, loss) than the position has, by the solver.

    python benchmarks/speedrun.py [--sets DIR] [--run DIR] [--seed N] [--workers N] [--json FILE]

DIR has Pascal Pons's test sets, the files Test_L1_R1 and so on. Without them only our own 960 test
positions are measured. The training can be stopped and resumed. docs/explanation/speedrun.md is the
leaderboard.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from strength import SETS, Question, own_set, read_set, result_after

import fourlab
from fourlab import Agent, Limit, make
from fourlab.arena.statistics import wilson

SIMULATIONS = 600
KIND = "patterns"
RECORD: dict[str, Any] = {"tuples": 140, "games": 3_000_000}
"""The training of the current record: settings of `fourlab train patterns`."""
AGENT = "alphazero:net={},simulations={},solver_nodes=0"
"""Without the solver: what counts is what has been learned."""
TARGETS = {"L3_R1": 0.0, "L2_R1": 0.0, "L2_R2": 2.8, "L1_R1": 0.0, "L1_R2": 2.0, "L1_R3": 7.5}
"""Mistakes in percent that AlphaZero.jl publishes for its network with 600 simulations."""


def mistakes(agent: Agent, questions: list[Question]) -> int:
    """Return how many positions the agent answers with a column that loses value."""
    wrong = 0
    for seed, (position, result) in enumerate(questions):
        column = agent.decide(position, Limit(), np.random.default_rng([7, seed])).column
        wrong += result_after(position, column) < result
    return wrong


def measured(agent: Agent, folder: Path | None, count: int) -> Iterator[dict[str, Any]]:
    """Measure an agent on all sets."""
    sets = {"960": own_set(min(count, 960))}
    if folder is not None:
        sets |= {name: read_set(folder / f"Test_{name}", count) for name in SETS}
    for name, questions in sets.items():
        wrong = mistakes(agent, questions)
        low, high = wilson(wrong, len(questions))
        target = TARGETS.get(name)
        yield {
            "set": name,
            "mistakes": wrong,
            "positions": len(questions),
            "low": low,
            "high": high,
            "target": target,
            # Published figures have one decimal.
            "reached": None if target is None else round(100 * wrong / len(questions), 1) <= target,
        }


def row(results: list[dict[str, Any]], cpu_hours: float) -> str:
    """Return the row of the leaderboard."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    shares = {result["set"]: result["mistakes"] / result["positions"] for result in results}
    figures = " | ".join(f"{100 * shares[name]:.1f}" if name in shares else "–" for name in TARGETS)
    return (
        f"| {date.today()} | {commit} | {cpu_hours:.2f} | {figures} | {100 * shares['960']:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=Path, help="folder of Pons's test sets")
    parser.add_argument("--run", type=Path, default=Path("runs/speedrun"), help="run folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--games", type=int, help="fewer games, to try the script")
    parser.add_argument("--count", type=int, default=1000, help="positions per set")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    arguments = parser.parse_args()
    settings = RECORD | {"seed": arguments.seed}
    if arguments.games is not None:
        settings["games"] = arguments.games
    result = fourlab.train(KIND, run=arguments.run, workers=arguments.workers, **settings)
    cpu_hours = result.data["cpu_seconds"] / 3600
    network = arguments.run / "patterns.npz"
    print(f"trained in {cpu_hours:.2f} CPU hours: {network}")
    results = []
    for one in measured(make(AGENT.format(network, SIMULATIONS)), arguments.sets, arguments.count):
        results.append(one)
        goal = "" if one["target"] is None else f"  AlphaZero.jl {one['target']:.1f} %"
        share = one["mistakes"] / one["positions"]
        print(
            f"{one['set']:6} {one['mistakes']:4} of {one['positions']}  {share:6.1%} "
            f"[{one['low']:.1%}, {one['high']:.1%}]{goal}",
            flush=True,
        )
    print("date, commit, CPU hours, mistakes in % on", ", ".join([*TARGETS, "960"]))
    print(row(results, cpu_hours))
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"cpu_hours": cpu_hours, "sets": results}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
