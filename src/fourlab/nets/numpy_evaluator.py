"""Evaluating positions with NumPy alone, from a network's form (JSON) and its weights (safetensors).

It is several times slower than onnxruntime, but runs wherever NumPy does; submissions to Kaggle use
it. Batch normalisations are worked into the convolutions before them.
"""

import hashlib
import json
import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.network import MOST_NUMBERS, Layer, Network

EPSILON = 1e-5
"""Added to the variance by torch's batch normalisation."""
NORM = ("weight", "bias", "running_mean", "running_var")
"""The arrays of a batch normalisation."""
Weights = dict[str, np.ndarray]
"""float32 arrays by torch's names, such as body.0.weight."""


class NumpyEvaluator(NetworkEvaluator):
    """An evaluator whose network is computed by NumPy."""

    def __init__(self, network: Network, weights: Weights) -> None:
        super().__init__(network)
        parts = network.parts()
        heads_see_board = parts["body"][-1].board if parts["body"] else True
        cells = self.rules.rows * self.rules.columns
        self._parts = {}
        for part, layers in parts.items():
            board = part == "body" or heads_see_board
            self._parts[part] = list(_folded(part, layers, weights, cells if board else None))
        self._around = _neighbours(self.rules.columns, self.rules.rows)

    def heads(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """Return the network's own answers, by head."""
        body = self._run("body", np.ascontiguousarray(planes.transpose(0, 2, 3, 1)))
        return {head: self._run(head, body) for head in ("value", "policy") if self._parts[head]}

    def _run(self, part: str, seen: np.ndarray) -> np.ndarray:
        """Apply the layers of one part to float32[batch, rows, columns, planes] or float32[batch, numbers]."""
        for kind, arrays in self._parts[part]:
            if kind == "conv":
                seen = self._convolve(seen, *arrays)
            elif kind == "scale":
                seen = seen * arrays[0] + arrays[1]
            elif kind == "residual":
                inner = np.maximum(self._convolve(seen, *arrays[:2]), 0)
                seen = np.maximum(seen + self._convolve(inner, *arrays[2:]), 0)
            elif kind == "dense":
                seen = seen.reshape(len(seen), -1) @ arrays[0] + arrays[1]
            else:
                seen = np.tanh(seen) if kind == "tanh" else np.maximum(seen, 0)
        return seen

    def _convolve(self, seen: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Convolve with 3x3 kernels, the board kept at its size, as one matrix product.

        `weight` is float32[9 * planes, outputs]. The planes of a cell lie together, so that a
        neighbour is copied in one piece.
        """
        batch, rows, columns, planes = seen.shape
        wide = np.zeros((batch, rows + 2, columns + 2, planes), np.float32)
        wide[:, 1:-1, 1:-1] = seen
        around = wide.reshape(batch, -1, planes).take(self._around, axis=1)
        product: np.ndarray = around.reshape(batch * rows * columns, 9 * planes) @ weight + bias
        return product.reshape(batch, rows, columns, -1)


def parse(form: bytes, numbers: bytes) -> tuple[Network, Weights]:
    """Read a network's form and weights; raises ValueError, KeyError or TypeError if they are damaged."""
    about = json.loads(form)
    network = Network.read(json.dumps(about["network"]))
    if hashlib.sha256(numbers).hexdigest() != about.get("sha256"):
        raise ValueError("its checksum is wrong")
    return network, _tensors(numbers)


def _tensors(data: bytes) -> Weights:
    """Read the float32 arrays of a safetensors file: the length of a header, the header (JSON), the numbers."""
    start = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, tensor in json.loads(data[8:start]).items():
        if name == "__metadata__" or tensor["dtype"] != "F32":
            continue
        begin, end = tensor["data_offsets"]
        if 4 * math.prod(tensor["shape"]) != end - begin or end > len(data) - start or end > 4 * MOST_NUMBERS:
            raise ValueError(f"{name} has another size than it says")
        found[name] = np.frombuffer(data[start + begin : start + end], "<f4").reshape(tensor["shape"])
        if not np.isfinite(found[name]).all():
            raise ValueError(f"{name} has a number that is not finite")
    return found


def _neighbours(columns: int, rows: int) -> np.ndarray:
    """Return int[rows * columns * 9]: the nine cells around every cell, as numbers on a board with a margin of one cell."""
    cells = np.arange((rows + 2) * (columns + 2)).reshape(rows + 2, columns + 2)
    shifted = [cells[down : down + rows, right : right + columns].ravel() for down in range(3) for right in range(3)]
    return np.array(shifted).T.ravel()


def _folded(part: str, layers: list[Layer], weights: Weights, cells: int | None) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yield the layers with their weights; a normalisation behind a convolution is worked into its weights.

    `cells` is the size of the board that the part sees, None if it sees plain numbers.
    """
    kinds = [layer.kind for layer in layers]
    folded = {place for place, pair in enumerate(pairwise(kinds), 1) if pair == ("conv", "batchnorm")}
    for place, layer in enumerate(layers):
        name = f"{part}.{place}"
        match layer.kind:
            case "conv":
                norm = f"{part}.{place + 1}" if place + 1 in folded else None
                yield "conv", _conv(name, norm, weights)
            case "batchnorm" if place not in folded:
                yield "scale", [array.astype(np.float32) for array in _gain_and_shift(name, weights)]
            case "residual":
                first = _conv(f"{name}.conv1", f"{name}.norm1", weights)
                second = _conv(f"{name}.conv2", f"{name}.norm2", weights)
                yield "residual", [*first, *second]
            case "dense":
                weight = weights[f"{name}.weight"]
                if cells is not None:  # torch flattens a board plane by plane; here the planes of a cell lie together
                    weight = weight.reshape(len(weight), -1, cells).transpose(0, 2, 1).reshape(len(weight), -1)
                    cells = None
                yield "dense", [np.ascontiguousarray(weight.T), weights[f"{name}.bias"]]
            case "relu" | "tanh":
                yield layer.kind, []


def _conv(name: str, norm: str | None, weights: Weights) -> list[np.ndarray]:
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    if norm is not None:
        gain, shift = _gain_and_shift(norm, weights)
        weight = weight * gain[:, None, None, None]
        bias = bias * gain + shift
    flat = weight.transpose(2, 3, 1, 0).reshape(-1, len(weight))  # float32[9 * inputs, outputs]
    return [np.ascontiguousarray(flat, np.float32), bias.astype(np.float32)]


def _gain_and_shift(norm: str, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
    """Return a normalisation as one product and one sum."""
    gain, shift, mean, variance = (weights[f"{norm}.{part}"].astype(np.float64) for part in NORM)
    gain = gain / np.sqrt(variance + EPSILON)
    return gain, shift - mean * gain
