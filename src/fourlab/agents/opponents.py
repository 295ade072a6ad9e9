"""Agents as opponents in trainings."""

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
    """The agent of a spec, unless it is a person."""
    agent = make(spec)
    if isinstance(agent, Human):
        raise UserError("people do not play in trainings; fourlab play is for them")
    return agent


def chooser(spec: str, rules: Rules) -> Chooser:
    """The agent of a spec as a player of many games; `random` and `rules` are quick, others are asked game by game."""
    agent, g = opponent(spec), rules.geometry
    match agent:
        case Random():
            return lambda own, mask, rng: draw(open_columns(mask, g), rng)
        case RulesOfThumb(otherwise=otherwise):
            return lambda own, mask, rng: draw(urgent_columns(own, mask, otherwise == "centre", g), rng)

    def ask(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        positions = (Position.from_key(key(*each, g), rules) for each in zip(own.tolist(), mask.tolist(), strict=True))
        return np.array([agent.decide(position, Limit(), rng).column for position in positions], np.int64)

    return ask
