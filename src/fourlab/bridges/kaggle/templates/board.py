"""The board as bits.

The bits of a 7x6 board: one step up is + 1, one step right + 7 (the height), and the guard row above is never covered.

      6 13 20 27 34 41 48
    +---------------------+
    | 5 12 19 26 33 40 47 |
    | 4 11 18 25 32 39 46 |
    | 3 10 17 24 31 38 45 |
    | 2  9 16 23 30 37 44 |
    | 1  8 15 22 29 36 43 |
    | 0  7 14 21 28 35 42 |
    +---------------------+

`own` are the discs of the side to move, `mask` all discs.
"""

from typing import Any, NamedTuple

TIME_SHARE = 0.8
"""How much of the time for a move is used."""
USUAL_SECONDS = 2.0
"""Kaggle's time for a move, if the configuration does not tell."""


class Shape(NamedTuple):
    """The numbers that describe a board."""

    columns: int
    rows: int
    in_a_row: int
    height: int
    bottom: int
    cells: int


def shape_of(columns: int, rows: int, in_a_row: int) -> Shape:
    """Lay out a board of any size."""
    height = rows + 1
    bottom = sum(1 << column * height for column in range(columns))
    return Shape(columns, rows, in_a_row, height, bottom, bottom * ((1 << rows) - 1))


def read(observation: Any, configuration: Any) -> tuple[int, int, Shape]:
    """The discs of the side to move, all discs, and the board."""
    shape = shape_of(configuration.columns, configuration.rows, configuration.inarow)
    own = mask = 0
    for place, disc in enumerate(observation.board):  # row by row from the top
        if disc:
            row, column = divmod(place, shape.columns)
            cell = 1 << column * shape.height + shape.rows - 1 - row
            mask |= cell
            own |= cell if disc == observation.mark else 0
    return own, mask, shape


def seconds_to_think(configuration: Any) -> float:
    """How long a move may take, with something to spare; the bank is for what nobody foresees, such as the first move."""
    return TIME_SHARE * float(getattr(configuration, "actTimeout", USUAL_SECONDS))


def landings(mask: int, shape: Shape) -> int:
    """The cells where discs come to rest, one for every column that is not full."""
    return (mask + shape.bottom) & shape.cells


def landing(mask: int, column: int, shape: Shape) -> int:
    """The cell where a disc comes to rest in a column, 0 if it is full."""
    return landings(mask, shape) & (((1 << shape.rows) - 1) << column * shape.height)


def winning_cells(stones: int, mask: int, shape: Shape) -> int:
    """The empty cells that would complete a line of the stones."""
    found = 0
    if shape.in_a_row == 4:  # the usual game, written out
        up = stones << 1
        found = up & (up << 1) & (up << 2)
        for step in (shape.height, shape.height - 1, shape.height + 1):
            pairs = (stones << step) & (stones << 2 * step)
            found |= pairs & ((stones << 3 * step) | (stones >> step))
            pairs = (stones >> step) & (stones >> 2 * step)
            found |= pairs & ((stones >> 3 * step) | (stones << step))
    else:
        for step in (1, shape.height, shape.height - 1, shape.height + 1):
            for missing in range(shape.in_a_row):
                line = shape.cells
                for place in range(shape.in_a_row):
                    if place < missing:
                        line &= stones << (missing - place) * step
                    elif place > missing:
                        line &= stones >> (place - missing) * step
                found |= line
    return found & (shape.cells ^ mask)


def count(cells: int) -> int:
    """How many bits are set."""
    return cells.bit_count()


def columns_of(cells: int, shape: Shape) -> list[int]:
    """The columns of some cells, the most central first."""
    columns = [column for column in range(shape.columns) if cells >> column * shape.height & (1 << shape.rows) - 1]
    return sorted(columns, key=lambda column: abs(2 * column - shape.columns + 1))


def urgent_columns(own: int, mask: int, shape: Shape) -> list[int]:
    """The columns that win at once or, if there are none, those in which the other side would."""
    moves = landings(mask, shape)
    wins = winning_cells(own, mask, shape) & moves
    return columns_of(wins or winning_cells(mask ^ own, mask, shape) & moves, shape)
