"""The solver as an agent: perfect play, optionally with mistakes at a given rate."""

import time
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.options import check, option
from fourlab.solver import Solution, Solver, centre_first


@dataclass(frozen=True)
class Perfect:
    """Plays perfectly with the solver: wins as soon as possible, loses as late as possible."""

    kernels: ClassVar[tuple[str, ...]] = ("solver",)
    """The kernel groups it needs (fourlab.compiled.warmup)."""
    ties: Literal["centre", "random"] = option(
        "centre",
        "Choose among equally good columns: the most central, or one at random.",
        public=True,
        aliases=("choice",),
    )
    mistakes: float = option(
        0.0,
        "Probability of a mistake, at moves where one is possible: a random column that turns a "
        "win into a draw or loss, or a draw into a loss.",
        least=0,
        most=1,
        public=True,
    )
    memory_mb: float = option(
        64,
        "Maximum size of the transposition table.",
        above=0,
        most=1_000_000,
        unit="MB",
        aliases=("megabytes",),
    )
    threads: int = option(
        1, "Number of threads that solve together.", least=1, most=256, unit="threads"
    )
    book: bool = option(True, "Use the opening book.", public=True)
    _solver: Solver = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        solver = Solver(self.memory_mb, self.threads, "shipped" if self.book else None)
        object.__setattr__(self, "_solver", solver)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Solve the position and play a column that keeps its value.

        Within a limit, first prove who wins and a column that keeps this result, then how soon. If
        the limit ends the search before either, play the column with the best bounds.
        """
        position = unfinished(position)
        rng = generator(rng)
        started = time.perf_counter()
        limited = limit.seconds is not None or limit.nodes is not None or limit.stop is not None
        if limited:
            # A warm transposition table would prove more within the same limit, and the answer
            # would depend on earlier positions.
            self._solver.forget()
        if self.mistakes > 0 and rng.random() < self.mistakes:
            columns = self._solver.columns(position, limit, weak=True)
            best = _best(columns)
            # A mistake changes the result, not only its distance: proven worse than the best
            # column.
            worse = [
                column
                for column, solution in columns.items()
                if solution.upper < best.lower and solution.result != best.result
            ]
            if worse:
                column = int(rng.choice(worse))
                return self._decision(
                    position, columns[column], [column], columns, rng, started, proven=False
                )
        # With "centre" the first column that achieves the score is enough.
        first = self.ties == "centre"
        if not limited:
            best, choices = self._solver.best_columns(position, first)
            return self._decision(position, best, choices, {choices[0]: best}, rng, started)
        return self._within(position, limit, first, rng, started)

    def _within(
        self,
        position: Position,
        limit: Limit,
        first: bool,
        rng: np.random.Generator,
        started: float,
    ) -> Decision:
        """Decide within a limit: prove the result first, which takes less than the score."""
        solver = self._solver
        rest = solver.rest_of(limit)
        # The other half is for the columns, whose bounds count if this proves nothing.
        if (half := rest(2)) is not None:
            best, choices = solver.best_columns(position, first, half, weak=True)
            if choices:
                nodes = best.nodes
                if (left := rest(1)) is not None:
                    exact, exact_choices = solver.best_columns(position, first, left)
                    nodes += exact.nodes
                    if exact_choices:
                        best, choices = exact, exact_choices
                solved = {choices[0]: replace(best, nodes=nodes)}
                return self._decision(position, best, choices, solved, rng, started)
        columns = solver.columns(position, rest(1))
        highest = max(promise(solution) for solution in columns.values())
        choices = [column for column, solution in columns.items() if promise(solution) == highest]
        return self._decision(position, _best(columns), choices, columns, rng, started)

    def _decision(
        self,
        position: Position,
        solution: Solution,
        choices: list[int],
        solved: dict[int, Solution],
        rng: np.random.Generator,
        started: float,
        proven: bool = True,
    ) -> Decision:
        """Choose among equally good columns; `solved` is the work to report as nodes."""
        policy = None
        if self.ties == "random" or len(choices) == 1:
            column = int(rng.choice(choices))
            policy = tuple(
                (choice in choices) / len(choices) for choice in range(position.rules.columns)
            )
        else:
            column = min(choices, key=centre_first(position).index)
        analysis = Analysis(
            nodes=sum(work.nodes for work in solved.values()),
            seconds=time.perf_counter() - started,
            from_book=solution.book,
        )
        value = None if solution.result is None else float(solution.result)
        exact = solution.exact if proven else None
        return Decision(column, value, policy, analysis, (column,), exact)


def _best(columns: dict[int, Solution]) -> Solution:
    """Return the bounds of the position: those of its best column."""
    solutions = list(columns.values())
    return Solution(
        max(solution.lower for solution in solutions),
        # The score of a position is the maximum over its columns, and so are both bounds.
        max(solution.upper for solution in solutions),
        solutions[0].left,
    )


def promise(solution: Solution) -> tuple[bool, int]:
    """Return a sort key for columns: proven wins first, then the middle of the bounds."""
    # The sum is twice the middle, an integer.
    return solution.lower > 0, solution.lower + solution.upper
