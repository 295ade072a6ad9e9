"""Networks computed by NumPy have the outputs of torch."""

import hashlib
import json

import numpy as np
import pytest
import torch

from fourlab.bridges.kaggle.weights import read
from fourlab.nets.evaluator import probe_positions
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.numpy_evaluator import NumpyEvaluator, parse

NETWORKS = [
    {
        "purpose": "value",
        "board": "7x6x4",
        "features": "cells",
        "value": ("dense 10", "relu", "dense 1"),
    },
    {
        "purpose": "value",
        "board": "5x4x4",
        "features": "stones",
        "body": ("dense 9", "relu"),
        "value": ("dense 3",),
        "labels": "results",
    },
    {
        "purpose": "q",
        "board": "4x5x4",
        "features": "empty",
        "body": ("conv 5", "relu", "batchnorm"),
        "policy": ("dense 6", "tanh", "dense 4"),
    },
    {
        "purpose": "policy-value",
        "board": "6x5x4",
        "features": "threats",
        "body": ("conv 8", "batchnorm", "relu", "residual 8", "residual 8"),
        "value": ("conv 3", "batchnorm", "relu", "dense 7", "relu", "dense 1", "tanh"),
        "policy": ("conv 4", "relu", "dense 6"),
    },
]


def random_net(network: Network) -> Net:
    """Return a network with random weights and random statistics of its normalisations."""
    torch.manual_seed(1)
    net = Net(network)
    for name, values in net.state_dict().items():
        if name.endswith("running_var"):
            values.uniform_(0.5, 2)
        elif values.dtype == torch.float32:
            values.uniform_(-0.5, 0.5)
    return net.eval()


@pytest.mark.parametrize("options", NETWORKS)
def test_every_layer_has_the_outputs_of_torch(options: dict[str, object]) -> None:
    network = Network(**options)  # type: ignore[arg-type]
    net = random_net(network)
    weights = {name: values.numpy() for name, values in net.state_dict().items()}
    evaluator = NumpyEvaluator(network, weights)
    planes = evaluator.planes(*probe_positions(network.rules, 32))
    with torch.no_grad():
        value, policy = net(torch.from_numpy(planes))
    outputs = evaluator.heads(planes)
    for head, expected in (("value", value), ("policy", policy)):
        assert (head in outputs) == (expected is not None)
        if expected is not None:
            assert np.abs(outputs[head] - expected.numpy()).max() < 1e-5


@pytest.mark.parametrize("name", ["alphazero", "value", "dqn", "sewell", "sewell-2", "sewell-unit"])
def test_the_shipped_networks_have_the_outputs_of_torch(name: str) -> None:
    network, weights = parse(*read(name))
    evaluator = NumpyEvaluator(network, weights)
    net = Net(network)
    net.load_state_dict(
        {name: torch.from_numpy(array.copy()) for name, array in weights.items()}, strict=False
    )
    planes = evaluator.planes(*probe_positions(network.rules))
    with torch.no_grad():
        value, policy = net.eval()(torch.from_numpy(planes))
    outputs = evaluator.heads(planes)
    for head, expected in (("value", value), ("policy", policy)):
        assert (head in outputs) == (expected is not None)
        assert expected is None or np.abs(outputs[head] - expected.numpy()).max() < 1e-4


@pytest.mark.parametrize("damage", ["sha256", "shape", "nan", "header"])
def test_damaged_weights_are_refused(damage: str) -> None:
    architecture, weights = read("sewell")
    size = int.from_bytes(weights[:8], "little")
    header = json.loads(weights[8 : 8 + size])
    data = bytearray(weights[8 + size :])
    if damage == "shape":
        first = next(name for name in header if name != "__metadata__")
        header[first]["shape"] = [3]
    elif damage == "nan":
        data[:4] = np.float32(np.nan).tobytes()
    text = json.dumps(header).encode() if damage != "header" else b"{"
    broken = len(text).to_bytes(8, "little") + text + bytes(data)
    about = json.loads(architecture)
    if damage != "sha256":
        about["sha256"] = hashlib.sha256(broken).hexdigest()
    with pytest.raises(ValueError, match=r"checksum|size|finite|Expecting"):
        parse(json.dumps(about).encode(), broken)
