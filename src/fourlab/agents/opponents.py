"""Agents as training opponents."""

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.agents.registry import make
from fourlab.agents.simple.human import Human
from fourlab.agents.simple.random import Random
from fourlab.agents.simple.rules import RulesOfThumb
from fourlab.compiled.batches import open_columns, urgent_columns
from fourlab.errors import UserError
from fourlab.game.bitboard import key
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.training.games import Chooser, draw


def opponent(spec: str) -> Agent:
    """Build the agent of a spec; raise UserError if it is a human."""
    agent = make(spec)
    if isinstance(agent, Human):
        raise UserError("a human cannot be a training opponent; use fourlab play")
    return agent


def chooser(spec: str, rules: Rules) -> Chooser:
    """Return a function that chooses a column in each game of a batch.

    `random` and `rules` choose for the whole batch at once, in compiled code; other agents decide
    game by game.
    """
    agent = opponent(spec)
    g = rules.geometry
    match agent:
        case Random():
            return lambda own, mask, rng: draw(open_columns(mask, g), rng)
        case RulesOfThumb(otherwise=otherwise):
            return lambda own, mask, rng: draw(
                urgent_columns(own, mask, otherwise == "centre", g), rng
            )

    # One decision per game, in order, with one generator: the result depends on the seed alone.
    def decide(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        columns = []
        for discs in zip(own.tolist(), mask.tolist(), strict=True):
            # Batches have bits and no moves; a key is the short way from bits to a position.
            position = Position.from_key(key(*discs, g), rules)
            columns.append(agent.decide(position, Limit(), rng).column)
        return np.array(columns, np.int64)

    return decide
