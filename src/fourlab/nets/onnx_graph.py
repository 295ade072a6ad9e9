"""Networks as ONNX graphs, for playing without torch.

The graph is written layer by layer from the same form as the torch modules, with the same names of weights; no exporter is
needed. A batch normalisation behind a convolution is worked into its weights. Behind the graph the file carries the form and a
checksum of both: two protobuf messages one after the other are one message, so this is still an ordinary ONNX file.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fourlab.compiled.planes import PLANES
from fourlab.errors import UserError
from fourlab.nets.evaluator import OnnxEvaluator, checksum, probe_positions
from fourlab.nets.network import Layer, Network

OPSET = 17
EPSILON = 1e-5
"""Of torch's batch normalisation."""
NORM = ("weight", "bias", "running_mean", "running_var")
"""What it has learned."""
TOLERANCE = 1e-4
"""By so much the graph may differ from torch."""


def write_onnx(network: Network, weights: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> bytes:
    """The file of a network; `outputs` are torch's answers for `probe_positions`, by head, and the graph must give the same."""
    data = seal(_graph(network, weights), {"network": network.write()})
    judge = OnnxEvaluator(data, "the exported graph")
    found = judge.heads(judge.planes(*probe_positions(network.rules)))
    for name, expected in outputs.items():
        if not np.abs(found[name] - expected).max() <= TOLERANCE:
            raise UserError(f"the exported {name} differs from torch's by more than {TOLERANCE:g}")
    return data


def seal(graph: bytes, told: Mapping[str, str]) -> bytes:
    """A graph with what is told about it and a checksum of both."""
    tail = onnx.ModelProto()
    helper.set_model_props(tail, {**told, "bytes": str(len(graph)), "sha256": checksum(graph, told)})
    data: bytes = graph + tail.SerializeToString(deterministic=True)
    return data


def _graph(network: Network, weights: Mapping[str, np.ndarray]) -> bytes:
    writer = _Layers(weights)
    parts = network.parts()
    shape = (PLANES[network.features], network.rules.rows, network.rules.columns)
    seen = writer.part("body", parts["body"], "planes")
    results = []
    for head in ("value", "policy"):
        if parts[head]:
            result = writer.part(head, parts[head], seen)
            writer.node("Identity", [result], head)
            results.append(helper.make_tensor_value_info(head, TensorProto.FLOAT, ["batch", parts[head][-1].outputs]))
    return writer.write([helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["batch", *shape])], results)


class Writer:
    """Collects nodes and weights."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Write one node; returns the name of its output."""
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def put(self, name: str, numbers: np.ndarray | np.generic) -> str:
        """Put weights into the file; returns their name."""
        self.weights[name] = numpy_helper.from_array(np.asarray(numbers), name)
        return name

    def write(self, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[onnx.ValueInfoProto]) -> bytes:
        """The graph as a file."""
        graph = helper.make_graph(self.nodes, "fourlab", inputs, outputs, list(self.weights.values()))
        domains = {"": OPSET, **{node.domain: 1 for node in self.nodes if node.domain}}
        opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="fourlab")
        model.ir_version = 8
        onnx.checker.check_model(model)
        data: bytes = model.SerializeToString(deterministic=True)
        return data


class _Layers(Writer):
    """Writes layers."""

    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        super().__init__()
        self.given = weights

    def part(self, part: str, layers: list[Layer], seen: str) -> str:
        """Write the layers of the body or of a head."""
        folded = {
            place for place, pair in enumerate(pairwise(layers), 1) if [each.kind for each in pair] == ["conv", "batchnorm"]
        }
        for place, layer in enumerate(layers):
            if place not in folded:
                seen = self.layer(layer, f"{part}.{place}", seen, f"{part}.{place + 1}" if place + 1 in folded else None)
        return seen

    def layer(self, layer: Layer, name: str, seen: str, norm: str | None) -> str:
        """Write one layer, with the normalisation `norm` if it takes one in; returns the name of its output."""
        match layer.kind:
            case "conv":
                return self.conv(name, seen, norm)
            case "batchnorm":
                return self.norm(name, seen)
            case "residual":
                inner = self.conv(f"{name}.conv1", seen, f"{name}.norm1")
                inner = self.conv(f"{name}.conv2", self.node("Relu", [inner], f"{name}.inner"), f"{name}.norm2")
                return self.node("Relu", [self.node("Add", [seen, inner], f"{name}.sum")], f"{name}.out")
            case "dense":
                flat = self.node("Flatten", [seen], f"{name}.flat", axis=1)
                weights = [self.put(f"{name}.{part}", self.given[f"{name}.{part}"]) for part in ("weight", "bias")]
                return self.node("Gemm", [flat, *weights], f"{name}.out", transB=1)
            case "tanh":
                return self.node("Tanh", [seen], f"{name}.out")
            case _:
                return self.node("Relu", [seen], f"{name}.out")

    def conv(self, name: str, seen: str, norm: str | None) -> str:
        """Write a 3x3 convolution with the normalisation after it: (conv(x) - mean) * gain + shift is a convolution too."""
        weight, bias = self.given[f"{name}.weight"], self.given[f"{name}.bias"]
        if norm is not None:
            gain, shift, mean, variance = (self.given[f"{norm}.{part}"].astype(np.float64) for part in NORM)
            gain /= np.sqrt(variance + EPSILON)
            weight, bias = weight * gain[:, None, None, None], (bias - mean) * gain + shift
        weights = [
            self.put(f"{name}.weight", weight.astype(np.float32)),
            self.put(f"{name}.bias", bias.astype(np.float32)),
        ]
        return self.node("Conv", [seen, *weights], f"{name}.out", kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    def norm(self, name: str, seen: str) -> str:
        """Write a batch normalisation with what was learned."""
        learned = [self.put(f"{name}.{part}", self.given[f"{name}.{part}"]) for part in NORM]
        return self.node("BatchNormalization", [seen, *learned], f"{name}.out", epsilon=EPSILON)
