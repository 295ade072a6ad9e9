"""One ply deep: play the column after which a value network likes the position best."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Exact, Limit
from fourlab.evaluator import Batch
from fourlab.game.position import Position
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.evaluator import load
from fourlab.options import check, option


@dataclass(frozen=True)
class Value:
    """Plays the column after which a value network expects least for the other side."""

    kernels: ClassVar[tuple[str, ...]] = ("planes",)
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    learned: ClassVar[bool] = True
    """It knows the board that it has learned on (fourlab.agent.Learned)."""
    net: str = option(
        "value",
        "The network: one that comes with Fourlab (value, sewell, sewell-unit, dqn), or an .onnx file (fourlab train value).",
    )
    _judge: NetworkEvaluator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "_judge", load(self.net))

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Judge the position after every open column, all in one batch; of equals the first is played."""
        self._judge.check_board(position.rules)
        legal = position.legal_columns()
        after = [position.play(column) for column in legal]
        values = -self._judge.evaluate(Batch.of(after)).values
        for place, each in enumerate(after):
            if (outcome := each.outcome()) is not None:
                values[place] = 1.0 if outcome.winner is not None else 0.0
        best = int(np.argmax(values))
        column, value = legal[best], float(values[best])
        columns = tuple(
            ColumnAnalysis(each, value=float(worth), estimate=float(worth)) for each, worth in zip(legal, values, strict=True)
        )
        won = after[best].outcome() is not None and value == 1.0
        return Decision(
            column,
            value=value,
            line=(column,),
            analysis=Analysis(columns, evaluations=len(legal)),
            proven=Exact(1, plies=1) if won else None,
        )
