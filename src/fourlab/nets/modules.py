"""Networks as torch modules, for training."""

import torch
from torch import nn

from fourlab.nets.network import Layer, Network


class Net(nn.Module):
    """The torch modules of an architecture."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        # Attribute names are part of the weights' names in files, such as body.0.weight.
        parts = network.parts()
        self.body = _sequence(parts["body"])
        self.value = _sequence(parts["value"])
        self.policy = _sequence(parts["policy"])

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Evaluate float32[batch, planes, rows, columns].

        Returns value[batch, 1 or 3] and policy[batch, columns], None for a missing head.
        """
        features = self.body(planes)
        value = self.value(features) if len(self.value) else None
        policy = self.policy(features) if len(self.policy) else None
        return value, policy


class Residual(nn.Module):
    """A residual block: two convolutions and a skip connection."""

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(planes, planes, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(planes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the output of the convolutions to the input."""
        inner = torch.relu(self.norm1(self.conv1(x)))
        # He et al. (2016), with the relu after the sum, as in AlphaZero.
        return torch.relu(x + self.norm2(self.conv2(inner)))


class Dense(nn.Linear):
    """A dense layer that flattens its input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer to [batch, ...]; returns [batch, outputs]."""
        return super().forward(x.flatten(1))


def _sequence(layers: list[Layer]) -> nn.Sequential:
    return nn.Sequential(*map(_module, layers))


def _module(layer: Layer) -> nn.Module:
    match layer.kind:
        case "conv":
            # One cell of padding on every side keeps the size of the board.
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
