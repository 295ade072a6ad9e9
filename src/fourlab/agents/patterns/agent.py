"""Patterns: an agent that searches with a pattern network, without solver and book."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fourlab.agent import UNLIMITED, Decision, Limit
from fourlab.agents.patterns.thinking import Searches, Thinking, tightest
from fourlab.game.position import PositionLike, unfinished
from fourlab.options import check, option

DEFAULT_NODES = 10_000


@dataclass(frozen=True)
class PatternPlayer:
    """Searches deeper and deeper with alpha-beta and the values of a pattern network."""

    kernels: ClassVar[tuple[str, ...]] = ("pattern search",)
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
    depth: int | None = option(
        None, "Maximum depth of the search; 1 looks one ply ahead.", least=1, most=62, public=True
    )
    temperature: float = option(
        0.0,
        "Sample columns in proportion to exp(value / temperature), where values are from -1 to "
        "+1; 0 plays the best one.",
        least=0,
        most=1000,
        public=True,
    )
    _searches: Searches = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "_searches", Searches(self.file))

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Search until the limit is reached, or until nothing deeper is left."""
        position = unfinished(position)
        limit = tightest(limit, self.seconds, self.nodes, self.depth, DEFAULT_NODES)
        search = self._searches.on(position.rules)
        return Thinking(position, limit, search, wide=self.temperature > 0).decide(
            self.temperature, rng
        )
