"""Networks as ONNX graphs, for playing without torch.

The graph is written layer by layer from the same architecture as the torch modules, with torch's
names for the weights, so no exporter is needed. A batch normalisation after a convolution is folded
into its weights. The architecture and a checksum are appended to the graph as a second protobuf
message. Concatenated messages are merged when read, so the file is an ordinary ONNX file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fourlab.compiled.planes import PLANES
from fourlab.errors import UserError
from fourlab.nets.evaluator import OnnxEvaluator, checksum, probe_positions
from fourlab.nets.network import (
    BATCHNORM_ARRAYS,
    BATCHNORM_EPSILON,
    Layer,
    Network,
    Weights,
    convolution,
    folded_batchnorms,
)

OPSET = 17
IR_VERSION = 8
"""The ONNX file version that belongs to opset 17."""
TOLERANCE = 1e-4
"""The largest difference between an output of the graph and one of torch."""


def write_onnx(network: Network, weights: Weights, outputs: Mapping[str, np.ndarray]) -> bytes:
    """Return the ONNX file of a network.

    `outputs` are torch's outputs for `probe_positions`, by head; UserError is raised if those of
    the graph differ by more than TOLERANCE.
    """
    data = seal(_graph(network, weights), {"network": network.write()})
    evaluator = OnnxEvaluator(data, "the exported graph")
    exported = evaluator.heads(evaluator.planes(*probe_positions(network.rules)))
    for head, expected in outputs.items():
        # Negated, so that a NaN is refused.
        if not np.abs(exported[head] - expected).max() <= TOLERANCE:
            raise UserError(f"the exported {head} differs from torch's by more than {TOLERANCE:g}")
    return data


def seal(graph: bytes, metadata: Mapping[str, str]) -> bytes:
    """Append metadata and a checksum of both to a graph."""
    tail = onnx.ModelProto()
    size_and_checksum = {"bytes": str(len(graph)), "sha256": checksum(graph, metadata)}
    helper.set_model_props(tail, {**metadata, **size_and_checksum})
    data: bytes = graph + tail.SerializeToString(deterministic=True)
    return data


def _graph(network: Network, weights: Weights) -> bytes:
    writer = _LayerWriter(weights)
    parts = network.parts()
    shape = (PLANES[network.features], network.rules.rows, network.rules.columns)
    body = writer.part("body", parts["body"], "planes")
    outputs = []
    for head in ("value", "policy"):
        if parts[head]:
            # The output gets the name of its head, under which the evaluator asks for it.
            writer.node("Identity", [writer.part(head, parts[head], body)], head)
            size: list[str | int | None] = ["batch", parts[head][-1].outputs]
            outputs.append(helper.make_tensor_value_info(head, TensorProto.FLOAT, size))
    planes = helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["batch", *shape])
    return writer.write([planes], outputs)


class Writer:
    """Collects the nodes and weights of a graph. Values are identified by their names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node; returns the name of its output."""
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def put(self, name: str, numbers: np.ndarray | np.generic) -> str:
        """Add an array of weights; returns its name."""
        self.weights[name] = numpy_helper.from_array(np.asarray(numbers), name)
        return name

    def write(
        self, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[onnx.ValueInfoProto]
    ) -> bytes:
        """Return the graph as an ONNX file."""
        graph = helper.make_graph(
            self.nodes, "fourlab", inputs, outputs, list(self.weights.values())
        )
        # Nodes outside the standard domain are onnxruntime's own operators, version 1.
        domains = {"": OPSET, **{node.domain: 1 for node in self.nodes if node.domain}}
        opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="fourlab")
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model)
        # Deterministic, so that equal networks give equal files.
        data: bytes = model.SerializeToString(deterministic=True)
        return data


class _LayerWriter(Writer):
    """Writes layers with float32 weights."""

    def __init__(self, arrays: Weights) -> None:
        super().__init__()
        self.arrays = arrays

    def part(self, part: str, layers: list[Layer], x: str) -> str:
        """Write the layers of the body or of a head; returns the name of its output."""
        folded = folded_batchnorms(layers)
        for index, layer in enumerate(layers):
            if index not in folded:
                norm = f"{part}.{index + 1}" if index + 1 in folded else None
                x = self.layer(layer, f"{part}.{index}", x, norm)
        return x

    def layer(self, layer: Layer, name: str, x: str, norm: str | None) -> str:
        """Write one layer, with the batch normalisation `norm` folded into it if not None."""
        match layer.kind:
            case "conv":
                return self.conv(name, x, norm)
            case "batchnorm":
                arrays = self.put_arrays(name, BATCHNORM_ARRAYS)
                return self.node(
                    "BatchNormalization", [x, *arrays], f"{name}.out", epsilon=BATCHNORM_EPSILON
                )
            case "residual":
                inner = self.conv(f"{name}.conv1", x, f"{name}.norm1")
                inner = self.node("Relu", [inner], f"{name}.inner")
                inner = self.conv(f"{name}.conv2", inner, f"{name}.norm2")
                total = self.node("Add", [x, inner], f"{name}.sum")
                return self.node("Relu", [total], f"{name}.out")
            case "dense":
                # torch keeps the weight as [outputs, inputs], hence transB.
                flat = self.node("Flatten", [x], f"{name}.flat", axis=1)
                arrays = self.put_arrays(name, ("weight", "bias"))
                return self.node("Gemm", [flat, *arrays], f"{name}.out", transB=1)
            case _:
                return self.node(layer.kind.capitalize(), [x], f"{name}.out")  # Relu or Tanh

    def conv(self, name: str, x: str, norm: str | None) -> str:
        """Write a 3x3 convolution with the batch normalisation `norm` folded into it."""
        weight, bias = convolution(self.arrays, name, norm)
        weights = [self.put(f"{name}.weight", weight), self.put(f"{name}.bias", bias)]
        return self.node(
            "Conv", [x, *weights], f"{name}.out", kernel_shape=[3, 3], pads=[1, 1, 1, 1]
        )

    def put_arrays(self, name: str, parts: Sequence[str]) -> list[str]:
        """Add arrays of a layer as they are; returns their names."""
        return [self.put(f"{name}.{part}", self.arrays[f"{name}.{part}"]) for part in parts]
