"""The settings of a DQN training. They need no torch, so that the command line can tell of them at once."""

from dataclasses import dataclass

from fourlab.errors import UserError
from fourlab.game.rules import Rules


@dataclass(frozen=True)
class DqnSettings:
    """How a DQN is trained."""

    board: str = "7x6x4"
    """COLUMNSxROWSxINAROW."""
    moves: int = 3_000_000
    """So many moves are played in all."""
    against: tuple[str, ...] = ("self", "rules")
    """Who plays the other side, drawn by lot for each game: `self`, or any agent."""
    games: int = 128
    """So many games are played at a time, in step."""
    epsilon: float = 1.0
    """The chance of a random move at first."""
    epsilon_end: float = 0.1
    """The chance of a random move later."""
    epsilon_moves: int = 100_000
    """In so many moves the chance comes down, on a straight line."""
    gamma: float = 0.99
    """What a result is worth one move earlier."""
    replay: int = 200_000
    """So many of the last moves are remembered."""
    warmup: int = 10_000
    """Learning begins after so many moves."""
    batch: int = 256
    """An update learns from so many moves of the replay."""
    updates: int = 1
    """So many updates follow each move of the games in step."""
    rate: float = 2e-3
    """The learning rate of Adam at first; it falls to a tenth on a straight line."""
    clip: float = 1.0
    """A gradient longer than this is shortened to it."""
    target: int = 200
    """The target network is renewed every so many updates."""
    mirror: bool = True
    """Half of the moves are learned mirrored, by lot."""
    features: str = "threats"
    """What the network sees of a position: cells, stones or threats."""
    layers: tuple[str, ...] = ("conv 16", "relu", "conv 16", "relu", "dense 128", "relu")
    """The network's layers but for the last, which has a number for every column."""
    piece: int = 25_600
    """A row of metrics is written every so many moves."""
    exam_every: int = 8
    """Every so many rows the network is examined."""
    exam_games: int = 400
    """So many games of an examination are played against each opponent."""
    exam_positions: int = 500
    """So many positions of an examination have a known value."""
    threads: int = 1
    """Threads of torch; with another number the result differs in the last digits, then in all."""
    seed: int = 0
    """The same seed gives the same network."""

    def __post_init__(self) -> None:
        Rules.parse(self.board)
        least = {"warmup": 0, "seed": 0, "exam_games": 2, "exam_positions": 0}
        for name, kind in self.__annotations__.items():
            value = getattr(self, name)
            if kind is int and value < least.get(name, 1):
                raise UserError(f"{name} must be at least {least.get(name, 1)}, not {value}")
            if kind is float and name not in ("rate", "clip") and not 0 <= value <= 1:
                raise UserError(f"{name} must be between 0 and 1, not {value}")
            if name in ("rate", "clip") and not value > 0:
                raise UserError(f"{name} must be greater than 0, not {value}")
        if not self.against:
            raise UserError("against needs at least one opponent; self is one")
        if self.replay < self.games:
            raise UserError(f"the replay must have room for a move of each of the {self.games} games, not for {self.replay}")
