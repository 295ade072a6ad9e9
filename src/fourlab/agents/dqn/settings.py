"""Settings of DQN training. They do not import torch, so the command line shows them at once."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from fourlab.errors import UserError
from fourlab.evaluator import stored_planes
from fourlab.game.rules import Rules
from fourlab.options import check, option
from fourlab.training.kind import Training


@dataclass(frozen=True)
class DqnSettings:
    """How a DQN is trained."""

    board: str = option("7x6x4", "Board, COLUMNSxROWSxINAROW.")
    moves: int = option(3_000_000, "Moves to play in all.", least=1, most=10**12, unit="moves")
    against: tuple[str, ...] = option(
        ("self", "rules"), "Opponents, one sampled per game: `self`, or any agent."
    )
    games: int = option(128, "Games played in step.", least=1, most=100_000, unit="games")
    epsilon: float = option(1.0, "Probability of a random move at first.", least=0, most=1)
    epsilon_end: float = option(0.1, "Probability of a random move later.", least=0, most=1)
    epsilon_moves: int = option(
        100_000,
        "Moves over which the probability falls linearly from epsilon to epsilon_end.",
        least=1,
        most=10**12,
        unit="moves",
    )
    gamma: float = option(0.99, "Discount factor per move.", least=0, most=1)
    replay: int = option(200_000, "Size of the replay buffer.", least=1, most=10**8, unit="moves")
    warmup: int = option(
        10_000, "Moves to play before the first update.", least=0, most=10**9, unit="moves"
    )
    batch: int = option(256, "Moves per update.", least=1, most=10**6, unit="moves")
    updates: int = option(
        1, "Updates after every move of the games in step.", least=1, most=10_000, unit="updates"
    )
    rate: float = option(
        2e-3, "Learning rate of Adam at first; it falls linearly to a tenth.", above=0, most=10
    )
    clip: float = option(
        1.0, "Maximum norm of the gradient; longer ones are scaled down.", above=0, most=10**6
    )
    target: int = option(
        200, "Updates between renewals of the target network.", least=1, most=10**9, unit="updates"
    )
    double: bool = option(
        True,
        "Let the trained network choose the reply that the target network evaluates (double DQN); "
        "otherwise the target network does both.",
    )
    mirror: bool = option(True, "Mirror half of the training moves, chosen at random.")
    features: str = option("threats", "Input planes: cells, discs or threats.")
    layers: tuple[str, ...] = option(
        ("conv 16", "relu", "conv 16", "relu", "dense 128", "relu"),
        "Layers before the last, which has one output per column.",
        separator=",",
        metavar="LAYERS",
    )
    piece: int = option(25_600, "Moves per row of metrics.", least=1, most=10**9, unit="moves")
    exam_every: int = option(
        8, "Rows of metrics between evaluations.", least=1, most=10**6, unit="rows"
    )
    exam_games: int = option(
        400, "Games per opponent in an evaluation.", least=2, most=10**7, unit="games"
    )
    exam_positions: int = option(
        500, "Solved positions in an evaluation.", least=0, most=10**6, unit="positions"
    )
    threads: int = option(
        1,
        "Threads of torch; the result depends on it.",
        least=1,
        most=1024,
        unit="threads",
    )
    seed: int = option(
        0, "Random seed; the same seed gives the same network.", least=0, most=2**63 - 1
    )

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "features", stored_planes(self.features))
        Rules.parse(self.board)
        if not self.against:
            raise UserError("against needs at least one opponent; self is one")
        # One step adds a move of every game at once.
        if self.replay < self.games:
            raise UserError(
                f"the replay must have room for a move of each of the {self.games} games, "
                f"not for {self.replay}"
            )


PRESETS = {"usual": DqnSettings()}


def _complete(settings: DqnSettings, set_names: Collection[str]) -> DqnSettings:
    return replace(settings, board=str(Rules.parse(settings.board)))


TRAINING = Training(
    "dqn",
    DqnSettings,
    PRESETS,
    "fourlab.agents.dqn.training",
    help="""Train a network by deep Q-learning (double DQN).

    The network learns the value of every column from games against itself or other agents. The
    run's folder gets dqn.onnx for playing, dqn.safetensors and dqn.json for further training, the
    curves and a report.

    Example: fourlab train dqn --board 5x4x4 --moves 300000 --against self --against rules
    """,
    complete=_complete,
    run_name=lambda settings, preset: f"dqn-{settings.board}",
)
