"""Anytime: an agent that plays strongly at once, and perfectly with enough time."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fourlab.agent import UNLIMITED, Decision, Limit
from fourlab.agents.patterns.thinking import Searches, Thinking, tightest
from fourlab.game.position import PositionLike, unfinished
from fourlab.options import check, option
from fourlab.solver import Solver

DEFAULT_NODES = 100_000


@dataclass(frozen=True)
class Anytime:
    """Searches with learned patterns and proves what it can: strong at once, perfect with time."""

    kernels: ClassVar[tuple[str, ...]] = ("pattern search", "solver")
    """The kernel groups it needs (fourlab.compiled.warmup)."""
    learned: ClassVar[bool] = True
    """It plays only boards for which patterns were trained (fourlab.agent.Learned)."""
    file: str | None = option(
        None,
        "File of `fourlab train patterns` (default: the patterns that come with Fourlab for the "
        "board).",
    )
    seconds: float | None = option(
        None, "Maximum time per move.", above=0, most=10**9, unit="seconds", public=True
    )
    nodes: int | None = option(
        None,
        f"Maximum number of nodes per move (default {DEFAULT_NODES:,} if nothing limits it).",
        least=1,
        most=10**15,
        unit="nodes",
        public=True,
    )
    temperature: float = option(
        0.0,
        "Sample columns in proportion to exp(value / temperature), where values are from -1 to "
        "+1; 0 plays the best one.",
        least=0,
        most=1000,
        public=True,
    )
    book: bool = option(True, "Use the opening book.", public=True)
    memory_mb: float = option(
        64, "Maximum size of the solver's table.", above=0, most=1_000_000, unit="MB"
    )
    _searches: Searches = field(init=False, repr=False, compare=False)
    _solver: Solver = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "_searches", Searches(self.file))
        solver = Solver(self.memory_mb, book="shipped" if self.book else None)
        object.__setattr__(self, "_solver", solver)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Search and prove until a column is proven to be best, or the limit is reached."""
        position = unfinished(position)
        limit = tightest(limit, self.seconds, self.nodes, None, DEFAULT_NODES)
        search = self._searches.on(position.rules)
        return Thinking(position, limit, search, self._solver, wide=self.temperature > 0).decide(
            self.temperature, rng
        )
