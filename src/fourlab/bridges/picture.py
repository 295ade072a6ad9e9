"""Render a position as text and as pixels, for the environments."""

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fourlab.errors import UserError
from fourlab.game.position import Position

Mode = Literal["ansi", "rgb_array"]
MODES: list[Mode] = ["ansi", "rgb_array"]
CELL, DISC = 60, 25
"""The width of a cell and the radius of a disc in pixels, as in the SVG."""
_BOARD = (43, 95, 173)
_HOLES = ((238, 242, 247), (216, 57, 51), (242, 185, 13))  # empty, red, yellow
_RING, _RIM = (138, 101, 0), (17, 17, 17)


def check_mode(mode: str | None) -> None:
    """Raise UserError for an unknown render mode."""
    if mode not in (None, *MODES):
        raise UserError(f"render modes are {' and '.join(MODES)}, not {mode!r}")


def render(position: Position, mode: Mode | None) -> str | NDArray[np.uint8] | None:
    """Render a position in a mode; return None without one."""
    if mode is None:
        return None
    return drawing(position) if mode == "ansi" else picture(position)


def drawing(position: Position) -> str:
    """Draw the board as text; the last line names the side to move or the outcome."""
    *board, turn = str(position).splitlines()
    outcome = position.outcome()
    return "\n".join([*board, turn if outcome is None else str(outcome)])


def picture(position: Position) -> NDArray[np.uint8]:
    """Draw the board as uint8[rows * CELL, columns * CELL, 3].

    Yellow discs have a ring and winning cells a dark rim, so that colour is never the only cue.
    """
    winning = set(position.winning_cells())
    rows = []
    for from_top, cells in enumerate(position.grid()):
        row = position.rules.rows - 1 - from_top
        tiles = [_tile(cell, (column, row) in winning) for column, cell in enumerate(cells)]
        rows.append(np.concatenate(tiles, axis=1))
    return np.concatenate(rows)


@cache
def _tile(cell: int, won: bool) -> NDArray[np.uint8]:
    """Draw one cell; the edges of circles are antialiased over one pixel."""
    # Distances of pixels from the centre of the tile: float[CELL, CELL, 1].
    y, x = np.mgrid[:CELL, :CELL] - (CELL - 1) / 2
    distance = np.hypot(x, y)[..., None]
    tile = np.full((CELL, CELL, 3), _BOARD, float)
    # (colour, inner radius, outer radius), painted one over the other.
    circles = (
        [(_RIM, 0, DISC + 3)] * won
        + [(_HOLES[cell], 0, DISC)]
        + [(_RING, DISC - 10, DISC - 7)] * (cell == 2)
    )
    for colour, inner, outer in circles:
        # The share of each pixel that the ring covers, 0 to 1.
        covered = np.clip(outer + 0.5 - distance, 0, 1) * np.clip(distance - inner + 0.5, 0, 1)
        tile += covered * (np.array(colour) - tile)
    return tile.round().astype(np.uint8)
