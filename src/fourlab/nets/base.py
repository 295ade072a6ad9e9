"""What every evaluator with one of our networks does; subclasses compute the network's answers."""

from abc import ABC, abstractmethod

import numpy as np

from fourlab.compiled.planes import encode
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.rules import Rules
from fourlab.nets.network import Network


class NetworkEvaluator(ABC):
    """An evaluator with a network.

    Values are -1 to +1 for the side to move, whatever labels the network was trained with. A
    network of purpose q has no value of its own: it is the greatest Q-value of an open column. One
    of purpose value has no policy.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.rules = network.rules
        self.features = network.features

    def planes(self, own: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return what the network sees of positions."""
        return encode(own, mask, self.rules.geometry, self.features)

    @abstractmethod
    def heads(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """Return the network's own answers, by head: value[batch, 1 or 3] as its labels are, policy[batch, columns]."""

    def evaluate(self, batch: Batch) -> Evaluation:
        """Evaluate positions of the network's board; raise UserError for another board."""
        self.check_board(batch.rules)
        planes = self.planes(batch.own, batch.mask)
        answers = self.heads(planes)
        if "value" not in answers:
            closed = planes[:, :, 0][:, : 1 if self.features == "cells" else 2].any(axis=1)
            best = np.where(closed, -np.inf, answers["policy"]).max(axis=1)
            return Evaluation(best.clip(-1, 1), answers["policy"])
        return Evaluation(self._values(answers["value"]), answers.get("policy"))

    def _values(self, answers: np.ndarray) -> np.ndarray:
        """Convert answers from the scale of the labels to -1 … +1."""
        if self.network.labels == "results":
            chances = np.exp(answers - answers.max(axis=1, keepdims=True))
            values: np.ndarray = (chances[:, 0] - chances[:, 2]) / chances.sum(axis=1)
            return values
        values = answers[:, 0] if self.network.labels == "signed" else 2 * answers[:, 0] - 1
        return values.clip(-1, 1)

    def check_board(self, rules: Rules) -> None:
        """Raise UserError for a board that the network does not know."""
        if rules != self.rules:
            raise UserError(f"the network knows the board {self.rules}, not {rules}")
