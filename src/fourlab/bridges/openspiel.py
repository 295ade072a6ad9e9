"""OpenSpiel: positions as its states and back, our agents as its bots, its bots as our agents.

The agent `openspiel-mcts` is in a module of its own, which can be asked for its options without OpenSpiel.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fourlab.agent import UNLIMITED, Agent, Decision, Limit
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules

try:
    import pyspiel
except ModuleNotFoundError:
    raise UserError("this needs OpenSpiel: pip install 'fourlab[openspiel]'") from None

MEMORY = 1000
"""The most megabytes that a search of OpenSpiel's may take."""
_DISCS = ".xo"


@lru_cache
def game_of(rules: Rules) -> Any:
    """OpenSpiel's game on a board."""
    return pyspiel.load_game(f"connect_four(rows={rules.rows},columns={rules.columns},x_in_row={rules.in_a_row})")


def to_state(position: Position) -> Any:
    """The state with the same discs and, if the position knows its moves, the same history.

    A position that was given as a board becomes a starting state without history. OpenSpiel takes only boards on which red has
    begun and the sides have alternated.
    """
    game = game_of(position.rules)
    if position.moves is not None:
        state = game.new_initial_state()
        for column in position.moves:
            state.apply_action(column)
        return state
    outcome = position.outcome()
    winner = None if outcome is None else outcome.winner
    board = {
        "board": [[_DISCS[cell] for cell in row] for row in reversed(position.grid())],
        "is_terminal": outcome is not None,
        "current_player": "xo"[position.to_move] if outcome is None else "Terminal",
        "winner": "" if outcome is None else "draw" if winner is None else "xo"[winner],
    }
    try:
        return game.new_initial_state(json.dumps(board))
    except pyspiel.SpielError as error:
        raise UserError(f"OpenSpiel has no state for {position!r}: {error}") from None


def to_position(state: Any) -> Position:
    """The position of a state of OpenSpiel's Connect Four, with the moves that led to it if it began with the empty board."""
    game = state.get_game()
    if (name := game.get_type().short_name) != "connect_four":
        raise UserError(f"this is a state of {name}, not of connect_four")
    size = game.get_parameters()
    position = Position(board=Rules(size["columns"], size["rows"], size["x_in_row"]))
    if (start := state.starting_state()) is not None:
        grid = [[_DISCS.index(cell) for cell in row] for row in reversed(start.to_dict()["board"])]
        position = Position(grid, position.rules)
    for column in state.history():
        position = position.play(column)
    return position


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """An agent of ours as a bot of OpenSpiel's; it plays either side."""

    def __init__(self, agent: Agent, limit: Limit | None = None, seed: int = 0) -> None:
        super().__init__()
        self.agent, self.limit, self.rng = agent, limit or Limit(), np.random.default_rng(seed)

    def step(self, state: Any) -> int:
        """Choose a column."""
        return self._decide(state).column

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Choose a column, and tell how strongly each open one was favoured."""
        decision = self._decide(state)
        return _policy(decision, state.legal_actions()), decision.column

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """How strongly each open column is favoured."""
        return self.step_with_policy(state)[0]

    def provides_policy(self) -> bool:
        """It does."""
        return True

    def restart(self) -> None:
        """A new game begins. An agent that was told to keep what it searched (reuse) keeps it."""

    def restart_at(self, state: Any) -> None:
        """The game goes on elsewhere; as for `restart`."""

    def _decide(self, state: Any) -> Decision:
        if state.is_terminal():
            raise UserError("the game is over, there is nothing to decide")
        return self.agent.decide(to_position(state), self.limit, self.rng)


def _policy(decision: Decision, legal: Iterable[int]) -> list[tuple[int, float]]:
    """OpenSpiel's form of a policy; whoever tells none is certain of its column."""
    return [(each, float(each == decision.column) if decision.policy is None else decision.policy[each]) for each in legal]


@dataclass(frozen=True)
class BotAgent:
    """A bot of OpenSpiel's as an agent of ours.

    The bot is restarted before every move and asked for the state as it is. Its chance is its own: only a bot that was made with
    a seed plays the same game again, and limits are not known to it.
    """

    bot: Any

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Ask the bot."""
        state = to_state(position)
        self.bot.restart()
        if not self.bot.provides_policy():
            return Decision(int(self.bot.step(state)))
        policy, column = self.bot.step_with_policy(state)
        shares = dict(policy)
        return Decision(int(column), policy=tuple(float(shares.get(each, 0)) for each in range(position.rules.columns)))


def mcts_bot(
    game: Any, simulations: int, seed: int, c: float = 2.0, rollouts: int = 1, solve: bool = True, seconds: float | None = None
) -> Any:
    """OpenSpiel's own tree search, written in C++."""
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
    policy, most_seconds = pyspiel.ChildSelectionPolicy.UCT, -1.0 if seconds is None else seconds
    return pyspiel.MCTSBot(game, evaluator, c, simulations, MEMORY, solve, seed, False, policy, most_seconds)
