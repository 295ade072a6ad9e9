"""OpenSpiel's Monte Carlo tree search as an agent, for comparison with ours."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fourlab.agent import UNLIMITED, Analysis, Decision, Exact, Limit
from fourlab.agents.generators import generator
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

DEFAULT_SIMULATIONS = 1000
MOST_SIMULATIONS = 2**31 - 1
"""The largest C++ int: the budget of searches that end by a time limit."""


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
    c: float = option(
        2.0,
        "Exploration constant: the bound is mean + c * sqrt(log N / n), results from -1 to +1.",
        least=0,
        most=1000,
    )
    rollouts: int = option(1, "Rollouts per simulation.", least=1, most=1_000_000, unit="rollouts")
    proofs: bool = option(True, "Prove wins and losses while the tree grows.", aliases=("solve",))

    def __post_init__(self) -> None:
        from fourlab.bridges import openspiel  # noqa: F401  # fails at once if it is missing

        check(self)

    def decide(
        self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None
    ) -> Decision:
        """Search with a new tree; nothing interrupts the search, not even a stop flag."""
        rng = generator(rng)
        from fourlab.bridges.openspiel import game_of, mcts_bot, to_state

        started = time.perf_counter()
        # With only a stop flag, which this search cannot see, the default bounds it too.
        simulations, seconds = limit.bounds(self.simulations, None, DEFAULT_SIMULATIONS)
        if simulations is None:
            simulations = DEFAULT_SIMULATIONS if seconds is None else MOST_SIMULATIONS
        game = game_of(position.rules)
        seed = int(rng.integers(2**31))  # a C++ int
        # With one simulation, OpenSpiel's root would have no visited child to choose.
        bot = mcts_bot(game, max(simulations, 2), seed, self.c, self.rollouts, self.proofs, seconds)
        root = bot.mcts_search(to_state(position))
        return _decision(root, position, time.perf_counter() - started)


def _decision(root: Any, position: Position, seconds: float) -> Decision:
    best = root.best_child()
    visits = {child.action: child.explore_count for child in root.children}
    total = sum(visits.values())
    # Outcomes are per player, where a node is solved. Rewards are already from the point of view
    # of the player who made the move, here the side to move at the root.
    if best.outcome:
        value = best.outcome[position.to_move]
    else:
        value = best.total_reward / max(best.explore_count, 1)
    policy = None
    if total:
        columns = range(position.rules.columns)
        policy = tuple(visits.get(column, 0) / total for column in columns)
    # Unvisited children have no statistics, so the line ends before them.
    line = []
    node = root
    while node.children and (node := node.best_child()).explore_count:
        line.append(node.action)
    return Decision(
        best.action,
        value=float(value),
        policy=policy,
        analysis=Analysis(simulations=root.explore_count, seconds=seconds),
        line=tuple(line),
        proven=Exact(Result(round(root.outcome[position.to_move]))) if root.outcome else None,
    )
