"""A search tree in memory: grown by the compiled search, read from Python."""

import math
import threading
from collections.abc import Callable

import numpy as np

from fourlab.agent import Analysis, ColumnAnalysis, Decision, Exact, Snapshot
from fourlab.agents.mcts import kernel, nodes, verbs
from fourlab.agents.mcts.nodes import DRAW, LEADS, LOSS, UNPROVEN, VISITS, WIN, in_python
from fourlab.agents.mcts.verbs import Switches
from fourlab.compiled.patterns import Patterns
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position

# Only functions that call no kernel can be called like this.
_block_of = in_python(nodes.block_of)
_proof_of = in_python(nodes.proof_of)
_result_of = in_python(nodes.result_of)
_edge_of = in_python(nodes.edge_of)
_sum_at = in_python(nodes.sum_at)
_leads_at = in_python(nodes.leads_at)
_has_room = in_python(verbs.has_room)


def candidates(columns: tuple[ColumnAnalysis, ...]) -> tuple[ColumnAnalysis, ...]:
    """Return the columns worth playing.

    These are the proven wins if there are any, and the proven losses only if there is nothing else.
    Proven draws are no longer searched, so their visits mean nothing: they are played unless the
    mean of an unproven column is positive.
    """
    wins = [column for column in columns if column.proven == 1]
    draws = [column for column in columns if column.proven == 0]
    unproven = [column for column in columns if column.proven is None]
    if draws:
        unproven = [column for column in unproven if (column.value or 0.0) > 0]
    return tuple(wins or unproven or draws or columns)


def decision(
    chosen: ColumnAnalysis,
    columns: tuple[ColumnAnalysis, ...],
    trees: "list[SearchTree]",
    simulations: int,
    seconds: float,
    evaluations: int | None = None,
) -> Decision:
    """Return the decision for a chosen column.

    `columns` are the statistics of the open columns, over all trees.
    """
    width = trees[0].geometry.columns
    visits = [0] * width
    for column in columns:
        visits[column.column] = column.visits
    total = sum(visits)
    if total:
        policy = tuple(count / total for count in visits)
    else:
        # No simulation was made: the search was stopped at once.
        policy = tuple(float(column == chosen.column) for column in range(width))
    results = (tree.proven() for tree in trees)
    proven = next((result for result in results if result is not None), None)
    analysis = Analysis(
        columns=columns,
        visits=tuple(visits),
        simulations=simulations,
        nodes=sum(tree.nodes for tree in trees),
        evaluations=evaluations,
        seconds=seconds,
        memory_bytes=sum(tree.bytes for tree in trees),
    )
    return Decision(
        chosen.column,
        value=float(proven) if proven is not None else chosen.value,
        policy=policy,
        analysis=analysis,
        line=trees[0].line(chosen.column),
        proven=None if proven is None else Exact(proven),
    )


PRUNED_BLOCKS = 1 << 18
"""Blocks between two looks at the clock while a tree is pruned, a few milliseconds."""


class SearchTree:
    """The arrays of one tree and the position at its root."""

    def __init__(
        self,
        position: Position,
        switches: Switches,
        blocks: int,
        merging: bool = False,
        patterns: Patterns | None = None,
    ) -> None:
        """Start a tree; with `patterns` these evaluate its leaves."""
        g = position.rules.geometry
        self.position = position
        self.switches = switches
        self.patterns = patterns
        self.geometry = g
        # Block 0, the root, and one child.
        blocks = max(blocks, 3)
        # Two to four slots per block keep the open-addressing table at most half full.
        slots = 1 << (2 * blocks).bit_length() if merging else 0
        try:
            self.tree = verbs.new_tree(blocks, slots, g)
        except MemoryError:
            raise UserError(
                f"not enough memory for a tree of {blocks * 12 * g.columns >> 20} megabytes"
            ) from None
        self.root = 1  # block 0 is never used
        verbs.new_block(self.tree.nodes, 1, position.mask, g)

    def search(self, simulations: int, state: int, stop: np.ndarray) -> tuple[int, int, int]:
        """Run simulations from the root; returns those done, why it ended and the random state."""
        position = self.position
        search = kernel.search_together if self.switches.shared else kernel.search
        return search(
            self.tree,
            self.root,
            position.own,
            position.mask,
            self.geometry,
            self.switches,
            simulations,
            state,
            stop,
            self.patterns,
        )

    @property
    def visits(self) -> int:
        """Return the visits of the root."""
        return int(self.tree.counts[0])

    @property
    def most_visits(self) -> int:
        """Return the visits that `max_visits` limits."""
        return self.visits

    @property
    def max_visits(self) -> int:
        """Return the visits at which searches end, so that sums fit into int32."""
        return verbs.MAX_VISITS * verbs.POINTS // self.switches.won

    @property
    def nodes(self) -> int:
        """Return the number of expanded nodes."""
        return int(self.tree.nodes.used[0]) - 1

    @property
    def bytes(self) -> int:
        """Return the memory of the expanded nodes and of the transposition table, if any."""
        size = self.tree.nodes.size * self.tree.nodes.words.itemsize
        return self.nodes * size + self.tree.keys.nbytes + self.tree.merged.nbytes

    def columns(self, path: tuple[int, ...] = ()) -> list[ColumnAnalysis]:
        """Return the open columns after a path from the root; empty if it was not expanded."""
        if any(not 0 <= column < self.geometry.columns for column in path):
            raise UserError(
                f"the path {path} leaves the board; "
                f"columns count from 0 to {self.geometry.columns - 1}"
            )
        block, visits = self._walk(path)
        return self.decode(self._numbers(block), visits) if block else []

    def line(self, first: int | None = None) -> tuple[int, ...]:
        """Return the expected line of play, optionally from a given first column.

        Every move is a proven win, else the most visited column, a proven loss last.
        """
        line: list[int] = [] if first is None else [first]
        block, _ = self._walk(tuple(line))
        while block:
            if self.switches.past_wins and self._is_over_after(line):
                break
            visits, _, leads = self._numbers(block).tolist()
            best_rank, best = (False, False, 0), -1
            for column, count in enumerate(visits):
                if count != verbs.FULL:
                    proof = _proof_of(leads[column])
                    rank = (proof == WIN, proof != LOSS, _true_visits(count))
                    if rank > best_rank or best < 0:
                        best_rank, best = rank, column
            # No column was visited, so nothing is expected from here on.
            if best_rank[2] == 0:
                break
            line.append(best)
            block = self._leads(block, best)
        return tuple(line)

    def _is_over_after(self, line: list[int]) -> bool:
        """Return whether the game is over after a line, by the real rules."""
        position = self.position
        for column in line:
            position = position.play(column)
        return position.outcome() is not None

    def snapshot(self, simulations: int) -> Snapshot:
        """Return the root as it is after this many simulations; threads may be searching."""
        columns = self.decode(self._numbers(self.root).copy(), simulations)
        return Snapshot(simulations, tuple(columns), self.geometry.columns)

    def decode(self, numbers: np.ndarray, n: int) -> list[ColumnAnalysis]:
        """Return the open columns of a block that was visited `n` times.

        `numbers` is int32[part, column], the parts as in nodes.py.
        """
        visits, sums, leads = numbers.tolist()
        return [
            self._stats(column, visits[column], sums[column] / self.switches.won, leads[column], n)
            for column in range(self.geometry.columns)
            if visits[column] != verbs.FULL
        ]

    def proven(self) -> Result | None:
        """Return the proven result of the root for its side to move, or None."""
        proofs = [_proof_of(leads) for leads in self._numbers(self.root)[LEADS].tolist()]
        if WIN in proofs:
            return Result.WIN
        # Full columns are CLOSED and decide nothing.
        if UNPROVEN in proofs:
            return None
        return Result.DRAW if DRAW in proofs else Result.LOSS

    def move_root(self, position: Position) -> bool:
        """Move the root to a position below it; return False if that is not in the tree."""
        path = self._path_to(position)
        if path is None:
            return False
        block, visits = self._walk(path)
        if not block:
            return False
        self.position = position
        self.root = block
        # The counts of wins and losses keep old results; they are only read as differences.
        self.tree.counts[0] = visits
        return True

    def prune(self, is_over: Callable[[], bool] = lambda: False) -> bool:
        """Keep the subtree of the root only, in place, and free all other blocks.

        If `is_over` ends this early, the tree is unpruned (True is returned, as if it were done) or
        no longer usable (False).
        """
        # The caller has moved the root. Transpositions are never kept, so the keys need no update.
        # Proven subtrees are kept, since expected lines and the X-ray read them.
        tree = self.tree.nodes
        used = int(tree.used[0])
        places = np.zeros(used, np.int32)
        places[self.root] = 1
        next_place = 1
        slices = [
            (begin, min(begin + PRUNED_BLOCKS, used))
            for begin in range(self.root, used, PRUNED_BLOCKS)
        ]
        for begin, end in slices:
            if is_over():
                return True
            next_place = nodes.number_subtree(tree, places, begin, end, next_place)
        for begin, end in slices:
            if is_over() and begin != self.root:
                return False
            nodes.move_blocks(tree, places, begin, end)
        tree.used[0] = next_place
        self.root = 1
        return True

    def descend(self, position: Position) -> "Subtree | None":
        """Return the subtree of a position, expanding the path to it.

        Results of its searches are added to the column that leads to it and, if the opponent is a
        part of the transition, to our own column before that; nothing above them changes. Returns
        None if the position cannot be reached from the root, if it is the opponent's turn there and
        the opponent is a part of the transition, or if the tree has no room for blocks or visits.
        """
        path = self._path_to(position)
        if path is None:
            return None
        tree = self.tree.nodes
        block = self.root
        here = self.position
        edge = edge_before = -1
        for column in path:
            edge_before = edge
            edge = _edge_of(tree, block, column)
            here = here.play(column)
            if self._leads(block, column) == 0:
                new = int(tree.used[0])
                if not _has_room(tree):
                    return None
                tree.used[0] += 1
                verbs.new_block(tree, new, here.mask, self.geometry)
                tree.words[_leads_at(tree, edge)] = new
            if _true_visits(int(tree.words[edge])) >= self.max_visits:
                return None
            if tree.words[edge] == verbs.FULL:
                # The opponent did not play the frozen reply: the actual one replaces it.
                self._numbers(block)[VISITS] = verbs.FULL
                tree.words[edge] = 0
            block = self._leads(block, column)
        # With the opponent in the transition, results after a reply also belong to our own column.
        own_edge = -1 if self.switches.opponent == verbs.PLAYER else edge_before
        return Subtree(self, position, block, edge, own_edge)

    def _path_to(self, position: Position) -> tuple[int, ...] | None:
        """Return the columns from the root to a position where we choose, or None."""
        path = _path(self.position, position)
        if path is not None and self.switches.opponent != verbs.PLAYER and len(path) % 2:
            return None  # a node of the opponent, which is part of the transition
        return path

    def _leads(self, block: int, column: int) -> int:
        """Return the block that a column leads to, 0 if there is none."""
        return _block_of(int(self._numbers(block)[LEADS, column]))

    def _numbers(self, block: int) -> np.ndarray:
        """Return a view of a block: int32[part, column], the parts as in nodes.py."""
        tree = self.tree.nodes
        words = tree.words[_edge_of(tree, block, 0) : _edge_of(tree, block + 1, 0)]
        return words.reshape(-1, tree.columns)

    def _walk(self, path: tuple[int, ...]) -> tuple[int, int]:
        """Return the block at the end of a path, 0 if it was not expanded, and its visits."""
        block, visits = self.root, self.visits
        for column in path:
            visits = _true_visits(int(self._numbers(block)[VISITS, column]))
            block = self._leads(block, column)
            if block == 0:
                break
        return block, visits

    def _stats(self, column: int, visits: int, total: float, leads: int, n: int) -> ColumnAnalysis:
        """Return the statistics of a column; the bound is that of `verbs.choose`, in float64."""
        visits = _true_visits(visits)
        proven = _proven(leads)
        if visits == 0:
            return ColumnAnalysis(column, 0, None, None, proven=proven)
        # Threads that meet below a node can lose one another's updates, of visits or of sums
        # (`kernel.search_together`), so the quotient may leave its scale by a little. All means
        # that are read of a tree, also while threads search it, pass through here.
        mean = min(max(total / visits, -1.0), 1.0)
        if self.switches.log_ratio:
            spread = math.sqrt(max(math.log(max(n, 1) / visits), 0.0))
        else:
            spread = math.sqrt(math.log(max(n, 1)) / visits)
        return ColumnAnalysis(column, visits, mean, mean + self.switches.c * spread, proven=proven)


class Subtree(SearchTree):
    """A position inside a larger tree, searched as a root; it shares the tree's arrays."""

    def __init__(
        self, whole: SearchTree, position: Position, block: int, edge: int, own_edge: int
    ) -> None:
        self.position = position
        self.switches = whole.switches
        self.patterns = whole.patterns
        self.geometry = whole.geometry
        self.tree = whole.tree
        self.root = block
        self.edge = edge
        self.own_edge = own_edge
        if edge >= 0:  # not the root of the whole tree: count its visits separately
            # A block's visits are those of the edge that leads to it.
            visits = _true_visits(int(self.tree.nodes.words[edge]))
            self.tree = whole.tree._replace(counts=np.array([visits, 0, 0]))
        self._added = self.tree.counts.copy()  # what the columns that lead here have received
        self._adding = threading.Lock()

    @property
    def most_visits(self) -> int:
        """Return the greatest number of visits on the way here: our own column may have more."""
        if self.own_edge < 0:
            return self.visits
        return max(self.visits, _true_visits(int(self.tree.nodes.words[self.own_edge])))

    def search(self, simulations: int, state: int, stop: np.ndarray) -> tuple[int, int, int]:
        """Search, and add the results to the columns that lead here."""
        searched = super().search(simulations, state, stop)
        with self._adding:
            self._add_results()
        return searched

    def _add_results(self) -> None:
        """Add what all threads have counted since the last call."""
        tree = self.tree.nodes
        counts = self.tree.counts.copy()
        visits, won, lost = (int(count) for count in counts - self._added)
        self._added = counts
        draw_points = self.switches.draw * (visits - (won + lost) // self.switches.won)
        # A win of the side to move here is a loss of the opponent, who played `edge`.
        for edge, balance in ((self.edge, lost - won), (self.own_edge, won - lost)):
            if edge >= 0:
                tree.words[edge] += visits
                tree.words[_sum_at(tree, edge)] += balance + draw_points


def _proven(leads: int) -> Result | None:
    """Return the proven result of a column for the side that plays it, or None."""
    return Result(_result_of(_proof_of(leads))) if leads < 0 else None


def _true_visits(visits: int) -> int:
    """Return the visit count of a column; a proven column stores it with a negative offset."""
    # Example: LOST + 7 is a column with 7 visits that is proven to lose. Full columns have no
    # count.
    if visits < 0:
        visits -= nodes.DRAWN if visits >= nodes.DRAWN else nodes.LOST
    # Lost updates of threads can take a small count below zero, marked or not, where it looks like
    # a huge count with another mark. Counts are at most half of -DRAWN.
    return visits if 0 <= 4 * visits <= -3 * nodes.DRAWN else 0


def _path(above: Position, below: Position) -> tuple[int, ...] | None:
    """Return the columns that lead from one position to another, or None."""
    if above == below:
        return ()
    if above.rules != below.rules:
        return None
    if above.moves is not None and below.moves is not None:
        played = len(above.moves)
        return below.moves[played:] if below.moves[:played] == above.moves else None
    # Positions set up as boards have no moves; try one move of each side.
    for column in above.legal_columns():
        after = above.play(column)
        if after == below:
            return (column,)
        for reply in after.legal_columns():
            if after.play(reply) == below:
                return (column, reply)
    return None
