"""Agents whose decisions come from somebody else's network, in a process of its own.

The process is asked about boards and answers with a policy, Q-values or values; `onnx_host.py` and
`sb3_host.py` are its two kinds. What is chosen from the numbers is decided here.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Forfeit, Limit
from fourlab.agents.generators import generator
from fourlab.bridges.hosted import Hosted, Patience, StoppedError, check_file
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.game.record import Cause
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

MOST_BYTES = 512 * 1024 * 1024
"""The largest file; a network for this game that needs more is not one."""


@dataclass(frozen=True)
class ForeignNetwork:
    """A network in a file of somebody else."""

    file: str = option("", "Path of the file. It runs with your rights, in a process of its own.")
    seconds: float = option(
        60, "Time limit per move where the game sets none.", above=0, most=86_400, unit="s"
    )
    start_seconds: float = option(
        120, "Time limit for loading the file.", above=0, most=86_400, unit="s"
    )
    grace: float = option(
        0.5,
        "Time by which an answer may be late before the game is forfeited.",
        least=0,
        most=86_400,
        unit="s",
    )
    memory_mb: float = option(
        4096, "Memory that the process may use (Linux only).", above=0, most=1_000_000, unit="MB"
    )
    _hosted: Hosted = field(init=False, repr=False, compare=False)

    learned: ClassVar[bool] = True
    """The network may refuse boards that it was not made for."""
    host: ClassVar[str]
    """The module whose `main` runs in the process."""

    def __post_init__(self) -> None:
        check(self)
        self._check()
        if not self.file:
            raise UserError(f"which file? write {self._example}")
        check_file(self.file, MOST_BYTES)
        arguments = [self.file, json.dumps(self._settings)]
        try:
            hosted = Hosted(self.host, arguments, self.start_seconds, self.memory_mb)
        except UserError as error:
            raise UserError(f"{self.file} cannot be used: {error}") from None
        # The agent is frozen, like every other; its process is not one of its options.
        object.__setattr__(self, "_hosted", hosted)

    @property
    def _example(self) -> str:
        """A spec of such an agent."""
        raise NotImplementedError

    @property
    def _settings(self) -> dict[str, Any]:
        """What the process needs to know besides the file."""
        return {}

    def _check(self) -> None:
        """Raise UserError if the options contradict each other or something is missing."""

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Choose the open column with the highest number.

        If the stop flag is set before there is an answer, the process is ended, and the column is
        a random one.
        """
        position = unfinished(position)
        seconds = self.seconds if limit.seconds is None else limit.seconds
        patience = Patience(seconds + self.grace, limit.stop)
        try:
            return self._decide(position, patience)
        except StoppedError:
            return Decision(int(generator(rng).choice(position.legal_columns())))

    def _decide(self, position: Position, patience: Patience) -> Decision:
        return self.choose(position, self.evaluate([position], patience))

    def evaluate(self, positions: Sequence[Position], patience: Patience) -> dict[str, Any]:
        """Return the numbers of positions: the lists `policy`, `q` and `value` that there are.

        Raises UserError if the network is not for such boards.
        """
        question = {
            "boards": [position.grid() for position in positions],
            "to_move": [position.to_move for position in positions],
            "open": [position.legal_columns() for position in positions],
        }
        answer = self._hosted.ask(question, patience)
        if "refused" in answer:
            raise UserError(f"{self.file}: {answer['refused']}")
        return answer

    def choose(self, position: Position, answer: dict[str, Any]) -> Decision:
        """Return the decision that follows from a policy or from Q-values."""
        is_q = "q" in answer
        numbers = {
            column: _finite((answer["q"] if is_q else answer["policy"])[0][column])
            for column in position.legal_columns()
        }
        best = max(numbers, key=lambda column: numbers[column])
        if is_q:
            columns = tuple(ColumnAnalysis(column, estimate=q) for column, q in numbers.items())
            return Decision(best, _bounded(numbers[best]), analysis=Analysis(columns))
        value = self.value_of(answer["value"][0], position) if "value" in answer else None
        return Decision(best, value, policy=_distribution(numbers, position.rules.columns))

    def value_of(self, value: float, position: Position) -> float:
        """Return a value of the network from the point of view of the side to move."""
        return _bounded(_finite(value))

    def start(self) -> None:
        """Start the process if it has ended, so that no move pays for it."""
        self._hosted.start()

    def close(self) -> None:
        """End the process; the next question starts it again."""
        self._hosted.close()


def _finite(number: Any) -> float:
    # JSON of Python has NaN and Infinity.
    if not isinstance(number, int | float) or not math.isfinite(number):
        raise Forfeit(Cause.CRASH, f"answered {number!r:.20}, which is not a finite number")
    return float(number)


def _bounded(value: float) -> float:
    return max(-1.0, min(value, 1.0))


def _distribution(numbers: dict[int, float], columns: int) -> tuple[float, ...]:
    """Return probabilities of all columns from those of the open ones, or from their logits."""
    total = sum(numbers.values())
    if min(numbers.values()) < 0 or not 0 < total <= 1.001:
        highest = max(numbers.values())
        numbers = {column: math.exp(number - highest) for column, number in numbers.items()}
        total = sum(numbers.values())
    return tuple(numbers.get(column, 0.0) / total for column in range(columns))
