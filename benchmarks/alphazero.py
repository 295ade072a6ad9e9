"""AlphaZero: speed of self-play and of search, compared with a plain Python search in one run.

The peer is the search as it is usually written: a dictionary of positions, and one position per
call of the same network. For comparison, alpha-zero-general's published code, with its own larger
network, was measured at 101 simulations per second.
"""

import math
import time

import numpy as np

from fourlab import Limit, Position, make
from fourlab.agents.alphazero import forest_kernel as forest
from fourlab.agents.alphazero.choosing import Switches
from fourlab.agents.alphazero.forest import ForestSearch
from fourlab.agents.alphazero.self_play import self_play
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.rules import CLASSIC
from fourlab.nets.evaluator import OnnxEvaluator, load
from fourlab.reporting.speed import rates

PUCT = Switches(gumbel=False, c=2.0, scale=0.3, fpu=0.2, noise=0.0, proving=True)
GUMBEL = PUCT._replace(gumbel=True)
GAMES = 250


PUBLISHED = 101
"""Simulations per second of alpha-zero-general."""


class PlainSearch:
    """AlphaZero's search with dictionaries."""

    def __init__(self, evaluator: OnnxEvaluator) -> None:
        self.evaluator = evaluator

    def search(self, root: Position, simulations: int) -> int:
        self.priors: dict[Position, np.ndarray] = {}
        self.visits: dict[tuple[Position, int], int] = {}
        self.sums: dict[tuple[Position, int], float] = {}
        for _ in range(simulations):
            self.visit(root)
        return simulations

    def visit(self, position: Position) -> float:
        """Run one simulation; returns its value for the side that moved to `position`."""
        if (outcome := position.outcome()) is not None:
            return 0.0 if outcome.winner is None else 1.0
        if position not in self.priors:
            evaluation = self.evaluator.evaluate(Batch.of([position]))
            powers = np.exp(evaluation.logits[0])
            self.priors[position] = powers / powers.sum()
            return -float(evaluation.values[0])
        legal = position.legal_columns()
        visits = {column: self.visits.get((position, column), 0) for column in legal}
        root = math.sqrt(1 + sum(visits.values()))
        bounds = {}
        for column in legal:
            mean = self.sums.get((position, column), 0.0) / max(visits[column], 1)
            prior = self.priors[position][column]
            bounds[column] = mean + 4 * prior * root / (1 + visits[column])
        best = max(bounds, key=bounds.__getitem__)
        value = self.visit(position.play(best))
        self.visits[position, best] = visits[best] + 1
        self.sums[position, best] = self.sums.get((position, best), 0.0) + value
        return -value


class Instant:
    """An evaluator that takes no time, so that only the work in the tree is measured."""

    def evaluate(self, batch: Batch) -> Evaluation:
        hashed = batch.own * 31 + batch.mask * 17
        logits = (hashed[:, None] * np.arange(3, 10) % 1000 / 500).astype(np.float32)
        return Evaluation((hashed % 997 / 2500).astype(np.float32), logits)


def tree_work(s: Switches, trees: int = 256, simulations: int = 128) -> float:
    """Return the microseconds per simulation in compiled code, without the network."""
    search = ForestSearch(Instant(), CLASSIC, trees, simulations, s)
    g = CLASSIC.geometry
    seconds = 0.0
    search.reset(np.zeros(trees, np.int64), np.zeros(trees, np.int64), simulations)
    while True:
        before = time.thread_time()
        leaves = forest.gather(search.forest, 1, g, s, search.schedule, search.cache)
        seconds += time.thread_time() - before
        if not leaves:
            return seconds / float(search.forest.trees.done.sum()) * 1e6
        queue = search.forest.queue
        batch = Batch(queue.own[:leaves], queue.mask[:leaves], CLASSIC)
        evaluation = search.evaluator.evaluate(batch)
        before = time.thread_time()
        forest.expand(
            search.forest,
            leaves,
            evaluation.logits,
            evaluation.values,
            g,
            s,
            search.cache,
        )
        seconds += time.thread_time() - before


def many_trees(evaluator: object, s: Switches, trees: int = 256, simulations: int = 64) -> int:
    search = ForestSearch(evaluator, CLASSIC, trees, simulations, s)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    own, mask = np.zeros((2, trees), np.int64)
    for tree in range(trees):
        position = Position()
        for _ in range(int(rng.integers(12))):
            if position.outcome() is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            own[tree] = position.own
            mask[tree] = position.mask
    search.reset(own, mask, simulations)
    search.run()
    return int(search.forest.trees.done.sum())


def one_tree(spec: str) -> int:
    agent = make(spec)
    return sum(
        agent.decide(Position(moves), Limit(), np.random.default_rng(0)).analysis.simulations
        for moves in ("", "44", "4435", "252")
    )


def main() -> None:
    network = load("alphazero")
    plain = PlainSearch(network)
    many_trees(network, GUMBEL)
    measured = rates(
        {
            "many trees in lockstep": lambda: many_trees(network, GUMBEL),
            "many trees in lockstep, PUCT": lambda: many_trees(network, PUCT),
            "one tree, 16 leaves at once": lambda: one_tree("alphazero:simulations=2000"),
            "one tree, one leaf at a time": lambda: one_tree("alphazero:simulations=1000,batch=1"),
            "dictionaries in Python": lambda: plain.search(Position("44"), 100),
        }
    )
    peer = measured["dictionaries in Python"]
    print(
        f"search with the network {network.network.body[0]} … ({network.precision}), "
        "simulations per CPU second of one thread"
    )
    for name, rate in measured.items():
        published = f"{rate / PUBLISHED:>6.0f} x alpha-zero-general's published {PUBLISHED}"
        print(f"  {name:30} {rate:>10,.0f}  {rate / peer:>6.1f} x   {published}")
    for name, switches in (("Gumbel", GUMBEL), ("PUCT", PUCT)):
        microseconds = min(tree_work(switches) for _ in range(5))
        print(f"  work in the tree, {name}: {microseconds:.2f} microseconds per simulation")
    settings = AlphaZeroSettings()
    before = time.thread_time()
    played = self_play(network, settings, settings.simulations, GAMES, [1])
    seconds = time.thread_time() - before
    print(
        f"self-play, {settings.simulations} simulations per move: {GAMES / seconds:.0f} games, "
        f"{len(played.samples) / seconds:,.0f} positions per second"
    )


if __name__ == "__main__":
    main()
