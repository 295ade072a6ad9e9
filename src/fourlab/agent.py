"""The contract of every player: a position, a limit and a random generator in, a decision out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

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


UNLIMITED = Limit()
"""No bound but the agent's own."""


@dataclass(frozen=True)
class Exact:
    """A proven result."""

    result: int
    """+1 the side to move wins, 0 draw, -1 it loses, both playing their best."""
    plies: int | None = None
    """How many more discs until the game is over, the winner hurrying and the loser holding out, where known."""


@dataclass(frozen=True)
class ColumnAnalysis:
    """What an agent thinks of an open column, from the point of view of the side that plays it."""

    column: int
    """Counted from 0."""
    visits: int = 0
    """Simulations that began with this column."""
    value: float | None = None
    """The mean result, or an estimate of it, -1 to +1; None if there is none yet."""
    bound: float | None = None
    """The upper confidence bound by which the search chooses."""
    prior: float | None = None
    """The network's policy before the search."""
    proven: int | None = None
    """+1, 0 or -1 when proven."""
    score: int | None = None
    """Points of a heuristic, on the agent's own scale."""
    estimate: float | None = None
    """A learned value on the scale of its rewards, such as a Q-value."""
    expected: Fraction | None = None
    """The exact expected result against a random opponent."""


@dataclass(frozen=True)
class Analysis:
    """What an agent did for its decision; None is what it does not count or know."""

    columns: tuple[ColumnAnalysis, ...] = ()
    """The open columns, if the agent has an opinion on each."""
    visits: tuple[int, ...] | None = None
    """Simulations per column of the board, full ones included."""
    simulations: int | None = None
    nodes: int | None = None
    evaluations: int | None = None
    """Positions that a network evaluated."""
    depth: int | None = None
    """Plies that a search by depth looked ahead."""
    seconds: float | None = None
    memory_bytes: int | None = None
    score: float | None = None
    """The position's score, on the agent's own scale."""
    network: float | None = None
    """The network's value of the position before the search."""
    known: int | None = None
    """Columns whose position is in the agent's table of learned values."""
    from_book: bool | None = None
    """Whether the answer is from an opening book."""

    @property
    def scores(self) -> dict[int, int]:
        """Points by column, where there are any."""
        return {each.column: each.score for each in self.columns if each.score is not None}

    @property
    def estimates(self) -> dict[int, float]:
        """Learned values by column, where there are any."""
        return {each.column: each.estimate for each in self.columns if each.estimate is not None}

    @property
    def expected(self) -> dict[int, Fraction]:
        """Exact expected results by column, where there are any."""
        return {each.column: each.expected for each in self.columns if each.expected is not None}


@dataclass(frozen=True)
class Decision:
    """A chosen column and what the agent thought."""

    column: int
    """Counted from 0."""
    value: float | None = None
    """The expected result for the side to move, -1 to +1; None if the agent has no opinion."""
    policy: tuple[float, ...] | None = None
    """How strongly each column was favoured, 0 for closed ones; sums to 1."""
    analysis: Analysis = Analysis()
    """What the agent did, and what it thinks of each column."""
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

    def decide(
        self,
        position: Position,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Choose a column of a position that is not over.

        Without a limit the agent's own bounds hold. Without a generator a new one is made, so that
        answers may differ from call to call.
        """
        ...


# --- what some agents can do beyond that; they declare it by having these methods and fields ---------


class Search(Protocol):
    """All that a search found."""

    @property
    def decision(self) -> Decision:
        """What the agent plays."""
        ...

    @property
    def trace(self) -> Sequence[Any]:
        """The root at growing numbers of simulations (`agents/mcts/xray.py`)."""
        ...

    def look(self, path: tuple[int, ...]) -> Sequence[ColumnAnalysis]:
        """Return the columns after a path from the root; none if the search did not get there."""
        ...


@runtime_checkable
class Searcher(Protocol):
    """An agent whose search can be watched and looked into."""

    def search(
        self,
        position: Position,
        limit: Limit,
        rng: "np.random.Generator",
        watch: Callable[[Any], None] | None = None,
    ) -> Search:
        """Search; `watch` is called with snapshots of the root on the way."""
        ...


@runtime_checkable
class Startable(Protocol):
    """An agent that takes time to get ready, which is not its first move's time: an outside program."""

    def start(self) -> None:
        """Get ready to decide."""
        ...


@runtime_checkable
class Closable(Protocol):
    """An agent that holds something outside, such as a process."""

    def close(self) -> None:
        """Release it."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """An agent with bounds of its own."""

    simulations: int | None
    seconds: float | None


@runtime_checkable
class Learned(Protocol):
    """An agent that has learned to play, with a network or a table: it may refuse other boards."""

    learned: ClassVar[bool]


def close(agent: Agent) -> None:
    """Let an agent release what it holds."""
    if isinstance(agent, Closable):
        agent.close()


def is_unbounded(agent: Agent) -> bool:
    """Return whether an agent has no bound of its own, so that a stop flag alone ends its search."""
    return isinstance(agent, Bounded) and agent.simulations is None and agent.seconds is None
