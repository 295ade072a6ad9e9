"""A tiny call of every kernel, so that all are compiled and cached before somebody waits for them."""

from collections.abc import Callable

import numpy as np

from fourlab.kernels import mcts
from fourlab.kernels.count import distinct, perft
from fourlab.kernels.geometry import geometry_of
from fourlab.kernels.negamax import kaggle_negamax
from fourlab.kernels.random import seed_state
from fourlab.kernels.rollout import lane_rollouts, rollouts
from fourlab.kernels.solver import solve

_CLASSIC = geometry_of(7, 6, 4)

WARMUPS: dict[str, Callable[[], object]] = {
    "perft": lambda: perft(0, 0, _CLASSIC, 3),
    "distinct positions": lambda: sum(distinct(0, 0, geometry_of(3, 2, 3))),
    "rollouts": lambda: rollouts(0, 0, _CLASSIC, 10, seed_state(0)),
    "rollouts in lanes": lambda: lane_rollouts(0, 0, _CLASSIC, 10, 0),
    "negamax": lambda: kaggle_negamax(0, 0, _CLASSIC, 1, False, 1),
    "solver": lambda: solve(
        0, 0, -99, 99, geometry_of(3, 2, 3), np.zeros(64, np.int64), 1 << 60, np.zeros(1, np.uint8), np.zeros(1, np.int64)
    ),
    "tree search": lambda: _search(shared=False),
    "tree search with threads": lambda: _search(shared=True),
}


def _search(shared: bool) -> None:
    """A few simulations, and a copy of their tree."""
    tree, counts, stop = np.zeros(20 * 21, np.int32), np.zeros(3, np.int64), np.zeros(1, np.uint8)
    switches = mcts.Switches(solver=True, shared=shared)
    mcts.new_block(tree, 1, 0, _CLASSIC)
    run = mcts.search_together if shared else mcts.search
    unmerged, node = np.zeros((2, 0), np.int64), np.zeros((2, 0), np.int32)
    run(tree, np.array([2]), counts, 1, 0, 0, _CLASSIC, switches, 10, 1, stop, unmerged, node)
    mcts.copy_subtree(tree, 1, 7, np.zeros_like(tree))
