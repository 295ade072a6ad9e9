"""Guided search and plain MCTS: speed, and mistakes on exactly solved positions.

Both search the same tree in the same way and differ only in the evaluator; plain MCTS uses uniform
rollouts or rollouts with wins and blocks. A mistake is a column with a worse result (win, draw,
loss) than the best one, according to our solver.

    python benchmarks/guided.py --net value --positions 300 --simulations 100 400
"""

import argparse
import time
from collections.abc import Iterable
from functools import partial

import numpy as np

from fourlab import Limit, Position, make
from fourlab.agent import Analysis
from fourlab.arena.accuracy import ask, count, exact_scores, random_positions
from fourlab.reporting.speed import rates
from fourlab.solver import Solver

PLAIN = ("mcts:rollouts=uniform", "mcts")
GUIDED = (
    "guided:rollouts=uniform,depth=none",
    "guided:depth=none",
    "guided:depth=0",
    "guided:depth=4,epsilon=1",
)
BATCHES = (1, 4, 16, 64, 256)


def with_net(spec: str, net: str) -> str:
    """Add the network to the spec of a guided search."""
    return f'{spec},net="{net}"' if spec.startswith("guided") else spec


def search(spec: str, simulations: int) -> Analysis:
    """Search from the empty board."""
    limit = Limit(simulations=simulations)
    return make(spec).decide(Position(), limit, np.random.default_rng(1)).analysis


def search_rates(specs: Iterable[str], simulations: int) -> dict[str, float]:
    """Return the simulations per CPU second of every spec."""

    def work(spec: str) -> int:
        return search(spec, simulations).simulations or 0

    return rates({spec: partial(work, spec) for spec in specs}, turns=3)


def print_speed(net: str, simulations: int) -> None:
    """Print simulations per second, and the effect of batches."""
    measured = search_rates([*PLAIN, *(with_net(spec, net) for spec in GUIDED)], simulations)
    print(f"simulations per CPU second of one thread, {simulations:,} from the empty board")
    for spec, rate in measured.items():
        analysis = search(spec, simulations)
        evaluations = (analysis.evaluations or 0) / (analysis.simulations or 1)
        print(
            f"  {spec:52} {rate:>12,.0f}  {measured[PLAIN[0]] / rate:>8,.1f} x the time  "
            f"{evaluations:>6.1f} evaluations per simulation"
        )
    batched = with_net("guided:depth=0", net)
    measured = search_rates([f"{batched},batch={batch}" for batch in BATCHES], simulations)
    batch_rates = zip(BATCHES, measured.values(), strict=True)
    print(
        "  depth=0 with batch = "
        + ", ".join(f"{batch}: {rate:,.0f}" for batch, rate in batch_rates)
    )


def print_lateness(net: str) -> None:
    """Print by how much a time limit is exceeded."""
    for spec in (with_net("guided:depth=0", net), with_net("guided:depth=none", net)):
        agent = make(spec)
        late = []
        for seed in range(40):
            before = time.perf_counter()
            agent.decide(Position("44"), Limit(seconds=0.1), np.random.default_rng(seed))
            late.append((time.perf_counter() - before - 0.1) * 1000)
        print(
            f"{spec}: a limit of 100 ms is exceeded by {np.median(late):.1f} ms (median), "
            f"{max(late):.1f} ms (worst of 40)"
        )


def print_mistakes(net: str, budgets: list[int], number: int, plies: tuple[int, int]) -> None:
    """Print the share of mistakes at equal simulations, with the time they took."""
    positions = random_positions(number, plies, seed=1)
    scores = list(exact_scores(positions, Solver()))
    print(
        f"mistakes on {number} random positions of {plies[0]} to {plies[1]} plies "
        "(95 % interval), CPU ms per move"
    )
    for simulations in budgets:
        for spec in (*PLAIN, *(with_net(spec, net) for spec in GUIDED)):
            before = time.process_time()
            limit = Limit(simulations=simulations)
            accuracy = count(list(ask(make(spec), positions, scores, limit, seed=7)))
            milliseconds = (time.process_time() - before) / number * 1000
            low, high = accuracy.mistake_interval
            rate = f"{accuracy.mistake_rate:6.1%}  [{low:.1%}, {high:.1%}]"
            print(f"  {simulations:6,}  {spec:52} {rate}  {milliseconds:8.2f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--net", default="value", help="a shipped network or an ONNX file")
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument(
        "--plies", default="8-16", metavar="A-B", help="range of discs on the board"
    )
    parser.add_argument("--simulations", type=int, nargs="*", default=[100])
    options = parser.parse_args()
    first, _, last = options.plies.partition("-")
    print_speed(options.net, 500)
    print_lateness(options.net)
    plies = (int(first), int(last or first))
    print_mistakes(options.net, options.simulations, options.positions, plies)


if __name__ == "__main__":
    main()
