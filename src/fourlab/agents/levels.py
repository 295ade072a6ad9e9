"""Graded opponents, from the easiest to the hardest."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """A graded opponent."""

    name: str
    spec: str
    about: str
    strength: str
    """The share of moves without a mistake; docs/reference/levels.md says how it was measured."""
    elsewhere: str | None = None
    """The spec to use instead on boards that the agent cannot play."""


# A level is a spec like any other, so users can write it themselves.
LEVELS = (
    Level("Newcomer", "random", "drops discs anywhere", "73 % correct moves"),
    Level(
        "Beginner",
        "rules:otherwise=random",
        "takes a win, blocks yours, else anywhere",
        "81 % correct moves",
    ),
    Level("Casual", "rules", "takes a win, blocks yours, else the centre", "84 % correct moves"),
    Level("Club", "mcts:simulations=60", "looks a little ahead", "88 % correct moves"),
    Level("Strong", "minimax:depth=6", "sees everything for six discs", "92 % correct moves"),
    Level(
        "Expert",
        "mcts:simulations=1000",
        "plays a thousand games in its head",
        "91 % correct moves",
    ),
    Level(
        "Master",
        "alphazero:simulations=1000",
        "taught itself by playing itself",
        "98 % correct moves",
        "mcts:simulations=50000",
    ),
    Level("Perfect", "perfect:ties=random", "never makes a mistake", "100 % correct moves"),
)
"""From the easiest to the hardest. A correct move keeps the game-theoretic value."""
