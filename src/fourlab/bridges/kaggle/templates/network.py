"""A network, its weights written as text, and how it judges positions; all with NumPy."""

import base64
import zlib
from typing import Any

from fourlab.bridges.kaggle.templates.board import Shape, landings, shape_of, winning_cells

try:
    import numpy as np
except Exception:  # a broken installation can raise anything
    np = None  # type: ignore[assignment]

NETWORK_BOARD = (7, 6, 4)
"""The board that the network knows: columns, rows, in a row."""
FEATURES = "threats"
"""What it sees: cells (1 own, 2 the other's), stones (two planes), empty (a third one) or threats (six planes)."""
LABELS = "signed"
"""What its value means: signed, -1 to +1; unit, 0 to 1; results, the chances to win, draw and lose before their softmax."""
LAYERS: dict[str, list[tuple[str, list[tuple[int, ...]]]]] = {"body": [], "value": [], "policy": []}
"""The layers of the body and of the two heads, each with the shapes of its weights."""
WEIGHTS = ""
"""All weights in that order, as 32-bit numbers; packed."""


def unpack() -> dict[str, list[tuple[str, list[Any]]]]:
    """The layers with their weights."""
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(WEIGHTS)), "<f4")
    layers: dict[str, list[tuple[str, list[Any]]]] = {}
    for part in ("body", "value", "policy"):
        layers[part] = []
        for kind, shapes in LAYERS[part]:
            arrays = []
            for shape in shapes:
                size = int(np.prod(shape))
                arrays.append(numbers[:size].reshape(shape))
                numbers = numbers[size:]
            layers[part].append((kind, arrays))
    return layers


def neighbourhoods(columns: int, rows: int) -> Any:
    """For each of the nine places around every cell, its number on a board with a margin of one cell; int[9, rows * columns]."""
    places = np.arange((rows + 2) * (columns + 2)).reshape(rows + 2, columns + 2)
    return np.array([places[down : down + rows, right : right + columns].ravel() for down in range(3) for right in range(3)])


NET = unpack() if np is not None and WEIGHTS else None
NET_SHAPE = shape_of(*NETWORK_BOARD)
AROUND = None if NET is None else neighbourhoods(NET_SHAPE.columns, NET_SHAPE.rows)
CELLS = [column * NET_SHAPE.height + row for row in reversed(range(NET_SHAPE.rows)) for column in range(NET_SHAPE.columns)]
"""The bits of the cells, row by row from the top."""


def knows(shape: Shape) -> bool:
    """Whether the network can judge positions on this board."""
    return NET is not None and shape == NET_SHAPE


def convolve(seen: Any, weight: Any, bias: Any) -> Any:
    """A 3x3 convolution of float32[batch, planes, rows, columns], the board kept at its size."""
    batch, planes, rows, columns = seen.shape
    wide = np.zeros((batch, planes, rows + 2, columns + 2), np.float32)
    wide[:, :, 1:-1, 1:-1] = seen
    around = wide.reshape(batch, planes, -1)[:, :, AROUND].reshape(batch, planes * 9, rows * columns)
    return (weight.reshape(len(weight), -1) @ around + bias[:, None]).reshape(batch, len(weight), rows, columns)


def run(layers: list[tuple[str, list[Any]]], seen: Any) -> Any:
    """What layers make of what they see."""
    for kind, arrays in layers:
        if kind == "conv":
            seen = convolve(seen, *arrays)
        elif kind == "scale":
            seen = seen * arrays[0][:, None, None] + arrays[1][:, None, None]
        elif kind == "residual":
            inner = np.maximum(convolve(seen, *arrays[:2]), 0)
            seen = np.maximum(seen + convolve(inner, *arrays[2:]), 0)
        elif kind == "dense":
            seen = seen.reshape(len(seen), -1) @ arrays[0].T + arrays[1]
        else:
            seen = np.tanh(seen) if kind == "tanh" else np.maximum(seen, 0)
    return seen


def planes_of(positions: list[tuple[int, int]]) -> Any:
    """What the network sees of positions, each the discs of the side to move and all discs."""
    bits = []
    for own, mask in positions:
        planes = [own, mask ^ own]
        if FEATURES == "empty":
            planes.append(NET_SHAPE.cells ^ mask)
        elif FEATURES == "threats":
            odd_rows = NET_SHAPE.bottom * sum(1 << row for row in range(0, NET_SHAPE.rows, 2))
            wins, threats = winning_cells(own, mask, NET_SHAPE), winning_cells(mask ^ own, mask, NET_SHAPE)
            planes += [landings(mask, NET_SHAPE), wins, threats, odd_rows]
        bits.append(planes)
    planes = (np.array(bits)[:, :, None] >> np.array(CELLS)) & 1
    if FEATURES == "cells":
        planes = planes[:, :1] + 2 * planes[:, 1:]
    return planes.reshape(len(bits), -1, NET_SHAPE.rows, NET_SHAPE.columns).astype(np.float32)


def judge(positions: list[tuple[int, int]]) -> tuple[Any, Any]:
    """The values, -1 to +1 for the side to move, and a number for every column; None for a head that there is not."""
    assert NET is not None
    seen = run(NET["body"], planes_of(positions))
    policy = run(NET["policy"], seen) if NET["policy"] else None
    if not NET["value"]:
        return None, policy
    value = run(NET["value"], seen)
    if LABELS == "results":
        chances = np.exp(value - value.max(axis=1, keepdims=True))
        return (chances[:, 0] - chances[:, 2]) / chances.sum(axis=1), policy
    return (value[:, 0] if LABELS == "signed" else 2 * value[:, 0] - 1).clip(-1, 1), policy
