"""A search tree in memory: grown by the compiled search, walked from Python."""

import math

import numpy as np

from fourlab.agent import ColumnAnalysis
from fourlab.agents.mcts import kernel as mcts
from fourlab.agents.mcts import nodes, verbs
from fourlab.agents.mcts.nodes import LEADS, LOSS, VISITS, WIN, in_python
from fourlab.agents.mcts.verbs import Switches
from fourlab.errors import UserError
from fourlab.game.position import Position

_block_of = in_python(nodes.block_of)
_proof_of = in_python(nodes.proof_of)
_result_of = in_python(nodes.result_of)
_edge_of = in_python(verbs.edge_of)
_sums_of = in_python(verbs.sums_of)
_leads_of = in_python(verbs.leads_of)


def candidates(columns: tuple[ColumnAnalysis, ...]) -> tuple[ColumnAnalysis, ...]:
    """The columns worth playing: a proven win if there is one, a proven loss only if there is nothing else.

    A proven draw is no longer searched, so its visits say nothing: it is played unless something open promises more.
    """
    draws = [each for each in columns if each.proven == 0]
    hopes = [each for each in columns if each.proven is None and not (draws and (each.value or 0.0) <= 0)]
    return tuple([each for each in columns if each.proven == 1] or hopes or draws or columns)


class SearchTree:
    """The arrays of one tree and the position at its root."""

    def __init__(self, position: Position, switches: Switches, blocks: int, merging: bool = False) -> None:
        g = position.rules.geometry
        self.position, self.switches, self.geometry = position, switches, g
        blocks = max(blocks, 3)
        slots = 1 << (2 * blocks).bit_length() if merging else 0
        try:
            self.tree = verbs.new_tree(blocks, slots, g)
        except MemoryError:
            raise UserError(f"there is no memory for a tree of {blocks * 12 * g.columns >> 20} megabytes") from None
        self.root = 1
        verbs.new_block(self.tree.words, 1, position.mask, g)

    def search(self, simulations: int, state: int, stop: np.ndarray) -> tuple[int, int, int]:
        """Run simulations from the root; returns how many were done, why it ended and the random state."""
        position = self.position
        search = mcts.search_together if self.switches.shared else mcts.search
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
        )

    @property
    def visits(self) -> int:
        """How often the root was visited."""
        return int(self.tree.counts[0])

    @property
    def nodes(self) -> int:
        """How many nodes have been expanded."""
        return int(self.tree.used[0]) - 1

    @property
    def bytes(self) -> int:
        """The memory that the expanded nodes take, and the table of transpositions if there is one."""
        size = 3 * self.geometry.columns * self.tree.words.itemsize
        return self.nodes * size + self.tree.keys.nbytes + self.tree.nodes.nbytes

    def columns(self, path: tuple[int, ...] = ()) -> list[ColumnAnalysis]:
        """The open columns after a path of columns from the root; empty if the search did not expand so far."""
        if any(not 0 <= column < self.geometry.columns for column in path):
            raise UserError(f"the path {path} leaves the board; columns count from 0 to {self.geometry.columns - 1}")
        block, visits = self._walk(path)
        return self.decode(self._numbers(block), visits) if block else []

    def line(self, first: int | None = None) -> tuple[int, ...]:
        """The play the search expects, from a given first column: proven wins first, else the most visited columns."""
        line: list[int] = [] if first is None else [first]
        block, _ = self._walk(tuple(line))
        while block:
            visits, _, leads = self._numbers(block).tolist()
            best, column = (False, False, 0), -1
            for other, count in enumerate(visits):
                if count != verbs.FULL:
                    proof = _proof_of(leads[other])
                    rank = (proof == WIN, proof != LOSS, _true_visits(count))
                    if rank > best or column < 0:
                        best, column = rank, other
            if best[2] == 0:
                break
            line.append(column)
            block = self._leads(block, column)
        return tuple(line)

    def snapshot(self) -> np.ndarray:
        """The numbers of the root as they are now; `decode` reads them. Cheap enough to take during a search."""
        return self._numbers(self.root).copy()

    def decode(self, numbers: np.ndarray, n: int) -> list[ColumnAnalysis]:
        """Read the numbers of a block that was visited n times: its open columns."""
        visits, totals, leads = numbers.tolist()
        return [
            self._stats(column, visits[column], totals[column] / verbs.POINTS, leads[column], n)
            for column in range(self.geometry.columns)
            if visits[column] != verbs.FULL
        ]

    def proven(self) -> int | None:
        """The result of the root position for its side to move, if the search has proved it."""
        visits, _, leads = self._numbers(self.root).tolist()
        results = [_proven(where) for count, where in zip(visits, leads, strict=True) if count != verbs.FULL]
        if 1 in results:
            return 1
        return None if None in results else max(result for result in results if result is not None)

    def move_root(self, position: Position) -> bool:
        """Make a position below the root the new root, keeping what is known of it; False if it is not in the tree."""
        path = _path(self.position, position)
        if path is None or (self.switches.opponent != verbs.PLAYER and len(path) % 2):
            return False  # with the opponent in the transition, every other node is not ours to choose at
        block, visits = self._walk(path)
        if not block:
            return False
        self.position, self.root = position, block
        self.tree.counts[0] = visits
        return True

    def forget_the_rest(self) -> None:
        """Copy the root's subtree to the front and free everything else."""
        copy = np.empty_like(self.tree.words)
        self.tree.used[0] = verbs.copy_subtree(self.tree.words, self.root, self.geometry.columns, copy)
        self.tree, self.root = self.tree._replace(words=copy), 1

    def descend(self, position: Position) -> "Subtree | None":
        """Search below the root at a position, expanding the way to it; the tree keeps all it learns."""
        path = _path(self.position, position)
        if path is None or (self.switches.opponent != verbs.PLAYER and len(path) % 2):
            return None
        words, columns = self.tree.words, self.geometry.columns
        block, here, edge, before = self.root, self.position, -1, -1
        for column in path:
            edge, before = _edge_of(block, column, columns), edge
            here = here.play(column)
            if self._leads(block, column) == 0:
                new = int(self.tree.used[0])
                if _edge_of(new + 1, 0, columns) > len(words):
                    return None
                self.tree.used[0] += 1
                verbs.new_block(words, new, here.mask, self.geometry)
                words[_leads_of(edge, columns)] = new
            if words[edge] == verbs.FULL:  # the opponent did not give the frozen reply: this one takes its place
                self._numbers(block)[VISITS] = verbs.FULL
                words[edge] = 0
            block = self._leads(block, column)
        # With the opponent in the transition a node is a pair: what is learned after the reply belongs to our own column too.
        return Subtree(self, position, block, edge, -1 if self.switches.opponent == verbs.PLAYER else before)

    def _leads(self, block: int, column: int) -> int:
        """The block a column leads to, 0 if it has none."""
        return _block_of(int(self._numbers(block)[LEADS, column]))

    def _numbers(self, block: int) -> np.ndarray:
        """A view of a block: int32[part, column], the parts as in nodes.py."""
        columns = self.geometry.columns
        start, end = _edge_of(block, 0, columns), _edge_of(block + 1, 0, columns)
        return self.tree.words[start:end].reshape(-1, columns)

    def _walk(self, path: tuple[int, ...]) -> tuple[int, int]:
        """The block at the end of a path and its visits; block 0 if the search did not expand so far."""
        block, visits = self.root, self.visits
        for column in path:
            visits = _true_visits(int(self._numbers(block)[VISITS, column]))
            block = self._leads(block, column)
            if block == 0:
                break
        return block, visits

    def _stats(self, column: int, visits: int, total: float, leads: int, n: int) -> ColumnAnalysis:
        visits = _true_visits(visits)
        proven = _proven(leads)
        if visits == 0:
            return ColumnAnalysis(column, 0, None, None, proven=proven)
        if self.switches.log_ratio:
            spread = math.sqrt(max(math.log(max(n, 1) / visits), 0.0))
        else:
            spread = math.sqrt(math.log(max(n, 1)) / visits)
        mean = total / visits
        return ColumnAnalysis(column, visits, mean, mean + self.switches.c * spread, proven=proven)


class Subtree(SearchTree):
    """A position inside a larger tree, searched as if it were the root; it shares the tree's arrays."""

    def __init__(self, whole: SearchTree, position: Position, block: int, edge: int, own_edge: int) -> None:
        self.position, self.switches, self.geometry = position, whole.switches, whole.geometry
        self.tree = whole.tree
        self.root, self.edge, self.own_edge = block, edge, own_edge
        if edge >= 0:
            visits = _true_visits(int(whole.tree.words[edge]))
            self.tree = whole.tree._replace(counts=np.array([visits, 0, 0]))

    def search(self, simulations: int, state: int, stop: np.ndarray) -> tuple[int, int, int]:
        """Search, and credit the columns that lead here with what came out: what we won, the other side lost."""
        counts, words, columns = self.tree.counts, self.tree.words, self.geometry.columns
        before = counts.copy()
        ended = super().search(simulations, state, stop)
        visits, won, lost = (int(count) for count in counts - before)
        drawn = self.switches.draw * (visits - won - lost)
        for edge, balance in ((self.edge, lost - won), (self.own_edge, won - lost)):
            if edge >= 0:
                words[edge] += visits
                words[_sums_of(edge, columns)] += verbs.POINTS * balance + drawn
        return ended


def _proven(leads: int) -> int | None:
    """The result that is proven of a column for the side that plays it."""
    return _result_of(_proof_of(leads)) if leads < 0 else None


def _true_visits(visits: int) -> int:
    """Visits without the mark of a proven column."""
    if visits >= 0:
        return visits
    return visits - (verbs.DRAWN if visits >= verbs.DRAWN else verbs.LOST)


def _path(above: Position, below: Position) -> tuple[int, ...] | None:
    """The columns from one position to another played from it; None if there are none or they are not known."""
    if above == below:
        return ()
    if above.rules != below.rules:
        return None
    if above.moves is not None and below.moves is not None:
        return below.moves[len(above.moves) :] if below.moves[: len(above.moves)] == above.moves else None
    # Positions given as boards do not know how they came about; one move of each side can be found again.
    for column in above.legal_columns():
        after = above.play(column)
        if after == below:
            return (column,)
        for reply in after.legal_columns():
            if after.play(reply) == below:
                return (column, reply)
    return None
