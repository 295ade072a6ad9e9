"""The contract of every player: a position, a limit and a random generator in, a decision out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.record import Cause

if TYPE_CHECKING:
    import numpy as np


class Stop:
    """A flag by which another thread ends a search; compiled code watches it too."""

    def __init__(self) -> None:
        self.flag = bytearray(1)

    def set(self) -> None:
        """End the search."""
        self.flag[0] = 1

    def is_set(self) -> bool:
        """Whether the search is to end."""
        return self.flag[0] != 0


@dataclass(frozen=True)
class Limit:
    """When to stop thinking; an agent stops at the first bound it reaches. No bound: the agent's own settings."""

    seconds: float | None = None
    simulations: int | None = None
    nodes: int | None = None
    depth: int | None = None
    stop: Stop | None = None
    """Set by somebody else to say that it is enough; what has been found by then is the answer."""

    def __post_init__(self) -> None:
        for name in ("seconds", "simulations", "nodes", "depth"):
            bound = getattr(self, name)
            if bound is not None and not 0 < bound < math.inf:
                raise UserError(f"a limit of {name} must be greater than 0 and finite, not {bound}")

    def bounds(self, simulations: int | None, seconds: float | None, default: int) -> tuple[int | None, float | None]:
        """How many simulations and how long a search may take that has bounds of its own; the default if nobody bounds it.

        A simulation makes one node at most, and a tree begins with two.
        """
        by_nodes = None if self.nodes is None else max(self.nodes - 2, 1)
        counts = [each for each in (simulations, self.simulations, by_nodes) if each is not None]
        times = [each for each in (seconds, self.seconds) if each is not None]
        if not counts and not times and self.stop is None:
            counts = [default]
        return min(counts, default=None), min(times, default=None)


@dataclass(frozen=True)
class Exact:
    """A proven result."""

    result: int
    """+1 the side to move wins, 0 draw, -1 it loses, both playing their best."""
    plies: int | None = None
    """How many more discs until the game is over, the winner hurrying and the loser holding out, where known."""


@dataclass(frozen=True)
class Decision:
    """A chosen column and what the agent thought."""

    column: int
    """Counted from 0."""
    value: float | None = None
    """The expected result for the side to move, -1 to +1; None if the agent has no opinion."""
    policy: tuple[float, ...] | None = None
    """How strongly each column was favoured, 0 for closed ones; sums to 1."""
    stats: Mapping[str, Any] = field(default_factory=dict)
    """What the search did: simulations, nodes, seconds, …"""
    line: tuple[int, ...] = ()
    """The play the agent expects, beginning with its own column."""
    proven: Exact | None = None
    """The exact result of the position, when the agent has proved it."""


class Forfeit(Exception):
    """An agent that cannot go on loses its game for this cause: an outside program that died, say."""

    def __init__(self, cause: Cause, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


@runtime_checkable
class Agent(Protocol):
    """A player. It answers from the arguments alone, and a cache never changes an answer, unless it is told to keep a tree."""

    def decide(self, position: Position, limit: Limit, rng: "np.random.Generator") -> Decision:
        """Choose a column of a position that is not over."""
        ...
