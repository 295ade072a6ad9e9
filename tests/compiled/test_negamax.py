"""Kaggle's negamax agrees with a plain version on lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Position
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.compiled.random import seed_state
from fourlab.compiled.threats import winning_cells
from fourlab.game.bitboard import line_cells
from tests.strategies import examples, positions, usual_boards


def plain_negamax(position: Position, depth: int) -> tuple[float, int | None]:
    """Return the score and the first best column; row 0 of a grid is the top row."""
    rows = position.rules.rows
    columns = position.rules.columns
    size = rows * columns
    moves = position.ply
    grid = position.grid()
    mark = 1 + position.to_move
    if moves == size:
        return 0, None
    for column in range(columns):
        if grid[0][column] == 0 and position.makes_line(column, position.to_move):
            return (size + 1 - moves) / 2, column
    best = -float(size)
    best_column = None
    for column in range(columns):
        if grid[0][column] != 0:
            continue
        if depth <= 0:
            row = max(r for r in range(rows) if grid[r][column] == 0)
            score = (size + 1 - moves) / 2
            score += column > 0 and grid[row][column - 1] == mark
            score += column < columns - 1 and grid[row][column + 1] == mark
            score += row > 0 and grid[row - 1][column] == mark
            score += row < rows - 2 and grid[row + 1][column] == mark
        else:
            score = -plain_negamax(position.play(column), depth - 1)[0]
        if score > best:
            best, best_column = score, column
    return best, best_column


@examples(150)
@given(positions(usual_boards()), st.integers(0, 2))
def test_scores_and_first_best_columns_agree_with_the_plain_version(
    position: Position, depth: int
) -> None:
    if position.outcome() is not None:
        return
    score, column = plain_negamax(position, depth)
    doubled, chosen, _ = kaggle_negamax(
        position.own, position.mask, position.rules.geometry, depth, False, 1
    )
    assert (doubled / 2, chosen) == (score, column)


def test_random_ties_choose_several_columns_of_the_same_score() -> None:
    position = Position()
    chosen = set()
    scores = set()
    for seed in range(60):
        score, column, _ = kaggle_negamax(0, 0, position.rules.geometry, 2, True, seed_state(seed))
        chosen.add(column)
        scores.add(score)
    assert len(scores) == 1
    assert len(chosen) > 3


@examples(200)
@given(positions())
def test_winning_cells_are_those_that_would_complete_a_line(position: Position) -> None:
    g = position.rules.geometry
    for discs in (position.red, position.yellow):
        cells = winning_cells(discs, position.mask, g)
        for column, row in np.ndindex(g.columns, g.rows):
            cell = 1 << column * g.height + row
            if position.mask & cell:
                assert not cells & cell
            else:
                completes = bool(line_cells(discs | cell, g.height, g.in_a_row) & cell)
                assert bool(cells & cell) == completes


@pytest.mark.parametrize("board", ["1x30", "2x30", "30x1", "31x1x3", "12x4x5"])
def test_winning_cells_on_odd_boards(board: str) -> None:
    position = Position(board=board)
    assert winning_cells(0, 0, position.rules.geometry) == 0
