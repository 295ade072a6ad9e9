"""Networks in 8-bit integers have nearly the outputs of exact ones."""

from collections import Counter

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from fourlab.errors import UserError
from fourlab.evaluator import Batch
from fourlab.nets.evaluator import OnnxEvaluator, probe_positions
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.onnx_graph import seal
from fourlab.nets.quantise import compare, quantise
from fourlab.nets.weights import to_int8, to_onnx
from tests.nets.test_weights import NETWORKS, random_net

UNUSUAL = {
    "conv after conv": Network(
        "value", "7x6x4", "cells", ("conv 5", "conv 18", "tanh", "conv 7"), ("dense 1",)
    ),
    "one head reads planes, one convolves them": Network(
        "policy-value", "7x6x4", "threats", (), ("conv 3", "relu", "dense 1"), ("dense 7",)
    ),
    "one head applies a relu to what the other reads": Network(
        "policy-value", "7x6x4", "stones", ("conv 9",), ("relu", "dense 1"), ("dense 7",)
    ),
    "both heads apply a relu": Network(
        "policy-value", "7x6x4", "stones", ("conv 9",), ("relu", "dense 1"), ("relu", "dense 7")
    ),
    "a sum with the input planes": Network(
        "value", "7x6x4", "threats", ("residual 6", "residual 6"), ("dense 1",)
    ),
    "a normalisation between convolutions": Network(
        "value", "7x6x4", "threats", ("conv 8", "relu", "batchnorm", "conv 8"), ("dense 1",)
    ),
}


@pytest.mark.parametrize("name", [*NETWORKS, *UNUSUAL])
def test_int8_outputs_are_close_in_batches_of_any_size(name: str) -> None:
    """The mean difference is at most 4 % of the standard deviation over positions."""
    net = random_net({**NETWORKS, **UNUSUAL}[name])
    exact = OnnxEvaluator(to_onnx(net), "a test")
    int8 = OnnxEvaluator(to_int8(net), "a test")
    planes = exact.planes(*probe_positions(net.network.rules, 300, seed=5))
    expected = exact.heads(planes)
    outputs = int8.heads(planes)
    assert outputs.keys() == expected.keys()
    for head, exact_output in expected.items():
        assert np.abs(outputs[head] - exact_output).mean() <= 0.04 * exact_output.std()
        for batch in (1, 7):
            parts = [
                int8.heads(planes[start : start + batch])[head] for start in range(0, 300, batch)
            ]
            assert np.concatenate(parts) == pytest.approx(outputs[head], abs=1e-5)


def test_convolutions_and_sums_are_in_integers() -> None:
    """Weights are at most 64, so that no processor overflows in 16 bits."""
    graph = onnx.load_from_string(to_int8(random_net(NETWORKS["tower"]))).graph
    kinds = Counter(node.op_type for node in graph.node)
    assert kinds["QLinearConv"] == 7
    assert kinds["QLinearAdd"] == 2
    assert not {"Conv", "Add"} & kinds.keys()
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    convolutions = [weights[node.input[3]] for node in graph.node if node.op_type == "QLinearConv"]
    assert {weight.dtype for weight in convolutions} == {np.dtype(np.int8)}
    largest = [int(np.abs(weight.astype(int)).max()) for weight in convolutions]
    assert largest == [127, 64, 64, 64, 64, 64, 64]


def test_an_int8_file_contains_its_architecture_and_its_differences() -> None:
    net = random_net(NETWORKS["tower"])
    exact = OnnxEvaluator(to_onnx(net), "a test")
    int8 = OnnxEvaluator(to_int8(net), "a test")
    assert int8.network == exact.network == net.network
    assert (exact.precision, exact.differences) == ("fp32", {})
    assert int8.precision == "int8"
    assert int8.differences == pytest.approx(compare(exact, int8))
    assert 0 < int8.differences["value"] < 0.01
    assert 0 < int8.differences["policy"] < 0.01
    value_only = OnnxEvaluator(to_int8(random_net(NETWORKS["results"])), "a test")
    assert value_only.differences.keys() == {"value"}


def test_the_file_depends_on_the_positions_only() -> None:
    net = random_net(NETWORKS["tower"])
    positions = probe_positions(net.network.rules, 100, seed=3)
    assert to_int8(net, *positions) == to_int8(random_net(NETWORKS["tower"]), *positions)
    assert to_int8(net, *positions) != to_int8(net)


def test_a_plane_that_is_nearly_dead_keeps_its_bias() -> None:
    """Weights are so small that the bias would be more than 1e9 of their steps."""
    net = random_net(NETWORKS["results"])
    with torch.no_grad():
        net.body[0].weight[:4] *= 1e-12
        net.body[0].bias[:4] = torch.tensor([1.0, -1.0, 0.5, 0.0])
        net.body[0].weight[4] = net.body[0].bias[4] = 0
    exact = OnnxEvaluator(to_onnx(net), "a test")
    int8 = OnnxEvaluator(to_int8(net), "a test")
    planes = exact.planes(*probe_positions(net.network.rules, 100, seed=5))
    expected = exact.heads(planes)["value"]
    assert np.abs(int8.heads(planes)["value"] - expected).mean() <= 0.04 * expected.std()


def test_a_plane_that_is_zero_on_all_sample_positions_is_not_lost() -> None:
    """One plane is 1 everywhere, the other 0.1 at own discs; the sample is the empty board."""
    net = Net(Network("value", "7x6x4", "stones", ("conv 2", "relu"), ("dense 1",))).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.body[0].bias[0] = 1
        net.body[0].weight[1, 0, 1, 1] = 0.1
        net.value[0].weight[0, 42:] = 0.3
    empty = np.zeros(1, np.int64)
    exact = OnnxEvaluator(to_onnx(net), "a test")
    int8 = OnnxEvaluator(to_int8(net, empty, empty), "a test")
    batch = Batch(*probe_positions(net.network.rules, 100, seed=5), net.network.rules)
    assert exact.evaluate(batch).values.max() > 0.3
    assert int8.evaluate(batch).values == pytest.approx(exact.evaluate(batch).values, abs=0.01)


@pytest.mark.parametrize("head", ["value", "policy"])
def test_a_network_whose_outputs_change_is_refused(head: str) -> None:
    """Ranges measured on the empty board, where all planes are zero, do not fit other positions."""
    net = Net(
        Network("policy-value", "7x6x4", "stones", ("conv 4", "relu"), ("dense 1",), ("dense 7",))
    ).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.body[0].weight[:] = 0.01
        getattr(net, head)[0].weight[0] = 0.3
    with pytest.raises(
        UserError,
        match=rf"the int8 {head} differs from the exact one by 0\.\d+ on average, more than 0\.05",
    ):
        to_int8(net, np.zeros(1, np.int64), np.zeros(1, np.int64))
    assert OnnxEvaluator(to_int8(net), "a test").differences[head] < 0.01


def test_an_int8_network_is_not_quantised_again() -> None:
    net = random_net(NETWORKS["q"])
    with pytest.raises(UserError, match="int8 already"):
        quantise(to_int8(net), *probe_positions(net.network.rules))


@pytest.mark.parametrize("text", ["", "[]", "3", '{"value": "much"}', '{"value": null}'])
def test_invalid_differences_are_refused(text: str) -> None:
    net = random_net(NETWORKS["q"])
    data = to_onnx(net)
    metadata = {prop.key: prop.value for prop in onnx.load_from_string(data).metadata_props}
    graph = data[: int(metadata["bytes"])]
    with pytest.raises(UserError, match="does not say how exact it is"):
        OnnxEvaluator(seal(graph, {"network": net.network.write(), "int8": text}), "a test")
