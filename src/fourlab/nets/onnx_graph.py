"""Networks as ONNX graphs, for playing without torch.

The graph is written layer by layer from the same form as the torch modules, with the same names of weights; no exporter is
needed. Behind the graph the file carries the form and a checksum of both: two protobuf messages one after the other are one
message, so this is still an ordinary ONNX file.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fourlab.errors import UserError
from fourlab.kernels.planes import PLANES
from fourlab.nets.network import Layer, Network
from fourlab.nets.onnx_evaluator import OnnxEvaluator, checksum, probe_positions

OPSET = 17
EPSILON = 1e-5
"""Of torch's batch normalisation."""
TOLERANCE = 1e-4
"""By so much the graph may differ from torch."""


def write_onnx(network: Network, weights: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> bytes:
    """The file of a network; `outputs` are torch's answers for `probe_positions`, by head, and the graph must give the same."""
    graph, form = _graph(network, weights), network.write()
    told = {"network": form, "bytes": str(len(graph)), "sha256": checksum(graph, form)}
    tail = onnx.ModelProto()
    helper.set_model_props(tail, told)
    data: bytes = graph + tail.SerializeToString(deterministic=True)
    judge = OnnxEvaluator(data, "the exported graph")
    found = judge.heads(judge.planes(*probe_positions(network.rules)))
    for name, expected in outputs.items():
        if not np.abs(found[name] - expected).max() <= TOLERANCE:
            raise UserError(f"the exported {name} differs from torch's by more than {TOLERANCE:g}")
    return data


def _graph(network: Network, weights: Mapping[str, np.ndarray]) -> bytes:
    writer = _Writer(weights)
    parts = network.parts()
    shape = (PLANES[network.features], network.rules.rows, network.rules.columns)
    seen = writer.part("body", parts["body"], "planes")
    results = []
    for head in ("value", "policy"):
        if parts[head]:
            result = writer.part(head, parts[head], seen)
            writer.node("Identity", [result], head)
            results.append(helper.make_tensor_value_info(head, TensorProto.FLOAT, ["batch", parts[head][-1].outputs]))
    graph = helper.make_graph(
        writer.nodes,
        "fourlab",
        [helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["batch", *shape])],
        results,
        writer.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="fourlab")
    model.ir_version = 8
    onnx.checker.check_model(model)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


class _Writer:
    """Collects nodes and weights."""

    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        self.given = weights
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Write one node; returns the name of its output."""
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def weight(self, name: str) -> str:
        """Put a weight into the file."""
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(self.given[name], np.float32), name))
        return name

    def part(self, part: str, layers: list[Layer], seen: str) -> str:
        """Write the layers of the body or of a head."""
        for place, layer in enumerate(layers):
            seen = self.layer(layer, f"{part}.{place}", seen)
        return seen

    def layer(self, layer: Layer, name: str, seen: str) -> str:
        """Write one layer; returns the name of its output."""
        match layer.kind:
            case "conv":
                return self.conv(name, seen)
            case "batchnorm":
                return self.norm(name, seen)
            case "residual":
                inner = self.norm(f"{name}.norm1", self.conv(f"{name}.conv1", seen))
                inner = self.node("Relu", [inner], f"{name}.inner")
                inner = self.norm(f"{name}.norm2", self.conv(f"{name}.conv2", inner))
                return self.node("Relu", [self.node("Add", [seen, inner], f"{name}.sum")], f"{name}.out")
            case "dense":
                flat = self.node("Flatten", [seen], f"{name}.flat", axis=1)
                return self.node(
                    "Gemm", [flat, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")], f"{name}.out", transB=1
                )
            case "tanh":
                return self.node("Tanh", [seen], f"{name}.out")
            case _:
                return self.node("Relu", [seen], f"{name}.out")

    def conv(self, name: str, seen: str) -> str:
        """Write a 3x3 convolution."""
        inputs = [seen, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.node("Conv", inputs, f"{name}.out", kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    def norm(self, name: str, seen: str) -> str:
        """Write a batch normalisation with what was learned."""
        learned = [self.weight(f"{name}.{part}") for part in ("weight", "bias", "running_mean", "running_var")]
        return self.node("BatchNormalization", [seen, *learned], f"{name}.out", epsilon=EPSILON)
