"""Value: play the column whose next position a value network rates best, one ply deep."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Exact, Limit
from fourlab.evaluator import Batch
from fourlab.game.outcome import Result
from fourlab.game.position import PositionLike, unfinished
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.evaluator import load
from fourlab.options import check, option


@dataclass(frozen=True)
class Value:
    """Plays the column after which a value network expects least for the opponent."""

    kernels: ClassVar[tuple[str, ...]] = ("planes",)
    """The kernel groups (fourlab.compiled.warmup) that the agent needs."""
    learned: ClassVar[bool] = True
    """The agent plays only on the board it was trained on (fourlab.agent.Learned)."""
    net: str = option(
        "value",
        "Network: a name shipped with Fourlab (value, sewell, sewell-unit, dqn), or an ONNX file "
        "from `fourlab train value`.",
    )
    _evaluator: NetworkEvaluator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "_evaluator", load(self.net))

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Evaluate the positions after all open columns in one batch; play the best column."""
        position = unfinished(position)
        self._evaluator.check_board(position.rules)
        legal = position.legal_columns()
        after = [position.play(column) for column in legal]
        # The network's values are for the side to move after the column, the opponent.
        values = -self._evaluator.evaluate(Batch.of(after)).values
        for index, next_position in enumerate(after):
            if (outcome := next_position.outcome()) is not None:
                # A network's estimate of a finished game means nothing; the side that moved has
                # won, or it is a draw.
                values[index] = 1.0 if outcome.winner is not None else 0.0
        # The first of equals.
        best = int(np.argmax(values))
        chosen = legal[best]
        value = float(values[best])
        columns = tuple(
            ColumnAnalysis(column, value=column_value, estimate=column_value)
            for column, column_value in zip(legal, values.tolist(), strict=True)
        )
        won = after[best].outcome() is not None and value == 1.0
        return Decision(
            chosen,
            value=value,
            line=(chosen,),
            analysis=Analysis(columns, evaluations=len(legal)),
            proven=Exact(Result.WIN, plies=1) if won else None,
        )
