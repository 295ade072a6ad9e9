"""Which empty cells would complete a line."""

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.game.geometry import Geometry


@inlined_kernel
def winning_cells(stones: int, mask: int, g: Geometry) -> int:
    """Return the empty cells, reachable now or not, that would complete a line of the stones."""
    if g.in_a_row != 4:
        return completing_cells(stones, g) & (g.cells ^ mask)
    up = stones << 1  # the usual game, written out: a column's missing cell is always on top
    found = up & (up << 1) & (up << 2)
    for step in (g.height, g.height - 1, g.height + 1):
        pairs = (stones << step) & (stones << 2 * step)
        found |= pairs & ((stones << 3 * step) | (stones >> step))
        pairs = (stones >> step) & (stones >> 2 * step)
        found |= pairs & ((stones >> 3 * step) | (stones << step))
    return found & (g.cells ^ mask)


@kernel
def completing_cells(stones: int, g: Geometry) -> int:
    """Return the cells, empty or not, that complete a line of any length with the stones.

    A cell completes a line if the other in_a_row - 1 cells of that line are covered; each of the in_a_row places that
    the missing cell can have is tried in each direction.
    """
    found = 0
    for step in (1, g.height, g.height - 1, g.height + 1):
        for missing in range(g.in_a_row):
            line = g.cells
            for place in range(g.in_a_row):
                if place < missing:
                    line &= stones << min((missing - place) * step, 63)
                elif place > missing:
                    line &= stones >> min((place - missing) * step, 63)
            found |= line
    return found
