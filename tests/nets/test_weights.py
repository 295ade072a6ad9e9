"""Networks on disk: ONNX has the outputs of torch, and damaged files are refused."""

import hashlib
import json
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from safetensors.torch import load_file, save_file

from fourlab.agents.registry import PRESETS
from fourlab.compiled.planes import PLANES, encode
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluation
from fourlab.nets.evaluator import ONLY_IN_THE_REPOSITORY, OnnxEvaluator, load, probe_positions
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.onnx_graph import seal
from fourlab.nets.weights import load_net, save_net, to_int8, to_onnx
from fourlab.studies.catalogue import Experiment, all_experiments
from tests.conftest import ROOT

NETWORKS = {
    "sewell": Network(
        "value", "7x6x4", "cells", (), ("dense 100", "relu", "dense 1"), labels="unit"
    ),
    "results": Network(
        "value", "7x6x4", "threats", ("conv 8", "relu"), ("dense 3",), labels="results"
    ),
    "q": Network("q", "5x4x4", "stones", ("conv 8", "relu"), (), ("dense 16", "relu", "dense 5")),
    "tower": Network(
        "policy-value",
        "7x6x4",
        "threats",
        ("conv 8", "batchnorm", "relu", "residual 8", "residual 8"),
        ("conv 2", "batchnorm", "relu", "dense 1", "tanh"),
        ("conv 4", "relu", "dense 7"),
    ),
    "no batchnorm after a convolution": Network(
        "value",
        "5x4x4",
        "stones",
        ("batchnorm", "conv 6", "relu", "batchnorm"),
        ("batchnorm", "tanh", "dense 1"),
    ),
    "flat board": Network(
        "q", "4x1x3", "threats", ("conv 4", "relu", "residual 4"), (), ("dense 4",)
    ),
}


def random_net(network: Network) -> Net:
    """Return a network with random weights, whose normalisations have seen three batches."""
    torch.manual_seed(1)
    net = Net(network)
    planes = torch.rand(32, PLANES[network.features], network.rules.rows, network.rules.columns)
    for _ in range(3):
        net(planes)
    return net.eval()


@pytest.mark.parametrize("name", NETWORKS)
def test_onnx_and_saved_weights_have_the_outputs_of_torch(name: str, tmp_path: Path) -> None:
    net = random_net(NETWORKS[name])
    file = tmp_path / "net.onnx"
    save_net(net, file)
    reloaded = load_net(file).eval()
    evaluator = load(str(file))
    own, mask = probe_positions(net.network.rules, 300, seed=5)
    planes = encode(own, mask, net.network.rules.geometry, net.network.features)
    with torch.no_grad():
        expected = net(torch.from_numpy(planes))
        reloaded_outputs = reloaded(torch.from_numpy(planes))
    outputs = evaluator.heads(planes)
    assert outputs.keys() <= {"value", "policy"}
    heads = zip(("value", "policy"), expected, reloaded_outputs, strict=True)
    for head, tensor, reloaded_tensor in heads:
        assert (head in outputs) == (tensor is not None)
        if tensor is not None:
            assert torch.equal(tensor, reloaded_tensor)
            assert np.abs(outputs[head] - tensor.numpy()).max() < 1e-4
    evaluation = evaluator.evaluate(Batch(own, mask, net.network.rules))
    assert evaluation.values.shape == (300,)
    assert (np.abs(evaluation.values) <= 1).all()
    if net.network.purpose == "value":
        assert evaluation.logits is None
    else:
        assert evaluation.logits.shape == (300, net.network.rules.columns)


def node_kinds(network: Network) -> Counter[str]:
    graph = onnx.load_from_string(to_onnx(random_net(network))).graph
    return Counter(node.op_type for node in graph.node)


def test_normalisations_after_convolutions_are_folded() -> None:
    kinds = node_kinds(NETWORKS["tower"])
    assert kinds["Conv"] == 7
    assert "BatchNormalization" not in kinds
    kinds = node_kinds(NETWORKS["no batchnorm after a convolution"])
    assert kinds["BatchNormalization"] == 3


def test_values_are_converted_from_the_scale_of_the_labels() -> None:
    """The network has the same output for every position: 3/4 on the scale 0 to 1 is 1/2."""
    net = Net(NETWORKS["sewell"])
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    net.value[-1].bias.data[:] = 0.75
    assert evaluate_probes(net).values == pytest.approx(0.5)
    net = Net(NETWORKS["results"])
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    net.value[-1].bias.data[:] = torch.tensor([0.5, 0.2, 0.3]).log()
    assert evaluate_probes(net).values == pytest.approx(0.2)


def evaluate_probes(net: Net) -> Evaluation:
    evaluator = OnnxEvaluator(to_onnx(net), "a test")
    return evaluator.evaluate(Batch(*probe_positions(evaluator.rules), evaluator.rules))


def test_the_value_of_a_q_network_is_that_of_the_best_column_that_is_not_full() -> None:
    net = Net(Network("q", "3x2x3", "stones", (), (), ("dense 3",)))
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    net.policy[-1].bias.data[:] = torch.tensor([0.9, 0.1, 0.4])
    full = 0b11  # column 1 of 3
    batch = Batch(np.array([0, 0b01]), np.array([0, full]), net.network.rules)
    values = OnnxEvaluator(to_onnx(net), "a test").evaluate(batch).values
    assert values == pytest.approx([0.9, 0.4])


def test_the_same_network_gives_the_same_files(tmp_path: Path) -> None:
    for name in "ab":
        save_net(random_net(NETWORKS["tower"]), tmp_path / f"{name}.onnx")
    for kind in (".onnx", ".json", ".safetensors"):
        assert (tmp_path / f"a{kind}").read_bytes() == (tmp_path / f"b{kind}").read_bytes()


@pytest.mark.parametrize("export", [to_onnx, to_int8])
def test_damaged_onnx_files_are_refused(export: Callable[[Net], bytes]) -> None:
    """Change single bits, and cut the file short."""
    data = export(random_net(NETWORKS["q"]))
    rng = np.random.default_rng(0)
    for place in [*rng.integers(len(data), size=150), *range(len(data) - 240, len(data), 7)]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        content = onnx_content(bytes(damaged))
        # Some bits are in metadata that nothing reads.
        assert content is None or content == onnx_content(data), f"byte {place}"
    for end in rng.integers(len(data), size=30):
        assert onnx_content(data[:end]) is None
    assert onnx_content(b"") is None


def onnx_content(data: bytes) -> bytes | None:
    """Return the metadata and probe outputs of a network's file, or None if it is refused."""
    try:
        evaluator = OnnxEvaluator(data, "a test")
    except UserError:
        return None
    metadata = f"{evaluator.network.write()} {evaluator.precision} {evaluator.differences}"
    outputs = evaluator.heads(evaluator.planes(*probe_positions(evaluator.rules)))
    return b"".join(outputs[head].tobytes() for head in sorted(outputs)) + metadata.encode()


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    save_net(random_net(NETWORKS["q"]), tmp_path / "net.onnx")
    weights = tmp_path / "net.safetensors"
    good = weights.read_bytes()
    for data in (good[:-5], good[:20], b"", good[:300] + b"\xff" + good[301:]):
        weights.write_bytes(data)
        with pytest.raises(UserError, match="damaged"):
            load_net(tmp_path / "net.onnx")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda tensors: {**tensors, "policy.0.bias": torch.full((16,), torch.nan)}, "not finite"),
        (lambda tensors: {**tensors, "policy.0.bias": torch.zeros(17)}, "instead of"),
        (
            lambda tensors: {**tensors, "policy.0.bias": torch.zeros(16, dtype=torch.float64)},
            "instead of",
        ),
        (lambda tensors: {**tensors, "extra": torch.zeros(1)}, "'extra' is in only one"),
        (
            lambda tensors: {
                name: tensor for name, tensor in tensors.items() if name != "policy.0.bias"
            },
            "'policy.0.bias' is in only one",
        ),
    ],
)
def test_weights_that_do_not_fit_are_refused_even_with_a_correct_checksum(
    change: object, word: str, tmp_path: Path
) -> None:
    save_net(random_net(NETWORKS["q"]), tmp_path / "net.onnx")
    weights = tmp_path / "net.safetensors"
    description = tmp_path / "net.json"
    save_file(change(load_file(weights)), weights)  # type: ignore[operator]
    about = json.loads(description.read_text())
    about["sha256"] = hashlib.sha256(weights.read_bytes()).hexdigest()
    description.write_text(json.dumps(about))
    with pytest.raises(UserError, match=word):
        load_net(tmp_path / "net.onnx")


def test_missing_and_foreign_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        load_net(tmp_path / "net")
    with pytest.raises(UserError, match="cannot read the network nothing"):
        load("nothing")
    (tmp_path / "net.json").write_text("{}")
    with pytest.raises(UserError, match="does not describe a network"):
        load_net(tmp_path / "net")
    (tmp_path / "net.onnx").write_bytes(b"no network")
    with pytest.raises(UserError, match="not an ONNX network or is damaged"):
        load(str(tmp_path / "net.onnx"))


def test_evaluation_needs_no_torch(tmp_path: Path) -> None:
    save_net(random_net(NETWORKS["q"]), tmp_path / "net.onnx")
    script = f"""
import sys
sys.modules.update(torch=None, onnx=None, safetensors=None)
from fourlab.evaluator import Batch
from fourlab.nets.evaluator import load, probe_positions
evaluator = load({str(tmp_path / "net.onnx")!r})
batch = Batch(*probe_positions(evaluator.rules), evaluator.rules)
print(evaluator.evaluate(batch).values.shape)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "(64,)\n", done.stderr


def test_a_network_that_has_diverged_is_neither_saved_nor_loaded(tmp_path: Path) -> None:
    net = random_net(NETWORKS["tower"])
    good = to_onnx(net)
    with torch.no_grad():
        net.policy[0].weight[0, 0, 0, 0] = float("nan")
    with pytest.raises(
        UserError, match=r"not worth saving: 'policy\.0\.weight' has a number that is not finite"
    ):
        save_net(net, tmp_path / "net.onnx")
    assert not list(tmp_path.iterdir())

    model = onnx.load_from_string(good)
    metadata = {prop.key: prop.value for prop in model.metadata_props}
    del model.metadata_props[:]
    for weight in model.graph.initializer:
        if weight.name.startswith("policy"):
            weight.raw_data = np.full(len(weight.raw_data) // 4, np.nan, np.float32).tobytes()
    bad = seal(model.SerializeToString(deterministic=True), {"network": metadata["network"]})
    with pytest.raises(UserError, match="has a number that is not finite"):
        OnnxEvaluator(bad, "it")
    model = onnx.load_from_string(good)
    del model.metadata_props[:]
    # Finite weights, but infinite outputs as soon as there are discs.
    for weight in model.graph.initializer:
        if weight.name == model.graph.node[0].input[1]:
            weight.raw_data = np.full(len(weight.raw_data) // 4, 1e38, np.float32).tobytes()
    bad = seal(model.SerializeToString(deterministic=True), {"network": metadata["network"]})
    with pytest.raises(UserError, match="answers with numbers that are not finite"):
        OnnxEvaluator(bad, "it")


def test_outputs_of_another_shape_are_refused() -> None:
    model = onnx.load_from_string(to_onnx(random_net(NETWORKS["sewell"])))
    del model.metadata_props[:]
    graph = model.SerializeToString(deterministic=True)
    with pytest.raises(UserError, match="does not fit its description"):
        OnnxEvaluator(seal(graph, {"network": NETWORKS["results"].write()}), "it")


def test_a_replaced_file_is_loaded_again(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    net = random_net(NETWORKS["sewell"])
    save_net(net, file)
    before = load(str(file))
    assert load(str(file)) is before
    with torch.no_grad():
        net.value[0].bias += 1
    save_net(net, file)
    planes = before.planes(*probe_positions(before.rules))
    assert (load(str(file)).heads(planes)["value"] != before.heads(planes)["value"]).any()


@pytest.mark.parametrize("name", ["arya-1000", "arya-5000"])
def test_a_network_missing_from_the_wheel_is_refused_saying_where_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(name)
    monkeypatch.setattr("fourlab.nets.evaluator.SHIPPED", tmp_path)
    with pytest.raises(UserError) as refusal:
        load(name)
    assert str(refusal.value) == (
        f"the network {name} is not in the installed package: copy "
        f"src/fourlab/nets/weights/{name}.onnx from Fourlab's repository to {tmp_path}"
    )
    with pytest.raises(UserError, match=f"^the network {name} is not in the installed package"):
        Experiment("000-x", (), "", "", {}, "", (), networks=(name,)).check()
    copied = (ROOT / f"src/fourlab/nets/weights/{name}.onnx").read_bytes()
    (tmp_path / f"{name}.onnx").write_bytes(copied)
    load(name)


def test_the_wheel_leaves_out_exactly_what_the_loader_expects_to_be_missing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["exclude"] == [f"src/fourlab/nets/weights/{ONLY_IN_THE_REPOSITORY}.onnx"]
    used = {name for experiment in all_experiments().values() for name in experiment.networks}
    used |= {preset.network for preset in PRESETS.values() if preset.network}
    assert used == {"arya-1000", "arya-5000", "arya-alphamcts-10-1", "arya-alphamcts-50-1"}
    assert all(fnmatchcase(name, ONLY_IN_THE_REPOSITORY) for name in used)
