"""Sampled positions and their exact labels."""

from pathlib import Path

import numpy as np
import pytest

from fourlab import Position, Rules, UserError
from fourlab.datasets import labels, teacher
from fourlab.datasets.teacher import random_positions, solve_positions
from fourlab.jobs.executors.local import Local
from fourlab.solver import Solver
from fourlab.solver.solution import CLOSED

SMALL = Rules(5, 4)


def ignore_progress(done: int, total: int) -> None:
    """Do nothing."""


def test_random_positions_are_distinct_unfinished_and_spread_over_the_plies() -> None:
    keys = random_positions(SMALL, 70, (4, 10), 1)
    positions = [Position.from_key(key, SMALL) for key in keys]
    assert np.bincount([position.ply for position in positions])[4:].tolist() == [10] * 7
    assert all(position.outcome() is None for position in positions)
    assert all(position.canonical_key == position.key for position in positions)
    assert len(set(keys.tolist())) == 70


def test_the_remainder_goes_to_the_first_plies() -> None:
    plies = [Position.from_key(key).ply for key in random_positions(Rules(), 8, (30, 34), 1)]
    assert np.bincount(plies)[30:].tolist() == [2, 2, 2, 1, 1]


def test_another_seed_gives_other_positions() -> None:
    assert np.array_equal(
        random_positions(SMALL, 50, (6, 9), 1), random_positions(SMALL, 50, (6, 9), 1)
    )
    assert not np.array_equal(
        random_positions(SMALL, 50, (6, 9), 1), random_positions(SMALL, 50, (6, 9), 2)
    )


def test_some_positions_allow_an_immediate_win_and_some_do_not() -> None:
    positions = [Position.from_key(key) for key in random_positions(Rules(), 100, (20, 20), 1)]
    wins = sum(
        any(position.makes_line(column, position.to_move) for column in position.legal_columns())
        for position in positions
    )
    assert 10 < wins < 90


@pytest.mark.parametrize("plies", [(-1, 3), (5, 4), (8, 20)])
def test_impossible_plies_are_refused(plies: tuple[int, int]) -> None:
    with pytest.raises(UserError, match="unfinished positions on 5x4x4 have 0 to 19 discs, not"):
        random_positions(SMALL, 10, plies, 0)


def test_more_positions_than_exist_are_refused() -> None:
    assert len(random_positions(SMALL, 3, (1, 1), 0)) == 3
    with pytest.raises(
        UserError, match="only 3 different positions with 1 discs were found on 5x4x4, 4 are wanted"
    ):
        random_positions(SMALL, 4, (1, 1), 0)


def test_columns_have_their_exact_scores(tmp_path: Path) -> None:
    keys = random_positions(SMALL, 60, (6, 16), 3)
    solved = solve_positions(SMALL, keys, tmp_path / "journal", Local(1), ignore_progress)
    solver = Solver(book=None)
    assert solved is not None
    assert np.array_equal(solved.keys, keys)
    assert solved.columns is not None
    for key, result, columns in zip(solved.keys, solved.results, solved.columns, strict=True):
        position = Position.from_key(key, SMALL)
        solutions = solver.columns(position)
        assert {column: solution.score for column, solution in solutions.items()} == {
            column: int(score) for column, score in enumerate(columns) if score != CLOSED
        }
        assert solver.solve(position).result == result


def test_the_uci_set_is_solved_without_the_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Solve only a few of its positions; all would take hours."""
    expected = labels.uci8().take(np.arange(0, 67_557, 15_000))
    monkeypatch.setattr(teacher, "quiet_positions", lambda rules, plies: expected.keys)
    solved = teacher.solve_uci8(tmp_path / "journal", Local(1), ignore_progress)
    assert solved is not None
    assert np.array_equal(solved.keys, expected.keys)
    assert np.array_equal(solved.results, expected.results)
    assert solved.results.dtype == np.int8
