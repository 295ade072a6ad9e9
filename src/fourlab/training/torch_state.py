"""The states of torch's optimisers as plain tensors, for checkpoints without pickle."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def save_tensors(tensors: Mapping[str, torch.Tensor], file: Path) -> None:
    """Write tensors as a safetensors file."""
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, file)


def load_tensors(file: Path) -> dict[str, torch.Tensor]:
    """Read them back."""
    return load_file(file)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """What the optimiser remembers, as `0.exp_avg` and so on; numbers as tensors too."""
    return {
        f"{number}.{name}": torch.as_tensor(value)
        for number, remembered in optimizer.state_dict()["state"].items()
        for name, value in remembered.items()
        if value is not None
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]) -> None:
    """Let the optimiser remember what it knew; its settings stay what they are."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
