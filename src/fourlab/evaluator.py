"""The contract of everything that estimates positions: networks, pattern tables, formulas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args, runtime_checkable

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules

if TYPE_CHECKING:
    import numpy as np


Planes = Literal["discs", "empty", "threats", "cells"]


@dataclass(frozen=True)
class Batch:
    """Positions of one board; its arrays are valid, and must not be changed, during the call only."""

    own: "np.ndarray"
    """int64[batch]: the discs of the side to move (the bit layout is drawn in game/bitboard.py)."""
    mask: "np.ndarray"
    """int64[batch]: all discs."""
    rules: Rules

    @classmethod
    def of(cls, positions: Sequence[Position]) -> "Batch":
        """Return some positions of one board as a batch."""
        import numpy as np

        if not positions:
            raise UserError("a batch needs at least one position")
        if len({position.rules for position in positions}) > 1:
            raise UserError("the positions of a batch must be on one board")
        own = np.array([position.own for position in positions], np.int64)
        mask = np.array([position.mask for position in positions], np.int64)
        return cls(own, mask, positions[0].rules)

    def __len__(self) -> int:
        return len(self.own)

    def planes(self, kind: Planes = "discs") -> "np.ndarray":
        """Return float32[batch, planes, rows, columns], the top row first, 1 where something is.

        discs: two planes, the discs of the side to move and of the other side. empty: a third one
        for the empty cells. threats: instead of that, four for the cells where a disc can land, the
        cells that would complete a line of each side, and the odd rows. cells: one plane, 1 for the
        discs of the side to move and 2 for the other's.
        """
        from fourlab.compiled.planes import encode

        if kind not in get_args(Planes):
            raise UserError(f"planes are {', '.join(get_args(Planes))}, not {kind!r}")
        return encode(self.own, self.mask, self.rules.geometry, "stones" if kind == "discs" else kind)


@dataclass(frozen=True)
class Evaluation:
    """Estimates of a batch, each from its side to move's point of view."""

    values: "np.ndarray"
    """float[batch]: the expected result, -1 to +1."""
    logits: "np.ndarray | None" = None
    """float[batch, columns]: the policy before softmax, full columns included; None without a policy."""


@runtime_checkable
class Evaluator(Protocol):
    """Estimates positions, many at a time; the agents `alphazero` and `guided` search with any."""

    def evaluate(self, batch: Batch) -> Evaluation:
        """Estimate the positions of a batch; raise UserError for a board that is not known."""
        ...


def ask(evaluator: Evaluator, batch: Batch) -> Evaluation:
    """Evaluate a batch; raise UserError for an answer that compiled code must not see."""
    import numpy as np

    answer = evaluator.evaluate(batch)
    values = np.ascontiguousarray(answer.values, np.float32)
    if values.shape != (len(batch),) or not (np.abs(values) <= 1).all():  # NaN is not <= 1
        raise UserError(f"an evaluator must return a value from -1 to 1 for each of {len(batch)} positions")
    if answer.logits is None:
        return Evaluation(values)
    logits = np.ascontiguousarray(answer.logits, np.float32)
    if logits.shape != (len(batch), batch.rules.columns) or not np.isfinite(logits).all():
        columns = batch.rules.columns
        raise UserError(f"an evaluator must return {columns} finite logits for each of {len(batch)} positions")
    return Evaluation(values, logits)
