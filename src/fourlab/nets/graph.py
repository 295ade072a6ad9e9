"""The graph of a network: its nodes and the shapes of its weights, without the numbers.

Both forms are built from the description alone, so the same code says what is written
(onnx_graph.py, quantise.py) and what is accepted when a file is read (onnx_reader.py).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fourlab.compiled.planes import PLANES
from fourlab.nets.network import (
    BATCHNORM_ARRAYS,
    BATCHNORM_EPSILON,
    Layer,
    Network,
    folded_batchnorms,
)

OPSET = 17
IR_VERSION = 8
"""The ONNX file version that belongs to opset 17."""
MICROSOFT = "com.microsoft"
"""The domain of onnxruntime's own operators."""
Attribute = int | float | tuple[int, ...]


class Node(NamedTuple):
    """An operator with one output. Values are identified by their names."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Attribute]
    domain: str = ""
    """The domain of the operator; empty for standard ONNX."""


class Tensor(NamedTuple):
    """What the weights of a name must be."""

    dtype: str
    shape: tuple[int, ...]
    constant: np.ndarray | None = None
    """The numbers, where they follow from the description."""


class Graph:
    """The nodes of a network in order, and its weights by name."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.nodes: list[Node] = []
        self.tensors: dict[str, Tensor] = {}

    @property
    def input_shape(self) -> tuple[int, int, int]:
        """The shape of a position: planes, rows, columns."""
        rules = self.network.rules
        return PLANES[self.network.features], rules.rows, rules.columns

    @property
    def outputs(self) -> dict[str, int]:
        """The number of outputs of every head."""
        parts = self.network.parts()
        return {head: parts[head][-1].outputs for head in ("value", "policy") if parts[head]}

    @property
    def opsets(self) -> dict[str, int]:
        """The versions of the operators by domain."""
        # onnxruntime's own operators have version 1.
        return {"": OPSET, **{node.domain: 1 for node in self.nodes if node.domain}}

    def node(
        self,
        kind: str,
        inputs: Sequence[str],
        output: str,
        domain: str = "",
        **attributes: Attribute,
    ) -> str:
        """Add a node; returns the name of its output."""
        self.nodes.append(Node(kind, tuple(inputs), output, attributes, domain))
        return output

    def weights(self, name: str, dtype: str, *shape: int) -> str:
        """Add an array of weights; returns its name."""
        self.tensors[name] = Tensor(dtype, shape)
        return name

    def constant(self, name: str, numbers: np.ndarray | np.generic) -> str:
        """Add numbers that do not depend on the weights; returns their name."""
        array = np.asarray(numbers)
        self.tensors[name] = Tensor(array.dtype.name, array.shape, array)
        return name


class ExactGraph(Graph):
    """A network in float32, with torch's names for the weights.

    Unless `fold` is false, batch normalisations are part of the convolutions before them. Files
    of the first version had them as nodes.
    """

    def __init__(self, network: Network, fold: bool = True) -> None:
        super().__init__(network)
        self.fold = fold
        parts = network.parts()
        body = self._part("body", parts["body"], "planes")
        for head in self.outputs:
            # The output gets the name of its head, under which the evaluator asks for it.
            self.node("Identity", [self._part(head, parts[head], body)], head)

    def _part(self, part: str, layers: list[Layer], x: str) -> str:
        """Add the layers of the body or of a head; returns the name of its output."""
        folded = folded_batchnorms(layers) if self.fold else set()
        for index, layer in enumerate(layers):
            if index not in folded:
                x = self._layer(layer, f"{part}.{index}", x)
        return x

    def _layer(self, layer: Layer, name: str, x: str) -> str:
        match layer.kind:
            case "conv":
                return self._conv(name, x, layer)
            case "batchnorm":
                return self._batchnorm(name, x, layer)
            case "residual":
                inner = self._normalised_conv(name, 1, x, layer)
                inner = self.node("Relu", [inner], f"{name}.inner")
                inner = self._normalised_conv(name, 2, inner, layer)
                total = self.node("Add", [x, inner], f"{name}.sum")
                return self.node("Relu", [total], f"{name}.out")
            case "dense":
                # torch keeps the weight as [outputs, inputs], hence transB.
                flat = self.node("Flatten", [x], f"{name}.flat", axis=1)
                weight = self.weights(f"{name}.weight", "float32", layer.outputs, layer.inputs)
                bias = self.weights(f"{name}.bias", "float32", layer.outputs)
                return self.node("Gemm", [flat, weight, bias], f"{name}.out", transB=1)
            case _:
                return self.node(layer.kind.capitalize(), [x], f"{name}.out")  # Relu or Tanh

    def _normalised_conv(self, name: str, number: int, x: str, layer: Layer) -> str:
        """Add one of the two convolutions of a residual layer."""
        x = self._conv(f"{name}.conv{number}", x, layer)
        return x if self.fold else self._batchnorm(f"{name}.norm{number}", x, layer)

    def _conv(self, name: str, x: str, layer: Layer) -> str:
        weight = self.weights(f"{name}.weight", "float32", layer.outputs, layer.inputs, 3, 3)
        bias = self.weights(f"{name}.bias", "float32", layer.outputs)
        return self.node(
            "Conv", [x, weight, bias], f"{name}.out", kernel_shape=(3, 3), pads=(1, 1, 1, 1)
        )

    def _batchnorm(self, name: str, x: str, layer: Layer) -> str:
        arrays = [
            self.weights(f"{name}.{part}", "float32", layer.outputs) for part in BATCHNORM_ARRAYS
        ]
        return self.node(
            "BatchNormalization", [x, *arrays], f"{name}.out", epsilon=BATCHNORM_EPSILON
        )


class Int8Graph(Graph):
    """An exact graph with its convolutions and sums on codes (see quantise.py).

    The value NAME becomes NAME.codes, with NAME.step and NAME.zero. The zeros depend on the ranges
    that numbers have; `build` adds the nodes when they are known.
    """

    def __init__(self, exact: Graph) -> None:
        super().__init__(exact.network)
        self.exact = exact
        readers = Counter(name for node in exact.nodes for name in node.inputs)
        self._relus = {
            node.inputs[0]: node.output
            for node in exact.nodes
            if node.kind == "Relu" and readers[node.inputs[0]] == 1
        }
        """The output of a relu by its input, where nothing else reads that input."""
        convs = [node for node in exact.nodes if node.kind == "Conv"]
        self._planes = {self.result(node): exact.tensors[node.inputs[1]].shape[0] for node in convs}
        # Inputs of convolutions and terms of sums have one step for all planes; other results of
        # convolutions have one per plane.
        self.single_step = {node.inputs[0] for node in convs}
        for node in exact.nodes:
            if node.kind == "Add":
                self.single_step |= {*node.inputs, self.result(node)}
        self.observed = (self.single_step | self._planes.keys()) - {"planes"}
        """The values whose ranges decide about their steps and zeros."""
        self.zeros = {"planes": 0}
        self._coded: set[str] = set()
        """Values that exist as codes."""
        self._numbered = {"planes"}
        """Values that exist as float32 numbers."""

    def result(self, node: Node) -> str:
        """Return the name of a node's output, or of the relu after it.

        A relu that is the only reader costs nothing: codes cannot be less than 0.
        """
        return self._relus.get(node.output, node.output)

    def build(self, zeros: Mapping[str, int]) -> None:
        """Add the nodes; `zeros` has the zero, 0 or 128, of every observed value."""
        self.zeros |= zeros
        for node in self.exact.nodes:
            self._rewrite(node)

    def _rewrite(self, node: Node) -> None:
        """Add one node of the exact graph, on codes if possible."""
        result = self.result(node)
        if node.kind == "Conv":
            self._conv(node, result)
        elif node.kind == "Add":
            inputs = []
            for name in node.inputs:
                inputs += [self._codes(name), *self._scale(name)]
            inputs += self._scale(result)
            # Standard ONNX adds only numbers.
            self.node("QLinearAdd", inputs, f"{result}.codes", MICROSOFT)
            self._coded.add(result)
        elif node.output not in self._coded:  # not a relu that is part of a result
            for name in node.inputs:
                self._numbers(name)
            self.nodes.append(node)
            self._numbered.add(node.output)

    def _conv(self, node: Node, result: str) -> None:
        """Add a convolution on codes.

        onnxruntime's fast path needs a multiple of four input planes, and a multiple of eight
        output planes, at least 16. Both are padded with zeros to these sizes.
        """
        x, name, bias = node.inputs
        planes, inputs, *kernel = self.exact.tensors[name].shape
        spare_inputs, spare_outputs = spare_planes(planes, inputs)
        codes = self._codes(x)
        if spare_inputs:
            pads = self.constant(f"{name}.pads", np.array([0, 0, 0, 0, 0, spare_inputs, 0, 0]))
            codes = self.node("Pad", [codes, pads], f"{name}.padded")
        padded = planes + spare_outputs
        arguments = [
            codes,
            *self._scale(x),
            self.weights(name, "int8", padded, inputs + spare_inputs, *kernel),
            # ONNX allows only one step for all planes of a result, which is 1: the weights' steps
            # are divided by those of the result.
            self.weights(f"{name}.step", "float32", padded),
            self.constant(f"{name}.zero", np.zeros(padded, np.int8)),
            self.constant("one", np.float32(1)),
            self.constant(f"zero.{self.zeros[result]}", np.uint8(self.zeros[result])),
            self.weights(bias, "int32", padded),
        ]
        output = f"{result}.wide" if spare_outputs else f"{result}.codes"
        self.node("QLinearConv", arguments, output, kernel_shape=(3, 3), pads=(1, 1, 1, 1))
        if spare_outputs:
            ends = [self.constant(f"at.{place}", np.array([place])) for place in (0, planes, 1)]
            self.node("Slice", [output, *ends], f"{result}.codes")
        self._coded.add(result)

    def _codes(self, name: str) -> str:
        """Return the name of a value's codes, adding a node that computes them if necessary."""
        if name not in self._coded:
            self.node("QuantizeLinear", [name, *self._scale(name)], f"{name}.codes")
            self._coded.add(name)
        return f"{name}.codes"

    def _numbers(self, name: str) -> None:
        """Make sure that a value exists as float32 numbers."""
        if name in self.exact.tensors:
            self.tensors[name] = self.exact.tensors[name]
        elif name not in self._numbered:
            self.node("DequantizeLinear", [f"{name}.codes", *self._scale(name)], name, axis=1)
            self._numbered.add(name)

    def _scale(self, name: str) -> tuple[str, str]:
        """Return the names of a value's step and zero."""
        shape = () if name in self.single_step else (self._planes[name],)
        step = f"{name}.step"
        if name == "planes":  # small integers, which are their own codes
            self.constant(step, np.float32(1))
        else:
            self.weights(step, "float32", *shape)
        zeros = np.full(shape, self.zeros[name], np.uint8)
        return step, self.constant(f"{name}.zero", zeros)


def spare_planes(outputs: int, inputs: int) -> tuple[int, int]:
    """Return how many planes of zeros a convolution on codes has more: inputs, outputs."""
    return -inputs % 4, max(16, -(-outputs // 8) * 8) - outputs
