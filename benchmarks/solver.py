"""The solver beside bitbully's, both on one thread without a book and with an empty table for every position.

    python benchmarks/solver.py [--positions FOLDER] [--count N] [--json]

FOLDER holds solved test sets, one position and its score a line (`Test_L1_R2` …); without it, random positions serve.
The two take turns on every position and are measured in CPU time, emptying tables not included. Scores must agree.
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
SETS = {"L3_R1": 1000, "L2_R1": 1000, "L1_R1": 200, "L1_R2": 200}

RANDOM = {"random 20-30": ((20, 30), 500), "random 12-16": ((12, 16), 100), "random 8-11": ((8, 11), 30)}


def compare(positions: list[Position], scores: list[int | None]) -> dict[str, float]:
    """Let both solve every position, in turns of TURN positions, so that each suffers only from its own emptying of tables."""
    ours, theirs = Solver(book=None), BitBully(opening_book=None)
    boards = [Board.from_moves(list(position.moves or ())) for position in positions]
    our_times, their_times, nodes = [], [], 0
    for first in range(0, len(positions), TURN):
        turn = range(first, min(first + TURN, len(positions)))
        found = []
        for i in turn:
            ours.forget()
            before = time.thread_time()
            solution = ours.solve(positions[i])
            our_times.append(time.thread_time() - before)
            nodes += solution.nodes
            found.append(solution.score)
        for i, our_score in zip(turn, found, strict=True):
            theirs.reset_transposition_table()
            before = time.thread_time()
            their_score = theirs.mtdf(boards[i])
            their_times.append(time.thread_time() - before)
            if our_score != their_score or scores[i] not in (None, our_score):
                raise SystemExit(f"{positions[i]!r}: ours {our_score}, theirs {their_score}, known {scores[i]}")
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
    """Print a line per set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=Path, help="folder with solved test sets")
    parser.add_argument("--count", type=int, help="at most so many positions a set")
    parser.add_argument("--only", help="only the set of this name")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sets: dict[str, tuple[list[Position], list[int | None]]] = {}
    for name, most in SETS.items():
        file = given.positions / f"Test_{name}" if given.positions else None
        if file is not None and file.exists():
            rows = [line.split() for line in file.read_text().splitlines()][: given.count or most]
            sets[name] = [Position(moves) for moves, _ in rows], [int(score) for _, score in rows]
    for name, (plies, count) in RANDOM.items():
        positions = random_positions(min(count, given.count or count), plies, seed=1)
        sets[name] = positions, [None] * len(positions)
    compare(*next(iter(sets.values())))  # everything compiled and warm
    results = {}
    if not given.json:
        print("set             positions       nodes    ours ms  bitbully ms   ratio  slowest ms")
    for name, (positions, scores) in sets.items():
        if given.only and given.only != name:
            continue
        row = results[name] = compare(positions, scores)
        if not given.json:
            print(
                f"{name:15} {row['positions']:9} {row['nodes']:11,.0f} {row['milliseconds']:10.3f} {row['bitbully']:12.3f}"
                f" {row['ratio']:6.2f}x {row['slowest']:11.1f}",
                flush=True,
            )
    if given.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
