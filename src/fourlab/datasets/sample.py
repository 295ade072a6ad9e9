"""Sampling positions for data sets: quiet ones, and those that random games pass through."""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.board import from_key, has_line, key, landing, landings
from fourlab.compiled.random import advance, below, seed_state
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of


@kernel
def quiet(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """Return bool[N]: whether neither side could win with its next disc; no game may be over."""
    marks = np.empty(len(keys), np.bool_)
    for i in range(len(keys)):
        own, mask = from_key(int(keys[i]), g)
        threats = winning_cells(own, mask, g) | winning_cells(own ^ mask, mask, g)
        marks[i] = threats & landings(mask, g) == 0
    return marks


@kernel
def sample(plies: int, games: int, g: Geometry, state: int) -> tuple[np.ndarray, int]:
    """Play the first `plies` moves of `games` random games, every other one carefully.

    Returns the keys, int64[N], of the games that are not over by then, and the new random state.
    """
    keys = np.empty(games, np.int64)
    count = 0
    for game in range(games):
        reached, state = random_position(plies, game & 1 == 1, g, state)
        if reached != 0:
            keys[count] = reached
            count += 1
    return keys[:count], state


@kernel
def random_position(plies: int, careful: bool, g: Geometry, state: int) -> tuple[int, int]:
    """Play `plies` random moves, fewer than the board has cells.

    A careful side wins at once if it can, else blocks an immediate win of the other side, else
    moves at random. Returns the key of the position, 0 if the game is over, and the new random
    state.
    """
    own, mask = 0, 0
    for _ in range(plies):
        cell = 0
        if careful:
            playable = landings(mask, g)
            # An immediate win would be played and end the game.
            if winning_cells(own, mask, g) & playable:
                return 0, state
            forced = winning_cells(own ^ mask, mask, g) & playable
            cell = forced & -forced  # the lowest bit: of two threats only one can be met
        while cell == 0:  # for a full column too: sampling again keeps the others equally likely
            state = advance(state)
            cell = landing(mask, below(g.columns, state), g)
        # `own` is relative to the side to move, so it changes sides after every disc.
        own |= cell
        mask |= cell
        if has_line(own, g.height, g.in_a_row):
            return 0, state
        own ^= mask
    return key(own, mask, g), state


def warm_up() -> None:
    """Compile the kernels by sampling two positions."""
    board = geometry_of(7, 6, 4)
    quiet(sample(4, 2, board, seed_state(0))[0], board)
