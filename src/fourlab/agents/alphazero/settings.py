"""The settings of AlphaMCTS, a network that learns by playing itself, and presets of them. They need no torch."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from fourlab.errors import UserError
from fourlab.game.rules import Rules
from fourlab.options import check, option
from fourlab.training.kind import Training

MOST = 2**31 - 1
"""Whole numbers must fit into 31 bits."""


class Stage(NamedTuple):
    """A network and the game from which on it learns."""

    filters: int
    blocks: int
    games: int


@dataclass(frozen=True)
class AlphaZeroSettings:
    """How a network is trained by self-play."""

    board: str = option("7x6x4", "COLUMNSxROWSxINAROW.")
    games: int = option(150_000, "So many games are played in all.", least=1, most=MOST, unit="games")
    networks: tuple[str, ...] = option(
        ("32x3", "64x5 from 60000"),
        "FILTERSxBLOCKS of the residual tower; a larger one takes over after so many games and first learns from the window.",
    )
    start: str = option(
        "",
        "Weights to begin with instead of random ones, of the first network's form: `alphazero`, or a run's alphazero-fp32.json.",
    )
    features: str = option("threats", "What the network sees of a position: cells, stones, empty or threats.")
    policy_filters: int = option(16, "Filters of the policy head's convolution.", least=1, most=100_000, unit="filters")
    value_filters: int = option(8, "Filters of the value head's convolution.", least=1, most=100_000, unit="filters")
    value_hidden: int = option(32, "Numbers in the value head's hidden layer; 0 for none.", least=0, most=100_000, unit="units")

    search: Literal["gumbel", "puct"] = option(
        "gumbel",
        "gumbel: sequential halving of the columns at the root, planned visits below; puct: AlphaZero's bound and noise.",
    )
    simulations: int = option(32, "Simulations a move in self-play.", least=1, most=100_000, unit="simulations")
    simulations_end: int = option(64, "Simulations a move in the end.", least=1, most=100_000, unit="simulations")
    simulations_games: int = option(2_000, "One simulation more is made after so many games.", least=1, most=MOST, unit="games")
    c: float = option(2.0, "PUCT: (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n).", least=0)
    fpu: float = option(0.2, "PUCT: a column that was not played yet is worth so much less than its position.", least=0)
    scale: float = option(0.3, "Gumbel: the weight of values against priors.", least=0)
    dirichlet_alpha: float = option(1.0, "PUCT: the shape of the noise in the root's priors.", above=0)
    dirichlet_share: float = option(0.25, "PUCT: its share.", least=0, most=1)
    temperature: float = option(
        1.25, "PUCT: columns are drawn by visits to the power of 1 / temperature; 0 plays one that was visited most.", least=0
    )
    proving: bool = option(True, "See wins and forced replies on the discs, and back up what is proven.")
    faithful: bool = option(False, "Search and end games with document 004's faults.")
    opening: int = option(14, "Games begin with up to so many random plies.", least=0, most=1000, unit="plies")
    opening_share: float = option(0.75, "This share of the games; the others begin at the beginning.", least=0, most=1)
    exact_from: int = option(
        14,
        "From so many discs on, the solver plays games to their end and teaches exact results; 0 to leave it out.",
        least=0,
        most=1000,
        unit="discs",
    )

    generation: int = option(2_000, "Games between two updates of the network that plays.", least=1, most=MOST, unit="games")
    chunk: int = option(250, "Games that are played by one worker at a time.", least=1, most=MOST, unit="games")
    lanes: int = option(250, "Games of a chunk played in step.", least=1, most=100_000, unit="games")
    window: int = option(60_000, "The replay window's positions at first.", least=1, most=MOST, unit="positions")
    window_end: int = option(400_000, "Its positions in the end.", least=1, most=MOST, unit="positions")
    window_share: float = option(0.5, "In between it holds this share of all positions there ever were.", least=0, most=1)
    passes: float = option(1.5, "A generation learns from so many positions of the window for each one that is new.", least=0)
    batch: int = option(512, "Positions an update learns from.", least=1, most=MOST, unit="positions")
    rate: float = option(2e-3, "The learning rate of AdamW at first; it falls on a straight line.", least=0)
    rate_end: float = option(1e-4, "The learning rate in the end.", least=0)
    decay: float = option(1e-4, "Weight decay.", least=0)
    value_weight: float = option(1.0, "The weight of the value's error against the policy's.", least=0)
    search_share: float = option(
        0.25, "The share of the search's own value in the value to be learned; the rest is how the game ended.", least=0, most=1
    )
    mirror: bool = option(True, "Half of the positions are learned mirrored, by lot.")
    averaging: float = option(
        0.75,
        "The network that plays is a moving average of the one that learns, with this share of what was; 0 for none.",
        least=0,
        most=1,
    )
    precision: Literal["int8", "fp32"] = option("int8", "How the network counts in self-play.")

    gate_games: int = option(
        0,
        "A new network replaces the one that plays only if it scores well in so many games against it; 0 for no such gate.",
        least=0,
        most=MOST,
        unit="games",
    )
    gate_score: float = option(0.55, "What is well.", least=0, most=1)
    exam_every: int = option(5, "Every so many generations the network is examined.", least=1, most=MOST, unit="generations")
    exam_games: int = option(
        100, "So many games of an examination are played against each opponent.", least=0, most=MOST, unit="games"
    )
    exam_simulations: int = option(
        32, "Simulations a move in examinations, beside none at all.", least=1, most=100_000, unit="simulations"
    )
    threads: int = option(1, "Threads of torch; the result depends on it.", least=1, most=1024, unit="threads")
    seed: int = option(0, "The same seed gives the same network.", least=0, most=MOST)

    def __post_init__(self) -> None:
        check(self)
        Rules.parse(self.board)
        if not self.stages or self.stages[0].games or list(self.stages) != sorted(self.stages, key=lambda stage: stage.games):
            raise UserError(f"networks are written '32x3' and then '64x5 from GAMES', in order: {', '.join(self.networks)}")

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The networks, in the order in which they learn."""
        return tuple(map(_stage, self.networks))


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


def _complete(settings: AlphaZeroSettings, given: Collection[str]) -> AlphaZeroSettings:
    return replace(settings, board=str(Rules.parse(settings.board)))


TRAINING = Training(
    "alphazero",
    AlphaZeroSettings,
    PRESETS,
    "fourlab.agents.alphazero.training",
    faithful=FAITHFUL,
    help="""Train a network by self-play (AlphaMCTS): games by search with the network, the network from the games.

    The run's folder gets alphazero.onnx for playing, alphazero-fp32.safetensors and .json for
    training on, the curves and a report.

    Example: fourlab train alphazero --preset laptop --games 100000
    """,
    in_parallel=True,
    complete=_complete,
)
preset = TRAINING.preset
