"""Players evaluated on exactly solved positions."""

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.agents.opponents import chooser
from fourlab.game.bitboard import key
from fourlab.game.rules import CLASSIC
from fourlab.solver import Solver
from fourlab.training.test_set import EXAMPLES, solved_set, win_block_accuracy


def test_a_perfect_player_makes_no_mistakes_and_a_random_one_many() -> None:
    test_set = solved_set(CLASSIC)
    assert len(test_set.own) == 960

    def best(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        columns: np.ndarray = test_set.scores.argmax(axis=1)
        return columns

    perfect = test_set.evaluate(best)
    assert (perfect["mistakes"], perfect["decisive_mistakes"], perfect["best"]) == (0, 0, 1)
    random = test_set.evaluate(chooser("random", CLASSIC))
    assert random["decisive_mistakes"] > random["mistakes"] > 0.25
    assert {"early", "middle", "late"} <= random.keys()


def test_the_shipped_scores_are_those_of_the_solver() -> None:
    test_set = solved_set(CLASSIC)
    solver = Solver(64)
    rng = np.random.default_rng(3)
    late = np.flatnonzero([int(mask).bit_count() >= 18 for mask in test_set.mask])
    for i in rng.choice(late, 20, replace=False):
        own, mask = int(test_set.own[i]), int(test_set.mask[i])
        position = Position.from_key(key(own, mask, CLASSIC.geometry))
        solutions = solver.columns(position)
        assert {column: solution.score for column, solution in solutions.items()} == {
            column: int(test_set.scores[i, column]) for column in position.legal_columns()
        }


@pytest.mark.parametrize("board", ["7x6x4", "5x4x4"])
def test_rules_finds_all_wins_and_blocks_and_random_few(board: str) -> None:
    rules = Rules.parse(board)
    assert win_block_accuracy(chooser("rules", rules), rules) == {"wins": 1.0, "blocks": 1.0}
    random = win_block_accuracy(chooser("random", rules), rules)
    assert random["wins"] < 0.5
    assert random["blocks"] < 0.4
    assert EXAMPLES == 500
