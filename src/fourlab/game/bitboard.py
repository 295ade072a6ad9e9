"""What Connect Four is, on plain integers: where a disc lands, what a line is, what a key is.

These functions are ordinary Python, so that `Position` can ask them without loading a compiler; `board.py` compiles
the very same functions for the searches. Each stands alone (calls no other) so that both uses stay possible.

The bits of a 7x6 board. A position is two integers: `own`, the discs of the side to move, and `mask`, all discs.

      .  .  .  .  .  .  .      the guard row is never covered, so a shifted
      6 13 20 27 34 41 48      line cannot run from one column into the next
    +---------------------+
    | 5 12 19 26 33 40 47 |    one step up         is + 1
    | 4 11 18 25 32 39 46 |    one step right      is + 7 (the height)
    | 3 10 17 24 31 38 45 |    up and to the right is + 8
    | 2  9 16 23 30 37 44 |    down and right      is + 6
    | 1  8 15 22 29 36 43 |
    | 0  7 14 21 28 35 42 |    column 4 for people is column 3 here: bits 21 to 26
    +---------------------+

Example: after 4, 4, 5 the mask holds bits 21, 22 and 28; yellow is to move and owns bit 22.
"""

from fourlab.game.geometry import Geometry


def has_line(stones: int, height: int, in_a_row: int) -> bool:
    """Tell whether the stones hold a winning line: in_a_row of them side by side in one of four directions.

    `run` keeps the stones that begin a run of `length`; shifting it onto itself doubles the length. With four in a row
    that is two shifts a direction: pairs, then pairs of pairs. A shift of 64 or more is undefined in machine code, and
    lines too long for a narrow board would ask for one, hence the `min`.
    """
    for step in (1, height, height - 1, height + 1):  # up, right, down-right, up-right
        run, length = stones & (stones >> step), 2
        while 2 * length < in_a_row:
            run &= run >> min(length * step, 63)
            length *= 2
        if run & (run >> min((in_a_row - length) * step, 63)):
            return True
    return False


def line_cells(stones: int, height: int, in_a_row: int) -> int:
    """Collect every cell of every winning line that the stones hold."""
    cells = 0
    for step in (1, height, height - 1, height + 1):
        run = stones
        for _ in range(in_a_row - 1):
            run &= run >> step
        for distance in range(in_a_row):
            cells |= run << distance * step
    return cells


def landing(mask: int, column: int, g: Geometry) -> int:
    """Return the cell where a disc dropped into the column comes to rest, 0 if the column is full.

    Adding the column's lowest bit to its filled bits carries up to the first empty cell.
    """
    return (mask + g.bottom) & (((1 << g.rows) - 1) << column * g.height)


def landings(mask: int, g: Geometry) -> int:
    """Return the landing cells of all columns at once; full columns have none."""
    return (mask + g.bottom) & g.cells


def key(own: int, mask: int, g: Geometry) -> int:
    """Number a position: in each column a 1 above the topmost disc, and below it the side to move's discs.

    Different positions have different keys, and `from_key` reads the position back.
    """
    return own + mask + g.bottom


def from_key(key: int, g: Geometry) -> tuple[int, int]:
    """Read `own` and `mask` back from a key."""
    own, mask = 0, 0
    for column in range(g.columns):
        bits = (key >> column * g.height) & ((1 << g.height) - 1)
        top = 1
        while 2 * top <= bits:
            top *= 2
        own |= (bits - top) << column * g.height
        mask |= (top - 1) << column * g.height
    return own, mask


def mirror(stones: int, g: Geometry) -> int:
    """Exchange left and right."""
    mirrored = 0
    for column in range(g.columns):
        bits = (stones >> column * g.height) & ((1 << g.height) - 1)
        mirrored |= bits << (g.columns - 1 - column) * g.height
    return mirrored
