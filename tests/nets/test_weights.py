"""Networks on disk: what torch says, ONNX says too, and what is damaged is refused."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from fourlab.errors import UserError
from fourlab.kernels.planes import encode
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.onnx_evaluator import OnnxEvaluator, load, probe_positions
from fourlab.nets.weights import load_net, save_net

FORMS = {
    "sewell": Network("value", "7x6x4", "cells", (), ("dense 100", "relu", "dense 1"), labels="unit"),
    "results": Network("value", "7x6x4", "threats", ("conv 8", "relu"), ("dense 3",), labels="results"),
    "q": Network("q", "5x4x4", "stones", ("conv 8", "relu"), (), ("dense 16", "relu", "dense 5")),
    "tower": Network(
        "policy-value",
        "7x6x4",
        "threats",
        ("conv 8", "batchnorm", "relu", "residual 8", "residual 8"),
        ("conv 2", "batchnorm", "relu", "dense 1", "tanh"),
        ("conv 4", "relu", "dense 7"),
    ),
    "flat board": Network("q", "4x1x3", "threats", ("conv 4", "relu", "residual 4"), (), ("dense 4",)),
}


def made(name: str) -> Net:
    """A network with random weights and with statistics in its normalisations."""
    torch.manual_seed(1)
    net = Net(FORMS[name])
    planes = torch.rand(32, net.network.parts()["body"][0].inputs if net.network.body else 1, *_board(net))
    for _ in range(3):
        net(planes)
    return net.eval()


def _board(net: Net) -> tuple[int, int]:
    return net.network.rules.rows, net.network.rules.columns


@pytest.mark.parametrize("name", FORMS)
def test_onnx_and_saved_weights_answer_as_torch(name: str, tmp_path: Path) -> None:
    net = made(name)
    save_net(net, tmp_path / "net.onnx")
    reloaded, evaluator = load_net(tmp_path / "net.onnx").eval(), load(str(tmp_path / "net.onnx"))
    own, mask = probe_positions(net.network.rules, 300, seed=5)
    planes = encode(own, mask, net.network.rules.geometry, net.network.features)
    with torch.no_grad():
        answers = net(torch.from_numpy(planes))
        again = reloaded(torch.from_numpy(planes))
    found = evaluator.heads(planes)
    assert found.keys() == {head for head, answer in zip(("value", "policy"), answers, strict=True) if answer is not None}
    for head, answer, same in zip(("value", "policy"), answers, again, strict=True):
        if answer is not None:
            assert torch.equal(answer, same)
            assert np.abs(found[head] - answer.numpy()).max() < 1e-4
    judged = evaluator.judge(own, mask)
    assert judged.values.shape == (300,)
    assert (np.abs(judged.values) <= 1).all()
    assert judged.logits.shape == (300, net.network.rules.columns)


def test_values_are_for_the_side_to_move_whatever_the_labels() -> None:
    """A network that says the same of every position: 3/4 on the scale 0 to 1 is one half."""
    net = Net(FORMS["sewell"])
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    net.value[-1].bias.data[:] = 0.75
    assert _evaluator(net).judge(*probe_positions(net.network.rules)).values == pytest.approx(0.5)
    net = Net(FORMS["results"])
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    net.value[-1].bias.data[:] = torch.tensor([0.5, 0.2, 0.3]).log()
    assert _evaluator(net).judge(*probe_positions(net.network.rules)).values == pytest.approx(0.2)


def test_a_q_network_values_a_position_by_its_best_open_column() -> None:
    net = Net(Network("q", "3x2x3", "stones", (), (), ("dense 3",)))
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    net.policy[-1].bias.data[:] = torch.tensor([0.9, 0.1, 0.4])
    full = 0b11  # column 1 of 3
    values = _evaluator(net).judge(np.array([0, 0b01]), np.array([0, full])).values
    assert values == pytest.approx([0.9, 0.4])


def _evaluator(net: Net) -> OnnxEvaluator:
    from fourlab.nets.weights import to_onnx

    return OnnxEvaluator(to_onnx(net), "a test")


def test_the_same_network_gives_the_same_files(tmp_path: Path) -> None:
    for name in "ab":
        save_net(made("tower"), tmp_path / f"{name}.onnx")
    for kind in (".onnx", ".json", ".safetensors"):
        assert (tmp_path / f"a{kind}").read_bytes() == (tmp_path / f"b{kind}").read_bytes()


def test_damaged_onnx_files_are_refused(tmp_path: Path) -> None:
    """Any byte changed, any part missing."""
    save_net(made("q"), tmp_path / "net.onnx")
    data = (tmp_path / "net.onnx").read_bytes()
    rng = np.random.default_rng(0)
    for place in [*rng.integers(len(data), size=150), *range(len(data) - 60, len(data), 7)]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        if OnnxRead(bytes(damaged)) is not None:
            assert OnnxRead(bytes(damaged)) == OnnxRead(data), f"byte {place}"  # a name in the metadata that nobody reads
    for end in rng.integers(len(data), size=30):
        assert OnnxRead(data[:end]) is None
    assert OnnxRead(b"") is None


def OnnxRead(data: bytes) -> bytes | None:  # noqa: N802
    """What a file's network says of some positions; None if it is refused."""
    try:
        evaluator = OnnxEvaluator(data, "a test")
    except UserError:
        return None
    return evaluator.judge(*probe_positions(evaluator.rules)).logits.tobytes() + evaluator.network.write().encode()


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    save_net(made("q"), tmp_path / "net.onnx")
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
        (lambda tensors: {**tensors, "policy.0.bias": torch.zeros(16, dtype=torch.float64)}, "instead of"),
        (lambda tensors: {**tensors, "extra": torch.zeros(1)}, "'extra' is in only one"),
        (
            lambda tensors: {name: each for name, each in tensors.items() if name != "policy.0.bias"},
            "'policy.0.bias' is in only one",
        ),
    ],
)
def test_weights_that_do_not_fit_are_refused_even_with_a_right_checksum(change: object, word: str, tmp_path: Path) -> None:
    save_net(made("q"), tmp_path / "net.onnx")
    weights, about = tmp_path / "net.safetensors", tmp_path / "net.json"
    save_file(change(load_file(weights)), weights)  # type: ignore[operator]
    data = {**json.loads(about.read_text()), "sha256": hashlib.sha256(weights.read_bytes()).hexdigest()}
    about.write_text(json.dumps(data))
    with pytest.raises(UserError, match=word):
        load_net(tmp_path / "net.onnx")


def test_missing_and_foreign_files_are_told(tmp_path: Path) -> None:
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


def test_judging_needs_no_torch(tmp_path: Path) -> None:
    save_net(made("q"), tmp_path / "net.onnx")
    script = f"""
import sys
sys.modules.update(torch=None, onnx=None, safetensors=None)
from fourlab.nets.onnx_evaluator import load, probe_positions
evaluator = load({str(tmp_path / "net.onnx")!r})
print(evaluator.judge(*probe_positions(evaluator.rules)).values.shape)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "(64,)\n", done.stderr
