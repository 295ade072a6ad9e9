"""Settings and presets of AlphaMCTS, a network trained by self-play. They do not import torch."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from fourlab.errors import UserError
from fourlab.evaluator import stored_planes
from fourlab.game.rules import Rules
from fourlab.options import check, option
from fourlab.training.kind import Training

MOST = 2**31 - 1
"""Whole numbers must fit into 31 bits."""


LISTED = {
    "search": "puct",
    "proofs": False,
    "opening": 0,
    "exact_from": 0,
    "averaging": 0.0,
    "value_weight": 1.0,
    "gate_games": 0,
}
"""What `faithful` needs; the other settings are free or follow from the memory's size."""


class Stage(NamedTuple):
    """A network size and the number of games after which it takes over."""

    filters: int
    blocks: int
    games: int


@dataclass(frozen=True)
class AlphaZeroSettings:
    """How a network is trained by self-play."""

    # The board and the network.
    board: str = option("7x6x4", "Board, COLUMNSxROWSxINAROW.")
    games: int = option(150_000, "Games of self-play in all.", least=1, most=MOST, unit="games")
    networks: tuple[str, ...] = option(
        ("32x3", "64x5 from 60000"),
        "Residual towers, FILTERSxBLOCKS; one written 'FILTERSxBLOCKS from GAMES' takes over after "
        "that many games and first learns from the whole replay window.",
    )
    start: str = option(
        "",
        "Initial weights instead of random ones, for a network of the first tower's form: "
        "`alphazero`, or the alphazero-fp32.json of a run.",
    )
    features: str = option("threats", "Input planes: cells, discs, empty or threats.")
    policy_filters: int = option(
        16, "Filters of the policy head's convolution.", least=1, most=100_000, unit="filters"
    )
    value_filters: int = option(
        8, "Filters of the value head's convolution.", least=1, most=100_000, unit="filters"
    )
    value_hidden: int = option(
        32,
        "Units of the value head's hidden layer; 0 for no such layer.",
        least=0,
        most=100_000,
        unit="units",
    )

    # Self-play: search, openings and endings.
    search: Literal["gumbel", "puct"] = option(
        "gumbel",
        "Selection rule: gumbel (sequential halving at the root, improved policy below) or puct "
        "(AlphaZero's upper confidence bound and noise).",
    )
    simulations: int = option(
        32,
        "Simulations per move of self-play in the first games.",
        least=1,
        most=100_000,
        unit="simulations",
    )
    simulations_end: int = option(
        64,
        "Maximum number of simulations per move of self-play.",
        least=1,
        most=100_000,
        unit="simulations",
    )
    simulations_games: int = option(
        2_000,
        "Games after which one more simulation per move is made.",
        least=1,
        most=MOST,
        unit="games",
    )
    c: float = option(
        2.0,
        "Exploration constant in (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n) (puct).",
        least=0,
        most=1000,
    )
    fpu: float = option(
        0.2,
        "First-play urgency: an unvisited column is assumed to be this much worse than its "
        "position (puct).",
        least=0,
        most=10,
    )
    scale: float = option(0.3, "Weight of values against priors (gumbel).", least=0, most=1000)
    dirichlet_alpha: float = option(
        1.0, "Concentration of the Dirichlet noise in the root's priors (puct).", above=0, most=1000
    )
    # AlphaGo Zero's share (Silver et al., 2017).
    dirichlet_share: float = option(
        0.25, "Share of noise in the root's priors (puct).", least=0, most=1
    )
    temperature: float = option(
        1.25,
        "Sample columns in proportion to visits ** (1 / temperature); 0 plays a most visited "
        "column (puct).",
        least=0,
        most=1000,
    )
    proofs: bool = option(
        True,
        "Detect immediate wins and forced replies on the board, and back up proven results.",
        aliases=("proving",),
    )
    faithful: bool = option(
        False,
        "Search, play and learn as Arya's program does, faults included: without openings, solver, "
        "averaging and gate, from a memory of `window` positions and their mirror images.",
    )
    opening: int = option(
        14, "Maximum number of random plies in an opening.", least=0, most=1000, unit="plies"
    )
    opening_share: float = option(
        0.75,
        "Share of games with a random opening; the others start from the empty board.",
        least=0,
        most=1,
    )
    exact_from: int = option(
        14,
        "Let the solver play games to their end once this many discs are on the board, and learn "
        "exact results; 0 to never.",
        least=0,
        most=1000,
        unit="discs",
    )

    # Learning: generations, replay window and optimiser.
    generation: int = option(
        2_000,
        "Games between updates of the self-play network.",
        least=1,
        most=MOST,
        unit="games",
    )
    chunk: int = option(
        250, "Games per task of a self-play worker.", least=1, most=MOST, unit="games"
    )
    lanes: int = option(
        250, "Games that a worker plays in step.", least=1, most=100_000, unit="games"
    )
    window: int = option(
        60_000, "Minimum size of the replay window.", least=1, most=MOST, unit="positions"
    )
    window_end: int = option(
        400_000, "Maximum size of the replay window.", least=1, most=MOST, unit="positions"
    )
    window_share: float = option(
        0.5,
        "Between these sizes, the window holds this share of all positions so far.",
        least=0,
        most=1,
    )
    passes: float = option(
        1.5,
        "Positions sampled from the window per new position of a generation.",
        least=0,
        most=1000,
    )
    batch: int = option(512, "Positions per update.", least=1, most=MOST, unit="positions")
    rate: float = option(
        2e-3, "Learning rate of AdamW at the beginning; it falls linearly.", least=0, most=10
    )
    rate_end: float = option(1e-4, "Learning rate at the end.", least=0, most=10)
    decay: float = option(1e-4, "Weight decay.", least=0, most=1)
    value_weight: float = option(
        1.0, "Weight of the value loss against the policy loss.", least=0, most=1000
    )
    search_share: float = option(
        0.25,
        "Share of the search's value in the value target; the rest is the game's result.",
        least=0,
        most=1,
    )
    mirror: bool = option(True, "Mirror half of the training positions, chosen at random.")
    # KataGo (Wu, 2019) averages snapshots of its weights in this way, also with 0.75.
    averaging: float = option(
        0.75,
        "The self-play network is a moving average of the trained one: the share of the old "
        "average kept per generation; 0 for no averaging.",
        least=0,
        most=1,
    )
    precision: Literal["int8", "fp32"] = option("int8", "Arithmetic of the self-play network.")

    # Gate and evaluations. AlphaGo Zero had a gate at 55 % (Silver et al., 2017), AlphaZero has
    # none (Silver et al., 2018).
    gate_games: int = option(
        0,
        "Games that a candidate network plays against the self-play network before it may replace "
        "it; 0 to always replace it.",
        least=0,
        most=MOST,
        unit="games",
    )
    gate_score: float = option(
        0.55,
        "Score the candidate must reach to replace the self-play network.",
        least=0,
        most=1,
    )
    exam_every: int = option(
        5, "Generations between evaluations.", least=1, most=MOST, unit="generations"
    )
    exam_games: int = option(
        100, "Games per opponent in an evaluation.", least=0, most=MOST, unit="games"
    )
    exam_simulations: int = option(
        32,
        "Simulations per move in an evaluation, which also tests the policy alone.",
        least=1,
        most=100_000,
        unit="simulations",
    )
    keep: int = option(
        0,
        "Keep a copy of the network after this many games, as alphazero-GAMES-fp32; 0 for none.",
        least=0,
        most=MOST,
        unit="games",
    )
    threads: int = option(
        1, "Threads of torch; the result depends on it.", least=1, most=1024, unit="threads"
    )
    seed: int = option(0, "Random seed; the same seed gives the same network.", least=0, most=MOST)

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "features", stored_planes(self.features))
        Rules.parse(self.board)
        # The first network starts at 0 games; a tower without "from GAMES" has 0, too.
        starts = [stage.games for stage in self.stages]
        if not starts or starts[0] != 0 or starts != sorted(starts):
            raise UserError(
                "networks are written '32x3' and then '64x5 from GAMES', in order of games, "
                f"not {', '.join(self.networks) or 'as an empty list'}"
            )
        if self.faithful:
            self._check_faithful()

    def _check_faithful(self) -> None:
        """Raise UserError for settings that Arya's program does not have."""
        for name, value in LISTED.items():
            if getattr(self, name) != value:
                raise UserError(f"faithful needs {name}={str(value).lower()}")
        if len(self.stages) > 1:
            raise UserError("faithful needs one network")
        if 2 * self.window % self.batch:
            raise UserError("faithful needs a window of whole batches, mirror images included")

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Return the networks in training order."""
        return tuple(map(_stage, self.networks))


def _stage(text: str) -> Stage:
    match = re.fullmatch(r"(\d{1,4})x(\d{1,3})(?: from (\d{1,9}))?", text)
    if match is None or int(match[1]) == 0:
        raise UserError(
            f"a network is written FILTERSxBLOCKS or FILTERSxBLOCKS from GAMES, not {text!r}"
        )
    return Stage(int(match[1]), int(match[2]), int(match[3] or 0))


# The report's settings with its faults corrected; docs/agents/alphazero.md lists what differs.
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
    # The report's memory of 512 places holds 256 positions and their mirror images.
    window=256,
    window_end=256,
    passes=2.0,
    batch=128,
    rate=1e-3,
    rate_end=1e-3,
    search_share=0.0,
    averaging=0.0,
    exam_every=25,
    keep=1_000,
)
FAITHFUL = {
    "arya": replace(
        _ARYA,
        faithful=True,
        proofs=False,
        search_share=1.0,
        # Between two updates, so at most some ten games.
        lanes=8,
        precision="fp32",
        exam_every=100,
        exam_games=0,
    )
}
"""Arya's program as coded: with faults, and values learned from the search alone."""
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


def _complete(settings: AlphaZeroSettings, set_names: Collection[str]) -> AlphaZeroSettings:
    return replace(settings, board=str(Rules.parse(settings.board)))


TRAINING = Training(
    "alphazero",
    AlphaZeroSettings,
    PRESETS,
    "fourlab.agents.alphazero.trainees",
    faithful=FAITHFUL,
    help="""Train a network by self-play (AlphaMCTS).

    A search with the network plays games, and the network learns from them. The run's folder gets
    alphazero.onnx for playing, alphazero-fp32.safetensors and .json for further training, the
    curves and a report.

    Example: fourlab train alphazero --preset laptop --games 100000
    """,
    in_parallel=True,
    complete=_complete,
)
preset = TRAINING.preset
