"""Positions for data sets: the quiet ones, and those that random games pass through."""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.board import from_key, has_line, key, landing, landings
from fourlab.compiled.random import advance, below, seed_state
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of


@kernel
def quiet(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """Mark the positions in which neither side could win with its next disc; no game must be over."""
    marks = np.empty(len(keys), np.bool_)
    for i in range(len(keys)):
        own, mask = from_key(int(keys[i]), g)
        threats = winning_cells(own, mask, g) | winning_cells(own ^ mask, mask, g)
        marks[i] = threats & landings(mask, g) == 0
    return marks


@kernel
def sample(plies: int, games: int, g: Geometry, state: int) -> tuple[np.ndarray, int]:
    """Play the beginnings of many games, every other one carefully; returns the keys of those that go on, and the state."""
    found, count = np.empty(games, np.int64), 0
    for game in range(games):
        reached, state = random_position(plies, game & 1 == 1, g, state)
        if reached != 0:
            found[count] = reached
            count += 1
    return found[:count], state


@kernel
def random_position(plies: int, careful: bool, g: Geometry, state: int) -> tuple[int, int]:
    """Play so many discs, fewer than the board has cells; returns the key then, 0 if the game is over, and the state.

    Columns are drawn by lot; a careful side wins at once if it can, else prevents the other from doing so.
    """
    own, mask = 0, 0
    for _ in range(plies):
        cell = 0
        if careful:
            playable = landings(mask, g)
            if winning_cells(own, mask, g) & playable:
                return 0, state
            forced = winning_cells(own ^ mask, mask, g) & playable
            cell = forced & -forced  # the lowest of them: two threats cannot both be met
        while cell == 0:  # a full column: drawing again keeps the open ones equally likely
            state = advance(state)
            cell = landing(mask, below(g.columns, state), g)
        own |= cell
        mask |= cell
        if has_line(own, g.height, g.in_a_row):
            return 0, state
        own ^= mask
    return key(own, mask, g), state


def warm_up() -> None:
    """Sample two positions."""
    board = geometry_of(7, 6, 4)
    quiet(sample(4, 2, board, seed_state(0))[0], board)
