"""Threats: cells that would complete a line."""

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import landings
from fourlab.game.geometry import Geometry


@inlined_kernel
def winning_cells(discs: int, mask: int, g: Geometry) -> int:
    """Return the empty cells, playable now or not, that would complete a line of the discs."""
    # 21 shifts instead of 48: the solver calls this for every child of every node.
    # Boards of fewer than four columns can be so high that three steps are more than 63 bits.
    if g.in_a_row != 4 or g.columns < 4:
        return completing_cells(discs, g) & (g.cells ^ mask)
    up = discs << 1  # of a vertical line, only the top cell can be missing
    cells = up & (up << 1) & (up << 2)
    # In the other directions, the missing cell is outside two neighbours or between two and one.
    for step in (g.height, g.height - 1, g.height + 1):
        # Example in a row, with x a disc and ? the missing cell: `xxx?` and `xx?x` have a pair to
        # the left of it, one and two steps away; the third disc is three steps to the left or one
        # to the right. The second half is the mirror image.
        pairs = (discs << step) & (discs << 2 * step)
        # Shifted discs may reach guard bits or the next column's; cells outside the board are
        # masked off at the end, and guard bits keep lines from wrapping.
        cells |= pairs & ((discs << 3 * step) | (discs >> step))
        pairs = (discs >> step) & (discs >> 2 * step)
        cells |= pairs & ((discs >> 3 * step) | (discs << step))
    return cells & (g.cells ^ mask)


@kernel
def completing_cells(discs: int, g: Geometry) -> int:
    """Return the cells, empty or not, that complete a line of the discs, for any line length.

    A cell completes a line if the other in_a_row - 1 cells of the line hold discs. All in_a_row
    places of the missing cell are tried in every direction in which a line fits on the board.
    """
    # Without these two tests, long lines would take hundreds of times as long as four in a row.
    if popcount(discs) < g.in_a_row - 1:
        return 0
    fits_up, fits_across = g.in_a_row <= g.rows, g.in_a_row <= g.columns
    cells = 0
    for step in (1, g.height, g.height - 1, g.height + 1):
        # Only horizontal lines need no rows, and only vertical ones no columns.
        if (step != g.height and not fits_up) or (step != 1 and not fits_across):
            continue
        for missing in range(g.in_a_row):
            # Shifts are limited to 63, since compiled code must not shift by 64 or more; no board
            # has a line that long.
            line = g.cells
            for place in range(g.in_a_row):
                if place < missing:
                    line &= discs << min((missing - place) * step, 63)
                elif place > missing:
                    line &= discs >> min((place - missing) * step, 63)
            cells |= line
    return cells


@inlined_kernel
def non_losing(mask: int, threats: int, g: Geometry) -> int:
    """Return the landing cells after which the opponent cannot win with its next disc.

    `threats` are the cells that complete a line of the opponent. The side to move must not be able
    to win at once.
    """
    moves = landings(mask, g)
    forced = moves & threats
    if forced:
        moves = 0 if forced & (forced - 1) else forced  # one disc cannot block two cells
    return moves & ~(threats >> 1)  # a disc below a threat lets the opponent play there
