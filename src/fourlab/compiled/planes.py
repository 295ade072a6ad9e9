"""Network inputs: positions as planes of numbers, from the side to move's point of view.

cells     one plane: 1 for own discs, 2 for the opponent's, 0 for empty cells (SeWell)
stones    two planes: own discs, opponent's discs
empty     three planes: own discs, opponent's discs, empty cells (Arya)
threats   six planes: own discs, opponent's discs, cells where a disc can land, empty cells that
          complete an own line, empty cells that complete an opponent's line, and the odd rows, in
          which red's threats are strong

The first row of a plane is the top row of the board.
"""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.board import landings
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

# `stones` keeps its name because saved networks contain it; `Batch.planes` calls it discs.
PLANES = {"cells": 1, "stones": 2, "empty": 3, "threats": 6}
"""The number of planes of each kind."""


def encode(own: np.ndarray, mask: np.ndarray, g: Geometry, kind: str) -> np.ndarray:
    """Return positions, int64[batch] each, as float32[batch, planes, rows, columns]."""
    planes = np.zeros((len(own), PLANES[kind], g.rows, g.columns), np.float32)
    draw_planes(own, mask, g, planes)
    return planes


@kernel
def draw_planes(own: np.ndarray, mask: np.ndarray, g: Geometry, planes: np.ndarray) -> None:
    """Fill planes of zeros; their number says of which kind they are."""
    for i in range(len(own)):
        draw(own[i], g, 1, planes[i, 0])
        if planes.shape[1] == 1:
            draw(own[i] ^ mask[i], g, 2, planes[i, 0])
            continue
        draw(own[i] ^ mask[i], g, 1, planes[i, 1])
        if planes.shape[1] == 3:
            draw(g.cells ^ mask[i], g, 1, planes[i, 2])
        # Threats are given, since a small network finds it hard to compute them. The odd rows tell
        # convolutions, which do not know where they are, in which row a threat lies.
        if planes.shape[1] == 6:
            draw(landings(mask[i], g), g, 1, planes[i, 2])
            draw(winning_cells(own[i], mask[i], g), g, 1, planes[i, 3])
            draw(winning_cells(own[i] ^ mask[i], mask[i], g), g, 1, planes[i, 4])
            draw(g.odd_rows, g, 1, planes[i, 5])


@kernel
def draw(cells: int, g: Geometry, number: int, plane: np.ndarray) -> None:
    """Write a number into some cells of a plane."""
    for column in range(g.columns):
        bits = (cells >> column * g.height) & ((1 << g.rows) - 1)
        # Bits run from the bottom up, rows of a plane from the top down.
        row = g.rows - 1
        while bits:
            if bits & 1:
                plane[row, column] = number
            bits >>= 1
            row -= 1


def warm_up() -> None:
    """Compile the kernels: encode one position in every way."""
    nothing = np.zeros(1, np.int64)
    for kind in PLANES:
        encode(nothing, nothing, geometry_of(7, 6, 4), kind)
