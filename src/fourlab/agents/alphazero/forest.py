"""The Python side of search trees that grow in step: one for a move, hundreds for self-play."""

from dataclasses import dataclass

import numpy as np

from fourlab.agents.alphazero import forest_kernel as kernels
from fourlab.agents.alphazero.choosing import FIX_FINISHED, VISIT_OFFSET, Switches, schedule
from fourlab.agents.alphazero.leaves import new_cache
from fourlab.agents.mcts import nodes
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluator, evaluate_checked
from fourlab.game.rules import Rules

SOLVER_WORDS = 1 << 16
"""Size of the solver's table in 64-bit words, 0.5 MB."""
NO_POLICY = "this search needs an evaluator that returns logits (a policy) as well as values"


@dataclass(frozen=True)
class Roots:
    """Statistics of the columns at the roots of all trees; arrays are [trees, columns]."""

    # int32, without virtual losses: after a step no simulation is pending.
    visits: np.ndarray
    means: np.ndarray
    """Mean results, -1 to +1 for the side to move; exact if proven, 0 if unvisited.

    In Arya's search without `proving` they are `choosing.listed_mean`, and nothing is proven.
    """
    # float32; full columns and those that lose at once have 0, unless `faithful` or proven.
    priors: np.ndarray
    proofs: np.ndarray
    """WIN, DRAW or LOSS if proven, CLOSED if the column is full, else UNPROVEN."""
    values: np.ndarray
    """[trees]: the network's value of the root."""
    proven: np.ndarray
    """[trees]: WIN, DRAW or LOSS if the root is proven, else UNPROVEN."""

    @property
    def open(self) -> np.ndarray:
        """Return which columns are sensible: not full and, unless all lose, not proven to lose."""
        lost = self.proven == nodes.LOSS
        sensible: np.ndarray = (self.proofs < nodes.LOSS) | (
            lost[:, None] & (self.proofs != nodes.CLOSED)
        )
        return sensible

    @property
    def _best_proven(self) -> np.ndarray:
        """Return which columns achieve the result of their proven root; none if it is unproven."""
        proven = self.proven != nodes.UNPROVEN
        best: np.ndarray = (self.proofs == self.proven[:, None]) & proven[:, None]
        return best

    def most_visited(self) -> np.ndarray:
        """Return the column to play in every tree, the first of equals.

        A proven win comes first, then the most visited column, except that a proven draw is
        preferred to columns with a mean of 0 or less. Proven losses come last.
        """
        drawn = self.proofs == nodes.DRAW
        promising = (self.proofs == nodes.UNPROVEN) & (
            (self.means > 0) | ~drawn.any(axis=1, keepdims=True)
        )
        # Ranks: 4 win, 3 promising, 2 draw, 1 any other unproven column, 0 loss, and -1 full.
        rank = np.select(
            [self.proofs == nodes.WIN, promising, drawn, self.proofs == nodes.UNPROVEN],
            [4, 3, 2, 1],
            0,
        )
        rank = np.where(self.proofs == nodes.CLOSED, -1, rank)
        visits = np.where(rank == rank.max(axis=1, keepdims=True), self.visits, -1)
        # -2 is below every mean.
        means = np.where(visits == visits.max(axis=1, keepdims=True), self.means, -2.0)
        columns: np.ndarray = means.argmax(axis=1)
        return columns

    def shares(self) -> np.ndarray:
        """Return the columns' shares of the visits; of a proven root, its best columns' alone."""
        visits = np.where(self.open, self.visits, 0).astype(float)
        best = self._best_proven
        weights = np.where(best.any(axis=1, keepdims=True), best, visits)
        # A root without visits: every sensible column gets the same share.
        empty = weights.sum(axis=1, keepdims=True) == 0
        weights = np.where(empty, self.open, weights)
        shares: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def improved(self, scale: float) -> np.ndarray:
        """Return Gumbel search's improved policy: prior * exp(weight * value), normalised.

        Unvisited columns get the mixed value; see `choosing.mixed_value`, which does the same for
        one node in float32.
        """
        visited = (self.visits > 0) & self.open
        visits = np.where(visited, self.visits, 0)
        total = visits.sum(axis=1)
        weight = np.where(visited, self.priors, 0.0)
        mixed = (weight * self.means).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-30)
        unvisited = (self.values + total * mixed) / (1 + total)
        # The mean of a proven draw is exact even without visits.
        values = np.where(visited | (self.proofs == nodes.DRAW), self.means, unvisited[:, None])
        # Halved as in `choosing`: values span 2 here.
        boost = scale * (VISIT_OFFSET + visits.max(axis=1, keepdims=True)) / 2 * values
        score = np.where(self.open, np.log(np.maximum(self.priors, 1e-30)) + boost, -np.inf)
        policy = np.exp(score - score.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        # In a proven root all columns that achieve its result are equally good.
        best = self._best_proven
        exact = best / np.maximum(best.sum(axis=1, keepdims=True), 1)
        improved: np.ndarray = np.where(best.any(axis=1, keepdims=True), exact, policy)
        return improved


class ForestSearch:
    """A search of many positions of one board at a time."""

    def __init__(
        self,
        evaluator: Evaluator,
        rules: Rules,
        trees: int,
        simulations: int,
        switches: Switches,
        leaves: int = 1,
        cache: int = 1 << 12,
        plan: int | None = None,
    ) -> None:
        """Allocate trees.

        Args:
            evaluator: Returns logits and values for batches of positions.
            rules: The board of all positions.
            trees: Number of positions searched at a time.
            simulations: Capacity of a tree.
            switches: Options of the search.
            leaves: Leaves per tree in a batch for the evaluator, at most.
            cache: Evaluations to remember, a power of two.
            plan: Simulations that Gumbel search plans for, by default `simulations`.
        """
        self.evaluator = evaluator
        self.rules = rules
        self.switches = switches
        self.leaves = leaves
        # One block per simulation, one for the root.
        self.forest = kernels.new_forest(trees, simulations + 2, leaves, rules.geometry)
        words = SOLVER_WORDS if switches.solver_nodes else 64
        self.cache = new_cache(cache, rules.geometry, words)
        self.evaluations = 0
        self.plan(simulations if plan is None else plan)

    def plan(self, simulations: int) -> None:
        """Plan Gumbel search for this many simulations, those already made included."""
        self.schedule = schedule(self.rules.columns, simulations if self.switches.gumbel else 1)

    def reset(
        self,
        own: np.ndarray,
        mask: np.ndarray,
        simulations: int | np.ndarray,
        noise: np.ndarray | None = None,
    ) -> None:
        """Start new trees at positions given as int64[trees]; -1 simulations leaves one out."""
        trees = self.forest.trees
        trees.own[:] = own
        trees.mask[:] = mask
        self.forest.nodes.used[:] = trees.done[:] = trees.proof[:] = 0
        # A tree that is left out has goal 0, which it has reached.
        trees.goal[:] = simulations + 1  # the first one evaluates the root
        trees.noise[:] = 0 if noise is None else noise

    def step(self) -> int:
        """Simulate until a batch is full, evaluate it and expand it; return the batch's size.

        Zero means that every tree has reached its goal or is proven.
        """
        f = self.forest
        g = self.rules.geometry
        leaves = kernels.gather(f, self.leaves, g, self.switches, self.schedule, self.cache)
        if leaves:
            batch = Batch(f.queue.own[:leaves], f.queue.mask[:leaves], self.rules)
            answer = evaluate_checked(self.evaluator, batch)
            if answer.logits is None:
                raise UserError(NO_POLICY)
            kernels.expand(f, leaves, answer.logits, answer.values, g, self.switches, self.cache)
        # Answers from the cache are not evaluations.
        self.evaluations += leaves
        return leaves

    def run(self) -> None:
        """Step until every tree has reached its goal or is proven."""
        while self.step():
            pass

    def roots(self, which: np.ndarray | slice = slice(None)) -> Roots:
        """Return the statistics of all roots, or of those that `which` selects."""
        blocks = np.arange(len(self.forest.trees.proof)) * self.forest.size
        return self._read(blocks[which], self.forest.trees.proof[which].copy())

    def node_after(self, path: tuple[int, ...]) -> Roots | None:
        """Return the node after a path of columns in the first tree, as if it were a root.

        Returns None if the search did not get there.
        """
        block = 0
        for column in path:
            block = nodes.in_python(nodes.block_of)(self._leads(block, column))
            if block == 0:
                return None
        # Only roots have a record of their own proof; that of another node is in its parent's
        # LEADS.
        return self._read(np.array([block]), np.full(1, nodes.UNPROVEN))

    def _read(self, blocks: np.ndarray, proven: np.ndarray) -> Roots:
        """Return the statistics of some blocks."""
        all_nodes = self.forest.nodes

        def parts(array: np.ndarray) -> np.ndarray:
            """Return [part, block, column] of an array of nodes; the selection copies them."""
            # The last word of a block is the network's value.
            selected = array.reshape(-1, all_nodes.size)[blocks, :-1]
            return selected.reshape(len(blocks), -1, all_nodes.columns).swapaxes(0, 1)

        visits, _, leads, _ = parts(all_nodes.words)
        _, sums, _, priors = parts(all_nodes.numbers)
        # The low three bits of a negative LEADS are the proof; see `nodes.proof_of`.
        proofs = np.where(leads < 0, -leads & 7, nodes.UNPROVEN)
        means = np.where(visits > 0, sums / np.maximum(visits, 1), 0.0)
        # WIN, DRAW and LOSS are 1, 2 and 3.
        ended = (proofs > 0) & (proofs < nodes.CLOSED)
        if self.switches.faithful and not self.switches.proving:
            # A finished game adds its result once, and Arya's search does not know it is over.
            if self.switches.fixed != FIX_FINISHED:
                means = np.where(ended, (sums + 2.0 - proofs) / np.maximum(visits, 1), means)
            proofs = np.where(ended, nodes.UNPROVEN, proofs)
        else:
            means = np.where(ended, 2.0 - proofs, means)
        values = all_nodes.numbers.reshape(-1, all_nodes.size)[blocks, -1]
        return Roots(visits, means, priors, proofs, values, proven)

    def backed_up(self, which: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the mean of all values that reached each root, its own evaluation included.

        They are for the side to move. Arya's network learns them.
        """
        all_nodes = self.forest.nodes
        blocks = (np.arange(len(self.forest.trees.proof)) * self.forest.size)[which]
        first, last = nodes.SUMS * all_nodes.columns, (nodes.SUMS + 1) * all_nodes.columns
        numbers = all_nodes.numbers.reshape(-1, all_nodes.size)[blocks].astype(float)
        visits = all_nodes.words.reshape(-1, all_nodes.size)[blocks, : all_nodes.columns]
        totals = numbers[:, -1] + numbers[:, first:last].sum(axis=1)
        means: np.ndarray = totals / (1 + visits.sum(axis=1))
        return means

    def child(self, block: int, column: int) -> int | None:
        """Return the unproven block that a column leads to, None if there is none."""
        leads = self._leads(block, column)
        return leads if leads > 0 else None

    def _numbers(self, block: int) -> np.ndarray:
        """Return a view of a block without its value: int32[part, column], as in nodes.py."""
        all_nodes = self.forest.nodes
        words = all_nodes.words.reshape(-1, all_nodes.size)[block, :-1]
        return words.reshape(-1, all_nodes.columns)

    def _leads(self, block: int, column: int) -> int:
        return int(self._numbers(block)[nodes.LEADS, column])

    def line(self, column: int) -> tuple[int, ...]:
        """Return the principal variation of the first tree after `column`, by visits."""
        line = [column]
        # The variation ends at a proven column, which has no unproven child.
        block = self.child(0, column)
        while block is not None:
            visits = self._numbers(block)[nodes.VISITS]
            if not visits.any():
                break
            line.append(int(visits.argmax()))
            block = self.child(block, line[-1])
        return tuple(line)

    def adopt(self, other: "ForestSearch", block: int) -> None:
        """Start the only tree from a subtree of another search, and share its cache."""
        f = self.forest
        f.nodes.used[0] = nodes.copy_subtree(other.forest.nodes, block, f.nodes, 0, False)
        # The root's own evaluation is a simulation, too.
        f.trees.done[0] = self._numbers(0)[nodes.VISITS].sum() + 1
        self.cache = other.cache
