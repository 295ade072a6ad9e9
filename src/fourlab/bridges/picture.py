"""What an environment shows to whoever asks it to: a position as text and as pixels."""

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fourlab.errors import UserError
from fourlab.game.position import Position

Mode = Literal["ansi", "rgb_array"]
MODES: list[Mode] = ["ansi", "rgb_array"]
CELL, DISC = 60, 25
"""The size of a cell and the radius of a disc, as in the SVG."""
_BOARD = (43, 95, 173)
_HOLES = ((238, 242, 247), (216, 57, 51), (242, 185, 13))  # empty, red, yellow
_RING, _RIM = (138, 101, 0), (17, 17, 17)


def check_mode(mode: str | None) -> None:
    """Refuse a render mode that is none."""
    if mode not in (None, *MODES):
        raise UserError(f"render modes are {' and '.join(MODES)}, not {mode!r}")


def render(position: Position, mode: Mode | None) -> str | NDArray[np.uint8] | None:
    """Show the position in the way that the mode says; nothing without one."""
    if mode is None:
        return None
    return drawing(position) if mode == "ansi" else picture(position)


def drawing(position: Position) -> str:
    """Draw the board in letters; the last line says who is to move, or how the game ended."""
    *board, turn = str(position).splitlines()
    outcome = position.outcome()
    return "\n".join([*board, turn if outcome is None else str(outcome)])


def picture(position: Position) -> NDArray[np.uint8]:
    """Draw the board, [rows * CELL, columns * CELL, 3]; yellow discs carry a ring and winning cells a dark rim."""
    won, top = set(position.winning_cells()), position.rules.rows - 1
    rows = [
        np.concatenate([_tile(cell, (column, top - below) in won) for column, cell in enumerate(cells)], axis=1)
        for below, cells in enumerate(position.grid())
    ]
    return np.concatenate(rows)


@cache
def _tile(cell: int, won: bool) -> NDArray[np.uint8]:
    """One cell; circles fade over the width of a pixel."""
    y, x = np.mgrid[:CELL, :CELL] - (CELL - 1) / 2
    distance = np.hypot(x, y)[..., None]
    tile = np.full((CELL, CELL, 3), _BOARD, float)
    circles = [(_RIM, 0, DISC + 3)] * won + [(_HOLES[cell], 0, DISC)] + [(_RING, DISC - 10, DISC - 7)] * (cell == 2)
    for colour, inner, outer in circles:
        covered = np.clip(outer + 0.5 - distance, 0, 1) * np.clip(distance - inner + 0.5, 0, 1)
        tile += covered * (np.array(colour) - tile)
    return tile.round().astype(np.uint8)
