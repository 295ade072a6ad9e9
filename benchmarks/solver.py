"""The solver and bitbully's: one thread, no book, an empty table for every position.

    python benchmarks/solver.py [--positions FOLDER] [--count N] [--json]

FOLDER holds solved test sets with one position and its score per line (`Test_L1_R2` …); random
positions are measured as well. The two take turns. CPU time is measured, without emptying the
tables. Scores must agree.
"""

import argparse
import json
import time
from pathlib import Path

from bitbully import BitBully, Board

from fourlab import Position
from fourlab.arena.accuracy import random_positions
from fourlab.solver import Solver

TURN = 200
"""Positions per turn: emptying a table evicts the cache, which should harm only its own solver."""
SETS = {"L3_R1": 1000, "L2_R1": 1000, "L1_R1": 200, "L1_R2": 200}

RANDOM = {
    "random 20-30": ((20, 30), 500),
    "random 12-16": ((12, 16), 100),
    "random 8-11": ((8, 11), 30),
}


def compare(positions: list[Position], scores: list[int | None]) -> dict[str, float]:
    """Solve every position with both solvers; raises SystemExit if scores differ."""
    ours = Solver(book=None)
    theirs = BitBully(opening_book=None)
    boards = [Board.from_moves(list(position.moves or ())) for position in positions]
    our_times = []
    their_times = []
    nodes = 0
    for first in range(0, len(positions), TURN):
        turn = range(first, min(first + TURN, len(positions)))
        our_scores = []
        for i in turn:
            ours.forget()
            before = time.thread_time()
            solution = ours.solve(positions[i])
            our_times.append(time.thread_time() - before)
            nodes += solution.nodes
            our_scores.append(solution.score)
        for i, our_score in zip(turn, our_scores, strict=True):
            theirs.reset_transposition_table()
            before = time.thread_time()
            their_score = theirs.mtdf(boards[i])
            their_times.append(time.thread_time() - before)
            if our_score != their_score or scores[i] not in (None, our_score):
                raise SystemExit(
                    f"{positions[i]!r}: ours {our_score}, theirs {their_score}, "
                    f"in the file {scores[i]}"
                )
    count = len(positions)
    return {
        "positions": count,
        "nodes": nodes / count,
        "milliseconds": 1000 * sum(our_times) / count,
        "slowest": 1000 * max(our_times),
        "bitbully": 1000 * sum(their_times) / count,
        "ratio": sum(their_times) / sum(our_times),
    }


def main() -> None:
    """Print a line for every set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--positions", type=Path, help="folder with solved test sets")
    parser.add_argument("--count", type=int, help="maximum number of positions per set")
    parser.add_argument("--only", help="only the set of this name")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sets: dict[str, tuple[list[Position], list[int | None]]] = {}
    for name, max_count in SETS.items():
        file = options.positions / f"Test_{name}" if options.positions else None
        if file is not None and file.exists():
            lines = file.read_text().splitlines()[: options.count or max_count]
            rows = [line.split() for line in lines]
            sets[name] = [Position(moves) for moves, _ in rows], [int(score) for _, score in rows]
    for name, (plies, count) in RANDOM.items():
        positions = random_positions(min(count, options.count or count), plies, seed=1)
        sets[name] = positions, [None] * len(positions)
    compare(*next(iter(sets.values())))  # compiles everything and warms caches
    results = {}
    if not options.json:
        print("set             positions       nodes    ours ms  bitbully ms   ratio  slowest ms")
    for name, (positions, scores) in sets.items():
        if options.only and options.only != name:
            continue
        row = results[name] = compare(positions, scores)
        if not options.json:
            print(
                f"{name:15} {row['positions']:9} {row['nodes']:11,.0f} "
                f"{row['milliseconds']:10.3f} {row['bitbully']:12.3f} "
                f"{row['ratio']:6.2f}x {row['slowest']:11.1f}",
                flush=True,
            )
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
