"""Networks as torch modules, for training."""

import torch
from torch import nn

from fourlab.nets.network import Layer, Network


class Net(nn.Module):
    """The modules of a form; `forward` returns the value and the policy, None for a head that there is not."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        parts = network.parts()
        self.body = _sequence(parts["body"])
        self.value = _sequence(parts["value"])
        self.policy = _sequence(parts["policy"])

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Judge float32[batch, planes, rows, columns]: value[batch, 1 or 3] and policy[batch, columns]."""
        seen = self.body(planes)
        value = self.value(seen) if len(self.value) else None
        policy = self.policy(seen) if len(self.policy) else None
        return value, policy


class Residual(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(planes, planes, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(planes)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Add to the input what the convolutions make of it."""
        inner = torch.relu(self.norm1(self.conv1(seen)))
        return torch.relu(seen + self.norm2(self.conv2(inner)))


class Dense(nn.Linear):
    """A dense layer that takes a board as one row of numbers."""

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Every input to every output."""
        return super().forward(seen.flatten(1))


def _sequence(layers: list[Layer]) -> nn.Sequential:
    return nn.Sequential(*map(_module, layers))


def _module(layer: Layer) -> nn.Module:
    match layer.kind:
        case "conv":
            return nn.Conv2d(layer.inputs, layer.outputs, 3, padding=1)
        case "batchnorm":
            return nn.BatchNorm2d(layer.inputs)
        case "residual":
            return Residual(layer.inputs)
        case "dense":
            return Dense(layer.inputs, layer.outputs)
        case "tanh":
            return nn.Tanh()
        case _:
            return nn.ReLU()
