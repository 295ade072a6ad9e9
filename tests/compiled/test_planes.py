"""Network inputs: planes drawn by hand and compared with a naive game."""

import numpy as np
from hypothesis import given

from fourlab import Position, Rules
from fourlab.compiled.planes import PLANES, encode
from tests.naive import NaiveGame
from tests.strategies import games


def planes(position: Position, kind: str) -> np.ndarray:
    own = np.array([position.own])
    mask = np.array([position.mask])
    return encode(own, mask, position.rules.geometry, kind)[0]


def drawn(plane: np.ndarray) -> str:
    return "\n".join("".join("X" if cell else "." for cell in row) for row in plane)


def test_the_top_row_and_the_discs_of_the_side_to_move_come_first() -> None:
    position = Position("445", board="5x3x3")  # yellow is to move and has one disc
    own, other = planes(position, "stones")
    assert drawn(own) == ".....\n...X.\n....."
    assert drawn(other) == ".....\n.....\n...XX"
    assert planes(position, "cells")[0].tolist() == [
        [0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 2, 2],
    ]


def test_threats_of_both_sides_are_drawn_whether_playable_or_not() -> None:
    position = Position("""
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . O O O . . .
        . X X X . . .
    """)
    own, other, landings, mine, yours, odd = planes(position, "threats")
    assert drawn(own) == "\n".join(["......."] * 5 + [".XXX..."])
    assert drawn(other) == "\n".join(["......."] * 4 + [".XXX...", "......."])
    assert drawn(landings) == "\n".join(
        [".......", ".......", ".......", ".XXX...", ".......", "X...XXX"]
    )
    assert drawn(mine) == "\n".join(["......."] * 5 + ["X...X.."])
    assert drawn(yours) == "\n".join(["......."] * 4 + ["X...X..", "......."])
    assert drawn(odd) == "\n".join([".......", "XXXXXXX"] * 3)


@given(games())
def test_planes_agree_with_the_naive_game(game: tuple[Rules, list[int]]) -> None:
    rules, moves = game
    naive = NaiveGame(rules.columns, rules.rows, rules.in_a_row)
    position = Position(board=rules)
    for column in moves:
        naive.play(column)
        position = position.play(column)
    mine = 1 + position.to_move
    grid = np.array(naive.grid())
    cells = np.where(grid == 0, 0, np.where(grid == mine, 1, 2))
    assert (planes(position, "cells")[0] == cells).all()
    for kind in ("stones", "threats"):
        assert (planes(position, kind)[:2] == [grid == mine, (grid != mine) & (grid != 0)]).all()
    threats = planes(position, "threats")
    assert threats.shape == (PLANES["threats"], rules.rows, rules.columns)
    landings = [
        [
            grid[row, column] == 0 and (row == rules.rows - 1 or grid[row + 1, column] != 0)
            for column in range(rules.columns)
        ]
        for row in range(rules.rows)
    ]
    assert (threats[2] == landings).all()
