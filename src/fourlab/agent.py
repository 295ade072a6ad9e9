"""The interface of every agent: a position, a limit and a random generator in, a decision out."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from fourlab import decision_words, display
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.record import Cause

if TYPE_CHECKING:
    import numpy as np


class Stop:
    """A flag with which another thread ends a search; compiled code checks it too."""

    def __init__(self) -> None:
        # A buffer, so that compiled code can read it while Python code sets it.
        self.flag = bytearray(1)

    def set(self) -> None:
        """End the search."""
        self.flag[0] = 1

    def is_set(self) -> bool:
        """Return whether the search must end."""
        return self.flag[0] != 0


MAX_BOUND = 10**18
"""The greatest bound of a limit; compiled code counts in 64-bit integers."""


@dataclass(frozen=True)
class Limit:
    """When to stop thinking. An agent stops at the first bound it reaches.

    Without any bound, the agent's own settings apply.
    """

    seconds: float | None = None
    simulations: int | None = None
    nodes: int | None = None
    depth: int | None = None
    stop: Stop | None = None
    """A flag that another thread may set; the agent then answers with what it has so far."""

    def __post_init__(self) -> None:
        for name in ("seconds", "simulations", "nodes", "depth"):
            bound = getattr(self, name)
            if isinstance(bound, str):
                raise UserError(f"a limit of {name} is a number, not {bound[:40]!r}")
            # Written so that NaN, for which every comparison is false, is refused, too.
            if bound is not None and not 0 < bound <= MAX_BOUND:
                # A huge integer would fill the screen.
                shown = bound if len(repr(bound)) < 40 else "a larger number"
                raise UserError(
                    f"a limit of {name} must be greater than 0 and at most 10^18, not {shown}"
                )

    def alarm(self) -> Callable[[], bool]:
        """Start the clock; returns a function that says whether to stop thinking now."""
        end = math.inf if self.seconds is None else time.perf_counter() + self.seconds
        stop = self.stop
        return lambda: time.perf_counter() >= end or (stop is not None and stop.is_set())

    def bounds(
        self, simulations: int | None, seconds: float | None, default: int
    ) -> tuple[int | None, float | None]:
        """Return the simulations and the seconds that a tree search may take, None for no bound.

        `simulations` and `seconds` are the agent's own bounds. If nothing limits the search, not
        even a stop flag, it takes `default` simulations.
        """
        # A simulation adds at most one node, and a tree begins with two.
        by_nodes = None if self.nodes is None else max(self.nodes - 2, 1)
        # The tightest of all bounds counts.
        counts = [count for count in (simulations, self.simulations, by_nodes) if count is not None]
        times = [time for time in (seconds, self.seconds) if time is not None]
        # A stop flag alone means: think until it is set.
        if not counts and not times and self.stop is None:
            counts = [default]
        return min(counts, default=None), min(times, default=None)


# Shared as a default argument, which is safe because a Limit is immutable.
UNLIMITED = Limit()
"""No bound except the agent's own."""


@dataclass(frozen=True)
class Exact:
    """A proven result."""

    result: Result
    """The result of best play, from the side to move's point of view."""
    plies: int | None = None
    """Discs until the end of the game with best play by both sides; None if not known."""

    def __post_init__(self) -> None:
        # Agents from outside may give +1, 0 or -1 as plain numbers.
        object.__setattr__(self, "result", Result(self.result))


@dataclass(frozen=True)
class ColumnAnalysis:
    """An agent's analysis of a legal column, from the point of view of the side to move."""

    column: int
    """Counted from 0."""
    visits: int = 0
    """Simulations that started with this column."""
    value: float | None = None
    """The mean result or an estimate of it, -1 to +1; None if there is none yet."""
    bound: float | None = None
    """The upper confidence bound with which the search selects."""
    prior: float | None = None
    """The network's prior probability, 0 to 1."""
    proven: Result | None = None
    """The proven result; None if there is none."""
    score: int | None = None
    """A heuristic score, on the agent's own scale."""
    estimate: float | None = None
    """A learned value on the scale of the rewards, such as a Q-value."""
    expected: Fraction | None = None
    """The exact expected result against a random opponent."""


@dataclass(frozen=True)
class Analysis:
    """The work behind a decision; fields that an agent does not report are None."""

    columns: tuple[ColumnAnalysis, ...] = ()
    """The legal columns, if the agent analyses columns."""
    visits: tuple[int, ...] | None = None
    """Simulations per column of the board, 0 for full ones."""
    simulations: int | None = None
    nodes: int | None = None
    evaluations: int | None = None
    """Positions evaluated by a network."""
    depth: int | None = None
    """The depth in plies of a depth-limited search."""
    seconds: float | None = None
    memory_bytes: int | None = None
    score: float | None = None
    """The position's score, on the agent's own scale."""
    network: float | None = None
    """The network's value of the position before the search."""
    table_hits: int | None = None
    """The number of columns whose position is in the agent's table of learned values."""
    from_book: bool | None = None
    """Whether the decision comes from an opening book."""

    @property
    def scores(self) -> dict[int, int]:
        """Heuristic scores by column, where there are any."""
        return {entry.column: entry.score for entry in self.columns if entry.score is not None}

    @property
    def estimates(self) -> dict[int, float]:
        """Learned values by column, where there are any."""
        return {
            entry.column: entry.estimate for entry in self.columns if entry.estimate is not None
        }

    @property
    def expected(self) -> dict[int, Fraction]:
        """Exact expected results by column, where there are any."""
        return {
            entry.column: entry.expected for entry in self.columns if entry.expected is not None
        }


@dataclass(frozen=True)
class Decision:
    """A chosen column, with the agent's evaluation of the position."""

    column: int
    """Counted from 0."""
    value: float | None = None
    """The expected result for the side to move, -1 to +1; None if the agent has no estimate."""
    policy: tuple[float, ...] | None = None
    """A probability for every column of the board, 0 for full ones; sums to 1."""
    analysis: Analysis = Analysis()
    """The work behind the decision, and the analysis of every column."""
    line: tuple[int, ...] = ()
    """The principal variation: the expected moves, beginning with `column`."""
    proven: Exact | None = None
    """The exact result of the position; None if it is not proven."""

    def __str__(self) -> str:
        return decision_words.sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as JSON data; columns count from 1."""
        return decision_words.data(self)

    def to_pandas(self) -> display.DataFrame:
        """Return the statistics of the columns, one row for each."""
        return display.data_frame(decision_words.column_rows(self.analysis))

    def _repr_html_(self) -> str:
        return decision_words.html(self)


class Forfeit(Exception):
    """Raised by an agent that cannot continue and so loses: an external engine crashed, say."""

    def __init__(self, cause: Cause, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


@runtime_checkable
class Agent(Protocol):
    """A player.

    A decision depends on the arguments alone: caches never change it. The exceptions are agents
    that are set to keep their search tree between moves, and those that remember their games.
    """

    def decide(
        self,
        position: Position,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Choose a column; raise UserError if the game is over (`game.position.unfinished`).

        Without a limit, the agent's own bounds apply. Without `rng`, a new generator is seeded at
        random, so that decisions may differ from call to call.
        """
        ...


# --- optional abilities, which agents declare by having these methods and fields ------------------


@dataclass(frozen=True)
class Snapshot:
    """The root after a number of simulations."""

    simulations: int
    columns: tuple[ColumnAnalysis, ...]
    """The open columns."""
    width: int
    """Columns of the board."""

    @property
    def visits(self) -> tuple[int, ...]:
        """Return the visits per column of the board, 0 for full columns."""
        visits = {column.column: column.visits for column in self.columns}
        return tuple(visits.get(column, 0) for column in range(self.width))

    @property
    def means(self) -> tuple[float | None, ...]:
        """Return the mean results per column of the board, None for full and untried columns."""
        means = {column.column: column.value for column in self.columns}
        return tuple(means.get(column) for column in range(self.width))


class Search(Protocol):
    """The outcome of a search, for inspection."""

    @property
    def decision(self) -> Decision:
        """The decision that the agent takes."""
        ...

    @property
    def trace(self) -> Sequence[Snapshot]:
        """Snapshots of the root after growing numbers of simulations."""
        ...

    def look(self, path: tuple[int, ...]) -> Sequence[ColumnAnalysis]:
        """Return the columns of the node at a path from the root; none if there is no such node."""
        ...


@runtime_checkable
class Searcher(Protocol):
    """An agent whose search can be watched and inspected."""

    def search(
        self,
        position: Position,
        limit: Limit,
        rng: "np.random.Generator",
        watch: Callable[[Snapshot], None] | None = None,
    ) -> Search:
        """Search a position; `watch` is called with snapshots of the root from time to time."""
        ...


@runtime_checkable
class Startable(Protocol):
    """An agent that takes time to start, which does not count as thinking: an external engine."""

    def start(self) -> None:
        """Start, and return when ready to decide."""
        ...


@runtime_checkable
class Closable(Protocol):
    """An agent that owns resources, such as a process."""

    def close(self) -> None:
        """Release the resources."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """An agent that has its own bounds on a search."""

    simulations: int | None
    seconds: float | None


@runtime_checkable
class Learned(Protocol):
    """An agent with a learned network or table, which may refuse boards it was not trained on."""

    learned: ClassVar[bool]


@runtime_checkable
class Remembering(Protocol):
    """An agent that may learn from the games it plays.

    Its decisions are a function of their arguments and of all its decisions before, in their order.
    So the same calls to a new agent rebuild its memory, and `close` does not end it. The arena
    plays the games of a pairing one after another with the same agent.
    """

    @property
    def remembers(self) -> bool:
        """Whether it does, with its settings."""
        ...


def remembers(agent: Agent) -> bool:
    """Return whether an agent's decisions depend on its earlier games."""
    return isinstance(agent, Remembering) and agent.remembers


def close(agent: Agent) -> None:
    """Release an agent's resources, if it has any."""
    if isinstance(agent, Closable):
        agent.close()


def is_unbounded(agent: Agent) -> bool:
    """Return whether only a stop flag or a limit ends the agent's search."""
    return isinstance(agent, Bounded) and agent.simulations is None and agent.seconds is None
