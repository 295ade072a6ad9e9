"""How often an agent plays what the exact value of a position demands."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.arena.statistics import wilson
from fourlab.game.position import Position
from fourlab.solver import Solver

PHASES = {"early": 12, "middle": 24, "late": 1 << 30}
"""Positions of fewer discs belong to the phase, unless to an earlier one."""


@dataclass(frozen=True)
class Answer:
    """One position, what its columns are worth, and what the agent played."""

    position: Position
    scores: dict[int, int]
    """The exact score of every legal column, for the side to move."""
    column: int
    seconds: float

    @property
    def is_best(self) -> bool:
        """Whether no column has a better score."""
        return self.scores[self.column] == max(self.scores.values())

    @property
    def is_mistake(self) -> bool:
        """Whether the column is of a lower class (win, draw, loss) than the best."""
        return _sign(self.scores[self.column]) < _sign(max(self.scores.values()))

    @property
    def can_go_wrong(self) -> bool:
        """Whether some column would have been a mistake."""
        return _sign(min(self.scores.values())) < _sign(max(self.scores.values()))


def phase(discs: int) -> str:
    """The phase of the game with so many discs on the board."""
    return next(name for name, last in PHASES.items() if discs < last)


@dataclass(frozen=True)
class Accuracy:
    """The answers of one agent, counted."""

    positions: int
    can_go_wrong: int
    mistakes: int
    best: int
    seconds: float
    """The median decision's."""
    phases: dict[str, float]
    """The mistake rate in each phase that occurs."""

    @property
    def mistake_rate(self) -> float:
        """The share of positions answered with a mistake."""
        return self.mistakes / self.positions

    @property
    def mistake_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the mistake rate."""
        return wilson(self.mistakes, self.positions)

    @property
    def best_rate(self) -> float:
        """The share of positions answered with an exactly best column."""
        return self.best / self.positions

    @property
    def best_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the best rate."""
        return wilson(self.best, self.positions)


def exact_scores(positions: Iterable[Position], solver: Solver) -> Iterator[dict[int, int]]:
    """Solve every column of every position; each begins with an empty table, so their order does not matter."""
    for position in positions:
        solver.forget()
        solved = solver.columns(position)
        yield {column: each.lower for column, each in solved.items()}


def ask(agent: Agent, positions: list[Position], truth: list[dict[int, int]], limit: Limit, seed: int) -> Iterator[Answer]:
    """Let an agent answer every position, each with a random generator of its own."""
    for i, (position, scores) in enumerate(zip(positions, truth, strict=True)):
        rng = np.random.default_rng([seed, i])
        before = time.perf_counter()
        column = agent.decide(position, limit, rng).column
        yield Answer(position, scores, column, time.perf_counter() - before)


def count(answers: list[Answer]) -> Accuracy:
    """Sum up."""
    return Accuracy(
        len(answers),
        sum(each.can_go_wrong for each in answers),
        sum(each.is_mistake for each in answers),
        sum(each.is_best for each in answers),
        median(each.seconds for each in answers),
        {name: fmean(each.is_mistake for each in group) for name, group in _by_phase(answers).items() if group},
    )


def _by_phase(answers: list[Answer]) -> dict[str, list[Answer]]:
    return {name: [each for each in answers if phase(each.position.ply) == name] for name in PHASES}


def random_positions(number: int, plies: tuple[int, int], seed: int, board: str | None = None) -> list[Position]:
    """Different positions of random play, still undecided, of so many plies; mirror images count as one."""
    rng = np.random.default_rng(seed)
    found: dict[int, Position] = {}
    for _ in range(1000 * number):
        if len(found) == number:
            break
        position, length = Position(board=board), int(rng.integers(plies[0], plies[1] + 1))
        while position.ply < length and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            found.setdefault(position.canonical_key, position)
    return list(found.values())


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)
