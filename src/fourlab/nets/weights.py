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
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from fourlab.arrays import MAX_SAFETENSORS_HEADER, is_finite, safetensors_heads
from fourlab.compiled.planes import encode
from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.nets.evaluator import probe_positions
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.onnx_graph import write_onnx
from fourlab.nets.quantise import quantise
from fourlab.parsing import MAX_DESCRIPTION_BYTES, parse_description

DTYPES = {"F32": torch.float32, "I64": torch.int64}
"""The dtypes of our networks by their names in safetensors files."""


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
        about = parse_description(read_bounded(description, MAX_DESCRIPTION_BYTES))
        network = _network(about, description)
        # What the description implies: four bytes per weight, and eight for every counter of
        # batches; the header is small.
        expected = sum(tensor.nbytes for tensor in meta_net(network).state_dict().values())
        data = read_bounded(weights, expected + MAX_SAFETENSORS_HEADER + 8)
    except OSError as error:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{description} does not describe a network: {error}") from None
    if hashlib.sha256(data).hexdigest() != about.get("sha256"):
        raise UserError(f"{weights} is damaged: its checksum is not the one in {description.name}")
    return read_weights(network, data, str(weights))


def _network(about: dict[str, Any], description: Path) -> Network:
    try:
        return Network.read(json.dumps(about["network"]))
    except UserError as error:
        raise UserError(f"{description} does not describe a network: {error}") from None


def read_weights(network: Network, data: bytes, name: str) -> Net:
    """Return a network with the weights of a safetensors file."""
    net = meta_net(network)
    expected = net.state_dict()
    try:
        heads = safetensors_heads(data, len(data))
    except ValueError as error:
        raise UserError(f"{name} is not a safetensors file or is damaged: {error}") from None
    if heads.keys() != expected.keys():
        # The symmetric difference: missing or superfluous, the first by name.
        extra = min(heads.keys() ^ expected.keys())
        raise UserError(f"{name} does not fit its network: {extra!r} is in only one of them")
    for weight, head in heads.items():
        model = expected[weight]
        if head.shape != tuple(model.shape) or DTYPES.get(head.dtype) != model.dtype:
            raise UserError(
                f"{name} does not fit its network: {weight!r} is {head.shape} "
                f"{DTYPES.get(head.dtype, head.dtype)} instead of {tuple(model.shape)} "
                f"{model.dtype}"
            )
    try:
        tensors = load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise UserError(f"{name} is not a safetensors file or is damaged: {error}") from None
    for weight, tensor in tensors.items():
        if tensor.is_floating_point() and not is_finite(tensor.numpy()):
            raise UserError(f"{name} is damaged: {weight!r} has a number that is not finite")
    # The tensors become the weights, without a copy.
    net.load_state_dict(tensors, assign=True)
    for parameter in net.parameters():
        parameter.requires_grad_()
    return net


def meta_net(network: Network) -> Net:
    """Return a network whose weights have shapes but take no memory."""
    with torch.device("meta"):
        return Net(network)
