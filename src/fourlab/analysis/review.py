"""A game beside the truth: what every position was worth, and what every move made of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.arena.judge import share, solve_from_the_end
from fourlab.arena.store import write_columns
from fourlab.evaluator import Batch
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW, Outcome
from fourlab.game.position import Position
from fourlab.nets.evaluator import load
from fourlab.solver import Solution, Solver

DEFAULT_LIMIT = Limit(seconds=20)
A_LITTLE = 4
"""A move that keeps the value is good if it wins at most so many discs later, or loses so many sooner, than the best."""
SIMULATIONS = 2000
"""Of the search that estimates positions on boards that the network does not know."""
KERNELS = ("solver", "planes", "tree search")
"""The groups of kernels (fourlab.compiled.warmup) for proofs, the network and other boards."""


class Category(StrEnum):
    """What a move made of its position."""

    FORCED = "forced"
    """There was no other column."""
    BEST = "best"
    """Wins as soon, or loses as late, as possible; or keeps the draw."""
    GOOD = "good"
    """Keeps the value, only a little slower, or nobody has proved by how much."""
    SLOW = "slow"
    """Keeps the value, but wins much later, or loses much sooner, than it could."""
    MISTAKE = "mistake"
    """From a win to a draw, or from a draw to a loss."""
    BLUNDER = "blunder"
    """From a win to a loss."""
    UNKNOWN = "unknown"
    """The position before it or after it is not proven."""


@dataclass(frozen=True)
class Standing:
    """What one position of the game was worth."""

    position: Position
    solution: Solution
    """For its side to move."""
    estimate: float | None
    """Red's expected score, 0 to 1, by a network's or a search's judgement; None where the game is over."""

    @property
    def result(self) -> int | None:
        """+1 red wins, 0 draw, -1 yellow wins, where it is proven."""
        result = self.solution.result
        return result if result is None or self.position.to_move == RED else -result

    @property
    def plies(self) -> int | None:
        """How many more discs until the end, where it is proven."""
        return self.solution.plies if self.position.outcome() is None else 0

    @property
    def chance(self) -> float:
        """Red's expected score: 1, ½ or 0 where it is proven, else the estimate."""
        if self.result is not None:
            return (1 + self.result) / 2
        return 0.5 if self.estimate is None else self.estimate

    def __str__(self) -> str:
        if (outcome := self.position.outcome()) is not None:
            return "draw" if outcome.winner is None else f"{SIDE_NAMES[outcome.winner]} has won"
        if self.result is None:
            return f"about {100 * self.chance:.0f} % for red"
        if self.result == 0:
            return "draw"
        in_plies = "" if self.plies is None else f" in {self.plies}"
        return f"{SIDE_NAMES[RED if self.result > 0 else YELLOW]} wins{in_plies}"


@dataclass(frozen=True)
class Move:
    """One move and what it made of its position."""

    number: int
    """Counted from 1, from the start of the game that is reviewed."""
    position: Position
    """Before the move."""
    column: int
    """Counted from 0."""
    had: Solution
    """The position before, for the side that moved."""
    has: Solution
    """The position after, for the same side, the disc included."""
    best: tuple[int, ...]
    """The columns that win as soon, or lose as late, as possible, as far as they are proven."""

    @property
    def slower(self) -> int | None:
        """How many discs later it wins, or sooner it loses, than the best column; None if not proven or another result."""
        if self.had.result != self.has.result or self.had.plies is None or self.has.plies is None:
            return None
        return abs(self.has.plies - self.had.plies)

    @property
    def category(self) -> Category:
        """What it made of the position, in a word."""
        if len(self.position.legal_columns()) == 1:
            return Category.FORCED
        if self.had.result is None or self.has.result is None:
            return Category.UNKNOWN
        if (given_away := self.had.result - self.has.result) > 0:
            return Category.BLUNDER if given_away == 2 else Category.MISTAKE
        if self.slower is None or 0 < self.slower <= A_LITTLE:
            return Category.GOOD
        return Category.SLOW if self.slower else Category.BEST

    @property
    def size(self) -> float:
        """How bad it was: 2 from a win to a loss, 1 for other mistakes, below 1 the discs lost as a share of the board."""
        if self.category in (Category.FORCED, Category.UNKNOWN):
            return 0.0
        assert self.had.result is not None
        assert self.has.result is not None
        rules = self.position.rules
        return float(self.had.result - self.has.result) or (self.slower or 0) / (rules.columns * rules.rows)

    @property
    def is_judged(self) -> bool:
        """Whether it tells something about the player: there was a choice, and the truth is known."""
        return self.category not in (Category.FORCED, Category.UNKNOWN)

    def __str__(self) -> str:
        column = f"column {self.column + 1}"
        match self.category:
            case Category.FORCED:
                return f"{column} is the only one"
            case Category.UNKNOWN:
                return "not proven"
            case Category.BEST:
                return f"{column} {_does(self.has)}"
            case Category.MISTAKE:
                told = f"{column} gives away the {'win' if self.had.result == 1 else 'draw'}"
            case Category.BLUNDER:
                told = f"{column} turns a win into a loss"
            case _:
                told = f"{column} {_does(self.has)}"
        return f"{told}; {_the_columns(self.best)} {_does(self.had, len(self.best))}" if self.best else told


@dataclass(frozen=True)
class Accuracy:
    """How well one side played, by its moves that are judged."""

    moves: int
    """How many there are: with a choice, and proven before and after."""
    kept: float | None
    """The share that kept the value of the game: win, draw or loss."""
    best: float | None
    """The share that no column could better."""
    accuracy: float | None
    """One number from 0 to 1: the mean of 1 - size / 2, so a best move counts 1, a mistake ½, a blunder 0."""


@dataclass(frozen=True)
class Review:
    """A whole game beside the truth."""

    standings: tuple[Standing, ...]
    """One for every position, the start first."""
    moves: tuple[Move, ...]

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, None if it did not."""
        return self.standings[-1].position.outcome()

    @property
    def is_complete(self) -> bool:
        """Whether every position is proven."""
        return all(each.result is not None for each in self.standings)

    @property
    def mistakes(self) -> tuple[Move, ...]:
        """The mistakes and blunders, the worst first."""
        found = [move for move in self.moves if move.category in (Category.MISTAKE, Category.BLUNDER)]
        return tuple(sorted(found, key=lambda move: -move.size))

    def accuracy(self, side: int) -> Accuracy:
        """How well a side played."""
        judged = [move for move in self.moves if move.position.to_move == side and move.is_judged]
        if not judged:
            return Accuracy(0, None, None, None)
        return Accuracy(
            len(judged),
            fmean(move.size < 1 for move in judged),
            fmean(move.category == Category.BEST for move in judged),
            fmean(1 - move.size / 2 for move in judged),
        )

    def as_data(self) -> dict[str, Any]:
        """For JSON; columns count from 1, results of positions are in red's view, those of moves in the mover's."""
        start = self.standings[0].position
        return {
            "board": str(start.rules),
            "start": "" if start.moves == () else start.write("fen"),
            "moves": write_columns(move.column for move in self.moves),
            "outcome": None if self.outcome is None else str(self.outcome),
            "complete": self.is_complete,
            "positions": [
                {
                    "ply": each.position.ply,
                    "to_move": SIDE_NAMES[each.position.to_move],
                    "proven": each.result is not None,
                    "result": each.result,
                    "plies": each.plies,
                    "chance": each.chance,
                    "estimate": each.estimate,
                    "says": str(each),
                }
                for each in self.standings
            ],
            "moves_made": [
                {
                    "number": move.number,
                    "side": SIDE_NAMES[move.position.to_move],
                    "column": move.column + 1,
                    "category": move.category.value,
                    "had": move.had.result,
                    "has": move.has.result,
                    "size": move.size,
                    "best": [column + 1 for column in move.best],
                    "says": str(move),
                }
                for move in self.moves
            ],
            "accuracy": {SIDE_NAMES[side]: vars(self.accuracy(side)) for side in (RED, YELLOW)},
            "mistakes": [move.number for move in self.mistakes],
        }


def review(start: Position, columns: Sequence[int], limit: Limit = DEFAULT_LIMIT, megabytes: float = 64) -> Review:
    """Review the game that was played from the start by these columns, counted from 0.

    The limit's seconds are for the whole game, its nodes for each position; when it is spent or its stop flag is set, the
    positions that are not proven have only their estimate. `megabytes` is the most memory of the solver's table.
    """
    positions = [start]
    for column in columns:
        positions.append(positions[-1].play(column))
    solver, started = Solver(megabytes), time.perf_counter()
    solutions: list[Solution] = []
    best: list[tuple[int, ...]] = []
    for position, solution in zip(reversed(positions), solve_from_the_end(positions, solver, limit, started), strict=True):
        over = position.outcome() is not None
        found = () if over or solution.score is None else solver.best_columns(position, limit=share(limit, started))[1]
        solutions.insert(0, solution)
        best.insert(0, tuple(found))
    standings = map(Standing, positions, solutions, _estimates(positions))
    moves = (
        Move(i + 1, positions[i], column, solutions[i], solutions[i + 1].for_the_other(), best[i])
        for i, column in enumerate(columns)
    )
    return Review(tuple(standings), tuple(moves))


def _estimates(positions: Sequence[Position]) -> list[float | None]:
    """Red's expected score in every position that is not over: the shipped network's, else that of a short search."""
    going_on = [position for position in positions if position.outcome() is None]
    values = iter(_values(going_on) if going_on else ())
    return [None if position.outcome() is not None else _for_red(position, next(values)) for position in positions]


def _values(positions: Sequence[Position]) -> list[float]:
    """Expected results for the sides to move, -1 to +1."""
    network = load("alphazero")
    if positions[0].rules == network.rules:
        return [float(value) for value in network.evaluate(Batch.of(positions)).values]
    searcher, limit = MCTS(simulations=SIMULATIONS), Limit()
    return [searcher.decide(each, limit, np.random.default_rng(0)).value or 0.0 for each in positions]


def _for_red(position: Position, value: float) -> float:
    return (1 + (value if position.to_move == RED else -value)) / 2


def _does(solution: Solution, columns: int = 1) -> str:
    """What a column of this worth does, or several: "wins in 7", "win in 7"."""
    verb = {1: ("wins", "win"), 0: ("draws", "draw"), -1: ("loses", "lose")}[solution.result or 0][columns > 1]
    return verb if solution.result == 0 or solution.plies is None else f"{verb} in {solution.plies}"


def _the_columns(columns: Sequence[int]) -> str:
    *first, last = (str(column + 1) for column in columns)
    return f"columns {', '.join(first)} and {last}" if first else f"column {last}"
