"""OpenSpiel's Monte Carlo tree search as a player, for comparison with ours."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fourlab.agent import UNLIMITED, Analysis, Decision, Exact, Limit
from fourlab.agents.generators import generator
from fourlab.game.position import Position
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

DEFAULT_SIMULATIONS = 1000
MOST_SIMULATIONS = 2**31 - 1
"""What fits into C++'s int, for searches that end by the clock."""


@dataclass(frozen=True)
class OpenSpielMCTS:
    """Asks OpenSpiel's tree search, written in C++ (pip install 'fourlab[openspiel]')."""

    simulations: int | None = option(
        None,
        "Simulations a move (1,000 if neither this nor any other bound is given).",
        least=2,
        most=MOST_SIMULATIONS,
        unit="simulations",
    )
    c: float = option(2.0, "Exploration: the bound is mean + c * sqrt(log N / n), for results from -1 to +1.", least=0)
    rollouts: int = option(1, "How many random games judge a new position.", least=1, unit="rollouts")
    solve: bool = option(True, "Whether wins and losses are proven as the tree grows.")

    def __post_init__(self) -> None:
        from fourlab.bridges import openspiel  # noqa: F401  # tells at once if it is missing

        check(self)

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Search with a new tree; a stop flag is not heard, since the search cannot be interrupted."""
        rng = generator(rng)
        from fourlab.bridges.openspiel import game_of, mcts_bot, to_state

        started = time.perf_counter()
        simulations, seconds = limit.bounds(self.simulations, None, DEFAULT_SIMULATIONS)
        if simulations is None:
            simulations = DEFAULT_SIMULATIONS if seconds is None else MOST_SIMULATIONS
        game, seed = game_of(position.rules), int(rng.integers(2**31))
        bot = mcts_bot(game, max(simulations, 2), seed, self.c, self.rollouts, self.solve, seconds)
        root = bot.mcts_search(to_state(position))
        return _decision(root, position, time.perf_counter() - started)


def _decision(root: Any, position: Position, seconds: float) -> Decision:
    best = root.best_child()
    visits = {child.action: child.explore_count for child in root.children}
    total = sum(visits.values())
    value = best.outcome[position.to_move] if best.outcome else best.total_reward / max(best.explore_count, 1)
    line, node = [], root
    while node.children and (node := node.best_child()).explore_count:
        line.append(node.action)
    return Decision(
        best.action,
        value=float(value),
        policy=tuple(visits.get(column, 0) / total for column in range(position.rules.columns)) if total else None,
        analysis=Analysis(simulations=root.explore_count, seconds=seconds),
        line=tuple(line),
        proven=Exact(round(root.outcome[position.to_move])) if root.outcome else None,
    )
