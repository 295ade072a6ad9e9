"""A tiny call of every kernel, so that all are compiled and cached before somebody waits for them."""

from collections.abc import Callable

import numpy as np

from fourlab.kernels import mcts
from fourlab.kernels.count import distinct, perft
from fourlab.kernels.geometry import geometry_of
from fourlab.kernels.minimax import minimax_columns
from fourlab.kernels.negamax import kaggle_negamax
from fourlab.kernels.random import seed_state
from fourlab.kernels.rollout import lane_rollouts, rollouts
from fourlab.kernels.solver import solve
from fourlab.kernels.table import copy_entries, new_table

_CLASSIC, _TINY = geometry_of(7, 6, 4), geometry_of(3, 2, 3)

WARMUPS: dict[str, Callable[[], object]] = {
    "perft": lambda: perft(0, 0, _CLASSIC, 3),
    "distinct positions": lambda: sum(distinct(0, 0, _TINY)),
    "rollouts": lambda: rollouts(0, 0, _CLASSIC, 10, seed_state(0)),
    "rollouts in lanes": lambda: lane_rollouts(0, 0, _CLASSIC, 10, 0),
    "negamax": lambda: kaggle_negamax(0, 0, _CLASSIC, 1, False, 1),
    "minimax": lambda: minimax_columns(
        0, 0, _TINY, 1, np.zeros(0, np.int64), np.zeros((2, 1), np.int64), np.array([0, 9]), np.zeros(1, np.uint8)
    ),
    "solver": lambda: _solve(),
    "tree search": lambda: _search(shared=False),
    "tree search with threads": lambda: _search(shared=True),
}


def _solve() -> None:
    """A small board, and a larger table for what was found."""
    table = new_table(64)
    solve(0, 0, -9, 9, (-40, 40), _TINY, table, 0, 1 << 60, np.zeros(1, np.uint8), np.zeros(1, np.int64))
    copy_entries(table, new_table(128))


def _search(shared: bool) -> None:
    """A few simulations, and a copy of their tree."""
    tree, counts, stop = np.zeros(20 * 21, np.int32), np.zeros(3, np.int64), np.zeros(1, np.uint8)
    switches = mcts.Switches(solver=True, shared=shared)
    mcts.new_block(tree, 1, 0, _CLASSIC)
    run = mcts.search_together if shared else mcts.search
    unmerged, node = np.zeros((2, 0), np.int64), np.zeros((2, 0), np.int32)
    run(tree, np.array([2]), counts, 1, 0, 0, _CLASSIC, switches, 10, 1, stop, unmerged, node)
    mcts.copy_subtree(tree, 1, 7, np.zeros_like(tree))
