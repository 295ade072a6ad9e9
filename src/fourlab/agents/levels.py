"""Graded opponents, from the easiest to the hardest."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """A graded opponent."""

    name: str
    spec: str
    about: str
    strength: str
    """As measured; docs/web.md tells how."""
    elsewhere: str | None = None
    """Who plays on boards that the agent does not know."""


LEVELS = (
    Level("Newcomer", "random", "drops discs anywhere", "73 % of moves right"),
    Level("Beginner", "rules:otherwise=random", "takes a win, blocks yours, else anywhere", "81 % of moves right"),
    Level("Casual", "rules", "takes a win, blocks yours, else the centre", "84 % of moves right"),
    Level("Club", "mcts:simulations=60", "looks a little ahead", "88 % of moves right"),
    Level("Strong", "minimax:depth=6", "sees everything for six discs", "92 % of moves right"),
    Level("Expert", "mcts:simulations=1000", "plays a thousand games in its head", "91 % of moves right"),
    Level(
        "Master", "alphazero:simulations=1000", "taught itself by playing itself", "98 % of moves right", "mcts:simulations=50000"
    ),
    Level("Perfect", "perfect:choice=random", "never makes a mistake", "100 % of moves right"),
)
"""From the easiest to the hardest; a move is right if it gives away neither a win nor a draw."""
