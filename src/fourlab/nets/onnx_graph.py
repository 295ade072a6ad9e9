"""Networks as ONNX graphs, for playing without torch.

The graph (graph.py) follows from the same architecture as the torch modules, with torch's names for
the weights, so no exporter is needed. A batch normalisation after a convolution is folded
into its weights. The architecture and a checksum are appended to the graph as a second protobuf
message. Concatenated messages are merged when read, so the file is an ordinary ONNX file.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fourlab.errors import UserError
from fourlab.nets.evaluator import OnnxEvaluator, probe_positions
from fourlab.nets.graph import IR_VERSION, ExactGraph, Graph
from fourlab.nets.network import (
    BATCHNORM_ARRAYS,
    Network,
    Weights,
    convolution,
    folded_batchnorms,
)
from fourlab.nets.onnx_reader import checksum

TOLERANCE = 1e-4
"""The largest difference between an output of the graph and one of torch."""


def write_onnx(network: Network, weights: Weights, outputs: Mapping[str, np.ndarray]) -> bytes:
    """Return the ONNX file of a network.

    `outputs` are torch's outputs for `probe_positions`, by head; UserError is raised if those of
    the graph differ by more than TOLERANCE.
    """
    graph = to_bytes(ExactGraph(network), exact_arrays(network, weights))
    data = seal(graph, {"network": network.write()})
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


def to_bytes(graph: Graph, arrays: Weights) -> bytes:
    """Return a graph with these weights as an ONNX file without metadata."""
    weights = []
    for name, tensor in graph.tensors.items():
        array = arrays[name] if tensor.constant is None else tensor.constant
        assert (array.dtype.name, array.shape) == tensor[:2], name
        weights.append(numpy_helper.from_array(array, name))
    nodes = []
    for node in graph.nodes:
        attributes: dict[str, Any] = {"domain": node.domain or None, **node.attributes}
        nodes.append(helper.make_node(node.kind, node.inputs, [node.output], **attributes))
    inputs = [_batch("planes", graph.input_shape)]
    outputs = [_batch(head, (size,)) for head, size in graph.outputs.items()]
    opsets = [helper.make_opsetid(domain, version) for domain, version in graph.opsets.items()]
    model = helper.make_model(
        helper.make_graph(nodes, "fourlab", inputs, outputs, weights),
        opset_imports=opsets,
        producer_name="fourlab",
    )
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    # Deterministic, so that equal networks give equal files.
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def _batch(name: str, shape: tuple[int, ...]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])


def exact_arrays(network: Network, weights: Weights) -> dict[str, np.ndarray]:
    """Return the arrays of a network's exact graph, with batch normalisations folded."""
    arrays: dict[str, np.ndarray] = {}
    for part, layers in network.parts().items():
        folded = folded_batchnorms(layers)
        for index, layer in enumerate(layers):
            name = f"{part}.{index}"
            convs: dict[str, str | None] = {}
            copied: tuple[str, ...] = ()
            if layer.kind == "conv":
                convs = {name: f"{part}.{index + 1}" if index + 1 in folded else None}
            elif layer.kind == "residual":
                convs = {f"{name}.conv{number}": f"{name}.norm{number}" for number in (1, 2)}
            elif layer.kind == "dense":
                copied = ("weight", "bias")
            elif layer.kind == "batchnorm" and index not in folded:
                copied = BATCHNORM_ARRAYS
            for conv, norm in convs.items():
                arrays[f"{conv}.weight"], arrays[f"{conv}.bias"] = convolution(weights, conv, norm)
            arrays |= {f"{name}.{array}": weights[f"{name}.{array}"] for array in copied}
    return arrays
