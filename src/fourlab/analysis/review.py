"""Review a game: the exact value of every position, and what every move did to it."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean
from typing import Any

import numpy as np

from fourlab import display
from fourlab.agent import UNLIMITED, Agent, Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.arena.judge import remaining_share, solve_backwards
from fourlab.arena.store import write_columns
from fourlab.errors import UserError
from fourlab.evaluator import Batch
from fourlab.game import notation
from fourlab.game.drawing import svg
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW, Outcome, Result
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.evaluator import load
from fourlab.reporting import figures
from fourlab.solver import Solution, Solver

DEFAULT_LIMIT = Limit(seconds=20)
SLOW_PLIES = 4
"""A move that keeps the value is good, not slow, if it wins at most this many plies later, or loses
at most this many sooner, than the best."""
SIMULATIONS = 2000
"""Simulations per position of the search that estimates boards the network was not trained for."""
KERNELS = ("solver", "planes", "tree search")
"""Groups of kernels (fourlab.compiled.warmup) for the solver, the network and the tree search."""


class Category(StrEnum):
    """What a move did to the value of its position."""

    FORCED = "forced"
    """There was only one legal column."""
    BEST = "best"
    """Wins as soon, or loses as late, as possible; or keeps the draw."""
    GOOD = "good"
    """Keeps the value but is a little slower than the best, or it is unknown by how much."""
    SLOW = "slow"
    """Keeps the value but wins much later, or loses much sooner, than the best."""
    MISTAKE = "mistake"
    """From a win to a draw, or from a draw to a loss."""
    BLUNDER = "blunder"
    """From a win to a loss."""
    UNKNOWN = "unknown"
    """The position before or after the move is not proven."""


@dataclass(frozen=True)
class Standing:
    """The value of one position of the game."""

    position: Position
    solution: Solution
    """From the side to move's point of view."""
    estimate: float | None
    """Red's expected score, 0 to 1, by a network or a search; None where the game is over."""

    @property
    def result(self) -> int | None:
        """+1 red wins, 0 draw, -1 yellow wins; None if not proven."""
        result = self.solution.result
        return result if result is None or self.position.to_move == RED else -result

    @property
    def plies(self) -> int | None:
        """Plies until the end under perfect play; None if not proven."""
        return self.solution.plies if self.position.outcome() is None else 0

    @property
    def chance(self) -> float:
        """Red's expected score: 1, ½ or 0 if proven, else the estimate."""
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
    """One move and its effect on the value of the position."""

    number: int
    """Counted from 1, from the start of the reviewed game."""
    position: Position
    """Before the move."""
    column: int
    """Counted from 0."""
    had: Solution
    """The value before the move, for the side that moved."""
    has: Solution
    """The value after the move, for the same side; its plies include the move itself."""
    best: tuple[int, ...]
    """Columns proven to win as soon, or lose as late, as possible."""

    @property
    def slower(self) -> int | None:
        """Plies by which it wins later, or loses sooner, than the best column.

        None if that is not proven, or if the move changed the result.
        """
        if self.had.result != self.has.result or self.had.plies is None or self.has.plies is None:
            return None
        return abs(self.has.plies - self.had.plies)

    @property
    def category(self) -> Category:
        """The category of the move."""
        if len(self.position.legal_columns()) == 1:
            return Category.FORCED
        if self.had.result is None or self.has.result is None:
            return Category.UNKNOWN
        # Results are -1, 0 and +1, so a win that becomes a loss loses 2. Exact values cannot rise.
        loss = self.had.result - self.has.result
        if loss > 0:
            return Category.BLUNDER if loss == 2 else Category.MISTAKE
        # The move keeps the result; what is left is its speed.
        if self.slower is None or 0 < self.slower <= SLOW_PLIES:
            return Category.GOOD
        return Category.SLOW if self.slower else Category.BEST

    @property
    def size(self) -> float:
        """How bad the move was, 0 to 2.

        2 from a win to a loss, 1 for other mistakes; for a move that keeps the result, the plies
        lost as a share of the board's cells.
        """
        if not self.is_rated:
            return 0.0
        assert self.had.result is not None
        assert self.has.result is not None
        # A share of the board is below 1, so a slow move is never as bad as a mistake.
        cells = self.position.rules.columns * self.position.rules.rows
        return float(self.had.result - self.has.result) or (self.slower or 0) / cells

    @property
    def is_rated(self) -> bool:
        """Whether the move counts for accuracy: there was a choice, and both values are proven."""
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
                words = f"{column} gives away the {'win' if self.had.result == 1 else 'draw'}"
            case Category.BLUNDER:
                words = f"{column} turns a win into a loss"
            case _:
                words = f"{column} {_does(self.has)}"
        if self.best:
            words += f"; {_the_columns(self.best)} {_does(self.had, len(self.best))}"
        return words


@dataclass(frozen=True)
class Accuracy:
    """How well one side played, over its rated moves (`Move.is_rated`)."""

    moves: int
    """Number of rated moves; if 0, the shares are None."""
    kept: float | None
    """The share that kept the game-theoretic value: win, draw or loss."""
    best: float | None
    """The share of best moves."""
    accuracy: float | None
    """The mean of 1 - size / 2: a best move counts 1, a mistake ½, a blunder 0."""


@dataclass(frozen=True)
class Review:
    """A whole game, position by position and move by move."""

    standings: tuple[Standing, ...]
    """One for every position, the start first."""
    moves: tuple[Move, ...]
    agent: str = ""
    """The name of an agent that was asked what it would have played; empty if none was."""
    choices: tuple[int, ...] = ()
    """Its column for every move, counted from 0."""

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, None if it is not over."""
        return self.standings[-1].position.outcome()

    @property
    def is_complete(self) -> bool:
        """Whether every position is proven."""
        return all(standing.result is not None for standing in self.standings)

    @property
    def mistakes(self) -> tuple[Move, ...]:
        """The mistakes and blunders, worst first."""
        mistakes = [
            move for move in self.moves if move.category in (Category.MISTAKE, Category.BLUNDER)
        ]
        return tuple(sorted(mistakes, key=lambda move: -move.size))

    def accuracy(self, side: int) -> Accuracy:
        """Return how well a side played."""
        moves = [move for move in self.moves if move.position.to_move == side and move.is_rated]
        if not moves:
            return Accuracy(0, None, None, None)
        return Accuracy(
            len(moves),
            # Mistakes have a size of at least 1, moves that keep the value one below.
            fmean(move.size < 1 for move in moves),
            fmean(move.category == Category.BEST for move in moves),
            fmean(1 - move.size / 2 for move in moves),
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        moves = write_columns(move.column for move in self.moves)
        return f"<Review of {moves}: {len(self.mistakes)} mistakes, {self.standings[-1]}>"

    def _lines(self) -> Iterator[str]:
        """Yield the category of every move, and the accuracy of both sides."""
        for move in self.moves:
            mover = SIDE_NAMES[move.position.to_move]
            yield (
                f"{move.number:3}. {mover:6} {move.column + 1:2}  {move.category.value:7}  "
                f"{self._says(move)}"
            )
        yield f"at the end: {self.standings[-1]}"
        for side in (RED, YELLOW):
            shares = self.accuracy(side)
            if shares.accuracy is not None:
                kept = f"value kept {shares.kept:.1%}"
                best = f"exactly best {shares.best:.1%} of {shares.moves} moves"
                yield f"{SIDE_NAMES[side]}: accuracy {shares.accuracy:.1%}, {kept}, {best}"
        if worst := ", ".join(str(move.number) for move in self.mistakes):
            yield f"mistakes, worst first: {worst}"
        if not self.is_complete:
            yield "not everything could be proven in the time given; more seconds may help"

    def _says(self, move: Move) -> str:
        """Return what a move did, and what the agent would have played."""
        if not self.choices:
            return str(move)
        return f"{move}; {self.agent} plays {self.choices[move.number - 1] + 1}"

    def to_pandas(self) -> display.DataFrame:
        """Return one row per move."""
        rows = self.to_dict()["moves_made"]
        return display.data_frame(
            {**row, "best": " ".join(str(column) for column in row["best"])} for row in rows
        )

    def plot(self) -> figures.Figure:
        """Draw red's chance of winning along the game, as a matplotlib figure."""
        figures.require("plot()")
        return figures.in_notebooks(
            figures.win_chance(
                [standing.position.ply for standing in self.standings],
                [standing.chance for standing in self.standings],
                [standing.estimate for standing in self.standings],
                sorted(move.number for move in self.mistakes),
            )
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                move.number,
                SIDE_NAMES[move.position.to_move],
                move.column + 1,
                move.category.value,
                self._says(move),
            )
            for move in self.moves
        ]
        board = display.picture(svg(self.standings[-1].position))
        moves = display.table(("move", "side", "column", "", "what it did"), rows)
        # What follows the moves: the end of the game, both accuracies, the mistakes.
        rest = "".join(display.paragraph(line) for line in [*self._lines()][len(rows) :])
        return display.beside(moves, board + rest)

    def to_dict(self) -> dict[str, Any]:
        """Return the review as JSON data.

        Columns are counted from 1. Results of positions are from red's point of view, those of
        moves from the mover's.
        """
        start = self.standings[0].position
        return {
            "board": str(start.rules),
            "start": "" if start.moves == () else start.write("fen"),
            "moves": write_columns(move.column for move in self.moves),
            "outcome": None if self.outcome is None else str(self.outcome),
            "complete": self.is_complete,
            **({"agent": self.agent} if self.choices else {}),
            "positions": [
                {
                    "ply": standing.position.ply,
                    "to_move": SIDE_NAMES[standing.position.to_move],
                    "proven": standing.result is not None,
                    "result": standing.result,
                    "plies": standing.plies,
                    "chance": standing.chance,
                    "estimate": standing.estimate,
                    "says": str(standing),
                }
                for standing in self.standings
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
                    **({"choice": self.choices[move.number - 1] + 1} if self.choices else {}),
                    "says": str(move),
                }
                for move in self.moves
            ],
            "accuracy": {SIDE_NAMES[side]: vars(self.accuracy(side)) for side in (RED, YELLOW)},
            "mistakes": [move.number for move in self.mistakes],
        }

    as_data = to_dict  # its name in earlier versions


def review(
    start: Position,
    columns: Sequence[int],
    limit: Limit = DEFAULT_LIMIT,
    megabytes: float = 64,
    named_from: int = 0,
) -> Review:
    """Review the game that was played from `start` by these columns, counted from 0.

    `limit.seconds` is the budget of the whole game, `limit.nodes` that of each position. When it is
    spent, or the stop flag is set, the positions left unproven have only an estimate. `megabytes`
    is the size of the solver's transposition table. `named_from` is as in `Position.play`.
    """
    positions = [start]
    for column in columns:
        positions.append(positions[-1].play(column, named_from=named_from))
    solver = Solver(megabytes)
    started = time.perf_counter()
    # Backwards from the end, where positions are easy and fill the table for those before them.
    solutions: list[Solution] = []
    best: list[tuple[int, ...]] = []
    # The generator pauses after each position, while the table still holds its search.
    solving = solve_backwards(positions, solver, limit, started)
    for position, solution in zip(reversed(positions), solving, strict=True):
        solutions.insert(0, solution)
        best.insert(0, ())
        if position.outcome() is None and solution.score is not None:
            share = remaining_share(limit, started)
            best[0] = tuple(solver.best_columns(position, limit=share)[1])
    standings = map(Standing, positions, solutions, _estimates(positions))
    moves = (
        Move(i + 1, positions[i], column, solutions[i], solutions[i + 1].for_the_other(), best[i])
        for i, column in enumerate(columns)
    )
    return Review(tuple(standings), tuple(moves))


def with_choices(reviewed: Review, agent: Agent, name: str, limit: Limit, seed: int) -> Review:
    """Return a review that also says what an agent would have played; `limit` is per move."""
    choices = []
    for move in reviewed.moves:
        # One generator per move, so that the choices do not depend on each other.
        rng = np.random.default_rng((seed, move.number))
        choices.append(agent.decide(move.position, limit, rng).column)
    return replace(reviewed, agent=name, choices=tuple(choices))


def game_of(
    moves: str | Position, start: str | Position = "", board: str | Rules | None = None
) -> tuple[Position, tuple[int, ...]]:
    """Return the starting position and the columns of a game in any notation of moves."""
    first = Position(start, board)
    if isinstance(moves, Position):
        # The board of a position is known, so it is checked rather than read.
        columns = Position(moves, first.rules).moves
    else:
        columns = notation.read(moves, first.rules).moves
    # Any notation can be read, but only those of moves are a game.
    if columns is None:
        raise UserError(
            f"{str(moves)!r:.80} is a board, not the moves of a game; "
            "`start` says where a game starts"
        )
    return first, columns


def _estimates(positions: Sequence[Position]) -> list[float | None]:
    """Return red's expected score, 0 to 1, in every position; None where the game is over."""
    estimates: list[float | None] = [None] * len(positions)
    open_at = [i for i, position in enumerate(positions) if position.outcome() is None]
    if open_at:
        values = _values([positions[i] for i in open_at])
        for i, value in zip(open_at, values, strict=True):
            # From the side to move's point of view to red's, then from -1 … +1 to 0 … 1.
            red_value = value if positions[i].to_move == RED else -value
            estimates[i] = (1 + red_value) / 2
    return estimates


def _values(positions: Sequence[Position]) -> list[float]:
    """Return expected results from the side to move's point of view, -1 to +1.

    They come from the network shipped with Fourlab, or on other boards from a short search.
    """
    network = load("alphazero")
    if positions[0].rules == network.rules:
        return [float(value) for value in network.evaluate(Batch.of(positions)).values]
    # A fixed seed, so that the same game always has the same review.
    mcts = MCTS(simulations=SIMULATIONS)
    decisions = (
        mcts.decide(position, UNLIMITED, np.random.default_rng(0)) for position in positions
    )
    return [decision.value or 0.0 for decision in decisions]


def _does(solution: Solution, columns: int = 1) -> str:
    """Return the verb for one column of this value or for several: "wins in 7", "win in 7"."""
    result = Result.DRAW if solution.result is None else solution.result
    singular = "draws" if result == Result.DRAW else result.verdict
    verb = singular.removesuffix("s") if columns > 1 else singular
    return verb if solution.result == 0 or solution.plies is None else f"{verb} in {solution.plies}"


def _the_columns(columns: Sequence[int]) -> str:
    *first, last = (str(column + 1) for column in columns)
    return f"columns {', '.join(first)} and {last}" if first else f"column {last}"
