"""What each idea of the solver gains: the same positions with one idea switched off at a time.

    python benchmarks/ablation.py [--positions N] [--plies A-B] [--only IDEA …] [--json]

Every variant is compiled in a process of its own, solves the same random positions with an empty table each time,
and takes turns with the whole solver, so that the ratio is not the machine's mood. Scores must agree.
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
    "claimeven bound": {"CLAIMEVEN": False},
    "children probed first": {"PROBE_CHILDREN": 99},
    "mirror images share an entry": {"MIRRORED_PLIES": -1},
    "buckets prefetched": {"PREFETCH": False},
    "huge pages": {"_HUGE_PAGE": 1 << 60},
    "small table first": {"FIRST_WORDS": 1 << 23},
}


def worker(changes: dict[str, Any]) -> None:
    """Solve the positions that are given line by line; answer with score, nodes and CPU seconds."""
    from fourlab import Limit, Position
    from fourlab.solver import Solver, kernel, solver, table

    for name, value in changes.items():
        place = next(module for module in (kernel, table, solver) if hasattr(module, name))
        setattr(place, name, value)
    ours = Solver(book=None)
    for line in sys.stdin:
        position = Position(line.strip())
        ours.forget()
        before = time.thread_time()
        found = ours.solve(position, Limit(nodes=20_000_000))
        print(json.dumps([found.score, found.nodes, time.thread_time() - before]), flush=True)


class Variant:
    """A solver in a process of its own."""

    def __init__(self, changes: dict[str, Any]) -> None:
        # Numba's cache does not know that a constant was changed, so each variant has a cache of its own.
        self.cache = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", json.dumps(changes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "FOURLAB_CACHE_DIR": self.cache.name},
        )
        self.ask("121212")  # compiled now

    def ask(self, moves: str) -> tuple[int | None, int, float]:
        """Solve one position."""
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


def main() -> None:
    """Print a line per idea."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=40, help="how many positions")
    parser.add_argument("--plies", default="11-15", metavar="A-B", help="how many discs they have")
    parser.add_argument("--only", nargs="*", metavar="IDEA", help="only these ideas")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(json.loads(given.worker))
        return
    from fourlab.arena.accuracy import random_positions

    first, _, last = given.plies.partition("-")
    positions = [each.write("moves") for each in random_positions(given.positions, (int(first), int(last or first)), seed=1)]
    whole = Variant({})
    results: dict[str, dict[str, float]] = {}
    if not given.json:
        print(f"{given.positions} positions of {given.plies} plies; with all ideas everything is 1")
        print("without                        nodes   time")
    for name, changes in VARIANTS.items():
        if given.only and name not in given.only:
            continue
        variant = Variant(changes)
        sums = [0.0, 0.0, 0.0, 0.0]
        unfinished = 0
        for moves in positions:
            score, nodes, seconds = whole.ask(moves)
            other, other_nodes, other_seconds = variant.ask(moves)
            unfinished += other is None
            if other is not None and other != score:
                raise SystemExit(f"{moves}: {score} with all ideas, {other} without {name}")
            for i, value in enumerate((nodes, seconds, other_nodes, other_seconds)):
                sums[i] += value
        variant.close()
        results[name] = {"nodes": sums[2] / sums[0], "time": sums[3] / sums[1], "unfinished": unfinished}
        if not given.json:
            more = f"   at least: {unfinished} were given up after 20 million nodes" if unfinished else ""
            print(f"{name:28} {results[name]['nodes']:7.2f}x {results[name]['time']:5.2f}x{more}", flush=True)
    whole.close()
    if given.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
