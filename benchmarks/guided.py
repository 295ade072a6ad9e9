"""Guided search beside the plain search: what it costs, and how often each throws away what a position is worth.

The evaluator alone makes the difference: both search the same tree in the same way, the plain search with uniform rollouts or
with wins and blocks. A mistake is a column of a lower class (win, draw, loss) than the best; the truth comes from our solver.

    python benchmarks/guided.py --net value --positions 300 --simulations 100 400
"""

import argparse
import time

import numpy as np

from fourlab import Limit, Position, make
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
    """The spec with the network named in it."""
    return f'{spec},net="{net}"' if spec.startswith("guided") else spec


def simulate(spec: str, simulations: int) -> int:
    decision = make(spec).decide(Position(), Limit(simulations=simulations), np.random.default_rng(1))
    return decision.analysis.simulations or 0


def print_speed(net: str, simulations: int) -> None:
    """Simulations a second, and what batches bring."""
    specs = [*PLAIN, *(with_net(spec, net) for spec in GUIDED)]
    measured = rates({spec: lambda spec=spec: simulate(spec, simulations) for spec in specs}, turns=3)  # type: ignore[misc]
    print(f"simulations per CPU second of one thread, {simulations:,} from the empty board")
    for spec, rate in measured.items():
        analysis = make(spec).decide(Position(), Limit(simulations=simulations), np.random.default_rng(1)).analysis
        each = (analysis.evaluations or 0) / analysis.simulations  # type: ignore[operator]
        print(f"  {spec:52} {rate:>12,.0f}  {measured[PLAIN[0]] / rate:>8,.1f} x the time  {each:>6.1f} positions judged each")
    specs = [f"{with_net('guided:depth=0', net)},batch={batch}" for batch in BATCHES]
    measured = rates({spec: lambda spec=spec: simulate(spec, simulations) for spec in specs}, turns=3)  # type: ignore[misc]
    print("  depth=0 with batch = " + ", ".join(f"{n}: {r:,.0f}" for n, r in zip(BATCHES, measured.values(), strict=True)))


def print_lateness(net: str) -> None:
    """By how much a limit of time is overrun."""
    for spec in (with_net("guided:depth=0", net), with_net("guided:depth=none", net)):
        agent, late = make(spec), []
        for seed in range(40):
            before = time.perf_counter()
            agent.decide(Position("44"), Limit(seconds=0.1), np.random.default_rng(seed))
            late.append((time.perf_counter() - before - 0.1) * 1000)
        print(f"{spec}: a limit of 100 ms is overrun by {np.median(late):.1f} ms (median), {max(late):.1f} ms (worst of 40)")


def print_mistakes(net: str, budgets: list[int], positions: int, plies: tuple[int, int]) -> None:
    """Mistakes at equal simulations, with the time they took."""
    asked = random_positions(positions, plies, seed=1)
    truth = list(exact_scores(asked, Solver()))
    print(f"mistakes on {len(asked)} random positions of {plies[0]} to {plies[1]} plies (95 % interval), CPU ms a move")
    for simulations in budgets:
        for spec in (*PLAIN, *(with_net(spec, net) for spec in GUIDED)):
            before = time.process_time()
            found = count(list(ask(make(spec), asked, truth, Limit(simulations=simulations), seed=7)))
            spent = (time.process_time() - before) / len(asked) * 1000
            low, high = found.mistake_interval
            rate = f"{found.mistake_rate:6.1%}  [{low:.1%}, {high:.1%}]"
            print(f"  {simulations:6,}  {spec:52} {rate}  {spent:8.2f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", default="value", help="a network that comes with Fourlab, or an ONNX file")
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--plies", default="8-16", metavar="A-B", help="how many discs they have")
    parser.add_argument("--simulations", type=int, nargs="*", default=[100])
    given = parser.parse_args()
    first, _, last = given.plies.partition("-")
    print_speed(given.net, 500)
    print_lateness(given.net)
    print_mistakes(given.net, given.simulations, given.positions, (int(first), int(last or first)))


if __name__ == "__main__":
    main()
