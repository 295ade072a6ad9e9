"""The contract of every learned judge of positions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Evaluation:
    """What an evaluator thinks of a batch of positions, each seen by its side to move."""

    values: "np.ndarray"
    """float32[batch]: the expected result, -1 to +1."""
    logits: "np.ndarray"
    """float32[batch, columns]: the policy before softmax; closed columns are masked by the caller."""


@runtime_checkable
class Evaluator(Protocol):
    """A judge of positions. Batching lives behind this method and nowhere else."""

    def evaluate(self, planes: "np.ndarray") -> Evaluation:
        """Judge float32[batch, planes, rows, columns]."""
        ...
