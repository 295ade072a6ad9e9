"""Every bridge agrees with `Position` on the board, the side to move, legal columns and results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pytest

from fourlab import Decision, Limit, Position
from fourlab.bridges.kaggle.submission import ask
from fourlab.bridges.openspiel import game_of, to_position
from fourlab.game.rules import Rules

BOARDS = ("7x6x4", "5x4x4", "4x4x3")
GAMES = 12


class Table(Protocol):
    """A game as seen through a bridge."""

    def grid(self) -> list[list[int]]:
        """Return the rows from the top: 0 empty, 1 red, 2 yellow."""
        ...

    def legal(self) -> list[int]:
        """Return the legal columns; none if the game is over."""
        ...

    def play(self, column: int) -> None:
        """Drop a disc of the side to move."""
        ...

    def result(self) -> int | None:
        """Return red's result, +1, 0 or -1; None if the game is not over."""
        ...


@dataclass
class Scripted:
    """An opponent that plays the column set by the test."""

    column: int = 0

    def decide(self, position: Position, limit: Limit, rng: np.random.Generator) -> Decision:
        return Decision(self.column)


class Gymnasium:
    """The learner is red; a step is its move and the opponent's reply."""

    def __init__(self, board: str) -> None:
        import fourlab.bridges.gymnasium as bridge

        self.opponent = Scripted()
        self.env = bridge.ConnectFour(opponent=self.opponent, board=board, seat="first")
        self.seen, _ = self.env.reset(seed=0)
        self.reward = 0.0
        self.over = False
        self.ours: int | None = None
        self.rules = Rules.parse(board)

    def grid(self) -> list[list[int]]:
        return (self.seen[:, :, 0] + 2 * self.seen[:, :, 1]).tolist()  # type: ignore[no-any-return]

    def legal(self) -> list[int]:
        return [column for column, open_ in enumerate(self.env.action_masks()) if open_]

    def step(self, ours: int, theirs: int) -> None:
        self.opponent.column = theirs
        self.seen, self.reward, self.over, cut, info = self.env.step(ours)
        assert not cut
        assert info["action_mask"].tolist() == [int(allowed) for allowed in self.env.action_masks()]

    def result(self) -> int | None:
        return int(self.reward) if self.over else None


class PettingZoo:
    def __init__(self, board: str) -> None:
        from fourlab.bridges.pettingzoo import ConnectFour

        self.env = ConnectFour(board)
        self.env.reset()

    def grid(self) -> list[list[int]]:
        seen = self.env.observe("player_0")["observation"]
        return (seen[:, :, 0] + 2 * seen[:, :, 1]).tolist()  # type: ignore[no-any-return]

    def legal(self) -> list[int]:
        if self.result() is not None:
            return []
        mask = self.env.observe(self.env.agent_selection)["action_mask"]
        return [column for column, open_ in enumerate(mask) if open_]

    def play(self, column: int) -> None:
        self.env.step(column)

    def result(self) -> int | None:
        return self.env.rewards["player_0"] if self.env.terminations["player_0"] else None


class OpenSpiel:
    def __init__(self, board: str) -> None:
        self.state = game_of(Rules.parse(board)).new_initial_state()

    def grid(self) -> list[list[int]]:
        return [list(row) for row in to_position(self.state).grid()]

    def legal(self) -> list[int]:
        return list(self.state.legal_actions())

    def play(self, column: int) -> None:
        self.state.apply_action(column)

    def result(self) -> int | None:
        return int(self.state.returns()[0]) if self.state.is_terminal() else None


STEP_BY_STEP: dict[str, Callable[[str], Table]] = {"pettingzoo": PettingZoo, "openspiel": OpenSpiel}


def check(table: Any, position: Position) -> None:
    outcome = position.outcome()
    assert table.grid() == [list(row) for row in position.grid()]
    assert table.legal() == list(position.legal_columns())
    assert table.result() == (None if outcome is None else outcome.score(0))


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("name", STEP_BY_STEP)
def test_a_game_agrees_with_the_position_after_every_move(name: str, board: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(GAMES):
        table = STEP_BY_STEP[name](board)
        position = Position(board=board)
        check(table, position)
        while position.outcome() is None:
            column = int(rng.choice(position.legal_columns()))
            table.play(column)
            position = position.play(column)
            check(table, position)


@pytest.mark.parametrize("board", BOARDS)
def test_a_game_against_an_opponent_agrees_with_the_position(board: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(GAMES):
        table = Gymnasium(board)
        position = Position(board=board)
        check(table, position)
        while position.outcome() is None:
            ours = int(rng.choice(position.legal_columns()))
            position = position.play(ours)
            theirs = 0
            if position.outcome() is None:
                theirs = int(rng.choice(position.legal_columns()))
                position = position.play(theirs)
            table.step(ours, theirs)
            check(table, position)


@pytest.mark.parametrize("board", BOARDS)
def test_a_kaggle_submission_receives_the_position(board: str) -> None:
    rng = np.random.default_rng(3)
    calls = []

    def submission(observation: Any, configuration: Any) -> int:
        calls.append((observation, configuration))
        return next(
            column for column in range(configuration.columns) if observation.board[column] == 0
        )

    rules = Rules.parse(board)
    for _ in range(GAMES):
        position = Position(board=board)
        while position.outcome() is None:
            cells = [cell for row in position.grid() for cell in row]
            sizes = {"columns": rules.columns, "rows": rules.rows, "inarow": rules.in_a_row}
            answer = ask(submission, cells, position.to_move + 1, position.ply, **sizes)
            observation, configuration = calls.pop()
            assert answer == min(position.legal_columns())
            assert (observation.mark, observation.step) == (position.to_move + 1, position.ply)
            shown = Position(observation.board, board, to_move=observation.mark - 1)
            assert shown == position
            assert configuration.columns == rules.columns
            assert configuration.rows == rules.rows
            assert configuration.inarow == rules.in_a_row
            position = position.play(int(rng.choice(position.legal_columns())))
