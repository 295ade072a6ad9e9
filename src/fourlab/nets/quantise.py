"""Networks that count in whole numbers of eight bits: faster, and nearly as exact.

Between convolutions a number is a code from 0 to 255:

    number = (code - zero) * step        zero is 0 where numbers are never negative, as behind a relu, else 128

A graph is written again node by node: convolutions and the sums of residual layers work on codes, everything else (the dense
layers at the end, tanh) stays as it was. How large numbers become is observed on positions, so that steps are as fine as can
be. Weights have a step for each plane that they make and are at most 64 steps long: processors without instructions of their
own for this add two products of a code and a weight in 16 bits, and 2 * 255 * 64 still fits.
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

FARTHEST = 0.05
"""By so much answers may differ on average: a value on its scale -1 to +1; a policy by the share that went to other columns."""
PROBES = 256
"""On so many positions of random games answers are compared."""
FINEST = 8
"""No plane's step is more than so many times finer than the coarsest, lest what was rarely observed is cut off."""


def quantise(exact: bytes, own: np.ndarray, mask: np.ndarray) -> bytes:
    """The int8 version of a network's ONNX file, its ranges observed on positions; it must answer nearly the same."""
    judge = OnnxEvaluator(exact, "the network")
    if judge.precision == "int8":
        raise UserError("the network is int8 already")
    model = onnx.load_from_string(exact)
    graph = _Codes(model, judge.planes(own, mask)).write(model.graph.input, model.graph.output)
    told = {"network": judge.network.write(), "int8": "{}"}
    differences = compare(judge, OnnxEvaluator(seal(graph, told), "the int8 graph"))
    for head, difference in differences.items():
        if not difference <= FARTHEST:
            raise UserError(f"the int8 {head} differs from the exact one by {difference:.3f} on average, more than {FARTHEST:g}")
    return seal(graph, {**told, "int8": json.dumps(differences)})


def compare(first: OnnxEvaluator, second: OnnxEvaluator) -> dict[str, float]:
    """The mean difference of two networks' values and policies on positions of random games."""
    positions = probe_positions(first.rules, PROBES, seed=1)
    batch = Batch(*positions, first.rules)
    one, other = first.evaluate(batch), second.evaluate(batch)
    found = {"value": float(np.abs(one.values - other.values).mean())}
    if one.logits is not None and other.logits is not None:
        found["policy"] = float(np.abs(_chances(one.logits) - _chances(other.logits)).sum(axis=1).mean() / 2)
    return found


def _chances(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
    return chances


class _Codes(Writer):
    """Writes a graph again with its convolutions and sums in codes: NAME becomes NAME.codes, with NAME.step and NAME.zero."""

    def __init__(self, exact: onnx.ModelProto, planes: np.ndarray) -> None:
        super().__init__()
        nodes = exact.graph.node
        self.given = {each.name: numpy_helper.to_array(each) for each in exact.graph.initializer}
        readers = Counter(name for each in nodes for name in each.input)
        relus = [each for each in nodes if each.op_type == "Relu" and readers[each.input[0]] == 1]
        self.relus: dict[str, str] = {each.input[0]: each.output[0] for each in relus}
        convs, sums = ([each for each in nodes if each.op_type == kind] for kind in ("Conv", "Add"))
        made = {self.result(each) for each in convs}
        # what convolutions and sums work on has one step for all its planes, other results have one for each
        self.single = {each.input[0] for each in convs} | {name for each in sums for name in (*each.input, self.result(each))}
        self.steps = {"planes": np.ones(())}  # whole numbers as they are
        self.zeros = {"planes": 0}
        for name, (low, high) in _observe(exact, (self.single | made) - {"planes"}, planes).items():
            self.measure(name, low, high)
        self.coded: set[str] = set()
        self.numbered = {"planes"}
        for node in nodes:
            self.rewrite(node)

    def result(self, node: onnx.NodeProto) -> str:
        """The name of what a node makes; a relu that alone reads it is nothing but the lower bound of its codes."""
        name: str = node.output[0]
        return self.relus.get(name, name)

    def measure(self, name: str, low: np.ndarray, high: np.ndarray) -> None:
        """Choose step and zero for numbers between float[planes] and float[planes]."""
        self.zeros[name] = 128 if low.min() < 0 else 0
        steps = np.maximum(high / (255 - self.zeros[name]), -low / 128).astype(np.float64)
        steps = steps.max() if name in self.single else np.maximum(steps, steps.max() / FINEST)
        self.steps[name] = np.where(steps > 0, steps, 1)

    def rewrite(self, node: onnx.NodeProto) -> None:
        """Write one node again."""
        result = self.result(node)
        if node.op_type == "Conv":
            self.conv(node, result)
        elif node.op_type == "Add":
            terms = [name for each in node.input for name in (self.codes(each), *self.scale(each))]
            self.node("QLinearAdd", [*terms, *self.scale(result)], f"{result}.codes", domain="com.microsoft")
            self.coded.add(result)
        elif node.output[0] not in self.coded:  # else a relu that was seen to
            for name in node.input:
                self.numbers(name)
            self.nodes.append(node)
            self.numbered.add(node.output[0])

    def conv(self, node: onnx.NodeProto, result: str) -> None:
        """Write a convolution; spare planes of zeros let onnxruntime take its fast way, from planes in fours to at least 16."""
        seen, name, bias_name = node.input
        weight, bias = self.given[name].astype(np.float64), self.given[bias_name] / self.steps[seen]
        planes, spare = len(weight), -weight.shape[1] % 4
        more = max(16, -(-planes // 8) * 8) - planes
        codes = self.codes(seen)
        if spare:
            codes = self.node("Pad", [codes, self.put(f"{name}.pads", np.array([0, 0, 0, 0, 0, spare, 0, 0]))], f"{name}.padded")
        weight, bias = np.pad(weight, ((0, more), (0, spare), (0, 0), (0, 0))), np.pad(bias, (0, more))
        most = 127 if seen == "planes" else 64  # planes have no codes beyond 2
        steps = np.maximum(np.abs(weight).max(axis=(1, 2, 3)) / most, np.abs(bias) / (1 << 24))  # the bias must fit, too
        steps = np.where(steps > 0, steps, 1)
        results = np.pad(np.broadcast_to(self.steps[result], planes), (0, more), mode="edge")
        inputs = [
            *(codes, *self.scale(seen)),
            self.put(name, np.rint(weight / steps[:, None, None, None]).astype(np.int8)),
            self.put(f"{name}.step", (steps / results).astype(np.float32)),  # straight to the result's codes …
            self.put(f"{name}.zero", np.zeros(planes + more, np.int8)),
            self.put("one", np.float32(1)),  # … whose step is 1 here
            self.put(f"zero.{self.zeros[result]}", np.uint8(self.zeros[result])),
            self.put(bias_name, np.rint(bias / steps).astype(np.int32)),
        ]
        made = f"{result}.wide" if more else f"{result}.codes"
        self.node("QLinearConv", inputs, made, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        if more:
            ends = [self.put(f"at.{place}", np.array([place])) for place in (0, planes, 1)]
            self.node("Slice", [made, *ends], f"{result}.codes")
        self.coded.add(result)

    def codes(self, name: str) -> str:
        """The codes of something; numbers that have none yet are given them."""
        if name not in self.coded:
            self.node("QuantizeLinear", [name, *self.scale(name)], f"{name}.codes")
            self.coded.add(name)
        return f"{name}.codes"

    def numbers(self, name: str) -> None:
        """See to it that something is there in numbers."""
        if name in self.given:
            self.put(name, self.given[name])
        elif name not in self.numbered:
            self.node("DequantizeLinear", [f"{name}.codes", *self.scale(name)], name, axis=1)
            self.numbered.add(name)

    def scale(self, name: str) -> tuple[str, str]:
        """The names of step and zero."""
        steps = self.steps[name].astype(np.float32)
        zeros = np.full(steps.shape, self.zeros[name], np.uint8)
        return self.put(f"{name}.step", steps), self.put(f"{name}.zero", zeros)


def _observe(model: onnx.ModelProto, names: set[str], planes: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The least and the greatest number, float32[planes] each, in what a graph computes on its way."""
    if not names:
        return {}
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    del watched.graph.output[:]
    for name in sorted(names):
        for kind in ("ReduceMin", "ReduceMax"):
            watched.graph.node.append(helper.make_node(kind, [name], [f"{name}.{kind}"], axes=[0, 2, 3], keepdims=0))
            watched.graph.output.append(onnx.ValueInfoProto(name=f"{name}.{kind}"))
    found = open_session(watched.SerializeToString()).run(None, {"planes": planes})
    return dict(zip(sorted(names), zip(found[::2], found[1::2], strict=True), strict=True))
