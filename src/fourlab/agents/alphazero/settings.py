"""The settings of AlphaMCTS, a network that learns by playing itself, and presets of them. They need no torch."""

import json
import re
import sys
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, get_args, get_origin

from fourlab.errors import UserError
from fourlab.game.rules import Rules

_MAY_BE_NONE = ("seed", "exact_from", "opening", "gate_games", "value_hidden", "exam_games")
_MOST = {"threads": 1_024, "opening": 1_000, "exact_from": 1_000} | dict.fromkeys(
    ("simulations", "simulations_end", "exam_simulations", "lanes", "policy_filters", "value_filters", "value_hidden"), 100_000
)
"""The greatest values of some settings; all other whole numbers must fit into 31 bits."""
_SHARES = ("dirichlet_share", "opening_share", "window_share", "search_share", "averaging", "gate_score")


class Stage(NamedTuple):
    """A network and the game from which on it learns."""

    filters: int
    blocks: int
    games: int


@dataclass(frozen=True)
class AlphaZeroSettings:
    """How a network is trained by self-play."""

    board: str = "7x6x4"
    """COLUMNSxROWSxINAROW."""
    games: int = 150_000
    """So many games are played in all."""
    networks: tuple[str, ...] = ("32x3", "64x5 from 60000")
    """FILTERSxBLOCKS of the residual tower; a larger one takes over after so many games and first learns from the window."""
    start: str = ""
    """Weights to begin with instead of random ones, of the first network's form: `alphazero`, or a run's alphazero-fp32.json."""
    features: str = "threats"
    """What the network sees of a position: cells, stones, empty or threats."""
    policy_filters: int = 16
    """Filters of the policy head's convolution."""
    value_filters: int = 8
    """Filters of the value head's convolution."""
    value_hidden: int = 32
    """Numbers in the value head's hidden layer; 0 for none."""

    search: Literal["gumbel", "puct"] = "gumbel"
    """gumbel: sequential halving of the columns at the root, planned visits below; puct: AlphaZero's bound and noise."""
    simulations: int = 32
    """Simulations a move in self-play."""
    simulations_end: int = 64
    """Simulations a move in the end."""
    simulations_games: int = 2_000
    """One simulation more is made after so many games."""
    c: float = 2.0
    """PUCT: (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n)."""
    fpu: float = 0.2
    """PUCT: a column that was not played yet is worth so much less than its position."""
    scale: float = 0.3
    """Gumbel: the weight of values against priors."""
    dirichlet_alpha: float = 1.0
    """PUCT: the shape of the noise in the root's priors."""
    dirichlet_share: float = 0.25
    """PUCT: its share."""
    temperature: float = 1.25
    """PUCT: columns are drawn by visits to the power of 1 / temperature; 0 plays one that was visited most."""
    proving: bool = True
    """See wins and forced replies on the discs, and back up what is proven."""
    faithful: bool = False
    """Search and end games with document 004's faults."""
    opening: int = 14
    """Games begin with up to so many random plies."""
    opening_share: float = 0.75
    """This share of the games; the others begin at the beginning."""
    exact_from: int = 14
    """From so many discs on, the solver plays games to their end and teaches exact results; 0 to leave it out."""

    generation: int = 2_000
    """Games between two updates of the network that plays."""
    chunk: int = 250
    """Games that are played by one worker at a time."""
    lanes: int = 250
    """Games of a chunk played in step."""
    window: int = 60_000
    """The replay window's positions at first."""
    window_end: int = 400_000
    """Its positions in the end."""
    window_share: float = 0.5
    """In between it holds this share of all positions there ever were."""
    passes: float = 1.5
    """A generation learns from so many positions of the window for each one that is new."""
    batch: int = 512
    """Positions an update learns from."""
    rate: float = 2e-3
    """The learning rate of AdamW at first; it falls on a straight line."""
    rate_end: float = 1e-4
    """The learning rate in the end."""
    decay: float = 1e-4
    """Weight decay."""
    value_weight: float = 1.0
    """The weight of the value's error against the policy's."""
    search_share: float = 0.25
    """The share of the search's own value in the value to be learned; the rest is how the game ended."""
    mirror: bool = True
    """Half of the positions are learned mirrored, by lot."""
    averaging: float = 0.75
    """The network that plays is a moving average of the one that learns, with this share of what was; 0 for none."""
    precision: Literal["int8", "fp32"] = "int8"
    """How the network counts in self-play."""

    gate_games: int = 0
    """A new network replaces the one that plays only if it scores well in so many games against it; 0 for no such gate."""
    gate_score: float = 0.55
    """What is well."""
    exam_every: int = 5
    """Every so many generations the network is examined."""
    exam_games: int = 100
    """So many games of an examination are played against each opponent."""
    exam_simulations: int = 32
    """Simulations a move in examinations, beside none at all."""
    threads: int = 1
    """Threads of torch; the result depends on it."""
    seed: int = 0
    """The same seed gives the same network."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            right, wanted = _check(field.name, field.type, value)
            if not right:
                example = "false" if field.type is bool else json.dumps(field.default)
                raise UserError(f"{field.name} must be {wanted}, as in {field.name}={example}, not {_as_toml(value)}")
        Rules.parse(self.board)
        if not self.stages or self.stages[0].games or list(self.stages) != sorted(self.stages, key=lambda stage: stage.games):
            raise UserError(f"networks are written '32x3' and then '64x5 from GAMES', in order: {', '.join(self.networks)}")

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The networks, in the order in which they learn."""
        return tuple(map(_stage, self.networks))


def _check(name: str, kind: Any, value: Any) -> tuple[bool, str]:
    """Whether a value is what a setting of its kind may be, and what that is in words."""
    whole = isinstance(value, int) and not isinstance(value, bool)  # to Python, true is a number
    if kind is bool:
        return isinstance(value, bool), "true or false"
    if kind is str:
        return isinstance(value, str), "a text"
    if kind is int:
        least, greatest = int(name not in _MAY_BE_NONE), _MOST.get(name, 2**31 - 1)
        return whole and least <= value <= greatest, f"a whole number from {least} to {greatest}"
    if kind is float:
        most, words = (1.0, "from 0 to 1") if name in _SHARES else (sys.float_info.max, "of at least 0")
        if name == "dirichlet_alpha":  # there is no such distribution
            words = "greater than 0"
        right = (whole or isinstance(value, float)) and 0 <= value <= most
        return right and (value > 0 or name != "dirichlet_alpha"), f"a number {words}"
    if get_origin(kind) is Literal:
        return value in get_args(kind), " or ".join(get_args(kind))
    return isinstance(value, tuple) and all(isinstance(each, str) for each in value), "a list of texts"


def _as_toml(value: Any) -> str:
    """A value as it was written, or nearly so where TOML has what JSON has not."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _stage(text: str) -> Stage:
    match = re.fullmatch(r"(\d{1,4})x(\d{1,3})(?: from (\d{1,9}))?", text)
    if match is None or int(match[1]) == 0:
        raise UserError(f"a network is written FILTERSxBLOCKS or FILTERSxBLOCKS from GAMES, not {text!r}")
    return Stage(int(match[1]), int(match[2]), int(match[3] or 0))


_ARYA = AlphaZeroSettings(
    games=5_000,
    networks=("128x8",),
    features="empty",
    policy_filters=32,
    value_filters=4,
    value_hidden=0,
    search="puct",
    simulations=50,
    simulations_end=150,
    simulations_games=100,
    fpu=0.0,
    opening=0,
    exact_from=0,
    generation=8,
    chunk=1,
    lanes=1,
    window=256,
    window_end=256,
    passes=2.0,
    batch=128,
    rate=1e-3,
    rate_end=1e-3,
    search_share=0.0,
    averaging=0.0,
    exam_every=25,
)
FAITHFUL = {"arya": replace(_ARYA, faithful=True, proving=False, search_share=1.0)}
"""Document 004 as it was: with its faults, and values learned from the search alone."""
PRESETS = {
    "laptop": AlphaZeroSettings(),
    "smoke": AlphaZeroSettings(
        games=60,
        networks=("8x1", "8x2 from 40"),
        simulations=8,
        simulations_end=8,
        generation=20,
        chunk=10,
        lanes=10,
        window=500,
        window_end=2_000,
        batch=64,
        exam_every=2,
        exam_games=4,
        exam_simulations=4,
    ),
    "arya": _ARYA,
}


def preset(name: str, faithful: bool = False) -> AlphaZeroSettings:
    """The settings of a name."""
    if name not in PRESETS:
        raise UserError(f"there is no preset {name!r}; presets are {', '.join(PRESETS)}")
    if faithful and name not in FAITHFUL:
        raise UserError(f"{name} is no document's, so there is nothing to be faithful to")
    return FAITHFUL[name] if faithful else PRESETS[name]


def settings_of(config: dict[str, Any], faithful: bool = False) -> AlphaZeroSettings:
    """Read settings, of a run or of a file: those that are not there are the preset's."""
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in config.items()}
    if given.get("faithful") in (0, 1):
        given["faithful"] = bool(given["faithful"])
    if "preset" in given or faithful:  # what is read of a run has all settings, so it needs none
        name = str(given.pop("preset", "laptop"))
        base = preset(name, faithful or given.get("faithful") is True)
    else:
        base = preset("laptop")
    if odd := sorted(given.keys() - {field.name for field in fields(AlphaZeroSettings)}):
        raise UserError(f"there is no setting {odd[0]!r}")
    return replace(base, **given)
