"""Network architectures, from which both the torch modules and the ONNX graph are built.

A network is a body and one or two heads. Each of them is a list of layers:

    conv 64        a 3x3 convolution to 64 planes with zero padding, so the board keeps its size
    batchnorm      batch normalisation
    relu           max(x, 0)
    residual 64    relu(x + batchnorm(conv(relu(batchnorm(conv(x)))))), 64 planes throughout
    dense 100      a fully connected layer with 100 outputs
    tanh           tanh(x), -1 to +1

SeWell's value network, for example, has the features "cells", no body, and the value head
("dense 100", "relu", "dense 1").
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from fourlab.errors import UserError
from fourlab.game.rules import Rules
from fourlab.parsing import parse_description

Purpose = Literal["value", "q", "policy-value"]
Labels = Literal["signed", "unit", "results"]
HEADS = {"value": {"value"}, "q": {"policy"}, "policy-value": {"value", "policy"}}
LAYERS = {
    "conv": True,
    "batchnorm": False,
    "relu": False,
    "residual": True,
    "dense": True,
    "tanh": False,
}
"""The kinds of layers, and whether they are written with a number."""
MAX_WEIGHTS = 1 << 28
"""Weights beyond a gigabyte are a mistake or an attack."""
MAX_LAYERS = 500
MAX_NUMBERS = 1 << 18
"""Most numbers between two layers for one position; 4,096 planes on a board of 8x8."""
MAX_DESCRIPTION = 1 << 18
"""Most bytes of a description."""
BATCHNORM_EPSILON = 1e-5
"""Added to the variance by torch's batch normalisation."""
BATCHNORM_ARRAYS = ("weight", "bias", "running_mean", "running_var")
"""The arrays of a batch normalisation, by torch's names."""
Weights = Mapping[str, np.ndarray]
"""float32 arrays by torch's names, such as body.0.weight."""


class Layer(NamedTuple):
    """A layer with its sizes.

    Sizes count planes as long as the data has the shape of the board, and numbers after the first
    dense layer.
    """

    kind: str
    inputs: int
    outputs: int
    board: bool
    """Whether the output has the shape of the board."""

    def weights(self) -> int:
        """Return the number of weights."""
        per_output = {
            # a kernel of 3x3 per input plane, and a bias
            "conv": 9 * self.inputs + 1,
            "dense": self.inputs + 1,
            # two convolutions with biases and two batch normalisations
            "residual": 18 * self.inputs + 10,
            # gain, shift, running mean and running variance
            "batchnorm": 4,
        }
        return per_output.get(self.kind, 0) * self.outputs


@dataclass(frozen=True)
class Network:
    """The purpose, input, output scale and layers of a network."""

    purpose: Purpose
    """value: the expected result; q: a Q-value for every column; policy-value: both a policy and
    a value."""
    board: str
    """The board it is for: COLUMNSxROWSxINAROW."""
    features: str
    """The encoding of positions (compiled/planes.py)."""
    body: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    labels: Labels = "signed"
    """The scale of the value. signed: -1 to +1; unit: 0 (lost) to 1 (won), as in SeWell's figures 2
    to 4; results: three numbers whose softmax is the probabilities of win, draw and loss."""
    about: dict[str, Any] = field(default_factory=dict)
    """How the network was made; has no influence on it."""

    def __post_init__(self) -> None:
        # Networks are read from files that anyone may have written, so nothing is taken for
        # granted.
        if self.purpose not in get_args(Purpose):
            raise UserError(
                f"a network is for {' or '.join(get_args(Purpose))}, not {self.purpose!r}"
            )
        # Imports the compiler, which the settings of a training that names networks do not need.
        from fourlab.compiled.planes import PLANES

        if self.features not in PLANES:
            raise UserError(f"a network sees {', '.join(PLANES)}, not {self.features!r}")
        if self.labels not in get_args(Labels):
            raise UserError(
                f"a network's labels are {' or '.join(get_args(Labels))}, not {self.labels!r}"
            )
        heads = HEADS[self.purpose]
        if {part for part in ("value", "policy") if getattr(self, part)} != heads:
            raise UserError(
                f"a {self.purpose} network has the heads {', '.join(sorted(heads))} and no other"
            )
        # Counted first: the layers are walked through below.
        if sum(map(len, (self.body, self.value, self.policy))) > MAX_LAYERS:
            raise UserError(f"the network has more than {MAX_LAYERS} layers")
        parts = self.parts()
        # A head ends with plain numbers: three for results, one for other values, one per column.
        sizes = {"value": 3 if self.labels == "results" else 1, "policy": self.rules.columns}
        for head, size in sizes.items():
            layers = parts[head]
            if layers and (layers[-1].board or layers[-1].outputs != size):
                raise UserError(f"the {head} head must end with {size} numbers")
        all_layers = [layer for layers in parts.values() for layer in layers]
        if sum(layer.weights() for layer in all_layers) > MAX_WEIGHTS:
            raise UserError(f"the network has more than {MAX_WEIGHTS:,} weights")
        cells = self.rules.rows * self.rules.columns
        for layer in all_layers:
            if layer.outputs * (cells if layer.board else 1) > MAX_NUMBERS:
                raise UserError(f"a layer has more than {MAX_NUMBERS:,} outputs")

    @property
    def rules(self) -> Rules:
        """The board it is for."""
        return Rules.parse(self.board)

    def parts(self) -> dict[str, list[Layer]]:
        """Return the layers of the body, the value head and the policy head."""
        from fourlab.compiled.planes import PLANES

        # Heads continue where the body ends; without a body they see the input planes.
        outputs = PLANES[self.features]
        board = True
        body = list(self._layers(self.body, outputs, board))
        if body:
            outputs = body[-1].outputs
            board = body[-1].board
        return {
            "body": body,
            "value": list(self._layers(self.value, outputs, board)),
            "policy": list(self._layers(self.policy, outputs, board)),
        }

    def _layers(self, texts: tuple[str, ...], inputs: int, board: bool) -> Iterator[Layer]:
        for text in texts:
            kind, _, size = text.partition(" ")
            size_is_valid = not size or (size.isdecimal() and 0 < int(size) < 100_000)
            if kind not in LAYERS or LAYERS[kind] != bool(size) or not size_is_valid:
                raise UserError(
                    f"there is no layer {text!r} "
                    "(conv N, batchnorm, relu, residual N, dense N, tanh)"
                )
            if not board and kind in ("conv", "residual", "batchnorm"):
                raise UserError(f"layer {text!r} needs a board, but a dense layer came before")
            outputs = int(size) if size else inputs
            if kind == "residual" and outputs != inputs:
                raise UserError(f"layer {text!r} must keep the {inputs} planes it is given")
            if kind == "dense":
                if board:  # it is flattened
                    inputs *= self.rules.rows * self.rules.columns
                board = False
            # Layers without a number keep the size of their input.
            yield Layer(kind, inputs, outputs, board)
            inputs = outputs

    def write(self) -> str:
        """Return the architecture as JSON."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def read(cls, text: str | bytes) -> "Network":
        """Read an architecture from JSON; raises UserError."""
        try:
            data = parse_description(
                text.encode() if isinstance(text, str) else text, MAX_DESCRIPTION
            )
            lists = {name: tuple(data[name]) for name in ("body", "value", "policy")}
            if not isinstance(data.get("about", {}), dict):
                raise ValueError("what is said about it must be an object")
            return cls(**{**data, **lists})
        except UserError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(f"not the description of a network: {error}") from None


def folded_batchnorms(layers: Sequence[Layer]) -> set[int]:
    """Return the indices of batch normalisations directly after a convolution.

    For inference they are folded into the weights of that convolution.
    """
    kinds = [layer.kind for layer in layers]
    return {index for index, pair in enumerate(pairwise(kinds), 1) if pair == ("conv", "batchnorm")}


def batchnorm(weights: Weights, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gain, shift and mean of the normalisation (x - mean) * gain + shift, in float64."""
    gain, shift, mean, variance = (
        weights[f"{name}.{part}"].astype(np.float64) for part in BATCHNORM_ARRAYS
    )
    return gain / np.sqrt(variance + BATCHNORM_EPSILON), shift, mean


def convolution(weights: Weights, name: str, norm: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return weight, float32[outputs, inputs, 3, 3], and bias of a convolution.

    The batch normalisation `norm` after it is folded in: (conv(x) - mean) * gain + shift is again a
    convolution with a bias.
    """
    weight = weights[f"{name}.weight"]
    bias = weights[f"{name}.bias"]
    if norm is not None:
        # In float64, and rounded to float32 once at the end.
        gain, shift, mean = batchnorm(weights, norm)
        weight = weight * gain[:, None, None, None]
        bias = (bias - mean) * gain + shift
    return weight.astype(np.float32), bias.astype(np.float32)
