"""Search trees that grow in step, as Python sees them: one for a move, hundreds for self-play."""

from dataclasses import dataclass

import numpy as np

from fourlab.agents.alphazero import forest_kernel as kernels
from fourlab.agents.mcts import nodes
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluator, ask
from fourlab.game.rules import Rules

NO_POLICY = "this search needs an evaluator that returns logits, a policy, too"


@dataclass(frozen=True)
class Roots:
    """What is known of the columns at the roots of all trees; arrays are [trees, columns]."""

    visits: np.ndarray
    means: np.ndarray
    """The mean result of each column for the side to move, exact where it is proven, 0 where it was not played."""
    priors: np.ndarray
    proofs: np.ndarray
    """WIN, DRAW, LOSS of each column if proven, CLOSED if it is full, else UNPROVEN."""
    values: np.ndarray
    """[trees]: what the network says of the root."""
    proven: np.ndarray
    """[trees]: WIN, DRAW or LOSS of the root if proven."""

    @property
    def open(self) -> np.ndarray:
        """Whether a column makes sense: it is neither full nor proven to lose; of a lost root, whether it is not full."""
        lost = self.proven == nodes.LOSS
        found: np.ndarray = (self.proofs < nodes.LOSS) | (lost[:, None] & (self.proofs != nodes.CLOSED))
        return found

    def most_visited(self) -> np.ndarray:
        """The column to play in each tree, the first of equals: a proven win; else the one visited most, but a proven draw rather
        than what promises less; what is proven to lose only if there is nothing else."""
        drawn = self.proofs == nodes.DRAW
        promising = (self.proofs == nodes.UNPROVEN) & ((self.means > 0) | ~drawn.any(axis=1, keepdims=True))
        rank = np.select([self.proofs == nodes.WIN, promising, drawn, self.proofs == nodes.UNPROVEN], [4, 3, 2, 1], 0)
        rank = np.where(self.proofs == nodes.CLOSED, -1, rank)
        first = np.where(rank == rank.max(axis=1, keepdims=True), self.visits, -1)
        chosen: np.ndarray = np.where(first == first.max(axis=1, keepdims=True), self.means, -2.0).argmax(axis=1)
        return chosen

    def shares(self) -> np.ndarray:
        """The share of each column in the visits; a proven root is sure of its best columns."""
        visits = np.where(self.open, self.visits, 0).astype(float)
        best = (self.proofs == self.proven[:, None]) & (self.proven != nodes.UNPROVEN)[:, None]
        sure = best.any(axis=1, keepdims=True)
        counted = np.where(sure, best, visits)
        empty = counted.sum(axis=1, keepdims=True) == 0
        counted = np.where(empty, self.open, counted)
        found: np.ndarray = counted / counted.sum(axis=1, keepdims=True)
        return found

    def improved(self, scale: float) -> np.ndarray:
        """The improved policy of Gumbel search: priors * exp(scale * values), where unplayed columns have a mixed value."""
        played = (self.visits > 0) & self.open
        visits = np.where(played, self.visits, 0)  # what is proven to lose does not count
        total = visits.sum(axis=1)
        weight = np.where(played, self.priors, 0.0)
        mixed = (weight * self.means).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-30)
        unplayed = (self.values + total * mixed) / (1 + total)
        worth = np.where(played | (self.proofs == nodes.DRAW), self.means, unplayed[:, None])
        boost = scale * (kernels.SPREAD + visits.max(axis=1, keepdims=True)) / 2 * worth
        score = np.where(self.open, np.log(np.maximum(self.priors, 1e-30)) + boost, -np.inf)
        policy = np.exp(score - score.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        # A proven root leaves no doubt: its best columns are all alike.
        best = (self.proofs == self.proven[:, None]) & (self.proven != nodes.UNPROVEN)[:, None]
        known = best.any(axis=1, keepdims=True)
        improved: np.ndarray = np.where(known, best / np.maximum(best.sum(axis=1, keepdims=True), 1), policy)
        return improved


class ForestSearch:
    """Searches many positions of one board at a time."""

    def __init__(
        self,
        evaluator: Evaluator,
        rules: Rules,
        trees: int,
        simulations: int,
        switches: kernels.Switches,
        leaves: int = 1,
        cache: int = 1 << 12,
        plan: int | None = None,
    ) -> None:
        """Make room for trees of so many simulations, with so many leaves of each in hand and so many answers remembered.

        Gumbel search plans for the simulations there is room for, or for what is told.
        """
        self.evaluator, self.rules, self.switches, self.leaves = evaluator, rules, switches, leaves
        self.size = simulations + 2
        self.forest = kernels.new_forest(trees, self.size, leaves, rules.geometry)
        self.cache = kernels.new_cache(cache, rules.geometry)
        self.evaluations = 0
        self.plan(simulations if plan is None else plan)

    def plan(self, simulations: int) -> None:
        """Let Gumbel search share out so many simulations from now on, those made already among them."""
        self.schedule = kernels.schedule(self.rules.columns, simulations if self.switches.gumbel else 1)

    def plant(self, own: np.ndarray, mask: np.ndarray, simulations: int | np.ndarray, noise: np.ndarray | None = None) -> None:
        """Begin new trees at these positions, int64[trees] each; with -1 simulations there is none."""
        f = self.forest
        f.own[:], f.mask[:] = own, mask
        f.used[:] = f.done[:] = f.proof[:] = 0
        f.goal[:] = simulations + 1  # the first looks at the root
        f.noise[:] = 0 if noise is None else noise

    def grow(self) -> int:
        """Ask the network once, about everything that the trees want to know; returns how many questions these were."""
        g = self.rules.geometry
        leaves = kernels.gather(self.forest, self.size, self.leaves, g, self.switches, self.schedule, self.cache)
        if leaves:
            batch = Batch(self.forest.asked_own[:leaves], self.forest.asked_mask[:leaves], self.rules)
            answer = ask(self.evaluator, batch)
            if answer.logits is None:
                raise UserError(NO_POLICY)
            kernels.grow(self.forest, self.size, leaves, answer.logits, answer.values, g, self.switches, self.cache)
        self.evaluations += leaves
        return leaves

    def roots(self, which: np.ndarray | slice = slice(None)) -> Roots:
        """Read the roots, all or some of them."""
        f = self.forest
        return self._read(f.words[:: self.size][which], f.numbers[:: self.size][which], f.proof[which].copy())

    def look(self, path: tuple[int, ...]) -> Roots | None:
        """Read the block after a path of columns from the first tree's root as if it were a root; None if there is none."""
        f, block = self.forest, 0
        for column in path:
            block = nodes.in_python(nodes.block_of)(self._leads(block, column))
            if block == 0:
                return None
        return self._read(f.words[block : block + 1], f.numbers[block : block + 1], np.zeros(1, f.proof.dtype))

    def _read(self, words: np.ndarray, numbers: np.ndarray, proven: np.ndarray) -> Roots:
        columns = self.rules.columns

        def part(array: np.ndarray, which: int) -> np.ndarray:
            return array[:, which * columns : (which + 1) * columns]

        visits, leads = part(words, nodes.VISITS), part(words, nodes.LEADS)
        proofs = np.where(leads < 0, -leads & 7, nodes.UNPROVEN)
        means = np.where(visits > 0, part(numbers, nodes.SUMS) / np.maximum(visits, 1), 0.0)
        means = np.where((proofs > 0) & (proofs < nodes.CLOSED), 2.0 - proofs, means)
        priors, values = part(numbers, nodes.PRIORS).copy(), numbers[:, kernels.PARTS * columns].copy()
        return Roots(visits.copy(), means, priors, proofs, values, proven)

    def leads(self, block: int, column: int) -> int | None:
        """The block to which a column leads, None if there is none that is worth anything."""
        leads = self._leads(block, column)
        return leads if leads > 0 else None

    def _leads(self, block: int, column: int) -> int:
        return int(self.forest.words[block, nodes.in_python(nodes.place)(nodes.LEADS, column, self.rules.columns)])

    def line(self, column: int) -> tuple[int, ...]:
        """The columns visited most from the first tree's root on, beginning with this one."""
        line, block = [column], self.leads(0, column)
        while block is not None:
            visits = self.forest.words[block, : self.rules.columns]
            if not visits.any():
                break
            line.append(int(visits.argmax()))
            block = self.leads(block, line[-1])
        return tuple(line)

    def take_over(self, other: "ForestSearch", block: int) -> None:
        """Begin the only tree with what has grown from a block of another search."""
        f = self.forest
        f.used[0] = kernels.transplant(other.forest.words, block, self.rules.columns, f.words)
        f.done[0] = f.words[0, : self.rules.columns].sum() + 1
        self.cache = other.cache
