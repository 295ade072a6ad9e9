"""Graded opponents, from the easiest to the hardest.

They are agents like any other: the registry builds `level-1`, `level-2` and so on from this table.
`levels.json` has the results of the matches by which they were graded.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from fourlab import shipped
from fourlab.agent import UNLIMITED, Agent, Decision, Limit
from fourlab.game.position import PositionLike, as_position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.nets.pattern_files import shipped_boards

if TYPE_CHECKING:
    import numpy as np

    from fourlab.arena.statistics import Estimate

GAP = (70, 130)
"""Elo by which a level shall be stronger than the one before; about 100."""
RESULTS = "levels.json"
"""The file of this package with the results of the matches between neighbouring levels."""


@dataclass(frozen=True)
class Level:
    """A graded opponent."""

    number: int
    """Counted from 1."""
    name: str
    about: str
    specs: Mapping[str, str]
    """How it plays on the boards where it was graded, such as 7x6x4."""
    with_patterns: str
    """How it plays on other boards for which pattern networks come with Fourlab."""
    elsewhere: str
    """How it plays on all other boards."""

    @property
    def spec(self) -> str:
        """The spec on the classic board."""
        return self.spec_on(CLASSIC)

    @property
    def all_specs(self) -> tuple[str, ...]:
        """The specs on all boards, that on the classic one first."""
        return tuple(
            dict.fromkeys([self.spec, *self.specs.values(), self.with_patterns, self.elsewhere])
        )

    def spec_on(self, rules: Rules) -> str:
        """Return the spec with which the level plays on a board."""
        if (spec := self.specs.get(str(rules))) is not None:
            return spec
        return self.with_patterns if str(rules) in shipped_boards() else self.elsewhere

    def about_on(self, rules: Rules) -> str:
        """Return how it plays on a board, in words for people."""
        if self.number < len(LEVELS):
            return self.about
        is_perfect = self.spec_on(rules).partition(":")[0] == "perfect"
        return "never makes a mistake" if is_perfect else "the strongest player on this board"

    def result_on(self, rules: Rules) -> "MatchCounts | None":
        """Return the match against the level before; None for the first, or if not measured."""
        before = LEVELS[self.number - 2].spec_on(rules) if self.number > 1 else None
        for match in matches_on(str(rules)):
            # A match of other specs says nothing about these levels.
            if (match.spec, match.against) == (self.spec_on(rules), before):
                return match
        return None

    def strength_on(self, rules: Rules) -> str:
        """Return how much stronger than the level before it is on a board, in words."""
        if self.number == 1:
            return "the easiest level"
        if (match := self.result_on(rules)) is None:
            return "not measured on this board"
        return f"{match.elo.value:.0f} Elo above level {self.number - 1}"


@dataclass(frozen=True)
class MatchCounts:
    """The result of a match between two neighbouring levels."""

    board: str
    level: int
    spec: str
    against: str
    """The spec of the level before."""
    seed: int
    pairs: tuple[int, int, int, int, int]
    """Pairs of games in which the level has 0, ½, 1, 1½ and 2 points."""

    @property
    def elo(self) -> "Estimate":
        """The Elo difference, with its 95 % interval; pairs are the units."""
        from fourlab.arena.tally import Tally

        return Tally(self.pairs).elo()

    @property
    def score(self) -> float:
        """The level's share of the points."""
        from fourlab.arena.tally import Tally

        return Tally(self.pairs).score


@cache
def matches_on(board: str) -> tuple[MatchCounts, ...]:
    """Return the matches between neighbouring levels that were played on a board."""
    return tuple(match for match in _matches() if match.board == board)


@cache
def _matches() -> tuple[MatchCounts, ...]:
    data = shipped.read("fourlab.agents", RESULTS)
    assert data is not None
    return tuple(
        MatchCounts(**{**match, "pairs": tuple(match["pairs"])})
        for match in json.loads(data)["matches"]
    )


def _levels() -> tuple[Level, ...]:
    return tuple(
        Level(
            number,
            name,
            about,
            {board: specs[number - 1] for board, specs in GRADED.items()},
            WITH_PATTERNS[number - 1],
            ELSEWHERE[number - 1],
        )
        for number, (name, about) in enumerate(WORDS, 1)
    )


WORDS = (
    ("Newcomer", "often plays anywhere, and overlooks threats"),
    ("Beginner", "knows what a threat is, and often forgets it"),
    ("Casual", "blocks most threats, and overlooks many plans"),
    ("Improver", "blocks nearly every threat, and is easily surprised"),
    ("Club", "sees a few discs ahead, and is often careless"),
    ("Strong", "sees a few discs ahead, and is sometimes careless"),
    ("Expert", "seldom plays a bad column"),
    ("Master", "plays a good column nearly every time"),
    ("Grandmaster", "thinks ahead, and makes few mistakes"),
    ("Champion", "the strongest player on this board"),
)
"""Names and descriptions of the levels, for people; `Level.about_on` has the last one's."""

GRADED = {
    "7x6x4": (
        "patterns:nodes=300,temperature=0.95",
        "patterns:nodes=300,temperature=0.632",
        "patterns:nodes=300,temperature=0.452",
        "patterns:nodes=300,temperature=0.345",
        "patterns:nodes=300,temperature=0.268",
        "patterns:nodes=300,temperature=0.201",
        "patterns:nodes=300,temperature=0.134",
        "patterns:nodes=300",
        "anytime:nodes=12000",
        "perfect:ties=random",
    ),
    "6x5x4": (
        "random",
        "patterns:nodes=300,temperature=2.66",
        "patterns:nodes=300,temperature=1.32",
        "patterns:nodes=300,temperature=0.864",
        "patterns:nodes=300,temperature=0.61",
        "patterns:nodes=300,temperature=0.448",
        "patterns:nodes=300,temperature=0.343",
        "patterns:nodes=300,temperature=0.25",
        "patterns:nodes=300,temperature=0.152",
        "perfect:ties=random",
    ),
    "8x6x4": (
        "patterns:nodes=300,temperature=0.545",
        "patterns:nodes=300,temperature=0.414",
        "patterns:nodes=300,temperature=0.327",
        "patterns:nodes=300,temperature=0.26",
        "patterns:nodes=300,temperature=0.202",
        "patterns:nodes=300,temperature=0.146",
        "patterns:nodes=300,temperature=0.092",
        "patterns:nodes=300",
        "anytime:nodes=20000",
        "anytime:nodes=300000",
    ),
}
"""The specs of the levels on the boards that have levels of their own.

The higher the temperature, the more often a level plays another column than the best one it sees.
All think by nodes, so their games are repeatable.
"""
WITH_PATTERNS = (*GRADED["7x6x4"][:-1], "anytime:nodes=300000")
"""The same on other boards for which patterns come with Fourlab; not measured there."""
ELSEWHERE = (
    "random",
    "rules:otherwise=random",
    "rules",
    "mcts:simulations=30",
    "mcts:simulations=60",
    "mcts:simulations=120",
    "mcts:simulations=300",
    "mcts:simulations=1000",
    "mcts:simulations=5000",
    "mcts:simulations=50000",
)
"""The same on all other boards; not measured there."""
LEVELS = _levels()
"""From the easiest to the hardest."""


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
    """Return the name of an agent in results: of a level with its word, as "level-5 (Club)"."""
    number = number_of(spec)
    level = level_of(spec)
    return spec if number is None or level is None else f"{level_name(number)} ({level.name})"


@dataclass(frozen=True)
class ByBoard:
    """Plays as the agent that a level stands for on the position's board."""

    level: Level
    make: Callable[[str], Agent]
    """Builds the agent of a spec."""
    _agents: dict[str, Agent] = field(default_factory=dict, init=False, repr=False, compare=False)

    def agent_on(self, rules: Rules) -> Agent:
        """Return the agent that plays on a board; it is made when it is first needed."""
        spec = self.level.spec_on(rules)
        if spec not in self._agents:
            self._agents[spec] = self.make(spec)
        return self._agents[spec]

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Let the agent of the position's board decide."""
        position = as_position(position)
        return self.agent_on(position.rules).decide(position, limit, rng)
