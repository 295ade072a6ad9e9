"""Players beside the truth."""

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.agents.opponents import chooser
from fourlab.game.bitboard import key
from fourlab.game.rules import CLASSIC
from fourlab.solver import Solver
from fourlab.training.test_set import EXAMPLES, truth_of, win_block_accuracy


def test_a_perfect_player_makes_no_mistakes_and_a_random_one_many() -> None:
    truth = truth_of(CLASSIC)
    assert len(truth.own) == 960

    def best(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        columns: np.ndarray = truth.scores.argmax(axis=1)
        return columns

    perfect = truth.ask(best)
    assert (perfect["mistakes"], perfect["decisive_mistakes"], perfect["best"]) == (0, 0, 1)
    random = truth.ask(chooser("random", CLASSIC))
    assert random["decisive_mistakes"] > random["mistakes"] > 0.25
    assert {"early", "middle", "late"} <= random.keys()


def test_the_shipped_truth_is_the_solvers() -> None:
    truth, solver = truth_of(CLASSIC), Solver(64)
    rng = np.random.default_rng(3)
    late = np.flatnonzero([int(each).bit_count() >= 18 for each in truth.mask])
    for i in rng.choice(late, 20, replace=False):
        position = Position.from_key(key(int(truth.own[i]), int(truth.mask[i]), CLASSIC.geometry))
        assert {column: each.score for column, each in solver.columns(position).items()} == {
            column: int(truth.scores[i, column]) for column in position.legal_columns()
        }


@pytest.mark.parametrize("board", ["7x6x4", "5x4x4"])
def test_wins_and_blocks_are_found_by_rules_and_rarely_by_chance(board: str) -> None:
    rules = Rules.parse(board)
    assert win_block_accuracy(chooser("rules", rules), rules) == {"wins": 1.0, "blocks": 1.0}
    by_chance = win_block_accuracy(chooser("random", rules), rules)
    assert by_chance["wins"] < 0.5
    assert by_chance["blocks"] < 0.4
    assert EXAMPLES == 500
