"""Graded opponents, from the easiest to the hardest.

They are agents like any other: the registry builds `level-1`, `level-2` and so on from this table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourlab.agent import UNLIMITED, Agent, Decision, Limit, Search, Searcher, Snapshot
from fourlab.game.position import Position, PositionLike, as_position
from fourlab.game.rules import CLASSIC, Rules

if TYPE_CHECKING:
    import numpy as np


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

    def spec_on(self, rules: Rules) -> str:
        """Return the spec with which the level plays on a board."""
        # Networks are trained on the classic board.
        return self.spec if self.elsewhere is None or rules == CLASSIC else self.elsewhere


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


def level_name(number: int) -> str:
    """Return the name of a level as an agent, counted from 1."""
    return f"level-{number}"


def number_of(name: str) -> int | None:
    """Return the number in `level-5` or, as the page writes it, `level:5`; None for other names.

    There may be no level of that number.
    """
    digits = name[len("level-") :]
    # Digits are counted first, because int() takes long for thousands of them.
    if name.startswith(("level-", "level:")) and digits.isascii() and 0 < len(digits) < 4:
        return int(digits) if digits.isdigit() else None
    return None


def level_of(name: str) -> Level | None:
    """Return the level of a name such as `level-5`; None if there is none."""
    number = number_of(name)
    return LEVELS[number - 1] if number is not None and 1 <= number <= len(LEVELS) else None


def title(spec: str) -> str:
    """Return the name of an agent in results: of a level with its word, as "level-5 (Strong)"."""
    number = number_of(spec)
    level = level_of(spec)
    return spec if number is None or level is None else f"{level_name(number)} ({level.name})"


@dataclass(frozen=True)
class ByBoard:
    """Plays the classic board with one agent and all other boards with another."""

    classic: Agent
    elsewhere: Agent

    def agent_on(self, rules: Rules) -> Agent:
        """Return the agent that plays on a board."""
        return self.classic if rules == CLASSIC else self.elsewhere

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Let the agent of the position's board decide."""
        position = as_position(position)
        return self.agent_on(position.rules).decide(position, limit, rng)


class SearcherByBoard(ByBoard):
    """The same for two agents whose searches can be watched."""

    def search(
        self,
        position: Position,
        limit: Limit,
        rng: "np.random.Generator",
        watch: Callable[[Snapshot], None] | None = None,
    ) -> Search:
        """Let the agent of the position's board search."""
        agent = self.agent_on(position.rules)
        assert isinstance(agent, Searcher)
        return agent.search(position, limit, rng, watch)


def by_board(classic: Agent, elsewhere: Agent) -> ByBoard:
    """Return an agent that plays as one of two, depending on the board."""
    can_search = isinstance(classic, Searcher) and isinstance(elsewhere, Searcher)
    return (SearcherByBoard if can_search else ByBoard)(classic, elsewhere)
