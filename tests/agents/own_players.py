"""Agents of users for tests of `fourlab.agents.own`; importable by worker processes."""

from dataclasses import dataclass, field
from typing import Any

from fourlab import Decision, Position


def leftmost(position: Position) -> int:
    """Play the leftmost open column."""
    return position.legal_columns()[0]


@dataclass(frozen=True)
class Skipping:
    """Passes over some open columns."""

    skip: int = 0

    def decide(self, position: Position) -> int:
        legal = position.legal_columns()
        return legal[self.skip % len(legal)]


@dataclass
class Learning:
    """Remembers how often it was asked."""

    remembers: bool = True
    asked: list[int] = field(default_factory=list)

    def decide(self, position: Position, limit: Any, rng: Any) -> Decision:
        self.asked.append(position.ply)
        legal = position.legal_columns()
        return Decision(legal[len(self.asked) % len(legal)])
