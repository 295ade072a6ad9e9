"""The part of a network evaluator that does not depend on how the network is computed."""

from abc import ABC, abstractmethod

import numpy as np

from fourlab.compiled.planes import encode
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.rules import Rules
from fourlab.nets.network import Network


class NetworkEvaluator(ABC):
    """An evaluator backed by a neural network.

    Values are from the side to move's point of view, -1 to +1, whatever labels the network was
    trained with. A network of purpose q has no value head: the value is the greatest Q-value of a
    column that is not full. A network of purpose value has no policy.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.rules = network.rules
        self.features = network.features

    def planes(self, own: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the network's input, float32[batch, planes, rows, columns]."""
        return encode(own, mask, self.rules.geometry, self.features)

    @abstractmethod
    def heads(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """Return the raw outputs by head.

        They are value, float32[batch, 1 or 3] on the scale of the labels, and policy,
        float32[batch, columns] of logits or Q-values.
        """

    def evaluate(self, batch: Batch) -> Evaluation:
        """Evaluate positions of the network's board; raise UserError for another board."""
        self.check_board(batch.rules)
        planes = self.planes(batch.own, batch.mask)
        outputs = self.heads(planes)
        if "value" not in outputs:
            # A column is full if one of the planes of discs has a disc in row 0, the top one.
            disc_planes = 1 if self.features == "cells" else 2
            full = planes[:, :disc_planes, 0].any(axis=1)
            best = np.where(full, -np.inf, outputs["policy"]).max(axis=1)
            return Evaluation(best.clip(-1, 1), outputs["policy"])
        return Evaluation(self._values(outputs["value"]), outputs.get("policy"))

    def _values(self, outputs: np.ndarray) -> np.ndarray:
        """Convert the value head's outputs from the scale of the labels to -1 to +1."""
        if self.network.labels == "results":
            # A softmax over win, draw and loss; the value is P(win) - P(loss).
            powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
            values: np.ndarray = (powers[:, 0] - powers[:, 2]) / powers.sum(axis=1)
            return values
        # unit is 0 to 1, so 2x - 1 has the same scale as signed.
        values = outputs[:, 0] if self.network.labels == "signed" else 2 * outputs[:, 0] - 1
        return values.clip(-1, 1)

    def check_board(self, rules: Rules) -> None:
        """Raise UserError for a board that the network was not made for."""
        if rules != self.rules:
            raise UserError(f"the network knows the board {self.rules}, not {rules}")
