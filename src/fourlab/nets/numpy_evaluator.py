"""Evaluating positions with NumPy alone, from an architecture (JSON) and weights (safetensors).

This is several times slower than onnxruntime, but runs wherever NumPy does; submissions to Kaggle
use it. Batch normalisations are folded into the convolutions before them.
"""

import hashlib
import json
from collections.abc import Iterator

import numpy as np

from fourlab.arrays import is_finite, safetensors_heads
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.network import (
    Layer,
    Network,
    Weights,
    batchnorm,
    convolution,
    folded_batchnorms,
)
from fourlab.parsing import parse_description


class NumpyEvaluator(NetworkEvaluator):
    """An evaluator whose network is computed by NumPy."""

    def __init__(self, network: Network, weights: Weights) -> None:
        super().__init__(network)
        parts = network.parts()
        # A head that follows dense layers of the body sees numbers, not a board.
        heads_see_board = parts["body"][-1].board if parts["body"] else True
        cells = self.rules.rows * self.rules.columns
        self._parts = {}
        for part, layers in parts.items():
            board = part == "body" or heads_see_board
            self._parts[part] = list(_folded(part, layers, weights, cells if board else None))
        self._around = _neighbours(self.rules.columns, self.rules.rows)

    def heads(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """Return the raw outputs by head."""
        body = self._run("body", np.ascontiguousarray(planes.transpose(0, 2, 3, 1)))
        return {head: self._run(head, body) for head in ("value", "policy") if self._parts[head]}

    def _run(self, part: str, x: np.ndarray) -> np.ndarray:
        """Apply the layers of one part.

        `x` is float32[batch, rows, columns, planes], or float32[batch, numbers] after a dense
        layer.
        """
        for kind, arrays in self._parts[part]:
            if kind == "conv":
                x = self._convolve(x, *arrays)
            elif kind == "scale":
                x = x * arrays[0] + arrays[1]
            elif kind == "residual":
                # Two convolutions with a skip connection around them (He et al., 2016).
                inner = np.maximum(self._convolve(x, *arrays[:2]), 0)
                x = np.maximum(x + self._convolve(inner, *arrays[2:]), 0)
            elif kind == "dense":
                x = x.reshape(len(x), -1) @ arrays[0] + arrays[1]
            else:
                x = np.tanh(x) if kind == "tanh" else np.maximum(x, 0)
        return x

    def _convolve(self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Convolve with 3x3 kernels and zero padding, as one matrix product.

        `weight` is float32[9 * planes, outputs]. The planes are the last axis, so that the planes
        of a neighbouring cell are copied in one piece.
        """
        batch, rows, columns, planes = x.shape
        padded = np.zeros((batch, rows + 2, columns + 2, planes), np.float32)
        padded[:, 1:-1, 1:-1] = x
        # float32[batch, rows * columns * 9, planes]: the neighbourhood of every cell, copied
        around = padded.reshape(batch, -1, planes).take(self._around, axis=1)
        product: np.ndarray = around.reshape(batch * rows * columns, 9 * planes) @ weight + bias
        return product.reshape(batch, rows, columns, -1)


def parse(architecture: bytes, weights: bytes) -> tuple[Network, Weights]:
    """Read an architecture (JSON) and its weights (safetensors).

    Raises ValueError, KeyError or TypeError if they are damaged.
    """
    about = parse_description(architecture)
    network = Network.read(json.dumps(about["network"]))
    if hashlib.sha256(weights).hexdigest() != about.get("sha256"):
        raise ValueError("its checksum is wrong")
    return network, _tensors(weights)


def _tensors(data: bytes) -> Weights:
    """Read the float32 arrays of a safetensors file."""
    heads = safetensors_heads(data, len(data))
    start = len(data) - max((head.end for head in heads.values()), default=0)
    tensors = {}
    for name, head in heads.items():
        # Integers are torch's num_batches_tracked, which inference does not need.
        if head.dtype != "F32":
            continue
        view = memoryview(data)[start + head.begin : start + head.end]
        array = np.frombuffer(view, "<f4").reshape(head.shape)
        if not is_finite(array):
            raise ValueError(f"{name} has a number that is not finite")
        tensors[name] = array
    return tensors


def _neighbours(columns: int, rows: int) -> np.ndarray:
    """Return int[rows * columns * 9]: the 3x3 neighbourhood of every cell.

    Cells are numbered row by row on a board with a margin of one cell.
    """
    # Example: on a 7x6 board the margin makes rows of 9 cells, and the neighbourhood of the top
    # left cell is 0, 1, 2, 9, 10, 11, 18, 19, 20.
    cells = np.arange((rows + 2) * (columns + 2)).reshape(rows + 2, columns + 2)
    # Shifting the window over the margin visits the kernel's cells in torch's order.
    shifted = [
        cells[down : down + rows, right : right + columns].ravel()
        for down in range(3)
        for right in range(3)
    ]
    return np.array(shifted).T.ravel()


def _folded(
    part: str, layers: list[Layer], weights: Weights, cells: int | None
) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yield the kind and arrays of every layer, with batch normalisations folded.

    `cells` is the size of the board that the part sees, None if it sees plain numbers.
    """
    folded = folded_batchnorms(layers)
    for index, layer in enumerate(layers):
        name = f"{part}.{index}"
        match layer.kind:
            case "conv":
                norm = f"{part}.{index + 1}" if index + 1 in folded else None
                yield "conv", _conv(name, norm, weights)
            case "batchnorm" if index not in folded:
                gain, shift, mean = batchnorm(weights, name)
                yield "scale", [array.astype(np.float32) for array in (gain, shift - mean * gain)]
            case "residual":
                first = _conv(f"{name}.conv1", f"{name}.norm1", weights)
                second = _conv(f"{name}.conv2", f"{name}.norm2", weights)
                yield "residual", [*first, *second]
            case "dense":
                weight = weights[f"{name}.weight"]
                if cells is not None:
                    # torch flattens [planes, cells]; here the layout is [cells, planes].
                    by_plane = weight.reshape(len(weight), -1, cells)
                    weight = by_plane.transpose(0, 2, 1).reshape(len(weight), -1)
                    cells = None
                yield "dense", [np.ascontiguousarray(weight.T), weights[f"{name}.bias"]]
            case "relu" | "tanh":
                yield layer.kind, []


def _conv(name: str, norm: str | None, weights: Weights) -> list[np.ndarray]:
    """Return the weight, float32[9 * inputs, outputs], and the bias of a convolution."""
    weight, bias = convolution(weights, name, norm)
    # torch's layout is [outputs, inputs, 3, 3]; here a neighbour's planes lie together.
    return [np.ascontiguousarray(weight.transpose(2, 3, 1, 0).reshape(-1, len(weight))), bias]
