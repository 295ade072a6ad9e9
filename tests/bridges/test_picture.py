import numpy as np

from fourlab import Position
from fourlab.bridges.picture import CELL, drawing, picture

RED, YELLOW, EMPTY, DARK = (216, 57, 51), (242, 185, 13), (238, 242, 247), (17, 17, 17)


def centres(position: Position) -> list[list[tuple[int, ...]]]:
    """The colours in the middle of the cells, top row first."""
    pixels = picture(position)[CELL // 2 :: CELL, CELL // 2 :: CELL]
    return [[tuple(int(part) for part in pixel) for pixel in row] for row in pixels]


def test_every_disc_is_where_it_belongs() -> None:
    position = Position("112423", board="5x4x4")
    assert picture(position).shape == (4 * CELL, 5 * CELL, 3)
    assert picture(position).dtype == np.uint8
    assert centres(position) == [
        [(EMPTY, RED, YELLOW)[cell] for cell in row] for row in position.grid()
    ]


def test_yellow_and_winning_cells_can_be_told_without_colours() -> None:
    won = picture(Position("1212121"))
    cells = {
        (column, row): {
            tuple(pixel)
            for pixel in won[-(row + 1) * CELL :, column * CELL :][:CELL, :CELL]
            .reshape(-1, 3)
            .tolist()
        }
        for column in range(7)
        for row in range(6)
    }
    assert {where for where, colours in cells.items() if DARK in colours} == {
        (0, 0),
        (0, 1),
        (0, 2),
        (0, 3),
    }
    ring = (138, 101, 0)
    assert {where for where, colours in cells.items() if ring in colours} == {
        (1, 0),
        (1, 1),
        (1, 2),
    }


def test_a_drawing_ends_with_whose_turn_it_is_or_the_result() -> None:
    assert drawing(Position("1")).splitlines()[-1] == "yellow to move"
    assert drawing(Position("1212121")).splitlines()[-1] == "red wins"
    assert drawing(Position("1122", board="2x2x3")).splitlines()[-1] == "draw"
