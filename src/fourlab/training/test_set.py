"""Test sets of exactly solved positions from all phases of the game."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from fourlab.arena.accuracy import PHASES, phase
from fourlab.compiled.batches import ONGOING, WON, open_columns, play_columns, urgent_columns
from fourlab.datasets import labels
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.solver.solution import CLOSED
from fourlab.training.evaluation import FULL_COLUMN, Benchmark, compare_with_best
from fourlab.training.games import Chooser, draw

EXAMPLES = 500
"""Number of wins, and of blocks, in `win_block_accuracy`."""
FULL_SCORE = -100
"""The score of a full column; lower than every real one."""


@dataclass(frozen=True)
class SolvedSet:
    """Positions with the exact value of every column."""

    own: np.ndarray
    mask: np.ndarray
    results: np.ndarray
    """int64[positions, columns] for the side to move: 1, 0, -1, or FULL_COLUMN."""
    scores: np.ndarray
    """int64[positions, columns]: scores on Pons's scale, where faster wins score higher, or the
    results again if scores are unknown; full columns have the lowest number."""

    def evaluate(self, player: Chooser) -> dict[str, Any]:
        """Let a player choose a column in every position.

        Returns the share of mistakes, columns that throw away a win or a draw: of all positions,
        of decisive ones, where the columns' results differ, and by phase. `best` is the share of
        choices with the best score.
        """
        rows = np.arange(len(self.own))
        columns = player(self.own, self.mask, np.random.default_rng(0))
        kept, decisive = compare_with_best(self.results, columns)
        wrong = ~kept
        report: dict[str, Any] = {
            "positions": len(rows),
            "mistakes": float(wrong.mean()),
            "decisive_mistakes": float(wrong[decisive].mean()) if decisive.any() else 0.0,
            "best": float((self.scores[rows, columns] == self.scores.max(axis=1)).mean()),
        }
        phases = np.array([phase(mask.bit_count()) for mask in self.mask.tolist()])
        for name in PHASES:
            if (phases == name).any():
                report[name] = float(wrong[phases == name].mean())
        return report


def shipped_positions(name: str = "test_set") -> labels.Labelled:
    """Return the solved positions that come with Fourlab.

    They are from random games, with 4 to 35 discs, about the same number of positions for every
    number of discs. `validation_set` is a second set, without positions of `test_set` and of the
    public test sets of Pons, for choosing settings and watching trainings.
    """
    with as_file(files("fourlab.training") / f"{name}.npz") as file:
        return labels.load(file)


def solved_positions(count: int) -> tuple[list[Position], list[dict[int, int]]]:
    """Return `count` shipped positions of all phases, with the exact score of every column."""
    solved = shipped_positions()
    assert solved.columns is not None
    # Positions are sorted by their keys; equal distances spread them over all phases.
    chosen = np.linspace(0, len(solved) - 1, min(count, len(solved))).round().astype(int)
    positions = [Position.from_key(key, solved.rules) for key in solved.keys[chosen].tolist()]
    scores = [
        {column: score for column, score in enumerate(row) if score != CLOSED}
        for row in solved.columns[chosen].tolist()
    ]
    return positions, scores


@cache
def solved_set(rules: Rules) -> SolvedSet:
    """Return the test set of a board: the shipped one for 7x6x4, else one that is solved now."""
    return _solved_set("test_set") if rules == CLASSIC else _solved_now(rules)


@cache
def validation_set(rules: Rules) -> SolvedSet:
    """Return positions for choosing settings: on 7x6x4 others than those of the test set."""
    return _solved_set("validation_set") if rules == CLASSIC else _solved_now(rules)


@cache
def _solved_now(rules: Rules) -> SolvedSet:
    own, mask, results = Benchmark(rules, 2, 300).test_set
    return SolvedSet(own, mask, results, results)


def _solved_set(name: str) -> SolvedSet:
    solved = shipped_positions(name)
    assert solved.columns is not None
    full = solved.columns == CLOSED
    # The sign of a score on Pons's scale is the result.
    scores = np.where(full, FULL_SCORE, solved.columns.astype(np.int64))
    return SolvedSet(*solved.discs, np.where(full, FULL_COLUMN, np.sign(scores)), scores)


def win_block_accuracy(player: Chooser, rules: Rules) -> Mapping[str, float]:
    """Return Arya's accuracies: the shares of immediate wins taken and of threats blocked.

    The positions are from random games. Those with more than one cell to block are left out,
    because blocking one of them does not help.
    """
    own, mask, urgent, wins = _win_block_examples(rules)
    columns = player(own, mask, np.random.default_rng(0))
    correct = urgent[np.arange(len(own)), columns]
    return {
        name: float(correct[subset].mean())
        for name, subset in (("wins", wins), ("blocks", ~wins))
        if subset.any()
    }


@cache
def _win_block_examples(rules: Rules) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return `own`, `mask`, the correct columns (bool[N, columns]), and whether these win."""
    g = rules.geometry
    rng = np.random.default_rng(4)
    wins: list[tuple[int, int, np.ndarray]] = []
    blocks: list[tuple[int, int, np.ndarray]] = []
    own, mask = np.zeros((2, 200), np.int64)
    # Some small boards have too few examples of one kind, so the number of steps is limited.
    for _ in range(2000):
        choices = open_columns(mask, g)
        urgent = urgent_columns(own, mask, False, g)
        # `play_columns` changes its arrays, so the trial move is played on copies.
        after_own = own.copy()
        after_mask = mask.copy()
        is_win = play_columns(after_own, after_mask, urgent.argmax(axis=1), g) == WON
        # If nothing is urgent, `urgent_columns` returns all legal columns.
        is_urgent = (urgent != choices).any(axis=1)
        for i in np.flatnonzero(is_urgent & (is_win | (urgent.sum(axis=1) == 1))):
            examples = wins if is_win[i] else blocks
            if len(examples) < EXAMPLES:
                examples.append((int(own[i]), int(mask[i]), urgent[i]))
        if min(len(wins), len(blocks)) >= EXAMPLES:
            break
        over = play_columns(own, mask, draw(choices, rng), g) != ONGOING
        own[over] = 0
        mask[over] = 0
    rows = wins + blocks
    return (
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        np.array([row[2] for row in rows]),
        np.arange(len(rows)) < len(wins),
    )
