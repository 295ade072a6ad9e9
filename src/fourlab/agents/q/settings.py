"""The settings of Q-learning in a table, and the documents' as presets. They load nothing, so that the command line can tell of
them at once."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Literal

from fourlab.errors import UserError
from fourlab.game.rules import Rules
from fourlab.options import check, option
from fourlab.training.kind import Training

SELF = "self"
LARGEST = 1e30
"""Rewards are smaller than this: a table's numbers have 32 bits, and rewards add up."""


@dataclass(frozen=True)
class QSettings:
    """How a table is learned. Schedules are sums and products, so that one leaves out what is 0 or 1."""

    board: str = option("5x4x4", "COLUMNSxROWSxINAROW.")
    form: Literal["afterstate", "state-action"] = option(
        "afterstate", "What has a value: the position after a disc, or a position and a column."
    )
    mirror: bool = option(False, "Whether mirror images share their values.")
    target: Literal["played", "best", "negamax"] = option(
        "negamax",
        "From what a disc is learned: the column played next by the same side, the best one "
        "it has then, or minus the best one that the other side has next.",
    )
    endings: Literal["set", "learn"] = option(
        "set", "Whether a value at the end of a game becomes the reward at once, or moves towards it like the others."
    )
    tie: Literal["first", "random"] = option("random", "Which of equally good columns to play.")
    win: float = option(1.0, "The reward of a win.", least=-LARGEST, most=LARGEST)
    draw: float = option(0.0, "The reward of a draw.", least=-LARGEST, most=LARGEST)
    loss: float = option(-1.0, "The reward of a loss.", least=-LARGEST, most=LARGEST)
    step: float = option(0.0, "The reward of every disc that does not end the game.", least=-LARGEST, most=LARGEST)
    initial: float = option(0.0, "The value of what has never been met; a high one makes curious.", least=-LARGEST, most=LARGEST)
    gamma: float = option(1.0, "What a value is worth one disc earlier.", least=0, most=1)
    alpha: float = option(0.3, "By which part of the error a value is corrected, at first.", least=0, most=1)
    alpha_update: float = option(1.0, "By this alpha is multiplied after every update (document 001: 0.5).", least=0, most=1)
    alpha_decay: float = option(1.0, "By this alpha is multiplied after every game.", least=0, most=1)
    alpha_least: float = option(0.0, "Decay and visits make alpha no smaller than this.", least=0, most=1)
    alpha_by_visits: bool = option(
        False, "Whether alpha is divided by the number of updates that the value has had: with alpha 1, values are means."
    )
    epsilon: float = option(0.2, "The chance of a random column, at first.", least=0, most=1)
    epsilon_update: float = option(0.0, "This is added to epsilon at every update (document 001: 0.01).", least=0)
    epsilon_decay: float = option(1.0, "By this epsilon is multiplied after every game.", least=0, most=1)
    epsilon_fall: float = option(0.0, "This is taken off epsilon after every game.", least=0)
    epsilon_least: float = option(0.0, "Games make epsilon no smaller than this.", least=0, most=1)
    against: tuple[str, ...] = option(
        (SELF,),
        "Who plays the other side, one drawn by lot for each game: `self`, any agent, or a range of "
        "agents such as 'bhat-mc{0..25}'.",
    )
    seat: Literal["first", "second", "both"] = option(
        "both", "Whether the learner moves first, second, or in turn; against itself it is both."
    )
    passing: bool = option(False, "Document 001: MC0 does not play at random, it does not move.")
    games: int = option(1_000_000, "So many games are played, unless the wins are reached before.", least=1, unit="games")
    wins: int | None = option(None, "So many games are to be won.", least=1, unit="games")
    block: int = option(10_000, "A row of metrics is written every so many games.", least=1, unit="games")
    exam_against: tuple[str, ...] = option(
        (), "Who examines: any agents, or by default the trainers, and after self-play a random player."
    )
    exam_games: int = option(1000, "So many games of an examination are played.", least=0, unit="games")
    exam_exploring: bool = option(False, "Whether epsilon is what it is in training when the learner is examined, instead of 0.")
    seed: int = option(0, "The same seed gives the same table.", least=0, most=2**63 - 1)
    memory: float = option(
        4096.0, "The table takes no more megabytes; a training that would need more ends with what it has.", least=0, unit="MB"
    )

    def __post_init__(self) -> None:
        check(self)
        Rules.parse(self.board)
        if not self.loss < self.win:
            raise UserError(f"a win must be worth more than a loss, not {self.win} and {self.loss}")
        if not self.against:
            raise UserError(f"against needs at least one opponent; {SELF} is one")
        if SELF in self.exam_against:
            raise UserError("the examiner must be somebody else")
        if self.target == "negamax" and (set(self.against) != {SELF} or self.win + self.loss or self.draw or self.step):
            raise UserError(
                "the target negamax is for self-play with rewards of sum zero: win = -loss, draw and step 0; "
                "for anything else there is --target best"
            )

    @property
    def opponents(self) -> tuple[str, ...]:
        """Every trainer, ranges written out."""
        return tuple(spec for each in self.against for spec in expand(each))

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats in which it learns to play."""
        return ("first", "second") if self.seat == "both" or SELF in self.against else (self.seat,)

    @property
    def examiners(self) -> tuple[str, ...]:
        """Everybody who examines."""
        others = self.exam_against or tuple(each for each in self.against if each != SELF) or ("random",)
        return tuple(spec for each in others for spec in expand(each))


def expand(spec: str) -> list[str]:
    """Write out a range: mc{1..3} is mc1, mc2, mc3."""
    match = re.fullmatch(r"([^{}]*)\{(\d{1,6})\.\.(\d{1,6})\}([^{}]*)", spec)
    if match is None:
        if "{" in spec or "}" in spec:
            raise UserError(f"a range of agents is written like bhat-mc{{0..25}}, not {spec!r}")
        return [spec]
    head, first, last, tail = match.groups()
    if not 0 <= int(last) - int(first) < 1000:
        raise UserError(f"a range goes up, and at most a thousand steps: {spec!r}")
    return [f"{head}{number}{tail}" for number in range(int(first), int(last) + 1)]


_BHAT = QSettings(
    form="afterstate",
    target="played",
    endings="set",
    tie="first",
    win=2.0,
    draw=0.5,
    loss=-2.0,
    initial=1.0,
    gamma=0.9,
    alpha=0.1,
    epsilon=0.3,
    epsilon_decay=0.99998,
    epsilon_least=0.02,
    against=("bhat-mc{0..25}:c=2",),
    seat="second",
    games=200_000,
    exam_games=2000,
)
_ARYA = QSettings(
    board="7x6x4",
    form="state-action",
    target="best",
    endings="learn",
    tie="random",
    gamma=0.99,
    alpha=0.01,
    epsilon=0.1,
    epsilon_decay=0.9995,
    epsilon_least=0.1,
    games=3_000_000,
    block=50_000,
)
PRESETS = {
    "self-play": QSettings(mirror=True, epsilon=0.4, games=2_000_000, block=50_000),
    "bhat": _BHAT,
    "arya": _ARYA,
}
FAITHFUL = {
    "bhat": replace(
        _BHAT,
        alpha=0.5,
        alpha_update=0.5,
        epsilon_update=0.01,
        epsilon_decay=1.0,
        epsilon_least=0.0,
        against=("bhat-mc{0..25}:c=2,faithful=1",),
        passing=True,
        games=10_000_000,
        wins=10_000,
        exam_exploring=True,
    ),
    "arya": replace(_ARYA, epsilon_least=0.0),
}
"""The documents' settings as they were meant and, faithful, as they were. `bhat` is the text of document 001; with
epsilon_update 0 and greedy examination it is its published code."""


MODULE = "fourlab.agents.q.training"
"""What trains, by import string, since it loads the compiler."""


def _complete(settings: QSettings, given: Collection[str]) -> QSettings:
    settings = import_module(MODULE).with_short_pieces(settings, given)
    return replace(settings, board=str(Rules.parse(settings.board)))


TRAINING = Training(
    "q",
    QSettings,
    PRESETS,
    MODULE,
    faithful=FAITHFUL,
    help="""Learn a table of values by Q-learning: by self-play, or against any agents.

    The run's folder gets table.q, which `q:table=FILE` plays, the metrics, the curves and a report.

    Example: fourlab train q --preset bhat --board 5x3x4 --games 50000
    """,
    needs=(),
    complete=_complete,
    called=lambda settings, preset: f"q-{preset}-{settings.board}",
)
preset = TRAINING.preset
