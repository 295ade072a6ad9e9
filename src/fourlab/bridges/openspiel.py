"""Convert positions to OpenSpiel states and back, agents to its bots, and its bots to agents.

The agent `openspiel-mcts` has a module of its own, so that its options can be listed without
OpenSpiel.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fourlab.agent import UNLIMITED, Agent, Decision, Limit
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.game.rules import Rules

try:
    import pyspiel
except ModuleNotFoundError:
    raise UserError("this needs OpenSpiel: pip install 'fourlab[openspiel]'") from None

MEMORY = 1000
"""Memory limit of OpenSpiel's search, in megabytes."""
# By cell of `Position.grid`: empty, red, yellow. OpenSpiel's x moves first, as red does.
_DISCS = ".xo"


# Cached, because `to_state` needs the game at every move.
@lru_cache
def game_of(rules: Rules) -> Any:
    """Return OpenSpiel's game on a board."""
    return pyspiel.load_game(
        f"connect_four(rows={rules.rows},columns={rules.columns},x_in_row={rules.in_a_row})"
    )


def to_state(position: Position) -> Any:
    """Return the state with the same discs and, if the position knows its moves, the same history.

    A position that was given as a board becomes a starting state without history. OpenSpiel accepts
    only boards on which red moved first and the sides alternated.
    """
    game = game_of(position.rules)
    if position.moves is not None:
        state = game.new_initial_state()
        for column in position.moves:
            state.apply_action(column)
        return state
    # The JSON that OpenSpiel writes for a state. Its first row is at the bottom, ours at the top.
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
    """Return the position of a state, with its moves if the state started from the empty board."""
    game = state.get_game()
    if (name := game.get_type().short_name) != "connect_four":
        raise UserError(f"this is a state of {name}, not of connect_four")
    size = game.get_parameters()
    position = Position(board=Rules(size["columns"], size["rows"], size["x_in_row"]))
    # A state made from a board keeps that board; its history begins there.
    if (start := state.starting_state()) is not None:
        grid = [[_DISCS.index(cell) for cell in row] for row in reversed(start.to_dict()["board"])]
        position = Position(grid, position.rules)
    for column in state.history():
        position = position.play(column)
    return position


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """A Fourlab agent as an OpenSpiel bot; it plays either side."""

    def __init__(self, agent: Agent, limit: Limit | None = None, seed: int = 0) -> None:
        super().__init__()  # required by pybind11 before any method is called
        self.agent = agent
        self.limit = limit or Limit()
        self.rng = np.random.default_rng(seed)

    def step(self, state: Any) -> int:
        """Choose a column."""
        return self._decide(state).column

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Choose a column; return the policy over the open columns as well."""
        decision = self._decide(state)
        return _policy(decision, state.legal_actions()), decision.column

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Return the probability of each open column."""
        return self.step_with_policy(state)[0]

    def provides_policy(self) -> bool:
        """Return True: every decision has a policy, if only a deterministic one."""
        return True

    def restart(self) -> None:
        """Start a new game. An agent with `reuse` keeps its tree."""

    def restart_at(self, state: Any) -> None:
        """Continue from another state; like `restart`."""

    def _decide(self, state: Any) -> Decision:
        if state.is_terminal():
            raise UserError("the game is over, there is nothing to decide")
        return self.agent.decide(to_position(state), self.limit, self.rng)


def _policy(decision: Decision, legal: Iterable[int]) -> list[tuple[int, float]]:
    """Return a policy in OpenSpiel's form; without one, all probability is on the chosen column."""
    if decision.policy is None:
        return [(column, float(column == decision.column)) for column in legal]
    return [(column, decision.policy[column]) for column in legal]


@dataclass(frozen=True)
class BotAgent:
    """An OpenSpiel bot as a Fourlab agent.

    The bot is restarted before every move and asked about the state as it is. It has its own random
    generator, so only a bot made with a seed is repeatable, and it ignores limits.
    """

    bot: Any

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Ask the bot."""
        position = unfinished(position)
        state = to_state(position)
        # Bots may remember the last state; positions here need not follow each other.
        self.bot.restart()
        if not self.bot.provides_policy():
            return Decision(int(self.bot.step(state)))
        policy, column = self.bot.step_with_policy(state)
        shares = dict(policy)
        columns = range(position.rules.columns)
        return Decision(int(column), policy=tuple(float(shares.get(index, 0)) for index in columns))


def mcts_bot(
    game: Any,
    simulations: int,
    seed: int,
    c: float = 2.0,
    rollouts: int = 1,
    solve: bool = True,
    seconds: float | None = None,
) -> Any:
    """Return OpenSpiel's own tree search, written in C++."""
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
    policy = pyspiel.ChildSelectionPolicy.UCT
    # The order of OpenSpiel's C++ constructor; False turns its verbose output off.
    max_seconds = -1.0 if seconds is None else seconds  # negative: no limit
    return pyspiel.MCTSBot(
        game, evaluator, c, simulations, MEMORY, solve, seed, False, policy, max_seconds
    )
