"""Networks on disk.

    NAME.safetensors    the weights
    NAME.json           the architecture, and a checksum of the weights
    NAME.onnx           both, for playing without torch

A reader checks everything before use: the architecture, the checksum, every name, shape and dtype,
and that all numbers are finite (safetensors itself accepts NaN).
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from fourlab.compiled.planes import encode
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.nets.evaluator import probe_positions
from fourlab.nets.modules import Net
from fourlab.nets.network import MAX_WEIGHTS, Network
from fourlab.nets.onnx_graph import write_onnx
from fourlab.nets.quantise import quantise


def save_net(net: Net, file: Path) -> None:
    """Write NAME.safetensors, NAME.onnx and, last, NAME.json.

    `file` is any of the three, or NAME.
    """
    weights = {name: tensor.detach().contiguous() for name, tensor in net.state_dict().items()}
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise UserError(
                f"the network is not worth saving: {name!r} has a number that is not finite"
            )
    data = save(weights)
    graph = to_onnx(net)
    # The description comes last: without its checksum the other files are not accepted.
    write_atomically(file.with_suffix(".safetensors"), data)
    write_atomically(file.with_suffix(".onnx"), graph)
    about = {"network": json.loads(net.network.write()), "sha256": hashlib.sha256(data).hexdigest()}
    write_atomically(file.with_suffix(".json"), (json.dumps(about, indent=2) + "\n").encode())


def to_onnx(net: Net) -> bytes:
    """Return the network as an ONNX file; its outputs are checked against torch's."""
    network = net.network
    own, mask = probe_positions(network.rules)
    planes = torch.from_numpy(encode(own, mask, network.rules.geometry, network.features))
    # Batch normalisation must use its running statistics here.
    training = net.training
    net.eval()
    with torch.no_grad():
        heads = zip(("value", "policy"), net(planes), strict=True)
        outputs = {head: output.numpy() for head, output in heads if output is not None}
    net.train(training)
    weights = {name: np.asarray(tensor) for name, tensor in net.state_dict().items()}
    return write_onnx(network, weights, outputs)


def to_int8(net: Net, own: np.ndarray | None = None, mask: np.ndarray | None = None) -> bytes:
    """Return the network as an ONNX file in 8-bit integers, checked against the exact one.

    Ranges are measured on the positions `own` and `mask`, by default of random games.
    """
    if own is None or mask is None:
        own, mask = probe_positions(net.network.rules, 256)
    return quantise(to_onnx(net), own, mask)


def load_net(file: Path) -> Net:
    """Load a network that `save_net` has written; raises UserError if anything is wrong with it."""
    description = file.with_suffix(".json")
    weights = file.with_suffix(".safetensors")
    try:
        about = json.loads(description.read_bytes())
        network = Network.read(json.dumps(about["network"]))
        # Four bytes per weight; the size is checked before the file is read.
        if weights.stat().st_size > 4 * MAX_WEIGHTS:
            raise UserError(f"{weights} is too large for a network")
        data = weights.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{description} does not describe a network: {error}") from None
    if hashlib.sha256(data).hexdigest() != about.get("sha256"):
        raise UserError(f"{weights} is damaged: its checksum is not the one in {description.name}")
    return read_weights(network, data, str(weights))


def read_weights(network: Network, data: bytes, name: str) -> Net:
    """Return a network with the weights of a safetensors file."""
    net = Net(network)
    expected = net.state_dict()
    try:
        tensors = load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise UserError(f"{name} is not a safetensors file or is damaged: {error}") from None
    if tensors.keys() != expected.keys():
        # The symmetric difference: missing or superfluous, the first by name.
        extra = min(tensors.keys() ^ expected.keys())
        raise UserError(f"{name} does not fit its network: {extra!r} is in only one of them")
    for weight, tensor in tensors.items():
        model = expected[weight]
        if tensor.shape != model.shape or tensor.dtype != model.dtype:
            raise UserError(
                f"{name} does not fit its network: {weight!r} is {tuple(tensor.shape)} "
                f"{tensor.dtype} instead of {tuple(model.shape)} {model.dtype}"
            )
        if not bool(torch.isfinite(tensor).all()):
            raise UserError(f"{name} is damaged: {weight!r} has a number that is not finite")
    net.load_state_dict(tensors)
    return net
