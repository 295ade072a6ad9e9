"""AlphaMCTS: games per second of self-play and simulations per second of search, beside the obvious Python, in one run.

The peer is the search as it is usually written: a dictionary of positions, one position a question to the same network.
alpha-zero-general's published code was measured elsewhere to make 101 simulations a second with its own, larger network.
"""

import math
import time

import numpy as np

from fourlab import Limit, Position, make
from fourlab.agents.alphazero import forest_kernel as forest
from fourlab.agents.alphazero.forest import ForestSearch
from fourlab.agents.alphazero.self_play import self_play
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.rules import CLASSIC
from fourlab.nets.evaluator import OnnxEvaluator, load
from fourlab.reporting.speed import rates

PUCT = forest.Switches(gumbel=False, c=2.0, scale=0.3, fpu=0.2, noise=0.0, proving=True)
GUMBEL = PUCT._replace(gumbel=True)
GAMES = 250


class Obvious:
    """AlphaZero's search with dictionaries."""

    def __init__(self, judge: OnnxEvaluator) -> None:
        self.judge = judge

    def search(self, root: Position, simulations: int) -> int:
        self.priors: dict[Position, np.ndarray] = {}
        self.visits: dict[tuple[Position, int], int] = {}
        self.sums: dict[tuple[Position, int], float] = {}
        for _ in range(simulations):
            self.visit(root)
        return simulations

    def visit(self, position: Position) -> float:
        """The value for the side that moved here."""
        if (outcome := position.outcome()) is not None:
            return 0.0 if outcome.winner is None else 1.0
        if position not in self.priors:
            found = self.judge.evaluate(Batch.of([position]))
            powers = np.exp(found.logits[0])
            self.priors[position] = powers / powers.sum()
            return -float(found.values[0])
        legal = position.legal_columns()
        n = {column: self.visits.get((position, column), 0) for column in legal}
        root = math.sqrt(1 + sum(n.values()))
        bound = {
            column: self.sums.get((position, column), 0.0) / max(n[column], 1)
            + 4 * self.priors[position][column] * root / (1 + n[column])
            for column in legal
        }
        column = max(bound, key=lambda each: bound[each])
        value = self.visit(position.play(column))
        self.visits[position, column] = n[column] + 1
        self.sums[position, column] = self.sums.get((position, column), 0.0) + value
        return -value


class Instant:
    """A network that answers at once, so that only the tree's own work is left."""

    def evaluate(self, batch: Batch) -> Evaluation:
        hashed = batch.own * 31 + batch.mask * 17
        logits = (hashed[:, None] * np.arange(3, 10) % 1000 / 500).astype(np.float32)
        return Evaluation((hashed % 997 / 2500).astype(np.float32), logits)


def tree_work(s: forest.Switches, trees: int = 256, simulations: int = 128) -> float:
    """Microseconds a simulation in compiled code, apart from the network."""
    search, g, seconds = ForestSearch(Instant(), CLASSIC, trees, simulations, s), CLASSIC.geometry, 0.0
    search.plant(np.zeros(trees, np.int64), np.zeros(trees, np.int64), simulations)
    while True:
        before = time.thread_time()
        leaves = forest.gather(search.forest, search.size, 1, g, s, search.schedule, search.cache)
        seconds += time.thread_time() - before
        if not leaves:
            return seconds / float(search.forest.done.sum()) * 1e6
        batch = Batch(search.forest.asked_own[:leaves], search.forest.asked_mask[:leaves], CLASSIC)
        found = search.evaluator.evaluate(batch)
        before = time.thread_time()
        forest.grow(search.forest, search.size, leaves, found.logits, found.values, g, s, search.cache)
        seconds += time.thread_time() - before


def many_trees(judge: object, s: forest.Switches, trees: int = 256, simulations: int = 64) -> int:
    search = ForestSearch(judge, CLASSIC, trees, simulations, s)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    own, mask = np.zeros((2, trees), np.int64)
    for tree in range(trees):
        position = Position()
        for _ in range(int(rng.integers(12))):
            if position.outcome() is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            own[tree], mask[tree] = position.own, position.mask
    search.plant(own, mask, simulations)
    while search.grow():
        pass
    return int(search.forest.done.sum())


def one_tree(spec: str) -> int:
    agent = make(spec)
    return sum(
        agent.decide(Position(moves), Limit(), np.random.default_rng(0)).analysis.simulations
        for moves in ("", "44", "4435", "252")
    )


def main() -> None:
    network = load("alphazero")
    obvious = Obvious(network)
    many_trees(network, GUMBEL)
    measured = rates(
        {
            "many trees in step": lambda: many_trees(network, GUMBEL),
            "many trees in step, PUCT": lambda: many_trees(network, PUCT),
            "one tree, 16 leaves at once": lambda: one_tree("alphazero:simulations=2000"),
            "one tree, one leaf at a time": lambda: one_tree("alphazero:simulations=1000,batch=1"),
            "dictionaries in Python": lambda: obvious.search(Position("44"), 100),
        }
    )
    peer = measured["dictionaries in Python"]
    print(f"search with the network {network.network.body[0]} … ({network.precision}), simulations per CPU second of one thread")
    for name, rate in measured.items():
        print(f"  {name:30} {rate:>10,.0f}  {rate / peer:>6.1f} x   {rate / 101:>6.0f} x alpha-zero-general's published 101")
    for name, s in (("Gumbel", GUMBEL), ("PUCT", PUCT)):
        print(f"  the tree's own work, {name}: {min(tree_work(s) for _ in range(5)):.2f} microseconds a simulation")
    settings = AlphaZeroSettings()
    before = time.thread_time()
    played = self_play(network, settings, settings.simulations, GAMES, [1])
    games, positions = (each / (time.thread_time() - before) for each in (GAMES, len(played.samples)))
    print(f"self-play, {settings.simulations} simulations a move: {games:.0f} games, {positions:,.0f} positions a second")


if __name__ == "__main__":
    main()
