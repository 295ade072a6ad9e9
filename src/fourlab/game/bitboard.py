"""The rules of Connect Four on bitboards: landing cells, winning lines and position keys.

These functions are plain Python, so `Position` can call them without loading a compiler, and
`compiled/board.py` compiles the same functions for the searches. None of them calls another, which
keeps both uses possible.

A position is two integers: `own`, the discs of the side to move, and `mask`, all discs. This is the
bit layout of a 7x6 board:

      .  .  .  .  .  .  .      the guard row is always empty, so a shifted
      6 13 20 27 34 41 48      line cannot wrap from one column into the next
    +---------------------+
    | 5 12 19 26 33 40 47 |    one step up         is + 1
    | 4 11 18 25 32 39 46 |    one step right      is + 7 (the height)
    | 3 10 17 24 31 38 45 |    up and to the right is + 8
    | 2  9 16 23 30 37 44 |    down and right      is + 6
    | 1  8 15 22 29 36 43 |
    | 0  7 14 21 28 35 42 |    the fourth column is column 3: bits 21 to 26
    +---------------------+

Example: after the moves 4, 4, 5 (counted from 1, as players do), `mask` has bits 21, 22 and 28 set.
Yellow is to move and owns bit 22.
"""

from fourlab.game.geometry import Geometry


def has_line(discs: int, height: int, in_a_row: int) -> bool:
    """Return whether the discs contain a line of `in_a_row` in any of the four directions.

    `run` marks the discs that start a run of `length` discs. Intersecting it with itself, shifted
    by `length` cells, doubles the length. Four in a row takes two shifts per direction: pairs, then
    pairs of pairs.
    """
    # Example: four in the bottom row are bits 0, 7, 14 and 21, and the step to the right is 7.
    # Pairs start at 0, 7 and 14. A pair that starts 14 bits after another makes four, and only bit
    # 0 has one.
    # Compiled code must not shift by 64 or more, which a line longer than a narrow board, or the
    # diagonal of a column of 62 cells, would require.
    for step in (1, height, height - 1, min(height + 1, 63)):  # up, right, down-right, up-right
        run, length = discs & (discs >> step), 2
        while 2 * length < in_a_row:
            run &= run >> min(length * step, 63)
            length *= 2
        # The last shift may be shorter than the run: five in a row are two runs of four, one cell
        # apart.
        if run & (run >> min((in_a_row - length) * step, 63)):
            return True
    return False


def line_cells(discs: int, height: int, in_a_row: int) -> int:
    """Return all cells of all winning lines that the discs contain."""
    cells = 0
    for step in (1, height, height - 1, height + 1):
        # Not doubled as in `has_line`: lines are located once, in a finished game.
        run = discs
        for _ in range(in_a_row - 1):
            # Not `&=`, which would change an array of the caller's.
            run = run & (run >> step)
        for distance in range(in_a_row):
            cells |= run << distance * step
    return cells


def landing(mask: int, column: int, g: Geometry) -> int:
    """Return the cell where a disc dropped into the column lands, or 0 if the column is full.

    A column is filled from below, so adding its lowest bit carries up to the first empty cell.
    """
    # Example: column 3 holds two discs, bits 21 and 22. Adding bit 21 gives bit 23, the third cell.
    # In a full column the carry ends in the guard bit, which the second operand does not contain.
    # Columns do not disturb each other, since a carry never leaves the guard bit.
    return (mask + g.bottom) & (((1 << g.rows) - 1) << column * g.height)


def landings(mask: int, g: Geometry) -> int:
    """Return the landing cells of all columns at once; full columns have none."""
    return (mask + g.bottom) & g.cells


def key(own: int, mask: int, g: Geometry) -> int:
    """Return the unique key of a position; `from_key` is the inverse.

    In each column the highest set bit marks the first empty cell, and the bits below it are the
    discs of the side to move.
    """
    # John Tromp's encoding, which Pascal Pons's solver also uses. Example: yellow is to move after
    # 4, 4, 5. Column 3 has mask 0b011 and own 0b010; their sum plus the bottom bit is 0b110. The
    # marker is bit 2, the third cell, and below it 0b10 is yellow's disc. An empty column is 0b1.
    return own + mask + g.bottom


def from_key(key: int, g: Geometry) -> tuple[int, int]:
    """Return `own` and `mask` of the position with this key."""
    own, mask = 0, 0
    for column in range(g.columns):
        bits = (key >> column * g.height) & ((1 << g.height) - 1)
        top = 1  # the marker bit, just above the topmost disc
        while top <= bits >> 1:  # 2 * top could need 64 bits
            top *= 2
        own |= (bits - top) << column * g.height
        mask |= (top - 1) << column * g.height
    return own, mask


def mirror(discs: int, g: Geometry) -> int:
    """Return the discs with left and right exchanged."""
    mirrored = 0
    for column in range(g.columns):
        bits = (discs >> column * g.height) & ((1 << g.height) - 1)
        mirrored |= bits << (g.columns - 1 - column) * g.height
    return mirrored
