"""Weights on disk: NAME.safetensors with the numbers, NAME.json with the form and a checksum, NAME.onnx for playing.

A reader checks everything before it believes anything: the form, the checksum, every name, shape and type, and that all
numbers are finite (safetensors itself accepts NaN).
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.nets.evaluator import probe_positions
from fourlab.nets.modules import Net
from fourlab.nets.network import MOST_NUMBERS, Network
from fourlab.nets.onnx_graph import write_onnx
from fourlab.nets.quantise import quantise


def save_net(net: Net, file: Path) -> None:
    """Write NAME.safetensors, NAME.onnx and, last, NAME.json; `file` is any of the three or NAME."""
    weights = {name: tensor.detach().contiguous() for name, tensor in net.state_dict().items()}
    if odd := [name for name, tensor in weights.items() if not bool(torch.isfinite(tensor).all())]:
        raise UserError(f"the network is not worth saving: {odd[0]!r} has a number that is not finite")
    data, graph = save(weights), to_onnx(net)
    write_atomically(file.with_suffix(".safetensors"), data)
    write_atomically(file.with_suffix(".onnx"), graph)
    about = {"network": json.loads(net.network.write()), "sha256": hashlib.sha256(data).hexdigest()}
    write_atomically(file.with_suffix(".json"), (json.dumps(about, indent=2) + "\n").encode())


def to_onnx(net: Net) -> bytes:
    """The network as an ONNX file, checked to answer as torch does."""
    from fourlab.compiled.planes import encode

    training = net.training
    net.eval()
    own, mask = probe_positions(net.network.rules)
    with torch.no_grad():
        value, policy = net(torch.from_numpy(encode(own, mask, net.network.rules.geometry, net.network.features)))
    net.train(training)
    outputs = {name: head.numpy() for name, head in (("value", value), ("policy", policy)) if head is not None}
    return write_onnx(net.network, {name: np.asarray(tensor) for name, tensor in net.state_dict().items()}, outputs)


def to_int8(net: Net, own: np.ndarray | None = None, mask: np.ndarray | None = None) -> bytes:
    """The network as an ONNX file in whole numbers, fitted to positions (of random games if none are given) and checked."""
    if own is None or mask is None:
        own, mask = probe_positions(net.network.rules, 256)
    return quantise(to_onnx(net), own, mask)


def load_net(file: Path) -> Net:
    """Read a network that was saved; anything wrong with it is said."""
    try:
        about = json.loads(file.with_suffix(".json").read_bytes())
        network = Network.read(json.dumps(about["network"]))
        numbers = file.with_suffix(".safetensors")
        if numbers.stat().st_size > 4 * MOST_NUMBERS:
            raise UserError(f"{numbers} is too large for a network")
        data = numbers.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file.with_suffix('.json')} does not describe a network: {error}") from None
    if hashlib.sha256(data).hexdigest() != about.get("sha256"):
        raise UserError(f"{numbers} is damaged: its checksum is not the one in {file.with_suffix('.json').name}")
    return read_weights(network, data, str(numbers))


def read_weights(network: Network, data: bytes, name: str) -> Net:
    """Fill a network with the numbers of a safetensors file."""
    net = Net(network)
    expected = net.state_dict()
    try:
        found = load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise UserError(f"{name} is not a safetensors file or is damaged: {error}") from None
    if found.keys() != expected.keys():
        odd = sorted(found.keys() ^ expected.keys())[0]
        raise UserError(f"{name} does not fit its network: {odd!r} is in only one of them")
    for weight, tensor in found.items():
        if tensor.shape != expected[weight].shape or tensor.dtype != expected[weight].dtype:
            shapes = f"{tuple(tensor.shape)} {tensor.dtype} instead of {tuple(expected[weight].shape)} {expected[weight].dtype}"
            raise UserError(f"{name} does not fit its network: {weight!r} is {shapes}")
        if not bool(torch.isfinite(tensor).all()):
            raise UserError(f"{name} is damaged: {weight!r} has a number that is not finite")
    net.load_state_dict(found)
    return net
