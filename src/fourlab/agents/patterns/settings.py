"""Settings of the training of pattern networks.

The module imports nothing slow, so the command line can show the settings at once.
"""

from dataclasses import dataclass, replace

from fourlab.errors import UserError
from fourlab.game.rules import Rules
from fourlab.options import check, option
from fourlab.training.kind import Training


@dataclass(frozen=True)
class PatternSettings:
    """How a pattern network is learned."""

    board: str = option("7x6x4", "Board, COLUMNSxROWSxINAROW.")
    tuples: int = option(200, "Number of tuples, found by random walks.", least=1, most=1000)
    cells: int = option(8, "Cells of a tuple.", least=1, most=16, unit="cells")
    given: tuple[str, ...] = option(
        (),
        "Tuples instead of random walks, each as its cells, such as a1b1c1d1: the column as a "
        "letter, the row counted from the bottom.",
    )
    games: int = option(
        5_000_000, "Games of self-play to learn from.", least=0, most=10**12, unit="games"
    )
    batch: int = option(
        1024,
        "Games played with the same weights, before the weights learn from them.",
        least=1,
        most=1_000_000,
        unit="games",
    )
    block: int = option(100_000, "Games per row of metrics.", least=1, most=10**9, unit="games")
    alpha: float = option(3.0, "Step size, divided by the number of look-ups.", least=0, most=1000)
    alpha_end: float = option(1.0, "Step size at the end of the training.", least=0, most=1000)
    trace: float = option(
        0.8,
        "Lambda: how much each further ply counts in a target, compared with the one before.",
        least=0,
        most=1,
    )
    trace_end: float = option(0.6, "Lambda at the end of the training.", least=0, most=1)
    coherence: bool = option(
        True, "Give every weight a step size of its own, by temporal coherence."
    )
    epsilon: float = option(0.1, "Probability of a random column.", least=0, most=1)
    epsilon_end: float = option(
        0.05, "Probability of a random column at the end of the training.", least=0, most=1
    )
    temperature: float = option(
        0.0,
        "Sample columns in proportion to exp(value / temperature); 0 plays the best one.",
        least=0,
        most=1000,
    )
    opening: int = option(
        20, "Maximum number of random plies at the beginning of a game.", least=0, most=60
    )
    exact: int = option(
        0,
        "End games with their exact result when this many cells are empty.",
        least=0,
        most=24,
        unit="cells",
    )
    safe: bool = option(
        True,
        "Play no column after which the opponent can win at once, except at random.",
    )
    solved: str = option(
        "",
        "Learn from these solved positions before self-play: a file of `fourlab dataset solved`.",
    )
    passes: int = option(
        10, "How often to learn from the solved positions.", least=1, most=1000, unit="passes"
    )
    seed: int = option(
        0, "Random seed; the same seed gives the same network.", least=0, most=2**63 - 1
    )

    def __post_init__(self) -> None:
        check(self)
        rules = Rules.parse(self.board)
        if self.opening >= rules.columns * rules.rows:
            raise UserError(
                f"opening must be less than the {rules.columns * rules.rows} cells of {rules}, "
                f"not {self.opening}"
            )


PRESETS = {
    "default": PatternSettings(),
    "smoke": PatternSettings(tuples=20, games=20_000, block=5000, batch=256),
    "small": PatternSettings(board="5x4x4", tuples=60, games=400_000, block=50_000, opening=8),
}


def _complete(settings: PatternSettings, given: object) -> PatternSettings:
    return replace(settings, board=str(Rules.parse(settings.board)))


TRAINING = Training(
    "patterns",
    PatternSettings,
    PRESETS,
    "fourlab.agents.patterns.training",
    help="""Train a pattern network by self-play.

    It needs neither torch nor a GPU: minutes on one core are enough for strong play. The run's
    folder gets patterns.npz, which `patterns:file=FILE` and `anytime:patterns=FILE` play, the
    metrics, the curves and a report.

    Example: fourlab train patterns --games 2M
    """,
    needs=(),
    in_parallel=True,
    product="file=patterns.npz",
    complete=_complete,
    run_name=lambda settings, preset: f"patterns-{preset}-{settings.board}",
)
preset = TRAINING.preset
