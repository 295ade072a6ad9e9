"""Networks in 8-bit integers: faster, and nearly as exact.

Between convolutions a number is stored as a code from 0 to 255:

    number = (code - zero) * step

`zero` is 0 where numbers are never negative, as after a relu, and 128 elsewhere. A graph is
rewritten node by node. Convolutions and the sums of residual layers work on codes; everything else
(the dense layers at the end, tanh) stays in float32. Steps are chosen from the ranges that numbers
have on sample positions, so that they are as fine as possible. Weights have one step for every
output plane, and codes from -64 to 64: processors without dot-product instructions add two
products of a code and a weight in 16 bits, and 2 * 255 * 64 still fits.
"""

import json
from collections import Counter

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fourlab.errors import UserError
from fourlab.evaluator import Batch
from fourlab.nets.evaluator import OnnxEvaluator, open_session, probe_positions
from fourlab.nets.onnx_graph import Writer, seal

MAX_DIFFERENCE = 0.05
"""The largest mean difference from the exact network: of values, on their scale -1 to +1; of
policies, in the probability that moves to other columns."""
PROBES = 256
"""Number of positions from random games on which the networks are compared."""
MAX_STEP_RATIO = 8
"""The coarsest step of a plane divided by the finest. A plane that was rarely active in the sample
would otherwise get a step so fine that larger numbers are cut off."""


def quantise(exact: bytes, own: np.ndarray, mask: np.ndarray) -> bytes:
    """Return the int8 version of a network's ONNX file.

    Ranges are measured on the positions `own` and `mask`, int64[N] each. UserError is raised if the
    outputs differ too much from the exact ones.
    """
    evaluator = OnnxEvaluator(exact, "the network")
    if evaluator.precision == "int8":
        raise UserError("the network is int8 already")
    model = onnx.load_from_string(exact)
    planes = evaluator.planes(own, mask)
    graph = _Int8Writer(model, planes).write(model.graph.input, model.graph.output)
    metadata = {"network": evaluator.network.write(), "int8": "{}"}
    differences = compare(evaluator, OnnxEvaluator(seal(graph, metadata), "the int8 graph"))
    for head, difference in differences.items():
        # Negated, so that a NaN is refused.
        if not difference <= MAX_DIFFERENCE:
            raise UserError(
                f"the int8 {head} differs from the exact one by {difference:.3f} on average, "
                f"more than {MAX_DIFFERENCE:g}"
            )
    return seal(graph, {**metadata, "int8": json.dumps(differences)})


def compare(first: OnnxEvaluator, second: OnnxEvaluator) -> dict[str, float]:
    """Return the mean differences of two networks' values and policies on random games."""
    batch = Batch(*probe_positions(first.rules, PROBES, seed=1), first.rules)
    one = first.evaluate(batch)
    other = second.evaluate(batch)
    differences = {"value": float(np.abs(one.values - other.values).mean())}
    if one.logits is not None and other.logits is not None:
        # Half of the L1 distance is the total variation distance.
        moved = np.abs(_softmax(one.logits) - _softmax(other.logits)).sum(axis=1)
        differences["policy"] = float(moved.mean() / 2)
    return differences


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


class _Int8Writer(Writer):
    """Rewrites a graph with its convolutions and sums on codes.

    The value NAME becomes NAME.codes, with NAME.step and NAME.zero.
    """

    def __init__(self, exact: onnx.ModelProto, planes: np.ndarray) -> None:
        super().__init__()
        nodes = exact.graph.node
        self.arrays = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in exact.graph.initializer
        }
        readers = Counter(name for node in nodes for name in node.input)
        self.relus: dict[str, str] = {
            node.input[0]: node.output[0]
            for node in nodes
            if node.op_type == "Relu" and readers[node.input[0]] == 1
        }
        """The output of a relu by its input, where nothing else reads that input."""
        convs = [node for node in nodes if node.op_type == "Conv"]
        sums = [node for node in nodes if node.op_type == "Add"]
        # Inputs of convolutions and terms of sums have one step for all planes; other results of
        # convolutions have one per plane.
        self.single_step = {node.input[0] for node in convs}
        for node in sums:
            self.single_step |= {*node.input, self.result(node)}
        observed = self.single_step | {self.result(node) for node in convs}
        # The input is small integers, which are their own codes.
        self.steps = {"planes": np.ones(())}
        self.zeros = {"planes": 0}
        for name, (low, high) in _ranges(exact, observed - {"planes"}, planes).items():
            self.choose_step(name, low, high)
        self.coded: set[str] = set()
        """Values that exist as codes."""
        self.numbered = {"planes"}
        """Values that exist as float32 numbers."""
        for node in nodes:
            self.rewrite(node)

    def result(self, node: onnx.NodeProto) -> str:
        """Return the name of a node's output, or of the relu after it.

        A relu that is the only reader costs nothing: codes cannot be less than 0.
        """
        name: str = node.output[0]
        return self.relus.get(name, name)

    def choose_step(self, name: str, low: np.ndarray, high: np.ndarray) -> None:
        """Choose step and zero for a value with the range `low` to `high`, float[planes] each."""
        # Both ends of the range must fit: up to 255 - zero steps above 0, and 128 below.
        self.zeros[name] = 128 if low.min() < 0 else 0
        steps = np.maximum(high / (255 - self.zeros[name]), -low / 128).astype(np.float64)
        if name in self.single_step:
            steps = steps.max()
        else:
            steps = np.maximum(steps, steps.max() / MAX_STEP_RATIO)
        self.steps[name] = np.where(steps > 0, steps, 1)

    def rewrite(self, node: onnx.NodeProto) -> None:
        """Write one node of the exact graph, on codes if possible."""
        result = self.result(node)
        if node.op_type == "Conv":
            self.conv(node, result)
        elif node.op_type == "Add":
            inputs = []
            for name in node.input:
                inputs += [self.codes(name), *self.scale(name)]
            inputs += self.scale(result)
            # An operator of onnxruntime; standard ONNX adds only numbers.
            self.node("QLinearAdd", inputs, f"{result}.codes", domain="com.microsoft")
            self.coded.add(result)
        elif node.output[0] not in self.coded:  # not a relu that is part of a result
            for name in node.input:
                self.numbers(name)
            self.nodes.append(node)
            self.numbered.add(node.output[0])

    def conv(self, node: onnx.NodeProto, result: str) -> None:
        """Write a convolution on codes.

        onnxruntime's fast path needs a multiple of four input planes, and a multiple of eight
        output planes, at least 16. Both are padded with zeros to these sizes.
        """
        x, name, bias_name = node.input
        weight = self.arrays[name].astype(np.float64)
        # Products of codes and weights are in units of the input's step, so the bias is, too.
        bias = self.arrays[bias_name] / self.steps[x]
        planes = len(weight)
        spare_inputs = -weight.shape[1] % 4
        spare_outputs = max(16, -(-planes // 8) * 8) - planes
        codes = self.codes(x)
        if spare_inputs:
            pads = self.put(f"{name}.pads", np.array([0, 0, 0, 0, 0, spare_inputs, 0, 0]))
            codes = self.node("Pad", [codes, pads], f"{name}.padded")
        weight = np.pad(weight, ((0, spare_outputs), (0, spare_inputs), (0, 0), (0, 0)))
        bias = np.pad(bias, (0, spare_outputs))
        # Codes of the input planes are at most 2, so their weights can use all of int8.
        max_code = 127 if x == "planes" else 64
        # The bias is at most 2 ** 24 of the same steps, so that sums fit in 32 bits.
        steps = np.maximum(np.abs(weight).max(axis=(1, 2, 3)) / max_code, np.abs(bias) / (1 << 24))
        # A value that is always 0 can have any step but 0.
        steps = np.where(steps > 0, steps, 1)
        result_steps = np.broadcast_to(self.steps[result], planes)
        result_steps = np.pad(result_steps, (0, spare_outputs), mode="edge")
        inputs = [
            codes,
            *self.scale(x),
            self.put(name, np.rint(weight / steps[:, None, None, None]).astype(np.int8)),
            # Divided by the result's steps here, so that the step of the result itself is 1: ONNX
            # allows only one step for all planes of a result.
            self.put(f"{name}.step", (steps / result_steps).astype(np.float32)),
            self.put(f"{name}.zero", np.zeros(planes + spare_outputs, np.int8)),
            self.put("one", np.float32(1)),
            self.put(f"zero.{self.zeros[result]}", np.uint8(self.zeros[result])),
            self.put(bias_name, np.rint(bias / steps).astype(np.int32)),
        ]
        output = f"{result}.wide" if spare_outputs else f"{result}.codes"
        self.node("QLinearConv", inputs, output, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        if spare_outputs:
            ends = [self.put(f"at.{place}", np.array([place])) for place in (0, planes, 1)]
            self.node("Slice", [output, *ends], f"{result}.codes")
        self.coded.add(result)

    def codes(self, name: str) -> str:
        """Return the name of a value's codes, adding a node that computes them if necessary."""
        if name not in self.coded:
            self.node("QuantizeLinear", [name, *self.scale(name)], f"{name}.codes")
            self.coded.add(name)
        return f"{name}.codes"

    def numbers(self, name: str) -> None:
        """Make sure that a value exists as float32 numbers."""
        if name in self.arrays:
            self.put(name, self.arrays[name])
        elif name not in self.numbered:
            self.node("DequantizeLinear", [f"{name}.codes", *self.scale(name)], name, axis=1)
            self.numbered.add(name)

    def scale(self, name: str) -> tuple[str, str]:
        """Return the names of a value's step and zero."""
        steps = self.steps[name].astype(np.float32)
        zeros = np.full(steps.shape, self.zeros[name], np.uint8)
        return self.put(f"{name}.step", steps), self.put(f"{name}.zero", zeros)


def _ranges(
    model: onnx.ModelProto, names: set[str], planes: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the least and the greatest number, float32[planes] each, of intermediate values.

    `planes` is the network's input for the sample positions.
    """
    if not names:
        return {}
    # The exact graph with other outputs: the extremes of every observed value, per plane.
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    for name in sorted(names):
        for kind in ("ReduceMin", "ReduceMax"):
            probe.graph.node.append(
                helper.make_node(kind, [name], [f"{name}.{kind}"], axes=[0, 2, 3], keepdims=0)
            )
            probe.graph.output.append(onnx.ValueInfoProto(name=f"{name}.{kind}"))
    extremes = open_session(probe.SerializeToString()).run(None, {"planes": planes})
    ranges = zip(extremes[::2], extremes[1::2], strict=True)
    return dict(zip(sorted(names), ranges, strict=True))
