"""DQN: play the column with the greatest Q-value of a network, without search."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.errors import UserError
from fourlab.game.position import PositionLike, unfinished
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.evaluator import load
from fourlab.options import check, option


@dataclass(frozen=True)
class Dqn:
    """Plays the open column with the greatest Q-value of a network trained by deep Q-learning."""

    kernels: ClassVar[tuple[str, ...]] = ("planes",)
    """The kernel groups (fourlab.compiled.warmup) that the agent needs."""
    learned: ClassVar[bool] = True
    """The agent plays only on the board it was trained on (fourlab.agent.Learned)."""
    net: str = option(
        "dqn", "Network: dqn, shipped with Fourlab, or an ONNX file from `fourlab train dqn`."
    )
    epsilon: float = option(0.0, "Probability of a random column.", least=0, most=1, public=True)
    _evaluator: NetworkEvaluator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "_evaluator", load(self.net))
        purpose = self._evaluator.network.purpose
        if purpose != "q":
            raise UserError(f"the network {self.net} has no Q-values; it is for {purpose}")

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Evaluate the position once; the policy has the probabilities of playing the columns."""
        position = unfinished(position)
        rng = generator(rng)
        self._evaluator.check_board(position.rules)
        legal = position.legal_columns()
        planes = self._evaluator.planes(
            np.array([position.own], np.int64), np.array([position.mask], np.int64)
        )
        q: list[float] = self._evaluator.heads(planes)["policy"][0].tolist()
        best = max(legal, key=q.__getitem__)  # the first of equals
        chosen = best
        if self.epsilon > 0 and rng.random() < self.epsilon:
            chosen = int(rng.choice(legal))
        # Epsilon-greedy: every open column gets epsilon / n, and the best one the rest.
        policy = [0.0] * position.rules.columns
        for column in legal:
            policy[column] = self.epsilon / len(legal) + (1 - self.epsilon) * (column == best)
        columns = tuple(
            ColumnAnalysis(column, value=min(1.0, max(-1.0, q[column])), estimate=q[column])
            for column in legal
        )
        return Decision(
            chosen,
            value=min(1.0, max(-1.0, q[chosen])),
            policy=tuple(policy),
            analysis=Analysis(columns, evaluations=1),
        )
