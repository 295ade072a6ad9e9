"""Games played in step, against oneself and against others, so that a network is asked once for many positions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fourlab.arena.statistics import wilson
from fourlab.compiled.batches import GOES_ON, WON, open_columns, play_columns
from fourlab.game.rules import Rules

Chooser = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""A player of many games: `own` and `mask` in, a column for each out."""
SELF = "self"
LEARNER = -1
"""Who is to move if it is none of the opponents."""


def draw(choices: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """In each row of bool[games, columns], one of the columns that are True, each with the same chance."""
    columns: np.ndarray = np.where(choices, rng.random(choices.shape), -1.0).argmax(axis=1)
    return columns


class StepGames:
    """Games that go on for ever: one that is over begins anew, its opponent and the opponent's seat drawn by lot."""

    def __init__(self, count: int, rules: Rules, opponents: Sequence[Chooser | None], rng: np.random.Generator) -> None:
        """Begin; an opponent that is None is the learner itself."""
        self.rules = rules
        self._players = {i: each for i, each in enumerate(opponents) if each is not None}
        self._opponents = np.array([LEARNER if each is None else i for i, each in enumerate(opponents)])
        self.own = np.zeros(count, np.int64)
        self.mask = np.zeros(count, np.int64)
        self.ply = np.zeros(count, np.int64)
        self.opponent = np.zeros(count, np.int64)
        """Which of the opponents plays each game; LEARNER if it plays itself."""
        self.seat = np.zeros(count, np.int64)
        """The side on which it plays: 0 red, 1 yellow."""
        self._begin(np.ones(count, np.bool_), rng)

    def _begin(self, which: np.ndarray, rng: np.random.Generator) -> None:
        """Begin games anew, those that are True in bool[games]."""
        count = int(which.sum())
        self.own[which] = self.mask[which] = self.ply[which] = 0
        self.opponent[which] = rng.choice(self._opponents, count)
        self.seat[which] = rng.integers(2, size=count)

    def choose(self, learner: Chooser, rng: np.random.Generator) -> np.ndarray:
        """The column to be played in each game, by whoever is to move."""
        mover = np.where(self.ply % 2 == self.seat, self.opponent, LEARNER)
        columns = np.zeros(len(self.own), np.int64)
        for number, player in {LEARNER: learner, **self._players}.items():
            if (turn := mover == number).any():
                columns[turn] = player(self.own[turn], self.mask[turn], rng)
        return columns

    def play(self, columns: np.ndarray, rng: np.random.Generator) -> int:
        """Play a column in every game and begin those anew that are over; returns how many these are."""
        over = play_columns(self.own, self.mask, columns, self.rules.geometry) != GOES_ON
        self.ply += 1
        self._begin(over, rng)
        return int(over.sum())

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it, for a checkpoint."""
        return {name: getattr(self, name) for name in ("own", "mask", "ply", "opponent", "seat")}


OPENING = 4
"""Matches begin with so many random moves, fewer on tiny boards, so that games differ."""


def match(player: Chooser, opponent: Chooser, games: int, rules: Rules, rng: np.random.Generator) -> dict[str, Any]:
    """Play some games from random openings, each opening twice, each side beginning once; returns what came out."""
    g = rules.geometry
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
    player: Chooser, opponent: Chooser, own: np.ndarray, mask: np.ndarray, rules: Rules, rng: np.random.Generator
) -> tuple[int, int, int]:
    """Play every position out twice, each side beginning once; returns the player's wins, draws and losses."""
    own, mask = np.tile(own, 2), np.tile(mask, 2)
    turn = np.arange(len(own)) < len(own) // 2
    wins = draws = losses = 0
    while len(own):
        columns = np.zeros(len(own), np.int64)
        for whose, choose in ((turn, player), (~turn, opponent)):
            if whose.any():
                columns[whose] = choose(own[whose], mask[whose], rng)
        stands = play_columns(own, mask, columns, rules.geometry)
        won, goes_on = stands == WON, stands == GOES_ON
        wins += int((won & turn).sum())
        losses += int((won & ~turn).sum())
        draws += int((~won & ~goes_on).sum())
        own, mask, turn = own[goes_on], mask[goes_on], ~turn[goes_on]
    return wins, draws, losses
