"""Fourlab: a Connect Four laboratory."""

from fourlab.agent import Agent, Decision, Exact, Limit, Stop
from fourlab.agents.registry import make
from fourlab.errors import UserError
from fourlab.evaluator import Evaluation, Evaluator
from fourlab.game.named import add as add_position
from fourlab.game.outcome import RED, YELLOW, Outcome
from fourlab.game.position import IllegalColumn, ImpossiblePosition, Position
from fourlab.game.rules import Rules

__version__ = "0.1.0"

__all__ = [
    "RED",
    "YELLOW",
    "Agent",
    "Decision",
    "Evaluation",
    "Evaluator",
    "Exact",
    "IllegalColumn",
    "ImpossiblePosition",
    "Limit",
    "Outcome",
    "Position",
    "Rules",
    "Stop",
    "UserError",
    "add_position",
    "make",
]
