"""Boards that fill all 63 bits: kernels, compiled and plain, agree with the naive game."""

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from fourlab import Position, Rules
from fourlab.compiled.random import seed_state
from fourlab.compiled.rollouts import lane_rollouts, rollouts
from fourlab.solver import Solver
from tests.compiled.large_boards import (
    BOARDS,
    endings,
    moves_of_games,
    obvious,
    seen_by_kernels,
    solved,
)
from tests.conftest import ROOT
from tests.solver.brute_force import score


@cache
def expected(board: str) -> list[list[Any]]:
    """Return what `large_boards` must print about a board."""
    return [
        [obvious(board, moves) for moves in moves_of_games(board)],
        [[score(position)] * 2 for position in endings(board)],
    ]


@pytest.mark.parametrize("board", BOARDS)
def test_kernels_agree_with_the_naive_game(board: str) -> None:
    games, scores = expected(board)
    assert [seen_by_kernels(board, moves) for moves in moves_of_games(board)] == games
    assert [solved(position) for position in endings(board)] == scores


@pytest.mark.parametrize(
    "setting", ["NUMBA_DISABLE_JIT", pytest.param("NUMBA_BOUNDSCHECK", marks=pytest.mark.soak)]
)
def test_the_same_without_compilation_and_with_bounds_checking(setting: str) -> None:
    command = [sys.executable, "-m", "tests.compiled.large_boards", *BOARDS]
    environment = {**os.environ, setting: "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for board, results in json.loads(done.stdout).items():
        assert results == expected(board), board


@pytest.mark.parametrize("board", BOARDS)
def test_positions_agree_with_the_naive_game(board: str) -> None:
    for moves in moves_of_games(board):
        position = Position(board=board)
        for column, facts in zip(moves, obvious(board, moves), strict=True):
            position = position.play(column)
            outcome = position.outcome()
            assert (outcome is not None and outcome.winner is not None) == facts["won"]
            assert position.legal_columns() == (() if facts["won"] else tuple(facts["open"]))
        for notation in ("fen", "key", "kaggle", "ascii"):
            assert Position(position.write(notation), board) == position
        assert Position.from_key(position.key, Rules.parse(board)) == position


@pytest.mark.parametrize("board", ["9x6x4", "3x20x3", "1x62x3"])
def test_lanes_play_the_same_games_as_rollouts(board: str) -> None:
    """Their steps are constants, and a shift by 64 as a constant may become anything."""
    g = Rules.parse(board).geometry
    assert rollouts(0, 0, g, 1, seed_state(3))[:4] == lane_rollouts(0, 0, g, 1, 3)


def test_a_solver_solves_boards_of_different_sizes_in_turn() -> None:
    solver = Solver(1)
    for board in ("9x6x4", "4x4x4", "3x20x4", "9x6x5", "5x4x4"):
        for position in endings(board)[:2]:
            assert solver.solve(position).score == score(position)
