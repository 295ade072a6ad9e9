"""How well a player of many positions at a time does beside the exact truth, in all phases of the game."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from fourlab.arena.accuracy import PHASES, phase
from fourlab.compiled.batches import GOES_ON, WON, open_columns, play_columns, urgent_columns
from fourlab.datasets import labels
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.solver import many
from fourlab.training.evaluation import CLOSED, Exam
from fourlab.training.games import Chooser, draw

EXAMPLES = 500
"""So many wins and so many blocks are asked for."""


@dataclass(frozen=True)
class Truth:
    """Positions with what every column leads to."""

    own: np.ndarray
    mask: np.ndarray
    results: np.ndarray
    """int64[positions, columns]: 1, 0, -1, or CLOSED."""
    scores: np.ndarray
    """int64[positions, columns]: how soon, on Pons's scale, or the results again where that is not known; CLOSED is lower."""

    def ask(self, player: Chooser) -> dict[str, Any]:
        """Let a player choose a column in every position and tell the mistakes: columns that throw away a win or a draw."""
        rows = np.arange(len(self.own))
        columns = player(self.own, self.mask, np.random.default_rng(0))
        wrong = self.results[rows, columns] < self.results.max(axis=1)
        worst = np.where(self.results == CLOSED, 1, self.results).min(axis=1)
        decisive = worst < self.results.max(axis=1)
        found: dict[str, Any] = {
            "positions": len(rows),
            "mistakes": float(wrong.mean()),
            "decisive_mistakes": float(wrong[decisive].mean()) if decisive.any() else 0.0,
            "best": float((self.scores[rows, columns] == self.scores.max(axis=1)).mean()),
        }
        phases = np.array([phase(each.bit_count()) for each in self.mask.tolist()])
        return found | {name: float(wrong[phases == name].mean()) for name in PHASES if (phases == name).any()}


def shipped_positions() -> labels.Labelled:
    """The solved positions that come with Fourlab: random games, 4 to 35 discs, as many of each number."""
    with as_file(files("fourlab.training") / "test_set.npz") as file:
        return labels.load(file)


def some_positions(count: int) -> tuple[list[Position], list[dict[int, int]]]:
    """So many of them, of all phases, with the exact score of every column."""
    solved = shipped_positions()
    assert solved.columns is not None
    chosen = np.linspace(0, len(solved) - 1, min(count, len(solved))).round().astype(int)
    positions = [Position.from_key(key, solved.rules) for key in solved.keys[chosen].tolist()]
    scores = [{column: each for column, each in enumerate(row) if each != many.CLOSED} for row in solved.columns[chosen].tolist()]
    return positions, scores


@cache
def truth_of(rules: Rules) -> Truth:
    """The positions for a board: for the usual one those that come with Fourlab, else some that are solved now."""
    if rules != CLASSIC:
        own, mask, results = Exam(rules, 2, 300).questions
        return Truth(own, mask, results, results)
    solved = shipped_positions()
    assert solved.columns is not None
    scores = np.where(solved.columns == many.CLOSED, -100, solved.columns.astype(np.int64))
    return Truth(*solved.discs, np.where(scores == -100, CLOSED, np.sign(scores)), scores)


def win_block_accuracy(player: Chooser, rules: Rules) -> Mapping[str, float]:
    """Document 004's examination: in how many positions a win at once is taken, and a win of the other side prevented.

    The positions are met in random games; where there is more than one cell to block it is too late, and such are not asked.
    """
    own, mask, urgent, wins = _examples(rules)
    columns = player(own, mask, np.random.default_rng(0))
    right = urgent[np.arange(len(own)), columns]
    return {name: float(right[which].mean()) for name, which in (("wins", wins), ("blocks", ~wins)) if which.any()}


@cache
def _examples(rules: Rules) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, their right columns, and whether these win."""
    g, rng = rules.geometry, np.random.default_rng(4)
    found: dict[bool, list[tuple[int, int, np.ndarray]]] = {True: [], False: []}
    own, mask = np.zeros((2, 200), np.int64)
    for _ in range(2000):
        choices = open_columns(mask, g)
        urgent = urgent_columns(own, mask, False, g)
        after_own, after_mask = own.copy(), mask.copy()
        wins = play_columns(after_own, after_mask, urgent.argmax(axis=1), g) == WON
        for i in np.flatnonzero((urgent != choices).any(axis=1) & (wins | (urgent.sum(axis=1) == 1))):
            if len(found[bool(wins[i])]) < EXAMPLES:
                found[bool(wins[i])].append((int(own[i]), int(mask[i]), urgent[i]))
        if min(map(len, found.values())) >= EXAMPLES:
            break
        over = play_columns(own, mask, draw(choices, rng), g) != GOES_ON
        own[over] = mask[over] = 0
    rows = found[True] + found[False]
    is_win = np.arange(len(rows)) < len(found[True])
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), np.array([row[2] for row in rows]), is_win
