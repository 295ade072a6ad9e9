"""Measure what every idea of the solver gains, by switching off one at a time.

    python benchmarks/ablation.py [--positions N] [--plies A-B] [--only IDEA …] [--json]

Every variant is compiled in a process of its own. It solves the same random positions as the
complete solver, in alternation with it, so that both suffer alike from a busy machine. The table is
emptied before every position. Scores must agree.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

VARIANTS: dict[str, dict[str, Any]] = {
    "transposition table": {"TABLE": False},
    "extreme scores first": {"EXTREMES_FIRST": False},
    "central columns first": {"CENTRE_FIRST": False},
    "most threats first": {"THREATS_FIRST": False},
    "threats weighed": {"WEIGHED_THREATS": False},
    "forced replies played out": {"FORCED_REPLIES": False},
    "strategies of zugzwang": {"STRATEGIES": False},
    "extreme scores only at first": {"EASY": 1 << 60},
    "children probed first": {"PROBE_CHILDREN": 99},
    "mirror images share an entry": {"MIRRORED_PLIES": -1},
    "buckets prefetched": {"PREFETCH": False},
    "huge pages": {"_HUGE_PAGE": 1 << 60},
    "small table first": {"FIRST_WORDS": 1 << 23},
}
MAX_NODES = 20_000_000
"""A variant that needs more for a position is stopped."""


def worker(changes: dict[str, Any]) -> None:
    """Solve positions from standard input, one per line; print score, nodes and CPU seconds."""
    from fourlab import Limit, Position
    from fourlab.solver import Solver, kernel, solver, table

    for name, value in changes.items():
        owner = next(module for module in (kernel, table, solver) if hasattr(module, name))
        setattr(owner, name, value)
    variant = Solver(book=None)
    for line in sys.stdin:
        position = Position(line.strip())
        variant.forget()
        before = time.thread_time()
        solution = variant.solve(position, Limit(nodes=MAX_NODES))
        seconds = time.thread_time() - before
        print(json.dumps([solution.score, solution.nodes, seconds]), flush=True)


class Variant:
    """A solver in a process of its own."""

    def __init__(self, changes: dict[str, Any]) -> None:
        # Numba's cache does not notice changed constants, so every variant has its own.
        self.cache = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", json.dumps(changes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "FOURLAB_CACHE_DIR": self.cache.name},
        )
        self.solve("121212")  # compiles everything

    def solve(self, moves: str) -> tuple[int | None, int, float]:
        """Return the score, nodes and CPU seconds of one position."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(moves, file=self.process.stdin, flush=True)
        score, nodes, seconds = json.loads(self.process.stdout.readline())
        return score, nodes, seconds

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.cache.cleanup()


def compare(
    complete: Variant, variant: Variant, positions: list[str], name: str
) -> dict[str, float]:
    """Return the variant's nodes and time as ratios, and how many positions it did not finish."""
    nodes = seconds = variant_nodes = variant_seconds = 0.0
    unfinished = 0
    for moves in positions:
        score, new_nodes, new_seconds = complete.solve(moves)
        nodes += new_nodes
        seconds += new_seconds
        variant_score, new_nodes, new_seconds = variant.solve(moves)
        variant_nodes += new_nodes
        variant_seconds += new_seconds
        unfinished += variant_score is None
        if variant_score not in (None, score):
            raise SystemExit(f"{moves}: {score} with all ideas, {variant_score} without {name}")
    return {
        "nodes": variant_nodes / nodes,
        "time": variant_seconds / seconds,
        "unfinished": unfinished,
    }


def main() -> None:
    """Print a line for every idea."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--positions", type=int, default=40, help="number of positions")
    parser.add_argument(
        "--plies", default="11-15", metavar="A-B", help="range of discs on the board"
    )
    parser.add_argument("--only", nargs="*", metavar="IDEA", help="only these ideas")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(json.loads(options.worker))
        return
    from fourlab.arena.accuracy import random_positions

    first, _, last = options.plies.partition("-")
    plies = (int(first), int(last or first))
    positions = [
        position.write("moves") for position in random_positions(options.positions, plies, seed=1)
    ]
    complete = Variant({})
    results: dict[str, dict[str, float]] = {}
    if not options.json:
        print(f"{options.positions} positions of {options.plies} plies; the complete solver is 1")
        print("without                        nodes   time")
    for name, changes in VARIANTS.items():
        if options.only and name not in options.only:
            continue
        variant = Variant(changes)
        row = results[name] = compare(complete, variant, positions, name)
        variant.close()
        if not options.json:
            stopped = row["unfinished"]
            note = f"   at least: {stopped} stopped after {MAX_NODES:,} nodes" if stopped else ""
            print(f"{name:28} {row['nodes']:7.2f}x {row['time']:5.2f}x{note}", flush=True)
    complete.close()
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
