"""Iterative deepening of the pattern search, in slices that Python can interrupt."""

from dataclasses import dataclass
from math import tanh

import numpy as np

from fourlab.agents.patterns import search
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.nets.patterns import UNIT, PatternNetwork

ENTRY_BYTES = 16
GENERATIONS = 256
"""Generations of table entries; after the last the table is emptied."""


@dataclass(frozen=True)
class Score:
    """The score of a column, from the side to move's point of view."""

    score: int
    is_exact: bool
    """Whether it is the score of the search, not an upper bound of it."""

    @property
    def value(self) -> float:
        """The score as a value, -1 to +1."""
        if abs(self.score) >= search.PROVEN:
            return 1.0 if self.score > 0 else -1.0
        return tanh(self.score / UNIT)

    @property
    def proven(self) -> Result | None:
        """The result that the score proves; an upper bound can only prove a loss."""
        if self.score <= -search.PROVEN:
            return Result.LOSS
        return Result.WIN if self.score >= search.PROVEN and self.is_exact else None

    @property
    def end(self) -> int | None:
        """The number of discs on the board when the proven win or loss is complete."""
        return search.WIN - abs(self.score) if abs(self.score) >= search.PROVEN else None


class PatternSearch:
    """The memory of pattern searches with one network: an agent has one for all its moves."""

    def __init__(self, network: PatternNetwork, memory_mb: float) -> None:
        self.network = network
        rules = network.rules
        # A power of two, rounded down.
        entries = 1 << max(10, int(memory_mb * 2**20 / ENTRY_BYTES).bit_length() - 1)
        self._memory = search.new_memory(
            rules.columns * rules.rows,
            rules.columns,
            network.shape.lookups,
            entries,
            np.zeros(1, np.uint8),
        )
        self._generation = 0

    def begin(self, position: Position, stop: np.ndarray, wide: bool = False) -> "Deepening":
        """Return the search of a position that nobody can win at once and that is not over.

        It does not see what earlier searches have found. `stop` is uint8[1]. A wide search, which
        takes longer, has exact scores of all columns.
        """
        self._generation = (self._generation + 1) % GENERATIONS
        if self._generation == 0:
            self._memory.table.fill(0)
            self._generation = 1
        memory = self._memory._replace(stop=stop)
        memory.counts[:] = 0
        memory.counts[search.GENERATION] = self._generation
        memory.counts[search.WIDE] = wide
        return Deepening(self.network, position, memory)


class Deepening:
    """The search of one position, deeper and deeper."""

    def __init__(self, network: PatternNetwork, position: Position, memory: search.Memory) -> None:
        self._patterns = network.patterns
        self._position = position
        self._memory = memory
        rules = position.rules
        self.deepest = rules.columns * rules.rows - position.ply
        """The depth at which the search has seen everything."""
        self.depth = 0
        """The last completed depth."""
        self.scores: dict[int, Score] = {}
        """The scores of the last completed depth, replaced where a deeper search has got as far."""
        self.best: int | None = None
        """The best column so far; None before the first depth is completed."""

    @property
    def nodes(self) -> int:
        """The number of nodes searched."""
        return int(self._memory.counts[search.NODES])

    @property
    def evaluations(self) -> int:
        """The number of positions evaluated by the network."""
        return int(self._memory.counts[search.EVALUATIONS])

    @property
    def is_finished(self) -> bool:
        """Whether a deeper search cannot find anything new."""
        return self.depth >= self.deepest or (
            self.best is not None and self.scores[self.best].proven is not None
        )

    @property
    def is_wide(self) -> bool:
        """Whether all columns get exact scores."""
        return bool(self._memory.counts[search.WIDE])

    def exclude(self, columns: list[int]) -> None:
        """Search these columns no more; at least one legal column must remain."""
        g = self._position.rules.geometry
        cells = sum(((1 << g.rows) - 1) << column * g.height for column in columns)
        counts = self._memory.counts
        if cells != counts[search.EXCLUDED]:
            counts[search.EXCLUDED] = cells
            # What is known of the position itself may rest on an excluded column.
            self.depth = max(0, self.depth - 1)
            if self.best in columns:
                rest = {
                    column: score for column, score in self.scores.items() if column not in columns
                }
                self.best = max(rest, key=lambda column: rest[column].score, default=None)

    def think(self, nodes: int, deepest: int | None = None) -> None:
        """Search up to this many more nodes, or until depth `deepest` is completed."""
        memory = self._memory
        position = self._position
        memory.counts[search.ALLOWED] = memory.counts[search.NODES] + nodes
        last = self.deepest if deepest is None else min(deepest, self.deepest)
        memory.kinds[:] = search.NOT_SEARCHED
        before = self.depth
        self.depth = search.deepen(
            position.own,
            position.mask,
            before,
            last,
            memory,
            self._patterns,
            position.rules.geometry,
        )
        if self.depth > before:
            self._take(search.COMPLETED)
        self._take(search.CURRENT)

    def _take(self, row: int) -> None:
        """Take over the scores of a search, if it has searched the best column so far."""
        kinds = self._memory.kinds[row].tolist()
        scores = self._memory.scores[row].tolist()
        exact = [column for column, kind in enumerate(kinds) if kind == search.EXACT]
        if not exact:
            return
        for column, kind in enumerate(kinds):
            if kind != search.NOT_SEARCHED:
                self.scores[column] = Score(scores[column], kind == search.EXACT)
        # Columns are exact only if they were better than all before, so the best one is exact.
        self.best = max(exact, key=scores.__getitem__)
