"""The weights of a network as text, for submissions."""

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.errors import UserError
from fourlab.nets.evaluator import SHIPPED
from fourlab.nets.network import MOST_NUMBERS, Layer, Network

EPSILON = 1e-5
"""Of torch's batch normalisation."""
NORM = ("weight", "bias", "running_mean", "running_var")
"""What it has learned."""
Weights = dict[str, np.ndarray]


def settings_of(net: str) -> dict[str, Any]:
    """What `templates/network.py` must be told of a network."""
    network, weights = read(net)
    layers = {part: list(_layers(part, given, weights)) for part, given in network.parts().items()}
    arrays = [array for part in layers.values() for _, each in part for array in each]
    data = b"".join(array.astype("<f4").tobytes() for array in arrays)
    return {
        "NETWORK_BOARD": (network.rules.columns, network.rules.rows, network.rules.in_a_row),
        "FEATURES": network.features,
        "LABELS": network.labels,
        "LAYERS": {part: [(kind, [array.shape for array in each]) for kind, each in given] for part, given in layers.items()},
        "WEIGHTS": base64.b64encode(zlib.compress(data, 9)).decode(),
    }


def read(net: str) -> tuple[Network, Weights]:
    """The form and the exact weights of a network, which lie beside its ONNX file (NAME or, if that is of int8, NAME-fp32)."""
    shipped = not net.endswith(".onnx") and (SHIPPED / f"{net}.onnx").is_file()
    folder, name = (SHIPPED, net) if shipped else (Path(net).parent, Path(net).stem)
    for stem in (name, f"{name}-fp32"):
        form, numbers = folder / f"{stem}.json", folder / f"{stem}.safetensors"
        if form.is_file() and numbers.is_file():
            break
    else:
        raise UserError(f"cannot export {net}: its weights, {name}.safetensors and {name}.json, are not beside it")
    try:
        about = json.loads(form.read_bytes())
        network, data = Network.read(json.dumps(about["network"])), numbers.read_bytes()
        if hashlib.sha256(data).hexdigest() != about.get("sha256"):
            raise ValueError("its checksum is wrong")
        return network, _tensors(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"cannot read the weights {numbers}: {error}") from None


def _tensors(data: bytes) -> Weights:
    """The 32-bit arrays of a safetensors file: the length of a header, the header (JSON), the numbers."""
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


def _layers(part: str, layers: list[Layer], weights: Weights) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Layers with their weights; a normalisation behind a convolution is worked into its weights."""
    taken_in = {place for place, pair in enumerate(pairwise(layers), 1) if [each.kind for each in pair] == ["conv", "batchnorm"]}
    for place, layer in enumerate(layers):
        name = f"{part}.{place}"
        match layer.kind:
            case "conv":
                yield "conv", _conv(name, f"{part}.{place + 1}" if place + 1 in taken_in else None, weights)
            case "batchnorm" if place not in taken_in:
                yield "scale", list(_gain_and_shift(name, weights))
            case "residual":
                inner = [_conv(f"{name}.conv{i}", f"{name}.norm{i}", weights) for i in (1, 2)]
                yield "residual", [*inner[0], *inner[1]]
            case "dense":
                yield "dense", [weights[f"{name}.weight"], weights[f"{name}.bias"]]
            case "relu" | "tanh":
                yield layer.kind, []


def _conv(name: str, norm: str | None, weights: Weights) -> list[np.ndarray]:
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    if norm is None:
        return [weight, bias]
    gain, shift = _gain_and_shift(norm, weights)
    return [weight * gain[:, None, None, None], bias * gain + shift]


def _gain_and_shift(norm: str, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
    """A normalisation as one product and one sum."""
    gain, shift, mean, variance = (weights[f"{norm}.{part}"].astype(np.float64) for part in NORM)
    gain = gain / np.sqrt(variance + EPSILON)
    return gain, shift - mean * gain
