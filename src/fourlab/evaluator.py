"""The interface of everything that evaluates positions: networks, pattern tables, formulas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args, runtime_checkable

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules

if TYPE_CHECKING:
    import numpy as np


# These names are part of the public interface; `compiled/planes.py` calls discs "stones".
Planes = Literal["discs", "empty", "threats", "cells"]


def stored_planes(kind: str) -> str:
    """Return the name of input planes in networks and runs, which call discs "stones"."""
    return "stones" if kind == "discs" else kind


@dataclass(frozen=True)
class Batch:
    """Positions on one board. An evaluator must neither change the arrays nor keep them."""

    own: "np.ndarray"
    """int64[batch]: the discs of the side to move (game/bitboard.py draws the bit layout)."""
    mask: "np.ndarray"
    """int64[batch]: all discs."""
    rules: Rules

    @classmethod
    def of(cls, positions: Sequence[Position]) -> "Batch":
        """Return positions on one board as a batch."""
        import numpy as np

        if not positions:
            raise UserError("a batch needs at least one position")
        # A batch is one pair of arrays with one bit layout.
        if len({position.rules for position in positions}) > 1:
            raise UserError("the positions of a batch must be on one board")
        own = np.array([position.own for position in positions], np.int64)
        mask = np.array([position.mask for position in positions], np.int64)
        return cls(own, mask, positions[0].rules)

    def __len__(self) -> int:
        return len(self.own)

    def planes(self, kind: Planes = "discs") -> "np.ndarray":
        """Return the positions as float32[batch, planes, rows, columns], top row first.

        Kinds of planes, 1 where the described thing is and 0 elsewhere:

            discs     the discs of the side to move, and of the opponent
            empty     the same, and the empty cells
            threats   the same as discs, and the cells where a disc can land, those that would
                      complete a line of the side to move, those that would complete one of the
                      opponent, and the odd rows
            cells     a single plane, 1 for the discs of the side to move, 2 for the opponent's
        """
        from fourlab.compiled.planes import encode

        if kind not in get_args(Planes):
            raise UserError(f"planes are {', '.join(get_args(Planes))}, not {kind!r}")
        return encode(self.own, self.mask, self.rules.geometry, stored_planes(kind))


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of a batch, from the point of view of the side to move in each position."""

    values: "np.ndarray"
    """float[batch]: the expected result, -1 to +1."""
    logits: "np.ndarray | None" = None
    """float[batch, columns]: policy logits, also for full columns; None if there is no policy."""


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates batches of positions; `alphazero` and `guided` search with any evaluator."""

    def evaluate(self, batch: Batch) -> Evaluation:
        """Evaluate the positions of a batch; raise UserError for an unsupported board."""
        ...


def evaluate_checked(evaluator: Evaluator, batch: Batch) -> Evaluation:
    """Evaluate a batch and validate the answer, which compiled code relies on."""
    import numpy as np

    answer = evaluator.evaluate(batch)
    # Kernels are compiled for contiguous float32 arrays.
    values = np.ascontiguousarray(answer.values, np.float32)
    if values.shape != (len(batch),) or not (np.abs(values) <= 1).all():  # NaN is not <= 1
        raise UserError(
            f"an evaluator must return a value from -1 to 1 for each of {len(batch)} positions"
        )
    # Searches then use a uniform prior.
    if answer.logits is None:
        return Evaluation(values)
    logits = np.ascontiguousarray(answer.logits, np.float32)
    if logits.shape != (len(batch), batch.rules.columns) or not np.isfinite(logits).all():
        columns = batch.rules.columns
        raise UserError(
            f"an evaluator must return {columns} finite logits for each of {len(batch)} positions"
        )
    return Evaluation(values, logits)
