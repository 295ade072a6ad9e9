"""Games beside the exact truth: which moves kept the game's value, which were best, which were blunders."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fourlab.agent import Limit
from fourlab.arena.statistics import wilson
from fourlab.arena.store import StoredGame
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.record import Record

if TYPE_CHECKING:
    from fourlab.solver import Solution, Solver

WITHOUT_LIMIT = Limit()


def solve_from_the_end(
    positions: Sequence[Position], solver: "Solver", limit: Limit = WITHOUT_LIMIT, started: float | None = None
) -> "Iterator[Solution]":
    """Solve the positions of a game, the last first, because what is known of a position helps with the one before.

    The limit's seconds are for the whole game and run from `started`, a moment of `time.perf_counter`; its nodes are for
    each position.
    """
    from fourlab.solver import Solution

    started = time.perf_counter() if started is None else started
    solver.forget()
    for position in reversed(positions):
        if (outcome := position.outcome()) is None:
            yield solver.solve(position, share(limit, started))
        else:
            left = position.rules.columns * position.rules.rows - position.ply
            score = outcome.score(position.to_move) * (left // 2 + 1)
            yield Solution(score, score, left)


def share(limit: Limit, started: float) -> Limit:
    """Half of the seconds that are left, so that one hard position does not starve the others; in the end a mere glance."""
    if limit.seconds is None:
        return limit
    left = limit.seconds - (time.perf_counter() - started)
    return replace(limit, seconds=left / 2) if left > 0 else replace(limit, seconds=None, nodes=1)


def exact_scores(record: Record, solver: "Solver") -> tuple[int, ...]:
    """The score of every position of a game for its side to move, on Pons's scale."""
    return tuple(each.lower for each in solve_from_the_end(list(record.positions()), solver))[::-1]


@dataclass(frozen=True)
class Blunder:
    """A move that gave away a win or a draw."""

    game: int
    ply: int
    """The number of discs before it."""
    agent: str
    column: int
    had: int
    """+1 a win, 0 a draw: what the position was worth."""
    has: int
    """0 a draw, -1 a loss: what is left of it."""

    @property
    def size(self) -> int:
        """1, or 2 from a win to a loss."""
        return self.had - self.has

    def as_data(self) -> dict[str, Any]:
        """For JSON; columns count from 1."""
        return {
            "game": self.game,
            "ply": self.ply,
            "agent": self.agent,
            "column": self.column + 1,
            "had": Result(self.had).word,
            "has": Result(self.has).word,
        }


@dataclass
class Judgement:
    """How well the agents of some games kept to the truth."""

    moves: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    """Moves that kept the value of the game: win, draw or loss."""
    best: Counter[str] = field(default_factory=Counter)
    """Moves that win as soon, or lose as late, as possible."""
    blunders: list[Blunder] = field(default_factory=list)

    @classmethod
    def of(cls, games: Iterable[StoredGame]) -> "Judgement":
        """Judge the games that have been solved."""
        judgement = cls()
        for game in games:
            if (scores := game.exact_scores) is not None:
                judgement._add(game, scores)
        return judgement

    def _add(self, game: StoredGame, scores: tuple[int, ...]) -> None:
        columns, side = game.columns, game.first_to_move
        ply = game.plies - len(columns)
        for i, column in enumerate(columns):
            agent = (game.red, game.yellow)[(side + i) % 2]
            before, after = scores[i], -scores[i + 1]
            self.moves[agent] += 1
            self.best[agent] += before == after
            if _sign(before) == _sign(after):
                self.kept[agent] += 1
            else:
                self.blunders.append(Blunder(game.number, ply + i, agent, column, _sign(before), _sign(after)))

    def as_data(self) -> dict[str, Any]:
        """For JSON, shares with Wilson's intervals."""
        return {
            "agents": {
                agent: {
                    "moves": moves,
                    "kept": self.kept[agent] / moves,
                    "kept_interval": wilson(self.kept[agent], moves),
                    "best": self.best[agent] / moves,
                    "best_interval": wilson(self.best[agent], moves),
                    "blunders": sum(each.agent == agent for each in self.blunders),
                }
                for agent, moves in sorted(self.moves.items())
            },
            "blunders": [each.as_data() for each in self.blunders],
        }


@dataclass(frozen=True)
class GameJudge:
    """Solves stored games by their numbers; it travels to the processes that do the work."""

    records: dict[int, Record]

    def __call__(self, number: int, watch: object = None) -> tuple[int, ...]:
        """Solve one game."""
        from fourlab.solver import Solver  # compiled: who does not solve does not load it

        return exact_scores(self.records[number], Solver())

    def prepare(self) -> None:
        """Nothing to do: the solver loads itself."""


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)
