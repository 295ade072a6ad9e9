"""Settings of tabular Q-learning, with presets for the reports.

The module imports nothing slow, so the command line can show the settings at once.
"""

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
"""Maximum absolute reward: table values are float32, and rewards add up."""


@dataclass(frozen=True)
class QSettings:
    """How a table is learned. A schedule's factor of 1 or summand of 0 switches it off."""

    board: str = option("5x4x4", "Board, COLUMNSxROWSxINAROW.")
    form: Literal["afterstate", "state-action"] = option(
        "afterstate", "What has a value: the position after a disc, or a position and a column."
    )
    mirror: bool = option(False, "Share values between mirror images.")
    target: Literal["played", "best", "negamax"] = option(
        "negamax",
        "Target of an update: the value of the column that the same side plays next (SARSA), of "
        "its best column then (Q-learning), or minus that of the other side's best next column.",
    )
    endings: Literal["set", "learn"] = option(
        "set",
        "Update at the end of a game: set the value to the reward, or move it towards the reward "
        "by alpha.",
    )
    ties: Literal["first", "random"] = option(
        "random", "Choice between columns of equal value.", aliases=("tie",)
    )
    learn_start: bool = option(
        False,
        "Give the empty board a value, updated at the learner's first disc, as Bhat's code does.",
    )
    store_seen: bool = option(
        False,
        "Store every value that a greedy choice looks up, not only those of discs played, as "
        "Bhat's code does.",
    )
    win: float = option(1.0, "Reward of a win.", least=-LARGEST, most=LARGEST)
    draw: float = option(0.0, "Reward of a draw.", least=-LARGEST, most=LARGEST)
    loss: float = option(-1.0, "Reward of a loss.", least=-LARGEST, most=LARGEST)
    step: float = option(
        0.0, "Reward of a disc that does not end the game.", least=-LARGEST, most=LARGEST
    )
    initial: float = option(
        0.0,
        "Value of everything not in the table; a high one encourages exploration.",
        least=-LARGEST,
        most=LARGEST,
    )
    # Schedules: alpha_update and epsilon_update act after every update of a value, alpha_decay,
    # epsilon_decay and epsilon_fall after every game. See `update` and `close_game` in `kernel.py`.
    gamma: float = option(1.0, "Discount factor per update.", least=0, most=1)
    alpha: float = option(0.3, "Initial learning rate.", least=0, most=1)
    alpha_update: float = option(
        1.0, "Factor applied to alpha after every update (Bhat: 0.5).", least=0, most=1
    )
    alpha_decay: float = option(1.0, "Factor applied to alpha after every game.", least=0, most=1)
    alpha_least: float = option(
        0.0, "Minimum of alpha under alpha_decay and alpha_by_visits.", least=0, most=1
    )
    alpha_by_visits: bool = option(
        False,
        "Divide alpha by the number of updates of the value; with alpha 1, values are means.",
    )
    epsilon: float = option(0.2, "Initial probability of a random column.", least=0, most=1)
    epsilon_update: float = option(
        0.0, "Summand added to epsilon after every update (Bhat: 0.01).", least=0, most=1
    )
    epsilon_decay: float = option(
        1.0, "Factor applied to epsilon after every game.", least=0, most=1
    )
    epsilon_fall: float = option(
        0.0, "Amount subtracted from epsilon after every game.", least=0, most=10**12
    )
    epsilon_least: float = option(
        0.0, "Minimum of epsilon under epsilon_decay and epsilon_fall.", least=0, most=1
    )
    against: tuple[str, ...] = option(
        (SELF,),
        "Opponents, one sampled per game: `self`, any agent, or a range of agents such as "
        "'bhat-mc{0..25}'.",
    )
    seat: Literal["first", "second", "both"] = option(
        "both", "The learner's seat: first, second, or both in turn; self-play always uses both."
    )
    passing: bool = option(False, "Let MC0 pass instead of moving at random, as Bhat's code does.")
    games: int = option(
        1_000_000, "Maximum number of games to learn from.", least=1, most=10**12, unit="games"
    )
    wins: int | None = option(
        None, "Stop after this many wins.", least=1, most=10**12, unit="games"
    )
    block: int = option(10_000, "Games per row of metrics.", least=1, most=10**9, unit="games")
    exam_against: tuple[str, ...] = option(
        (),
        "Opponents in evaluations (default: the training opponents, after self-play random).",
    )
    exam_games: int = option(1000, "Games per evaluation.", least=0, most=10**7, unit="games")
    exam_exploring: bool = option(False, "Keep the training's epsilon in evaluations instead of 0.")
    seed: int = option(
        0, "Random seed; the same seed gives the same table.", least=0, most=2**63 - 1
    )
    memory_mb: float = option(
        4096.0,
        "Maximum size of the table; the training ends when it would need more.",
        least=0,
        most=1_000_000,
        unit="MB",
        aliases=("memory",),
    )

    def __post_init__(self) -> None:
        check(self)
        Rules.parse(self.board)
        if not self.loss < self.win:
            raise UserError(f"a win must be worth more than a loss, not {self.win} and {self.loss}")
        if not self.against:
            raise UserError(f"against needs at least one opponent; {SELF} is one")
        if SELF in self.exam_against:
            raise UserError(f"exam_against must name other agents, not {SELF}")
        if self.learn_start and (self.form != "afterstate" or self.target == "negamax"):
            raise UserError("learn_start needs the form afterstate and the target played or best")
        if self.store_seen and SELF in self.against:
            raise UserError("store_seen needs opponents, not self-play")
        # The other side's best value, negated, is one's own only if rewards add up to 0 and both
        # sides learn in the same table.
        if self.target == "negamax" and (
            set(self.against) != {SELF} or self.win + self.loss or self.draw or self.step
        ):
            raise UserError(
                "the target negamax needs self-play with zero-sum rewards: win = -loss, draw and "
                "step 0; for anything else use --target best"
            )

    @property
    def opponents(self) -> tuple[str, ...]:
        """The specs of all training opponents: bhat-mc{0..25} becomes one spec per agent."""
        return _expanded(self.against)

    @property
    def seats(self) -> tuple[str, ...]:
        """Return the seats in which the learner is trained."""
        return ("first", "second") if self.seat == "both" or SELF in self.against else (self.seat,)

    @property
    def exam_opponents(self) -> tuple[str, ...]:
        """Return the specs of all opponents in evaluations, ranges expanded."""
        trainers = tuple(spec for spec in self.against if spec != SELF)
        return _expanded(self.exam_against or trainers or ("random",))


def _expanded(specs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(agent for spec in specs for agent in expand(spec))


def expand(spec: str) -> list[str]:
    """Expand a range: mc{1..3} is mc1, mc2, mc3."""
    # At most six digits, so int() is quick and ranges stay small.
    match = re.fullmatch(r"([^{}]*)\{(\d{1,6})\.\.(\d{1,6})\}([^{}]*)", spec)
    if match is None:
        if "{" in spec or "}" in spec:
            raise UserError(f"a range of agents is written like bhat-mc{{0..25}}, not {spec!r}")
        return [spec]
    head, first, last, tail = match.groups()
    if not 0 <= int(last) - int(first) < 1000:
        raise UserError(f"a range must ascend and have at most 1,000 agents, not {spec!r}")
    return [f"{head}{number}{tail}" for number in range(int(first), int(last) + 1)]


# From the report: rewards 2, 0.5 and -2, initial value 1, against MC0 to MC25 as second player.
_BHAT = QSettings(
    form="afterstate",
    target="played",
    endings="set",
    ties="first",
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
# From the report: states and actions, rewards +1, 0 and -1, self-play on the full board.
_ARYA = QSettings(
    board="7x6x4",
    form="state-action",
    target="best",
    endings="learn",
    ties="random",
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
        learn_start=True,
        store_seen=True,
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
"""The reports' settings as coded, with their faults.

`bhat` follows the report's text; with epsilon_update 0 and greedy evaluation it is the published
code.
"""


MODULE = "fourlab.agents.q.training"
"""The module that trains, as an import string, since it loads the compiler."""


def _complete(settings: QSettings, set_names: Collection[str]) -> QSettings:
    # Whether games are slow depends on the opponents, which only the training module can make.
    settings = import_module(MODULE).with_short_pieces(settings, set_names)
    return replace(settings, board=str(Rules.parse(settings.board)))


TRAINING = Training(
    "q",
    QSettings,
    PRESETS,
    MODULE,
    faithful=FAITHFUL,
    help="""Train a table of values by Q-learning.

    The learner plays itself or any agents. The run's folder gets table.q, which `q:table=FILE`
    plays, the metrics, the curves and a report.

    Example: fourlab train q --preset bhat --board 5x3x4 --games 50000
    """,
    needs=(),
    product="table=table.q",
    complete=_complete,
    run_name=lambda settings, preset: f"q-{preset}-{settings.board}",
)
preset = TRAINING.preset
