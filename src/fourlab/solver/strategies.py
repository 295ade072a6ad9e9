"""Answers without search: what a side gets by a fixed strategy, however the opponent plays.

Red plays the first disc, so on a board with an even number of cells red is to move whenever an even
number of cells is empty. Near the end every safe cell is taken and somebody has to play a cell that
helps the other side: zugzwang. Both strategies below reply to every move of the opponent and decide
in advance which cells the opponent may get. If these complete none of the opponent's lines, the
strategy cannot lose.

    claimeven     yellow replies above red's disc, and gets the even cells
    odd threat    red has a threat in an odd row; it replies to every move elsewhere, until yellow
                  has nothing left but the cell below the threat

Rows count from 1 at the bottom. A column is *uneven* if it has an odd number of discs. Its next
cell, in an even row, is *contested*: either side may get it. Both strategies need an even number of
rows.

`docs/agents/perfect.md` has an example of each, and what they gain.
"""

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import has_line, landings
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry

# `kernel.negate` is 1 - answer, so NO and YES must be 0 and 1.
NO, YES, UNKNOWN = 0, 1, -1
"""Answers to "is the score of the side to move greater than alpha?"."""


@inlined_kernel
def answer_by_strategy(
    own: int, mask: int, alpha: int, left: int, threats: int, g: Geometry
) -> int:
    """Return the answer that follows if a side plays by one of the strategies, or UNKNOWN.

    The side to move must not be able to win at once, and must have two moves that do not lose at
    once. `threats` are the cells that complete a line of the opponent, `left` is the number of
    empty cells.
    """
    if g.rows & 1:
        return UNKNOWN
    yellow_to_move = left & 1
    # YES needs a score of alpha + 1 for the side to move, NO one of -alpha for its opponent.
    if yellow_to_move:
        if claimeven(own ^ mask, own, mask, alpha + 1, True, threats, g):
            return YES
        return NO if odd_threat(own ^ mask, own, mask, -alpha, False, threats, g) else UNKNOWN
    if claimeven(own, own ^ mask, mask, -alpha, False, threats, g):
        return NO
    return YES if odd_threat(own, own ^ mask, mask, alpha + 1, True, threats, g) else UNKNOWN


@inlined_kernel
def even_cells_above(cells: int, even: int, g: Geometry) -> int:
    """Return these even cells, and all even cells above them in their columns."""
    step = 2
    while step < g.rows:
        # A column has rows + 1 bits, an odd number: what leaves it lands in odd rows.
        cells |= (cells << step) & even
        step += step
    return cells


@kernel
def claimeven(
    red: int, yellow: int, mask: int, wanted: int, to_move: bool, threats: int, g: Geometry
) -> bool:
    """Return whether yellow scores at least `wanted` by taking even cells whenever it can.

    `to_move` says whether yellow is to move; if not, `threats` are the cells that complete a line
    of yellow.

    When red plays an odd cell, yellow plays the even cell above it (Allis, 1988). Red to move finds
    an even number of uneven columns, so when red takes a contested cell, yellow takes another.
    Yellow to move finds an odd number and takes a contested cell first. So yellow never has to play
    an odd cell, and it gets every empty even cell that is not contested.

    If one of yellow's cells completes a line already, the column above it is out of red's reach. In
    the end red has to play below one such cell, while all other columns with one are still empty
    from the cell below it on. With `rows - r` cells above a threat in row r, these are two for
    every even cell from the threat upwards in all those columns, but for the last two played. Half
    of them are yellow's, and so its score is the number of those even cells.
    """
    even = g.cells ^ g.odd_rows
    # Rows count from 1, so bit 0 of a column is in an odd row. A column of n discs is 2**n - 1. Its
    # XOR with itself shifted down is the topmost disc alone, which lies in an odd row if n is odd.
    uneven = (mask ^ (mask >> 1)) & g.odd_rows
    contested = uneven << 1
    wins = threats
    if to_move:
        if uneven & (uneven - 1) == 0:
            # The only one: it is yellow's.
            yellow |= contested
            mask |= contested
            contested = 0
        wins = winning_cells(yellow, mask, g)
    for_red = ((g.cells ^ mask) & g.odd_rows) | contested
    for_yellow = g.cells ^ mask ^ for_red
    wins &= for_yellow
    if wins:
        reached = even_cells_above(wins, even, g)
        if popcount(reached) < wanted:
            return False
        for_red &= ~(reached << 1)
        return not has_line(red | for_red, g.height, g.in_a_row)
    # A line that yellow has yet to build is complete at the latest when its last cell is taken; if
    # that is in row r, `rows - r` cells are left, half of them yellow's.
    rows = g.rows - 2 * (wanted - 1)
    if rows <= 0 or has_line(red | for_red, g.height, g.in_a_row):
        return False
    if wanted <= 0:
        return True
    # All cells of the rows 1 to `rows`.
    for_yellow &= (g.bottom << min(rows, g.rows)) - g.bottom
    return has_line(yellow | for_yellow, g.height, g.in_a_row)


@kernel
def odd_threat(
    red: int, yellow: int, mask: int, wanted: int, to_move: bool, threats: int, g: Geometry
) -> bool:
    """Return whether red scores at least `wanted` by waiting for yellow to play below its threat.

    `to_move` says whether red is to move; if not, `threats` are the cells that complete a line of
    red.

    Red has a threat in an odd row r > 1, whose cell cannot be played yet, and never plays the cell
    below it. Count the cells of the other columns and those of this column up to row r - 2: an odd
    number, so when all are taken, yellow is to move and has to play below the threat.

    Until then red replies above yellow's disc, as long as this column has cells to count there.
    Yellow to move finds an even number of columns in which an odd number of these cells is empty;
    when it takes the next cell of one, which is contested, red takes that of another. Red to move
    finds an odd number and takes one of them first. So yellow gets, besides contested cells, only
    odd cells of other columns, even cells of this one, and the cell below the threat. Cells above
    those even cells of other columns in which red completes a line are out of its reach.

    The `rows - r` cells above the threat are left when red wins; (rows - r - 1) / 2 are red's.
    """
    if wanted <= 0:
        # Without any line for yellow left, red does not lose.
        if not has_line(yellow | (g.cells ^ mask), g.height, g.in_a_row):
            return True
        wanted = 1
    # 1 + (rows - r - 1) / 2 >= wanted.
    highest = g.rows + 1 - 2 * wanted
    if highest < 3:
        return False
    wins = winning_cells(red, mask, g) if to_move else threats
    playable = landings(mask, g)
    waiting = wins & g.odd_rows & ((g.bottom << highest) - g.bottom) & ~playable
    if waiting == 0:
        return False
    even, empty = g.cells ^ g.odd_rows, g.cells ^ mask
    contested = playable & even
    for column in range(g.columns):
        this = ((1 << g.rows) - 1) << column * g.height
        threat = waiting & this
        if threat == 0:
            continue
        threat &= -threat  # the lowest one
        below = threat >> 1
        counted = empty & this & (below - 1)
        taken = wins & even & ~contested & ~this
        out_of_reach = even_cells_above(taken, even, g) << 1
        for_yellow = (empty & g.odd_rows & ~this & ~out_of_reach) | (counted & even) | below
        # In this column, an odd number of counted cells is empty if the next one is in an odd row.
        unsure = (contested & ~this) | (counted & playable & g.odd_rows)
        # Red to move takes the only one.
        if not to_move or unsure & (unsure - 1):
            for_yellow |= unsure
        if not has_line(yellow | for_yellow, g.height, g.in_a_row):
            return True
    return False
