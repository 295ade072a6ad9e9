"""Many games played in lockstep, so that a network evaluates all their positions in one batch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fourlab.arena.statistics import wilson
from fourlab.compiled.batches import ONGOING, WON, open_columns, play_columns
from fourlab.game.rules import Rules

Chooser = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""A player of many games: takes `own` and `mask`, int64[games] each, and returns a column for every
game, int64[games]."""
SELF = "self"
LEARNER = -1
"""The number of the learner where opponents are numbered from 0."""


def draw(choices: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose, in every row of bool[games, columns], one of the True columns uniformly at random."""
    # Random numbers are at least 0, so the largest one is never that of a False column.
    columns: np.ndarray = np.where(choices, rng.random(choices.shape), -1.0).argmax(axis=1)
    return columns


class StepGames:
    """An endless stream of games: a finished game is replaced by a new one.

    The opponent of a new game, and the side it plays, are chosen at random.
    """

    def __init__(
        self,
        count: int,
        rules: Rules,
        opponents: Sequence[Chooser | None],
        rng: np.random.Generator,
    ) -> None:
        """Start `count` games; the opponent None stands for the learner itself."""
        self.rules = rules
        self._players = {
            number: opponent for number, opponent in enumerate(opponents) if opponent is not None
        }
        self._opponents = np.array(
            [LEARNER if opponent is None else number for number, opponent in enumerate(opponents)]
        )
        self.own = np.zeros(count, np.int64)
        self.mask = np.zeros(count, np.int64)
        self.ply = np.zeros(count, np.int64)
        self.opponent = np.zeros(count, np.int64)
        """The number of every game's opponent; LEARNER for self-play."""
        self.seat = np.zeros(count, np.int64)
        """The side that the opponent plays: 0 red, 1 yellow."""
        self._restart(np.ones(count, np.bool_), rng)

    def _restart(self, games: np.ndarray, rng: np.random.Generator) -> None:
        """Start new games in place of those that are True in bool[games]."""
        count = int(games.sum())
        self.own[games] = 0
        self.mask[games] = 0
        self.ply[games] = 0
        self.opponent[games] = rng.choice(self._opponents, count)
        self.seat[games] = rng.integers(2, size=count)

    def choose(self, learner: Chooser, rng: np.random.Generator) -> np.ndarray:
        """Return the column to play in every game, chosen by its side to move."""
        # Red moves at even plies. In self-play `opponent` is LEARNER too, whoever is to move.
        mover = np.where(self.ply % 2 == self.seat, self.opponent, LEARNER)
        # One call per player for all games in which it is to move.
        columns = np.zeros(len(self.own), np.int64)
        for number, player in {LEARNER: learner, **self._players}.items():
            turn = mover == number
            if turn.any():
                columns[turn] = player(self.own[turn], self.mask[turn], rng)
        return columns

    def play(self, columns: np.ndarray, rng: np.random.Generator) -> int:
        """Play a column in every game and replace finished games; returns how many these are."""
        over = play_columns(self.own, self.mask, columns, self.rules.geometry) != ONGOING
        # Every game advances by one ply, finished ones too: `_restart` sets them back to 0.
        self.ply += 1
        self._restart(over, rng)
        return int(over.sum())

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the whole state, for a checkpoint."""
        return {name: getattr(self, name) for name in ("own", "mask", "ply", "opponent", "seat")}


OPENING = 4
"""Matches start with this many random moves, fewer on tiny boards, so that games differ."""


def match(
    player: Chooser, opponent: Chooser, games: int, rules: Rules, rng: np.random.Generator
) -> dict[str, Any]:
    """Play a match from random openings, each of them twice with sides exchanged.

    Returns the player's wins, draws, losses and score, and the 95 % Wilson interval of its share of
    wins.
    """
    g = rules.geometry
    # Openings are the same for every call with the same generator state.
    own, mask = np.zeros((2, max(1, games // 2)), np.int64)
    for _ in range(min(OPENING, g.columns * g.rows // 3)):
        play_columns(own, mask, draw(open_columns(mask, g), rng), g)
    wins, draws, losses = play_off(player, opponent, own, mask, rules, rng)
    played = wins + draws + losses
    low, high = wilson(wins, played)
    return {
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "score": (wins + draws / 2) / played,
        "win_interval": [round(low, 4), round(high, 4)],
    }


def play_off(
    player: Chooser,
    opponent: Chooser,
    own: np.ndarray,
    mask: np.ndarray,
    rules: Rules,
    rng: np.random.Generator,
) -> tuple[int, int, int]:
    """Play every position to the end twice, with sides exchanged.

    Returns the player's wins, draws and losses.
    """
    own = np.tile(own, 2)
    mask = np.tile(mask, 2)
    # Whether the player is to move: it moves first in the first copy of every position.
    turn = np.arange(len(own)) < len(own) // 2
    wins = 0
    draws = 0
    losses = 0
    while len(own):
        columns = np.zeros(len(own), np.int64)
        for games, choose in ((turn, player), (~turn, opponent)):
            if games.any():
                columns[games] = choose(own[games], mask[games], rng)
        status = play_columns(own, mask, columns, rules.geometry)
        # WON is from the point of view of the side that has just moved.
        won = status == WON
        unfinished = status == ONGOING
        wins += int((won & turn).sum())
        losses += int((won & ~turn).sum())
        draws += int((~won & ~unfinished).sum())
        # `play_columns` has exchanged the sides: `own` belongs to the new side to move.
        own = own[unfinished]
        mask = mask[unfinished]
        turn = ~turn[unfinished]
    return wins, draws, losses
