"""A network's form, from which torch's modules and the ONNX graph are both built.

A network is a body and one or two heads, each a list of layers in words:

    conv 64        a 3x3 convolution to 64 planes, the board kept at its size
    batchnorm      batch normalisation
    relu           max(x, 0)
    residual 64    relu(x + batchnorm(conv(relu(batchnorm(conv(x)))))), 64 planes all the way
    dense 100      every number of the input to 100 numbers
    tanh           into -1 to +1

Example, document 003's value network: features "cells", no body, value head ("dense 100", "relu", "dense 1").
"""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from fourlab.compiled.planes import PLANES
from fourlab.errors import UserError
from fourlab.game.rules import Rules

Purpose = Literal["value", "q", "policy-value"]
Labels = Literal["signed", "unit", "results"]
HEADS = {"value": {"value"}, "q": {"policy"}, "policy-value": {"value", "policy"}}
LAYERS = {"conv": True, "batchnorm": False, "relu": False, "residual": True, "dense": True, "tanh": False}
"""The kinds of layers, and whether they are written with a number."""
MOST_NUMBERS = 1 << 28
"""Weights beyond a gigabyte are a mistake or an attack."""


class Layer(NamedTuple):
    """One layer with its sizes: planes while the board is still a board, numbers after the first dense layer."""

    kind: str
    inputs: int
    outputs: int
    board: bool
    """Whether the output still is a board."""

    def numbers(self) -> int:
        """How many weights it has."""
        per_output = {"conv": 9 * self.inputs + 1, "dense": self.inputs + 1, "residual": 18 * self.inputs + 10, "batchnorm": 4}
        return per_output.get(self.kind, 0) * self.outputs


@dataclass(frozen=True)
class Network:
    """What a network is for, what it sees, and its layers."""

    purpose: Purpose
    """value: the result to be expected; q: a value for each column; policy-value: both a policy and a value."""
    board: str
    """The board it knows: COLUMNSxROWSxINAROW."""
    features: str
    """What it sees of a position (compiled/planes.py)."""
    body: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    labels: Labels = "signed"
    """What its value means: signed, -1 to +1; unit, 0 (lost) to 1 (won), as in document 003's figures 2 to 4; results, three
    numbers whose softmax are the chances to win, draw and lose."""
    about: dict[str, Any] = field(default_factory=dict)
    """How it was made; has no influence."""

    def __post_init__(self) -> None:
        if self.purpose not in get_args(Purpose):
            raise UserError(f"a network is for {' or '.join(get_args(Purpose))}, not {self.purpose!r}")
        if self.features not in PLANES:
            raise UserError(f"a network sees {', '.join(PLANES)}, not {self.features!r}")
        if self.labels not in get_args(Labels):
            raise UserError(f"a network's labels are {' or '.join(get_args(Labels))}, not {self.labels!r}")
        if {part for part in ("value", "policy") if getattr(self, part)} != HEADS[self.purpose]:
            raise UserError(f"a {self.purpose} network has the heads {', '.join(sorted(HEADS[self.purpose]))} and no other")
        parts = self.parts()
        for name, outputs in (("value", 3 if self.labels == "results" else 1), ("policy", self.rules.columns)):
            if parts[name] and (parts[name][-1].board or parts[name][-1].outputs != outputs):
                raise UserError(f"the {name} head must end with {outputs} numbers")
        if sum(layer.numbers() for layers in parts.values() for layer in layers) > MOST_NUMBERS:
            raise UserError(f"the network has more than {MOST_NUMBERS:,} weights")

    @property
    def rules(self) -> Rules:
        """The board it knows."""
        return Rules.parse(self.board)

    def parts(self) -> dict[str, list[Layer]]:
        """The layers of body, value and policy with their sizes."""
        body = list(self._layers(self.body, PLANES[self.features], board=True))
        outputs, board = (body[-1].outputs, body[-1].board) if body else (PLANES[self.features], True)
        return {
            "body": body,
            "value": list(self._layers(self.value, outputs, board)),
            "policy": list(self._layers(self.policy, outputs, board)),
        }

    def _layers(self, words: tuple[str, ...], inputs: int, board: bool) -> Iterator[Layer]:
        for text in words:
            kind, _, size = text.partition(" ")
            if kind not in LAYERS or LAYERS[kind] != bool(size) or (size and not (size.isdecimal() and 0 < int(size) < 100_000)):
                raise UserError(f"there is no layer {text!r} (conv N, batchnorm, relu, residual N, dense N, tanh)")
            if not board and kind in ("conv", "residual", "batchnorm"):
                raise UserError(f"layer {text!r} needs a board, but a dense layer came before")
            outputs = int(size) if size else inputs
            if kind == "residual" and outputs != inputs:
                raise UserError(f"layer {text!r} must keep the {inputs} planes it is given")
            if kind == "dense":
                inputs, board = inputs * (math.prod((self.rules.rows, self.rules.columns)) if board else 1), False
            yield Layer(kind, inputs, outputs, board)
            inputs = outputs

    def write(self) -> str:
        """The form as JSON."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def read(cls, text: str | bytes) -> "Network":
        """Read the form back; raises UserError."""
        try:
            data = json.loads(text)
            lists = {name: tuple(data[name]) for name in ("body", "value", "policy")}
            return cls(**{**data, **lists})
        except UserError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(f"not the description of a network: {error}") from None
