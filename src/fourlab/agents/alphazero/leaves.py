"""What a leaf is worth without the network: results seen on the board, and cached evaluations."""

from typing import NamedTuple

import numpy as np

from fourlab.agents.alphazero.choosing import Switches
from fourlab.agents.mcts.nodes import DRAW, LOSS, UNPROVEN, WIN
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.compiled.bits import popcount
from fourlab.compiled.board import has_line, key, landing, landings, mirror
from fourlab.compiled.threats import non_losing, winning_cells
from fourlab.game.geometry import Geometry
from fourlab.solver.kernel import solve
from fourlab.solver.table import table_for

HASH_MULTIPLIER = 0x1E3779B97F4A7C15
"""2^64 divided by the golden ratio, rounded to odd; the top bit is cleared to fit int64."""


class Cache(NamedTuple):
    """The network's earlier evaluations by position; a new entry replaces an old one."""

    # No position has key 0: even an empty column has a bit (bitboard.key).
    keys: np.ndarray  # int64[slots], a power of two; 0 marks an empty slot
    answers: np.ndarray  # float32[slots, columns + 1]: policy logits, value
    table: np.ndarray  # int64[words]: the solver's transposition table (solver/table.py)
    stop: np.ndarray  # uint8[1]: 1 would end the solver; never set
    nodes: np.ndarray  # int64[1]: nodes that the solver has searched


def new_cache(slots: int, g: Geometry, words: int = 64) -> Cache:
    """Return an empty cache; `slots` and the least `words` of the solver are powers of two."""
    return Cache(
        np.zeros(slots, np.int64),
        np.zeros((slots, g.columns + 1), np.float32),
        table_for(g, words),
        np.zeros(1, np.uint8),
        np.zeros(1, np.int64),
    )


@inlined_kernel
def slot_of(name: int, cache: Cache) -> int:
    """Return the only slot that may hold a key."""
    # Only bits 20 to 63 of the product count, so overflow in compiled code changes nothing.
    return ((name * HASH_MULTIPLIER) >> 20) & (len(cache.keys) - 1)


@inlined_kernel
def canonical_key(own: int, mask: int, g: Geometry) -> tuple[int, bool]:
    """Return the smaller of a position's key and its mirror image's, and whether it is the image's.

    The network is asked about the position with the smaller key, so a position and its mirror
    image share an evaluation.
    """
    # A key has its bits column by column, so `mirror` turns it into the key of the mirror image.
    here = key(own, mask, g)
    image = mirror(key(own, mask, g), g)
    return min(here, image), image < here


@kernel
def immediate_result(own: int, mask: int, g: Geometry, s: Switches) -> tuple[int, int]:
    """Return the result that can be read off the board, and the cells that do not lose at once.

    The result is WIN, DRAW or LOSS for the side to move, or UNPROVEN. With `proving` a move that
    wins at once counts as WIN; without it only finished games have a result.
    """
    playable = landings(mask, g)
    if s.proving:
        if winning_cells(own, mask, g) & playable:
            return WIN, playable
        if playable == 0:
            return DRAW, 0
        # Without a safe cell every move lets the opponent win with its next disc.
        safe = non_losing(mask, winning_cells(own ^ mask, mask, g), g)
        return (UNPROVEN if safe else LOSS), safe
    if has_line(own ^ mask, g.height, g.in_a_row):
        return LOSS, 0
    return (UNPROVEN if playable else DRAW), playable


@kernel
def solve_leaf(own: int, mask: int, g: Geometry, s: Switches, cache: Cache) -> int:
    """Return WIN, DRAW or LOSS for the side to move, or UNPROVEN if that takes too many nodes.

    The side to move must not be able to win at once. Leaves of one search share the table.
    """
    left = g.columns * g.rows - popcount(mask)
    allowed = cache.nodes[0] + s.solver_nodes
    lower, upper = solve(
        own,
        mask,
        -(left >> 1),
        (left + 1) >> 1,
        (-1, 1),
        g,
        cache.table,
        np.zeros(0, np.int64),  # a single thread searches
        allowed,
        cache.stop,
        cache.nodes,
    )
    if lower > 0:
        return WIN
    if upper < 0:
        return LOSS
    return DRAW if lower == upper else UNPROVEN


@kernel
def solve_ending(own: int, mask: int, g: Geometry) -> int:
    """Return the exact value for the side to move, 1, 0 or -1, by full search of the last cells."""
    playable = landings(mask, g)
    if playable == 0:
        return 0
    if winning_cells(own, mask, g) & playable:
        return 1
    # No disc played below wins, since a win has just been ruled out; so no test for lines is
    # needed.
    best = -1
    for column in range(g.columns):
        cell = landing(mask, column, g)
        if cell:
            best = max(best, -solve_ending(own ^ mask, mask | cell, g))
            if best == 1:
                break
    return best
