"""OpenSpiel's Monte Carlo tree search as an agent, for comparison with ours."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fourlab.agent import UNLIMITED, Analysis, Decision, Exact, Limit
from fourlab.agents.generators import generator
from fourlab.game.outcome import Result
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

DEFAULT_SIMULATIONS = 1000
MOST_SIMULATIONS = 2**31 - 1
"""The largest C++ int: the budget of searches that end by a time limit."""
SLICE_WORK = 400_000
"""Work between two looks at a stop flag, about 10 ms: a simulation costs about as many units as the
board has cells, times the columns and three."""


@dataclass(frozen=True)
class OpenSpielMCTS:
    """OpenSpiel's tree search, written in C++ (pip install 'fourlab[openspiel]')."""

    simulations: int | None = option(
        None,
        "Simulations per move (1,000 if no limit of any kind is given).",
        least=2,
        most=MOST_SIMULATIONS,
        unit="simulations",
    )
    seconds: float | None = option(
        None, "Stop after this many seconds per move.", above=0, most=86_400, unit="s"
    )
    c: float = option(
        2.0,
        "Exploration constant: the bound is mean + c * sqrt(log N / n), results from -1 to +1.",
        least=0,
        most=1000,
    )
    # A simulation cannot be interrupted; a hundred rollouts take milliseconds.
    rollouts: int = option(1, "Rollouts per simulation.", least=1, most=100, unit="rollouts")
    proofs: bool = option(True, "Prove wins and losses while the tree grows.", aliases=("solve",))

    def __post_init__(self) -> None:
        from fourlab.bridges import openspiel  # noqa: F401  # fails at once if it is missing

        check(self)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Search with a new tree; with a stop flag, with one tree after another.

        OpenSpiel's search cannot be interrupted, and holds Python's lock, so that no other thread
        could set a flag. Searches with a flag are therefore a sequence of small ones, whose results
        at the root are added (root parallelisation; Chaslot et al., 2008).
        """
        position = unfinished(position)
        rng = generator(rng)
        from fourlab.bridges.openspiel import game_of, mcts_bot, to_state

        started = time.perf_counter()
        simulations, seconds = limit.bounds(self.simulations, self.seconds, DEFAULT_SIMULATIONS)
        is_over = Limit(seconds=seconds, stop=limit.stop).alarm()
        budget = MOST_SIMULATIONS if simulations is None else simulations
        slice_size = budget if limit.stop is None else min(budget, self._slice(position))
        game = game_of(position.rules)
        state = to_state(position)
        roots: list[Any] = []
        done = 0
        while not roots or (done < budget and not roots[-1].outcome and not is_over()):
            seed = int(rng.integers(2**31))  # a C++ int
            left = None
            # OpenSpiel does not count simulations if it has a time limit, so that the flag would
            # not be seen before that; slices look at the clock, too.
            if seconds is not None and limit.stop is None:
                left = max(seconds - (time.perf_counter() - started), 1e-6)
            # With one simulation, OpenSpiel's root would have no visited child to choose.
            count = max(min(slice_size, budget - done), 2)
            bot = mcts_bot(game, count, seed, self.c, self.rollouts, self.proofs, left)
            root = bot.mcts_search(state)
            if not root.children and not roots:
                # The time was up before the first simulation.
                bot = mcts_bot(game, 2, seed, self.c, self.rollouts, self.proofs)
                root = bot.mcts_search(state)
            if root.children:
                roots.append(root)
            done += max(root.explore_count, 1)
        return _decision(roots, position, time.perf_counter() - started)

    def _slice(self, position: Position) -> int:
        """Return how many simulations take about 10 ms."""
        rules = position.rules
        work = rules.columns * rules.rows * (rules.columns + 3) * self.rollouts
        return max(SLICE_WORK // work, 2)


@dataclass
class _Column:
    """A column of the root, added up over the searches."""

    action: int
    visits: int = 0
    reward: float = 0.0
    outcome: float | None = None
    """Where one of the searches has proven it, the result for the side to move."""

    @property
    def rank(self) -> tuple[float, int, float]:
        """The order in which OpenSpiel prefers columns."""
        return self.outcome or 0.0, self.visits, self.reward


def _columns(roots: Sequence[Any], side: int) -> dict[int, _Column]:
    columns: dict[int, _Column] = {}
    for root in roots:
        for child in root.children:
            column = columns.setdefault(child.action, _Column(child.action))
            column.visits += child.explore_count
            column.reward += child.total_reward
            # Outcomes are per player, where a node is solved.
            if child.outcome:
                column.outcome = child.outcome[side]
    return columns


def _decision(roots: Sequence[Any], position: Position, seconds: float) -> Decision:
    # Only the last search can have proven the position, since a proof ends them.
    last = roots[-1]
    columns = _columns([last] if last.outcome else roots, position.to_move)
    if last.outcome or len(roots) == 1:
        best = columns[last.best_child().action]
    else:
        best = max(columns.values(), key=lambda column: column.rank)
    total = sum(column.visits for column in columns.values())
    # Rewards are already from the point of view of the player who made the move, here the side to
    # move at the root.
    value = best.reward / max(best.visits, 1) if best.outcome is None else best.outcome
    policy = None
    if total:
        shares = {action: column.visits / total for action, column in columns.items()}
        policy = tuple(shares.get(column, 0.0) for column in range(position.rules.columns))
    return Decision(
        best.action,
        value=float(value),
        policy=policy,
        analysis=Analysis(simulations=sum(root.explore_count for root in roots), seconds=seconds),
        line=_line(roots, best.action),
        proven=Exact(Result(round(last.outcome[position.to_move]))) if last.outcome else None,
    )


def _line(roots: Sequence[Any], first: int) -> tuple[int, ...]:
    """Return the expected line in the last search that prefers the column."""
    for root in reversed(roots):
        line = []
        node = root
        # Unvisited children have no statistics, so the line ends before them.
        while node.children and (node := node.best_child()).explore_count:
            line.append(node.action)
        if line[:1] == [first]:
            return tuple(line)
    return (first,)
