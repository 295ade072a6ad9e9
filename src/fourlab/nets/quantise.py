"""Networks in 8-bit integers: faster, and nearly as exact.

Between convolutions a number is stored as a code from 0 to 255:

    number = (code - zero) * step

`zero` is 0 where numbers are never negative, as after a relu, and 128 elsewhere. A graph is
rewritten node by node (graph.py). Convolutions and the sums of residual layers work on codes;
everything else (the dense layers at the end, tanh) stays in float32. Steps are chosen from the
ranges that numbers have on sample positions, so that they are as fine as possible. Weights have one
step for every output plane, and codes from -64 to 64: processors without dot-product instructions
add two products of a code and a weight in 16 bits, and 2 * 255 * 64 still fits.
"""

import json

import numpy as np
import onnx
from onnx import helper

from fourlab.errors import UserError
from fourlab.evaluator import Batch
from fourlab.nets.evaluator import OnnxEvaluator, open_session, probe_positions
from fourlab.nets.graph import Int8Graph, Node, spare_planes
from fourlab.nets.onnx_graph import seal, to_bytes
from fourlab.nets.onnx_reader import OnnxFile, read_onnx

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
    codes = _Codes(read_onnx(exact, "the network"), model, planes)
    graph = to_bytes(codes.graph, codes.arrays)
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


class _Codes:
    """Chooses steps and zeros for the values of an exact graph, and rounds its weights."""

    def __init__(self, exact: OnnxFile, model: onnx.ModelProto, planes: np.ndarray) -> None:
        self.exact = exact
        self.graph = Int8Graph(exact.graph)
        # The input is small integers, which are their own codes.
        self.steps = {"planes": np.ones(())}
        self.zeros: dict[str, int] = {}
        for name, (low, high) in _ranges(model, self.graph.observed, planes).items():
            self._choose_step(name, low, high)
        self.graph.build(self.zeros)
        self.arrays = dict(exact.arrays)
        for name, steps in self.steps.items():
            self.arrays[f"{name}.step"] = steps.astype(np.float32)
        for node in exact.graph.nodes:
            if node.kind == "Conv":
                self._round_conv(node)

    def _choose_step(self, name: str, low: np.ndarray, high: np.ndarray) -> None:
        """Choose step and zero for a value with the range `low` to `high`, float[planes] each."""
        # Both ends of the range must fit: up to 255 - zero steps above 0, and 128 below.
        self.zeros[name] = 128 if low.min() < 0 else 0
        steps = np.maximum(high / (255 - self.zeros[name]), -low / 128).astype(np.float64)
        if name in self.graph.single_step:
            steps = steps.max()
        else:
            steps = np.maximum(steps, steps.max() / MAX_STEP_RATIO)
        self.steps[name] = np.where(steps > 0, steps, 1)

    def _round_conv(self, node: Node) -> None:
        """Round the weights of a convolution to codes, with planes of zeros where it is padded."""
        x, name, bias_name = node.inputs
        weight = self.exact.arrays[name].astype(np.float64)
        # Products of codes and weights are in units of the input's step, so the bias is, too.
        bias = self.exact.arrays[bias_name] / self.steps[x]
        planes = len(weight)
        spare_inputs, spare_outputs = spare_planes(planes, weight.shape[1])
        weight = np.pad(weight, ((0, spare_outputs), (0, spare_inputs), (0, 0), (0, 0)))
        bias = np.pad(bias, (0, spare_outputs))
        # Codes of the input planes are at most 2, so their weights can use all of int8.
        max_code = 127 if x == "planes" else 64
        # The bias is at most 2 ** 24 of the same steps, so that sums fit in 32 bits.
        steps = np.maximum(np.abs(weight).max(axis=(1, 2, 3)) / max_code, np.abs(bias) / (1 << 24))
        # A value that is always 0 can have any step but 0.
        steps = np.where(steps > 0, steps, 1)
        result_steps = np.broadcast_to(self.steps[self.graph.result(node)], planes)
        result_steps = np.pad(result_steps, (0, spare_outputs), mode="edge")
        self.arrays[name] = np.rint(weight / steps[:, None, None, None]).astype(np.int8)
        # Divided by the result's steps here, so that the step of the result itself is 1.
        self.arrays[f"{name}.step"] = (steps / result_steps).astype(np.float32)
        self.arrays[bias_name] = np.rint(bias / steps).astype(np.int32)


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
