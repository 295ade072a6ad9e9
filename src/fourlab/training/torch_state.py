"""The states of torch optimisers as plain tensors, for checkpoints without pickle."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file

from fourlab.arrays import is_finite, safetensors_heads
from fourlab.errors import UserError
from fourlab.files import read_bounded

MAX_BYTES = 1 << 33


def save_tensors(tensors: Mapping[str, torch.Tensor], file: Path) -> None:
    """Write tensors to a safetensors file."""
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, file)


def load_tensors(
    file: Path, expected: Mapping[str, torch.Tensor] | None = None
) -> dict[str, torch.Tensor]:
    """Read the tensors of a safetensors file, which is no link and has only finite numbers.

    If `expected` is given, names and shapes must be the same.
    """
    try:
        data = read_bounded(file, MAX_BYTES, follow_links=False)
        heads = safetensors_heads(data, len(data))
        if expected is not None:
            shapes = {name: tuple(tensor.shape) for name, tensor in expected.items()}
            if {name: head.shape for name, head in heads.items()} != shapes:
                raise ValueError("its arrays have other names or shapes")
        tensors = load(data)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, KeyError, SafetensorError) as error:
        raise UserError(f"{file} is not a part of this checkpoint: {error}") from None
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not is_finite(tensor.numpy()):
            raise UserError(f"{file}: {name!r} has a number that is not finite")
    return tensors


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Return an optimiser's state by names such as `0.exp_avg`; scalars become tensors."""
    # A key is the parameter's number, a dot, and the name of the value.
    return {
        f"{number}.{name}": torch.as_tensor(value)
        for number, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
        if value is not None
    }


def restore_optimizer(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]
) -> None:
    """Restore an optimiser's state; its hyperparameters stay unchanged."""
    # torch numbers parameters in the order in which the optimiser got them.
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    # Hyperparameters come from the settings, so only `state` is replaced.
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        if not (number.isascii() and number.isdecimal() and int(number[:9]) < len(parameters)):
            raise UserError(f"the checkpoint has a state {key[:80]!r}, but the optimiser has none")
        # A value is one number, or one per weight.
        if tensor.ndim and tensor.shape != parameters[int(number)].shape:
            raise UserError(f"the optimiser's state {key[:80]!r} has another shape")
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
