"""The teacher: which positions it draws, and that what it says of them is true."""

from pathlib import Path

import numpy as np
import pytest

from fourlab import Position, Rules, UserError
from fourlab.datasets import labels, teacher
from fourlab.datasets.teacher import random_positions, solve_positions
from fourlab.jobs.executors.local import Local
from fourlab.solver import Solver
from fourlab.solver.many import CLOSED

SMALL = Rules(5, 4)


def silent(done: int, total: int) -> None:
    """Nobody listens."""


def test_random_positions_are_different_undecided_and_spread_over_the_plies() -> None:
    keys = random_positions(SMALL, 70, (4, 10), 1)
    positions = [Position.from_key(key, SMALL) for key in keys]
    assert np.bincount([position.ply for position in positions])[4:].tolist() == [10] * 7
    assert all(position.outcome() is None for position in positions)
    assert all(position.canonical_key == position.key for position in positions)
    assert len(set(keys.tolist())) == 70


def test_what_cannot_be_shared_evenly_goes_to_the_first_plies() -> None:
    plies = [Position.from_key(key).ply for key in random_positions(Rules(), 8, (30, 34), 1)]
    assert np.bincount(plies)[30:].tolist() == [2, 2, 2, 1, 1]


def test_another_seed_draws_other_positions() -> None:
    assert np.array_equal(random_positions(SMALL, 50, (6, 9), 1), random_positions(SMALL, 50, (6, 9), 1))
    assert not np.array_equal(random_positions(SMALL, 50, (6, 9), 1), random_positions(SMALL, 50, (6, 9), 2))


def test_some_positions_allow_a_win_at_once_and_some_do_not() -> None:
    positions = [Position.from_key(key) for key in random_positions(Rules(), 100, (20, 20), 1)]
    wins = sum(any(each.makes_line(column, each.to_move) for column in each.legal_columns()) for each in positions)
    assert 10 < wins < 90


@pytest.mark.parametrize("plies", [(-1, 3), (5, 4), (8, 20)])
def test_plies_that_no_game_has_are_refused(plies: tuple[int, int]) -> None:
    with pytest.raises(UserError, match="are not to be had on 5x4x4"):
        random_positions(SMALL, 10, plies, 0)


def test_more_positions_than_there_are_cannot_be_drawn() -> None:
    assert len(random_positions(SMALL, 3, (1, 1), 0)) == 3
    with pytest.raises(UserError, match="only 3 different positions with 1 discs were found on 5x4x4, 4 are wanted"):
        random_positions(SMALL, 4, (1, 1), 0)


def test_columns_have_their_exact_scores(tmp_path: Path) -> None:
    keys = random_positions(SMALL, 60, (6, 16), 3)
    solved, solver = solve_positions(SMALL, keys, tmp_path / "journal", Local(1), silent), Solver(book=None)
    assert solved is not None
    assert np.array_equal(solved.keys, keys)
    assert solved.columns is not None
    for key, result, columns in zip(solved.keys, solved.results, solved.columns, strict=True):
        position = Position.from_key(key, SMALL)
        assert {column: each.score for column, each in solver.columns(position).items()} == {
            column: int(score) for column, score in enumerate(columns) if score != CLOSED
        }
        assert solver.solve(position).result == result


def test_the_uci_set_is_solved_without_the_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But only some of its positions here; all would take hours."""
    some = labels.uci8().take(np.arange(0, 67_557, 15_000))
    monkeypatch.setattr(teacher, "quiet_positions", lambda rules, plies: some.keys)
    found = teacher.solve_uci8(tmp_path / "journal", Local(1), silent)
    assert found is not None
    assert np.array_equal(found.keys, some.keys)
    assert np.array_equal(found.results, some.results)
    assert found.results.dtype == np.int8
