"""Mistakes of all strong agents at equal time, on Pons's six sets and our test set, in one run.

A mistake is a column with a worse result (win, draw, loss) than the position has. Whether a chosen
column is one, the solver decides afterwards, outside the clock. All agents use one thread;
OpenSpiel's C++ MCTS is a peer.

    python benchmarks/strength.py --sets DIR [--budgets 1ms,10ms,100ms] [--count N] [--json FILE]

DIR has the files Test_L1_R1 and so on; a line is the moves, columns from 1, and the score. Nothing
else should run beside it.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from fourlab import Limit, Position, make
from fourlab.arena.statistics import wilson
from fourlab.game.outcome import Result
from fourlab.solver import Solver
from fourlab.studies.proportions import mcnemar
from fourlab.training.test_set import solved_positions

SETS = ("L3_R1", "L2_R1", "L2_R2", "L1_R1", "L1_R2", "L1_R3")
AGENTS = (
    "anytime",
    "patterns",
    "mcts:leaves=patterns",
    "mcts",
    "alphazero",
    "perfect",
    "openspiel-mcts",
)
Question = tuple[Position, Result]
"""A position and its result for the side to move."""
Chooser = Callable[[Position, int], int]


def read_set(file: Path, count: int) -> list[Question]:
    """Return the first `count` positions of a set with their results."""
    rows = [line.split() for line in file.read_text().splitlines()[:count]]
    return [(Position(moves), Result.of_score(int(score))) for moves, score in rows]


def own_set(count: int) -> list[Question]:
    """Return positions of our test set with their results."""
    positions, scores = solved_positions(count)
    return [
        (position, Result.of_score(max(by_column.values())))
        for position, by_column in zip(positions, scores, strict=True)
    ]


@cache
def result_after(position: Position, column: int) -> Result:
    """Return what a column leads to, for the side that plays it."""
    after = position.play(column)
    if (outcome := after.outcome()) is not None:
        return Result.DRAW if outcome.winner is None else Result.WIN
    solution = _solver().solve(after, weak=True)
    return (
        Result.of_score(-solution.lower)
        if solution.lower == solution.upper
        else (Result.WIN if solution.upper < 0 else Result.LOSS)
    )


@cache
def _solver() -> Solver:
    return Solver()


def ours(spec: str, seconds: float) -> Chooser:
    """Return an agent of ours with a time limit."""
    agent = make(spec)
    limit = Limit(seconds=seconds)
    return lambda position, seed: (
        agent.decide(position, limit, np.random.default_rng([7, seed])).column
    )


def seconds_of(budget: str) -> float:
    """Parse 10ms or 1s."""
    return float(budget[:-2]) / 1000 if budget.endswith("ms") else float(budget[:-1])


def measure(choose: Chooser, questions: list[Question]) -> tuple[dict[str, float], list[bool]]:
    """Return the mistakes of a player, its time per move in milliseconds, and where it erred."""
    choose(questions[0][0], 0)  # whatever is loaded or compiled first
    columns = []
    times = []
    for seed, (position, _) in enumerate(questions):
        before = time.perf_counter()
        columns.append(choose(position, seed))
        times.append(time.perf_counter() - before)
    wrong = [
        result_after(position, column) < result
        for column, (position, result) in zip(columns, questions, strict=True)
    ]
    mistakes = sum(wrong)
    low, high = wilson(mistakes, len(questions))
    return {
        "mistakes": mistakes,
        "positions": len(questions),
        "low": low,
        "high": high,
        "ms": 1000 * float(np.mean(times)),
        "ms_99": 1000 * float(np.quantile(times, 0.99)),
    }, wrong


def compare(wrong: dict[str, list[bool]]) -> dict[str, dict[str, float]]:
    """Return in how many positions only the first agent erred, only each other one, and p."""
    (first, ours), *others = wrong.items()
    pairs = {}
    for agent, theirs in others:
        only_first = sum(a and not b for a, b in zip(ours, theirs, strict=True))
        only_other = sum(b and not a for a, b in zip(ours, theirs, strict=True))
        p = mcnemar(only_first, only_other)
        pairs[agent] = {"only_first": only_first, "only_other": only_other, "p": p}
        print(
            f"       {first} alone errs in {only_first}, {agent} alone in {only_other}, p {p:.2g}"
        )
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=Path, required=True, help="folder of Pons's files")
    parser.add_argument("--only", nargs="+", default=["960", *SETS], help="sets to use")
    parser.add_argument("--budgets", default="1ms,10ms,100ms")
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    parser.add_argument("--count", type=int, default=1000, help="positions per set")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.only:
        questions = (
            own_set(min(arguments.count, 960))
            if name == "960"
            else read_set(arguments.sets / f"Test_{name}", arguments.count)
        )
        for budget in arguments.budgets.split(","):
            wrong = {}
            for agent in arguments.agents:
                result, wrong[agent] = measure(ours(agent, seconds_of(budget)), questions)
                row = {"set": name, "agent": agent, "budget": budget, **result}
                rows.append(row)
                print(
                    f"{name:6} {budget:>6}  {agent:20} {row['mistakes']:4} of {row['positions']}"
                    f"  {row['mistakes'] / row['positions']:6.2%}"
                    f" [{row['low']:.2%}, {row['high']:.2%}]"
                    f"  {row['ms']:7.2f} ms, 99 % {row['ms_99']:.2f}",
                    flush=True,
                )
            rows += [
                {
                    "set": name,
                    "budget": budget,
                    "first": arguments.agents[0],
                    "other": other,
                    **pair,
                }
                for other, pair in compare(wrong).items()
            ]
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
