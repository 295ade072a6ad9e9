"""The settings of a DQN training. They need no torch, so that the command line can tell of them at once."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from fourlab.errors import UserError
from fourlab.game.rules import Rules
from fourlab.options import check, option
from fourlab.training.kind import Training


@dataclass(frozen=True)
class DqnSettings:
    """How a DQN is trained."""

    board: str = option("7x6x4", "COLUMNSxROWSxINAROW.")
    moves: int = option(3_000_000, "So many moves are played in all.", least=1, unit="moves")
    against: tuple[str, ...] = option(
        ("self", "rules"), "Who plays the other side, drawn by lot for each game: `self`, or any agent."
    )
    games: int = option(128, "So many games are played at a time, in step.", least=1, unit="games")
    epsilon: float = option(1.0, "The chance of a random move at first.", least=0, most=1)
    epsilon_end: float = option(0.1, "The chance of a random move later.", least=0, most=1)
    epsilon_moves: int = option(100_000, "In so many moves the chance comes down, on a straight line.", least=1, unit="moves")
    gamma: float = option(0.99, "What a result is worth one move earlier.", least=0, most=1)
    replay: int = option(200_000, "So many of the last moves are remembered.", least=1, unit="moves")
    warmup: int = option(10_000, "Learning begins after so many moves.", least=0, unit="moves")
    batch: int = option(256, "An update learns from so many moves of the replay.", least=1, unit="moves")
    updates: int = option(1, "So many updates follow each move of the games in step.", least=1, unit="updates")
    rate: float = option(2e-3, "The learning rate of Adam at first; it falls to a tenth on a straight line.", above=0)
    clip: float = option(1.0, "A gradient longer than this is shortened to it.", above=0)
    target: int = option(200, "The target network is renewed every so many updates.", least=1, unit="updates")
    mirror: bool = option(True, "Half of the moves are learned mirrored, by lot.")
    features: str = option("threats", "What the network sees of a position: cells, stones or threats.")
    layers: tuple[str, ...] = option(
        ("conv 16", "relu", "conv 16", "relu", "dense 128", "relu"),
        "The network's layers but for the last, which has a number for every column.",
        separator=",",
        metavar="LAYERS",
    )
    piece: int = option(25_600, "A row of metrics is written every so many moves.", least=1, unit="moves")
    exam_every: int = option(8, "Every so many rows the network is examined.", least=1, unit="rows")
    exam_games: int = option(400, "So many games of an examination are played against each opponent.", least=2, unit="games")
    exam_positions: int = option(500, "So many positions of an examination have a known value.", least=0, unit="positions")
    threads: int = option(
        1,
        "Threads of torch; with another number the result differs in the last digits, then in all.",
        least=1,
        most=1024,
        unit="threads",
    )
    seed: int = option(0, "The same seed gives the same network.", least=0, most=2**63 - 1)

    def __post_init__(self) -> None:
        check(self)
        Rules.parse(self.board)
        if not self.against:
            raise UserError("against needs at least one opponent; self is one")
        if self.replay < self.games:
            raise UserError(f"the replay must have room for a move of each of the {self.games} games, not for {self.replay}")


PRESETS = {"usual": DqnSettings()}


def _complete(settings: DqnSettings, given: Collection[str]) -> DqnSettings:
    return replace(settings, board=str(Rules.parse(settings.board)))


TRAINING = Training(
    "dqn",
    DqnSettings,
    PRESETS,
    "fourlab.agents.dqn.training",
    help="""Train a network to tell what every column is worth, from games against itself or others (double DQN).

    The run's folder gets dqn.onnx for playing, dqn.safetensors and dqn.json for training on, the
    curves and a report.

    Example: fourlab train dqn --board 5x4x4 --moves 300000 --against self --against rules
    """,
    complete=_complete,
    called=lambda settings, preset: f"dqn-{settings.board}",
)
