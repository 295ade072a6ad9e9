"""How well a player of many games at a time plays: games against simple opponents, and positions whose exact value is known."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.compiled.board import from_key
from fourlab.compiled.random import seed_state
from fourlab.datasets.sample import sample
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.solver import Solver
from fourlab.training.games import Chooser, match

MOST_EMPTY = 28
"""Positions with so many empty cells are solved in no time; earlier ones are not asked."""
LIMIT = Limit(nodes=300_000)
"""Positions that take longer, on large boards, are left out."""
CLOSED = -2
"""What stands for the result of a full column."""


class Exam:
    """The same questions every time, so that the answers can be compared."""

    def __init__(self, rules: Rules, games: int, positions: int, opponents: Mapping[str, Chooser] | None = None) -> None:
        """Play this many games against each opponent, and ask this many positions."""
        self.rules = rules
        self._games, self._positions = games, positions
        self._opponents = opponents or {}

    def take(self, player: Chooser) -> dict[str, Any]:
        """Examine a player; returns a table for each opponent, and one, `exact`, on the positions if there are any."""
        rng = np.random.default_rng(0)
        results: dict[str, Any] = {
            spec: match(player, opponent, self._games, self.rules, rng) for spec, opponent in self._opponents.items()
        }
        own, mask, worth = self.questions
        if len(own):
            chosen = worth[np.arange(len(own)), player(own, mask, rng)]
            best, worst = worth.max(axis=1), np.where(worth == CLOSED, 1, worth).min(axis=1)
            results["exact"] = {"positions": len(own), "kept": float((chosen == best).mean())}
            if (decisive := worst < best).any():
                results["exact"]["decisive"] = float((chosen == best)[decisive].mean())
        return results

    @cached_property
    def questions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions of random games, half of them with care: `own`, `mask`, and every column's result, CLOSED for full ones."""
        g, solver, state = self.rules.geometry, Solver(16), seed_state(0)
        cells = g.columns * g.rows
        plies = range(max(cells // 3, cells - MOST_EMPTY), 5 * cells // 7 + 1)
        found: list[tuple[int, int, list[int]]] = []
        for ply in plies:
            keys, state = sample(ply, 8 * self._positions, g, state)
            for key in keys[: -(-self._positions // len(plies))].tolist():
                solved = solver.columns(Position.from_key(key, self.rules), LIMIT, weak=True)
                results = [solved[column].result if column in solved else CLOSED for column in range(g.columns)]
                if None not in results:
                    found.append((*from_key(key, g), [result for result in results if result is not None]))
        own, mask, worth = ([each[part] for each in found] for part in range(3))
        return np.array(own, np.int64), np.array(mask, np.int64), np.array(worth, np.int64)
