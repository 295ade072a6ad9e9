"""The player that knows the truth, and graded ones that sometimes look away."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from fourlab.agent import UNLIMITED, Analysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.game.position import Position
from fourlab.options import check, option
from fourlab.solver import Solution, Solver, centre_first

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Perfect:
    """Plays by the solver: wins as soon as possible, loses as late as possible, never gives away a win or a draw."""

    kernels: ClassVar[tuple[str, ...]] = ("solver",)
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    choice: Literal["centre", "random"] = option(
        "centre", "Among equally good columns: the most central, or by lot.", public=True
    )
    mistakes: float = option(
        0.0,
        "The chance, at each move that allows one, to play a column of a lower class (win, draw, loss) than the best, by lot.",
        least=0,
        most=1,
        public=True,
    )
    megabytes: float = option(64, "The most memory for the table.", above=0, unit="MB")
    threads: int = option(1, "How many threads solve together.", least=1, most=256, unit="threads")
    book: bool = option(True, "Whether to look into the opening book.", public=True)
    _solver: Solver = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        solver = Solver(self.megabytes, self.threads, "shipped" if self.book else None)
        object.__setattr__(self, "_solver", solver)

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Prove the value and play a column that keeps it; if the limit allows no proof, the most promising column."""
        rng = generator(rng)
        started = time.perf_counter()
        limited = limit.seconds is not None or limit.nodes is not None or limit.stop is not None
        if limited:
            self._solver.forget()  # what is remembered would change the answer
        if self.mistakes > 0 and rng.random() < self.mistakes:
            columns = self._solver.columns(position, limit, weak=True)
            worth = _best(columns)
            worse = [column for column, each in columns.items() if each.upper < worth.lower and each.result != worth.result]
            if worse:
                column = int(rng.choice(worse))
                return self._decision(position, columns[column], [column], columns, rng, started, proven=False)
        if not limited:
            worth, best = self._solver.best_columns(position, first=self.choice == "centre")
            return self._decision(position, worth, best, {best[0]: worth}, rng, started)
        columns = self._solver.columns(position, limit)
        most = max(promise(each) for each in columns.values())
        best = [column for column, each in columns.items() if promise(each) == most]
        return self._decision(position, _best(columns), best, columns, rng, started)

    def _decision(
        self,
        position: Position,
        worth: Solution,
        choices: list[int],
        solved: dict[int, Solution],
        rng: "np.random.Generator",
        started: float,
        proven: bool = True,
    ) -> Decision:
        by_lot = self.choice == "random" or len(choices) == 1
        column = int(rng.choice(choices)) if by_lot else min(choices, key=centre_first(position).index)
        policy = tuple((each in choices) / len(choices) for each in range(position.rules.columns)) if by_lot else None
        nodes = sum(each.nodes for each in solved.values())
        analysis = Analysis(nodes=nodes, seconds=time.perf_counter() - started, from_book=worth.book)
        value = None if worth.result is None else float(worth.result)
        return Decision(column, value, policy, analysis, (column,), worth.exact if proven else None)


def _best(columns: dict[int, Solution]) -> Solution:
    """What the position is worth, by what its columns are."""
    some = next(iter(columns.values()))
    return Solution(max(each.lower for each in columns.values()), max(each.upper for each in columns.values()), some.left)


def promise(worth: Solution) -> tuple[bool, int]:
    """A proven win is better than any hope."""
    return worth.lower > 0, worth.lower + worth.upper
