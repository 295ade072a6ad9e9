"""Evaluating a player during training: matches against opponents, and exactly solved positions."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.compiled.random import seed_state
from fourlab.datasets.sample import sample
from fourlab.game import bitboard
from fourlab.game.rules import Rules
from fourlab.solver import Solver
from fourlab.solver.solution import CLOSED
from fourlab.training.games import Chooser, match

MAX_EMPTY = 28
"""Only positions with at most this many empty cells are used: they are solved at once."""
LIMIT = Limit(nodes=100_000)
"""Positions with a column that takes longer, on large boards, are left out."""
FULL_COLUMN = -2
"""Stands for the result of a full column; lower than every real result."""


def compare_with_best(results: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compare chosen columns, int64[N], with the exact results of every column, int64[N, columns].

    Return two bool[N] arrays: whether the choice keeps the game-theoretic value, and whether the
    position is decisive, meaning that at least one column does not keep it.
    """
    best = results.max(axis=1)
    # Full columns cannot be chosen, so they must not count as the worst choice.
    worst = np.where(results == FULL_COLUMN, 1, results).min(axis=1)
    return results[np.arange(len(results)), columns] == best, worst < best


class Benchmark:
    """Evaluates players on the same openings and positions every time, for comparable scores."""

    def __init__(
        self,
        rules: Rules,
        games: int,
        positions: int,
        opponents: Mapping[str, Chooser] | None = None,
    ) -> None:
        """Play `games` games against every opponent, and use about `positions` positions."""
        self.rules = rules
        self._games = games
        self._positions = positions
        self._opponents = opponents or {}

    def run(self, player: Chooser) -> dict[str, Any]:
        """Evaluate a player.

        Returns a table for every opponent, by its spec, and the table `exact` for the positions, if
        there are any: the share of all and of decisive positions in which the player kept the
        game-theoretic value.
        """
        # A fixed seed: the same openings in every evaluation of a training.
        rng = np.random.default_rng(0)
        tables: dict[str, Any] = {
            spec: match(player, opponent, self._games, self.rules, rng)
            for spec, opponent in self._opponents.items()
        }
        own, mask, results = self.test_set
        if len(own):
            kept, decisive = compare_with_best(results, player(own, mask, rng))
            tables["exact"] = {"positions": len(own), "kept": float(kept.mean())}
            if decisive.any():
                tables["exact"]["decisive"] = float(kept[decisive].mean())
        return tables

    @cached_property
    def test_set(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Solved positions of random games, in half of which wins and blocks are not overlooked.

        The arrays are `own` and `mask`, int64[N], and the result of every column for the side to
        move, int64[N, columns]: 1, 0, -1, or FULL_COLUMN.
        """
        g = self.rules.geometry
        solver = Solver(16)
        state = seed_state(0)
        cells = g.columns * g.rows
        # From the first third of the game, or as early as MAX_EMPTY allows, to five sevenths.
        plies = range(max(cells // 3, cells - MAX_EMPTY), 5 * cells // 7 + 1)
        samples: list[np.ndarray] = []
        for ply in plies:
            # More games than positions are needed, since many end before this ply.
            keys, state = sample(ply, 8 * self._positions, g, state)
            per_ply = -(-self._positions // len(plies))  # rounded up
            samples.append(keys[:per_ply])
        keys = np.concatenate(samples)
        lower, upper, _ = solver.column_bounds(keys, self.rules, LIMIT, weak=True)
        results = np.where(lower == CLOSED, FULL_COLUMN, np.sign(lower))
        is_proven = (np.sign(lower) == np.sign(upper)).all(axis=1)
        discs = [bitboard.from_key(key, g) for key in keys[is_proven].tolist()]
        own, mask = np.array(discs, np.int64).reshape(-1, 2).T.copy()
        return own, mask, results[is_proven]
