"""Networks in whole numbers answer nearly as exact ones do."""

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
from tests.nets.test_weights import FORMS, made

ODD = {
    "conv after conv": Network("value", "7x6x4", "cells", ("conv 5", "conv 18", "tanh", "conv 7"), ("dense 1",)),
    "one head reads planes, one convolves them": Network(
        "policy-value", "7x6x4", "threats", (), ("conv 3", "relu", "dense 1"), ("dense 7",)
    ),
    "one head bends what the other reads": Network(
        "policy-value", "7x6x4", "stones", ("conv 9",), ("relu", "dense 1"), ("dense 7",)
    ),
    "both heads bend it": Network("policy-value", "7x6x4", "stones", ("conv 9",), ("relu", "dense 1"), ("relu", "dense 7")),
    "a sum with the planes themselves": Network("value", "7x6x4", "threats", ("residual 6", "residual 6"), ("dense 1",)),
    "normalised between": Network("value", "7x6x4", "threats", ("conv 8", "relu", "batchnorm", "conv 8"), ("dense 1",)),
}


@pytest.mark.parametrize("name", [*FORMS, *ODD])
def test_int8_answers_are_close_in_batches_of_any_size(name: str) -> None:
    """On average within 4 % of how much the answers of the exact network vary from position to position."""
    net = made({**FORMS, **ODD}[name])
    exact, int8 = (OnnxEvaluator(data, "a test") for data in (to_onnx(net), to_int8(net)))
    planes = exact.planes(*probe_positions(net.network.rules, 300, seed=5))
    expected, found = exact.heads(planes), int8.heads(planes)
    assert found.keys() == expected.keys()
    for head, answers in expected.items():
        assert np.abs(found[head] - answers).mean() <= 0.04 * answers.std()
        for batch in (1, 7):
            parts = [int8.heads(planes[start : start + batch])[head] for start in range(0, 300, batch)]
            assert np.concatenate(parts) == pytest.approx(found[head], abs=1e-5)


def test_convolutions_and_sums_are_in_whole_numbers() -> None:
    """With weights so small that no processor has to cut a sum off."""
    graph = onnx.load_from_string(to_int8(made(FORMS["tower"]))).graph
    kinds = Counter(node.op_type for node in graph.node)
    assert kinds["QLinearConv"] == 7
    assert kinds["QLinearAdd"] == 2
    assert not {"Conv", "Add"} & kinds.keys()
    weights = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    convolutions = [weights[node.input[3]] for node in graph.node if node.op_type == "QLinearConv"]
    assert {each.dtype for each in convolutions} == {np.dtype(np.int8)}
    assert [int(np.abs(each.astype(int)).max()) for each in convolutions] == [127, 64, 64, 64, 64, 64, 64]


def test_an_int8_file_tells_its_form_and_its_differences() -> None:
    net = made(FORMS["tower"])
    exact, int8 = (OnnxEvaluator(data, "a test") for data in (to_onnx(net), to_int8(net)))
    assert int8.network == exact.network == net.network
    assert (exact.precision, exact.differences) == ("fp32", {})
    assert int8.precision == "int8"
    assert int8.differences == pytest.approx(compare(exact, int8))
    assert 0 < int8.differences["value"] < 0.01
    assert 0 < int8.differences["policy"] < 0.01
    value_alone = OnnxEvaluator(to_int8(made(FORMS["results"])), "a test")
    assert value_alone.differences.keys() == {"value"}


def test_the_same_positions_give_the_same_file_and_others_another() -> None:
    net = made(FORMS["tower"])
    positions = probe_positions(net.network.rules, 100, seed=3)
    assert to_int8(net, *positions) == to_int8(made(FORMS["tower"]), *positions)
    assert to_int8(net, *positions) != to_int8(net)


def test_a_plane_that_is_nearly_dead_keeps_its_bias() -> None:
    """Weights next to nothing, so that the bias would be a thousand million of their steps, and more."""
    net = made(FORMS["results"])
    with torch.no_grad():
        net.body[0].weight[:4] *= 1e-12
        net.body[0].bias[:4] = torch.tensor([1.0, -1.0, 0.5, 0.0])
        net.body[0].weight[4] = net.body[0].bias[4] = 0
    exact, int8 = (OnnxEvaluator(data, "a test") for data in (to_onnx(net), to_int8(net)))
    planes = exact.planes(*probe_positions(net.network.rules, 100, seed=5))
    answers = exact.heads(planes)["value"]
    assert np.abs(int8.heads(planes)["value"] - answers).mean() <= 0.04 * answers.std()


def test_a_plane_that_was_never_seen_awake_is_not_lost() -> None:
    """One plane is 1 everywhere, the other a tenth where own discs are; observed is only the empty board."""
    net = Net(Network("value", "7x6x4", "stones", ("conv 2", "relu"), ("dense 1",))).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.body[0].bias[0] = 1
        net.body[0].weight[1, 0, 1, 1] = 0.1
        net.value[0].weight[0, 42:] = 0.3
    nothing = np.zeros(1, np.int64)
    exact, int8 = (OnnxEvaluator(data, "a test") for data in (to_onnx(net), to_int8(net, nothing, nothing)))
    batch = Batch(*probe_positions(net.network.rules, 100, seed=5), net.network.rules)
    assert exact.evaluate(batch).values.max() > 0.3
    assert int8.evaluate(batch).values == pytest.approx(exact.evaluate(batch).values, abs=0.01)


@pytest.mark.parametrize("head", ["value", "policy"])
def test_a_network_whose_answers_change_is_refused(head: str) -> None:
    """On the empty board there is nothing to see, so the ranges observed there are of no use elsewhere."""
    net = Net(Network("policy-value", "7x6x4", "stones", ("conv 4", "relu"), ("dense 1",), ("dense 7",))).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.body[0].weight[:] = 0.01
        getattr(net, head)[0].weight[0] = 0.3
    with pytest.raises(UserError, match=rf"the int8 {head} differs from the exact one by 0\.\d+ on average, more than 0\.05"):
        to_int8(net, np.zeros(1, np.int64), np.zeros(1, np.int64))
    assert OnnxEvaluator(to_int8(net), "a test").differences[head] < 0.01


def test_int8_is_not_made_of_int8() -> None:
    net = made(FORMS["q"])
    with pytest.raises(UserError, match="int8 already"):
        quantise(to_int8(net), *probe_positions(net.network.rules))


@pytest.mark.parametrize("text", ["", "[]", "3", '{"value": "much"}', '{"value": null}'])
def test_differences_that_make_no_sense_are_refused(text: str) -> None:
    net = made(FORMS["q"])
    data = to_onnx(net)
    graph = data[: int(next(each.value for each in onnx.load_from_string(data).metadata_props if each.key == "bytes"))]
    with pytest.raises(UserError, match="does not tell how exact it is"):
        OnnxEvaluator(seal(graph, {"network": net.network.write(), "int8": text}), "a test")
