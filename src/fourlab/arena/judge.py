"""Compare the moves of games with exact values: which kept the value, which were best."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fourlab.agent import UNLIMITED, Limit
from fourlab.arena.statistics import wilson
from fourlab.arena.store import StoredGame
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.record import Record

if TYPE_CHECKING:
    from fourlab.solver import Solution, Solver


def solve_backwards(
    positions: Sequence[Position],
    solver: "Solver",
    limit: Limit = UNLIMITED,
    started: float | None = None,
) -> "Iterator[Solution]":
    """Solve the positions of a game and yield their solutions, last position first.

    Going backwards is faster: the transposition table then holds the positions that the search of
    an earlier position reaches. `limit.seconds` is the budget of the whole game, counted from
    `started` (a value of `time.perf_counter`); `limit.nodes` applies to each position.
    """
    from fourlab.solver import Solution

    started = time.perf_counter() if started is None else started
    # Entries of another game would make the time of this one depend on the order of the games.
    solver.forget()
    for position in reversed(positions):
        outcome = position.outcome()
        if outcome is None:
            yield solver.solve(position, remaining_share(limit, started))
            continue
        # Pons's scale at the end of a game: the winner is credited with the discs it has left,
        # and one more for the disc that completed the line.
        empty = position.rules.columns * position.rules.rows - position.ply
        score = outcome.score(position.to_move) * (empty // 2 + 1)
        yield Solution(score, score, empty)


def remaining_share(limit: Limit, started: float) -> Limit:
    """Return the limit with half of its remaining seconds, for the next position of a game.

    Halving keeps one hard position from using up the time of the rest. Once the time is over the
    limit is one node, which leaves what the opening book proves.
    """
    if limit.seconds is None:
        return limit
    left = limit.seconds - (time.perf_counter() - started)
    if left <= 0:
        return replace(limit, seconds=None, nodes=1)
    return replace(limit, seconds=left / 2)


def exact_scores(record: Record, solver: "Solver") -> tuple[int, ...]:
    """Return the score of every position of a game, first position first.

    Scores are on Pons's scale, from the point of view of the side to move.
    """
    solutions = solve_backwards(list(record.positions()), solver)
    return tuple(solution.lower for solution in solutions)[::-1]


@dataclass(frozen=True)
class Blunder:
    """A move that gave away a win or a draw."""

    game: int
    ply: int
    """Number of discs on the board before the move."""
    agent: str
    column: int
    """Counted from 0."""
    had: Result
    """The exact value before the move, for the agent: a win or a draw."""
    has: Result
    """The exact value after the move, for the agent: a draw or a loss."""

    def as_data(self) -> dict[str, Any]:
        """Return the blunder as JSON data; there the column is counted from 1."""
        return {
            "game": self.game,
            "ply": self.ply,
            "agent": self.agent,
            "column": self.column + 1,
            "had": self.had.word,
            "has": self.has.word,
        }


@dataclass
class MoveQuality:
    """Counts, per agent, of the moves that agree with the exact values."""

    moves: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    """Moves that kept the game-theoretic value: win, draw or loss."""
    best: Counter[str] = field(default_factory=Counter)
    """Moves that win as soon, or lose as late, as possible."""
    blunders: list[Blunder] = field(default_factory=list)

    @classmethod
    def of(cls, games: Iterable[StoredGame]) -> "MoveQuality":
        """Count the moves of the games that have been solved; skip the others."""
        quality = cls()
        for game in games:
            scores = game.exact_scores
            if scores is not None:
                quality._add(game, scores)
        return quality

    def _add(self, game: StoredGame, scores: tuple[int, ...]) -> None:
        columns = game.columns
        first_ply = game.plies - len(columns)
        # The side to move at the start need not follow from the number of discs: a FEN names it.
        first_side = game.start_position.to_move
        for i, column in enumerate(columns):
            agent = (game.red, game.yellow)[(first_side + i) % 2]
            # Both from the mover's point of view: the next score belongs to the opponent.
            before = scores[i]
            after = -scores[i + 1]
            had = Result.of_score(before)
            has = Result.of_score(after)
            self.moves[agent] += 1
            # Pons's score counts the winner's discs left at the end, so best play does not change
            # it, except for its sign.
            self.best[agent] += before == after
            if had == has:
                self.kept[agent] += 1
            else:
                self.blunders.append(Blunder(game.number, first_ply + i, agent, column, had, has))

    def as_data(self) -> dict[str, Any]:
        """Return the counts as JSON data, shares with Wilson's 95 % intervals."""
        blunders = Counter(blunder.agent for blunder in self.blunders)
        return {
            "agents": {
                agent: {
                    "moves": moves,
                    "kept": self.kept[agent] / moves,
                    "kept_interval": wilson(self.kept[agent], moves),
                    "best": self.best[agent] / moves,
                    "best_interval": wilson(self.best[agent], moves),
                    "blunders": blunders[agent],
                }
                for agent, moves in sorted(self.moves.items())
            },
            "blunders": [blunder.as_data() for blunder in self.blunders],
        }


@dataclass(frozen=True)
class GameSolver:
    """Solves stored games by number; it is pickled and sent to worker processes."""

    records: dict[int, Record]

    def __call__(self, number: int, watch: object = None) -> tuple[int, ...]:
        """Return the exact scores of one game's positions."""
        from fourlab.solver import Solver  # compiled code: loaded only where games are solved

        return exact_scores(self.records[number], Solver())

    def prepare(self) -> None:
        """Do nothing: the solver loads its kernels on first use."""
