"""No search at all: play the column that a network values most (deep Q-learning)."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.evaluator import load
from fourlab.options import check, option


@dataclass(frozen=True)
class Dqn:
    """Plays the open column of the greatest Q-value, as a network trained by deep Q-learning tells it; no search."""

    kernels: ClassVar[tuple[str, ...]] = ("planes",)
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    learned: ClassVar[bool] = True
    """It knows the board that it has learned on (fourlab.agent.Learned)."""
    net: str = option("dqn", "The network: dqn, which comes with Fourlab, or an .onnx file (fourlab train dqn).")
    epsilon: float = option(0.0, "The chance of a random column instead.", least=0, most=1, public=True)
    _judge: NetworkEvaluator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "_judge", load(self.net))
        if self._judge.network.purpose != "q":
            raise UserError(f"the network {self.net} has no Q-values; it is for {self._judge.network.purpose}")

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Ask the network once; the policy holds the chances with which columns are played."""
        rng = generator(rng)
        self._judge.check_board(position.rules)
        legal = position.legal_columns()
        planes = self._judge.planes(np.array([position.own], np.int64), np.array([position.mask], np.int64))
        q = dict(enumerate(self._judge.heads(planes)["policy"][0].tolist()))
        best = max(legal, key=q.__getitem__)  # of equals the first
        column = int(rng.choice(legal)) if self.epsilon > 0 and rng.random() < self.epsilon else best
        chances = {each: self.epsilon / len(legal) + (1 - self.epsilon) * (each == best) for each in legal}
        columns = range(position.rules.columns)
        analysed = tuple(ColumnAnalysis(each, value=min(1.0, max(-1.0, q[each])), estimate=q[each]) for each in legal)
        return Decision(
            column,
            value=min(1.0, max(-1.0, q[column])),
            policy=tuple(chances.get(each, 0.0) for each in columns),
            analysis=Analysis(analysed, evaluations=1),
        )
