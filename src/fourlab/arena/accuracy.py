"""Measure how often an agent's moves agree with the exact values of positions."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from statistics import fmean, median

import numpy as np

from fourlab.agent import Agent, Forfeit, Limit
from fourlab.arena.game import as_forfeit, check_column
from fourlab.arena.openings import random_play
from fourlab.arena.statistics import wilson
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.record import Cause
from fourlab.solver import Solver
from fourlab.solver.solution import CLOSED

PHASES = {"early": 12, "middle": 24, "late": 1 << 30}
"""Phases of the game in order, each with the number of discs at which the next one begins."""
TOGETHER = 16
"""Positions that are solved together: few, so that progress is seen and the table stays small."""
TRIES_PER_POSITION = 1000
"""Random games to play per requested position before settling for fewer positions."""


@dataclass(frozen=True)
class Answer:
    """One position with the exact scores of its columns and the agent's move."""

    position: Position
    scores: dict[int, int]
    """The exact score of every legal column, from the side to move's point of view."""
    column: int | None
    """None if the answer cannot be played, which is a mistake in every position."""
    seconds: float
    fault: Forfeit | None = None
    """Why the answer cannot be played: in a match, it would have cost the game."""

    @property
    def is_best(self) -> bool:
        """Whether no column has a higher score."""
        return self.column is not None and self.scores[self.column] == max(self.scores.values())

    @property
    def is_mistake(self) -> bool:
        """Whether the answer loses the game-theoretic value: a win, or a draw."""
        return self.column is None or Result.of_score(self.scores[self.column]) < self._value

    @property
    def can_go_wrong(self) -> bool:
        """Whether at least one column would have been a mistake."""
        return Result.of_score(min(self.scores.values())) < self._value

    @property
    def _value(self) -> Result:
        """The game-theoretic value of the position."""
        return Result.of_score(max(self.scores.values()))


def phase(discs: int) -> str:
    """Return the phase of the game with this number of discs on the board."""
    return next(name for name, end in PHASES.items() if discs < end)


@dataclass(frozen=True)
class Fault:
    """Answers that cannot be played, for one cause."""

    cause: Cause
    positions: int
    example: str
    """The first of them, with its position."""

    @classmethod
    def of(cls, answers: list[Answer]) -> "tuple[Fault, ...]":
        """Count the faults among answers, the most frequent cause first."""
        faulty = [(answer, answer.fault) for answer in answers if answer.fault is not None]
        counts = Counter(fault.cause for _, fault in faulty)
        examples: dict[Cause, str] = {}
        for answer, fault in faulty:
            examples.setdefault(fault.cause, f"{answer.position!r}: {fault}")
        return tuple(cls(cause, count, examples[cause]) for cause, count in counts.most_common())


@dataclass(frozen=True)
class Accuracy:
    """Counts over the answers of one agent."""

    positions: int
    can_go_wrong: int
    """Positions in which at least one column is a mistake."""
    mistakes: int
    """Answers that lose the game-theoretic value, and all that cannot be played."""
    best: int
    seconds: float
    """Median time of a decision."""
    phases: dict[str, float]
    """The mistake rate in each phase that occurs."""
    faults: tuple[Fault, ...] = ()
    """The answers that cannot be played, by cause; they count as mistakes."""

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
    """Solve every column of every position and yield the scores by column."""
    for rules, group in groupby(positions, attrgetter("rules")):
        while keys := [position.key for position in islice(group, TOGETHER)]:
            solver.forget()
            # Without a limit the bounds meet, so the lower one is the score.
            for row in solver.column_bounds(np.array(keys), rules).lower.tolist():
                yield {column: score for column, score in enumerate(row) if score != CLOSED}


def ask(
    agent: Agent, positions: list[Position], exact: list[dict[int, int]], limit: Limit, seed: int
) -> Iterator[Answer]:
    """Yield the agent's answer to every position.

    `exact` holds the exact scores by column. Each position has its own random generator, seeded
    with [seed, index], so that an answer does not depend on the positions before it. An illegal
    column or an exception is an answer, too. A UserError, with which agents refuse a board, is not.
    """
    for i, (position, scores) in enumerate(zip(positions, exact, strict=True)):
        rng = np.random.default_rng([seed, i])
        before = time.perf_counter()
        column: int | None = None
        fault: Forfeit | None = None
        try:
            decision = agent.decide(position, limit, rng)
            check_column(decision, position)
            column = decision.column
        except UserError:
            raise
        except Exception as error:  # as in a match, an agent's fault costs it this position only
            fault = as_forfeit(error)
        yield Answer(position, scores, column, time.perf_counter() - before, fault)


def count(answers: list[Answer]) -> Accuracy:
    """Return the accuracy over a list of answers, which must not be empty."""
    mistakes_by_phase: defaultdict[str, list[bool]] = defaultdict(list)
    for answer in answers:
        mistakes_by_phase[phase(answer.position.ply)].append(answer.is_mistake)
    return Accuracy(
        len(answers),
        sum(answer.can_go_wrong for answer in answers),
        sum(answer.is_mistake for answer in answers),
        sum(answer.is_best for answer in answers),
        median(answer.seconds for answer in answers),
        {name: fmean(mistakes_by_phase[name]) for name in PHASES if name in mistakes_by_phase},
        Fault.of(answers),
    )


def random_positions(
    number: int, plies: tuple[int, int], seed: int, board: str | None = None
) -> list[Position]:
    """Return distinct undecided positions of random play, at most `number` of them.

    The length of each game is uniform between the two `plies`, both included. Mirror images count
    as the same position.
    """
    rng = np.random.default_rng(seed)
    positions: dict[int, Position] = {}  # by canonical key
    for _ in range(TRIES_PER_POSITION * number):
        if len(positions) == number:
            break
        length = int(rng.integers(plies[0], plies[1] + 1))
        position = random_play(Position(board=board), length, rng)
        # A game that ended early is dropped: a shorter one would distort the lengths.
        if position.outcome() is None:
            positions.setdefault(position.canonical_key, position)
    return list(positions.values())
