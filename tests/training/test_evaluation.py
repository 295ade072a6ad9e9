import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.agents.opponents import chooser
from fourlab.solver import Solver
from fourlab.training.evaluation import CLOSED, Exam

BOARD = Rules(5, 4, 4)


def exam_of(rules: Rules, games: int, positions: int) -> Exam:
    return Exam(rules, games, positions, {spec: chooser(spec, rules) for spec in ("random", "rules")})


def test_the_results_of_all_columns_are_the_solvers() -> None:
    exam, solver = Exam(BOARD, 2, 30), Solver(book=None)
    own, mask, worth = exam.questions
    assert len(own) >= 30
    for each_own, each_mask, results in zip(own.tolist(), mask.tolist(), worth.tolist(), strict=True):
        position = Position.from_key(each_own + each_mask + BOARD.geometry.bottom, BOARD)
        assert (position.own, position.mask) == (each_own, each_mask)
        for column, result in enumerate(results):
            assert (result == CLOSED) == (column not in position.legal_columns())
            if result != CLOSED:
                after = position.play(column)
                outcome = after.outcome()
                if outcome is None:
                    assert result == -(solver.solve(after).result or 0)
                else:
                    assert result == (0 if outcome.winner is None else 1)


def test_perfect_play_keeps_every_value_and_random_play_does_not() -> None:
    exam = exam_of(BOARD, 20, 40)
    best, random = exam.take(chooser("perfect", BOARD)), exam.take(chooser("random", BOARD))
    assert best["exact"]["kept"] == best["exact"]["decisive"] == 1
    assert random["exact"]["decisive"] < random["exact"]["kept"] < 1
    assert best["random"]["score"] > random["random"]["score"]
    assert best["rules"]["wins"] + best["rules"]["draws"] + best["rules"]["losses"] == 20
    low, high = best["random"]["win_interval"]
    assert low < best["random"]["wins"] / 20 < high


def test_the_same_player_gets_the_same_marks() -> None:
    player = chooser("rules", BOARD)
    assert exam_of(BOARD, 20, 20).take(player) == exam_of(BOARD, 20, 20).take(player)


@pytest.mark.parametrize("board", ["1x1x3", "1x4x3", "3x1x3", "2x2x4", "7x6x3"])
def test_there_is_an_exam_on_any_board(board: str) -> None:
    rules = Rules.parse(board)
    marks = exam_of(rules, 8, 10).take(chooser("random", rules))
    assert sum(marks["random"][each] for each in ("wins", "draws", "losses")) == 8
    assert np.isfinite(marks["exact"]["kept"]) if "exact" in marks else not len(Exam(rules, 8, 10).questions[0])
