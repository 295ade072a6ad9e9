"""Positions as networks see them: planes of numbers, the top row first, seen by the side to move.

cells     one plane: 1 the side to move's discs, 2 the other's, 0 empty (document 003)
stones    two planes: own discs, the other's
empty     three planes: own discs, the other's, empty cells (document 004)
threats   six planes: own discs, the other's, where a disc can land, the empty cells that would complete a line of one's
          own, those that would complete one of the other's, and the rows counted odd, on which red's threats are good
"""

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.board import landings
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

PLANES = {"cells": 1, "stones": 2, "empty": 3, "threats": 6}
"""How many planes each kind has."""


def encode(own: np.ndarray, mask: np.ndarray, g: Geometry, kind: str) -> np.ndarray:
    """Draw float32[batch, planes, rows, columns] of positions given as int64[batch] each."""
    planes = np.zeros((len(own), PLANES[kind], g.rows, g.columns), np.float32)
    if kind == "cells":
        draw_cells(own, mask, g, planes)
    else:
        draw_planes(own, mask, g, planes)
    return planes


@kernel
def draw_cells(own: np.ndarray, mask: np.ndarray, g: Geometry, planes: np.ndarray) -> None:
    """Fill one plane: 1 for own discs, 2 for the other's."""
    for i in range(len(own)):
        draw(own[i], g, 1, planes[i, 0])
        draw(own[i] ^ mask[i], g, 2, planes[i, 0])


@kernel
def draw_planes(own: np.ndarray, mask: np.ndarray, g: Geometry, planes: np.ndarray) -> None:
    """Fill two planes with the discs, and one more with the empty cells or four with what they mean."""
    for i in range(len(own)):
        draw(own[i], g, 1, planes[i, 0])
        draw(own[i] ^ mask[i], g, 1, planes[i, 1])
        if planes.shape[1] == 3:
            draw(g.cells ^ mask[i], g, 1, planes[i, 2])
        if planes.shape[1] == 6:
            draw(landings(mask[i], g), g, 1, planes[i, 2])
            draw(winning_cells(own[i], mask[i], g), g, 1, planes[i, 3])
            draw(winning_cells(own[i] ^ mask[i], mask[i], g), g, 1, planes[i, 4])
            draw(g.odd_rows, g, 1, planes[i, 5])


@kernel
def draw(cells: int, g: Geometry, ink: int, plane: np.ndarray) -> None:
    """Write a number into the cells of a plane."""
    for column in range(g.columns):
        bits = (cells >> column * g.height) & ((1 << g.rows) - 1)
        row = g.rows - 1
        while bits:
            if bits & 1:
                plane[row, column] = ink
            bits >>= 1
            row -= 1


def warm_up() -> None:
    """Encode one position in every way."""
    nothing = np.zeros(1, np.int64)
    for kind in PLANES:
        encode(nothing, nothing, geometry_of(7, 6, 4), kind)
