"""The states of torch optimisers as plain tensors, for checkpoints without pickle."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def save_tensors(tensors: Mapping[str, torch.Tensor], file: Path) -> None:
    """Write tensors to a safetensors file."""
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, file)


def load_tensors(file: Path) -> dict[str, torch.Tensor]:
    """Read the tensors of a safetensors file."""
    return load_file(file)


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
    # Hyperparameters come from the settings, so only `state` is replaced.
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
