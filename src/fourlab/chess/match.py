"""Two players of chess, many games: paired openings, games by their numbers, a file of games, and what they say."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.arena.results import Share
from fourlab.arena.tally import Tally
from fourlab.chess.game import ChessState, mate_in_one
from fourlab.chess.players import player
from fourlab.errors import UserError
from fourlab.files import write_atomically

SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
"""White's."""


@dataclass(frozen=True)
class ChessGame:
    """A finished game."""

    number: int
    start: str
    """A FEN."""
    moves: str
    """As e2e4 e7e5 …"""
    result: str
    """1-0, 1/2-1/2 or 0-1."""
    ending: str
    """Checkmate, or why it is a draw."""


@dataclass(frozen=True)
class ChessMatch:
    """A match is a value, and each of its games a function of that value and the game's number."""

    players: tuple[str, str]
    games: int = 100
    """Two for each opening: in the first of them the first player is white."""
    plies: int = 4
    """Openings are so many random moves of both sides, after which nobody can mate at once."""
    simulations: int | None = None
    seconds: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise UserError(f"every opening is played twice, so the number of games must be even, not {self.games}")
        for name in self.players:
            player(name)
        self.limit  # noqa: B018 - a bound that is none is told now

    @property
    def limit(self) -> Limit:
        """How long both players think; without bounds as long as they like."""
        return Limit(seconds=self.seconds, simulations=self.simulations)

    def opening(self, unit: int) -> ChessState:
        """Where the games 2 * unit and 2 * unit + 1 begin."""
        rng = np.random.default_rng([self.seed, unit, 2])  # games have [seed, number, side]
        while True:
            state = ChessState.of()
            for _ in range(self.plies):
                if not state.ending:
                    state = state.play(state.moves[int(rng.integers(len(state.moves)))])
            if not state.ending and mate_in_one(state) is None:
                return state

    def prepare(self) -> None:
        """Nothing has to be compiled."""

    def __call__(self, number: int, watch: object = None) -> ChessGame:
        """Play one game, with generators made of seed, number and side; the players are ours and need not be watched."""
        start = state = self.opening(number // 2)
        names = self.players[:: -1 if number % 2 else 1]
        rngs = [np.random.default_rng([self.seed, number, side]) for side in (0, 1)]
        moves: list[str] = []
        while not state.ending:
            side = 0 if state.board.turn else 1
            move = player(names[side]).decide(state, self.limit, rngs[side]).move
            state = state.play(move)
            moves.append(move.uci())
        return ChessGame(number, start.board.fen(), " ".join(moves), state.result, state.ending)


class Games:
    """The games of a match that are over, in a file if there is one: a line for the match, then one for each game, in JSON.

    A game is on the disk before it counts, so that a match that was stopped goes on where it was.
    """

    def __init__(self, match: ChessMatch, file: Path | None = None, read_only: bool = False) -> None:
        self.games: list[ChessGame] = []
        self.file = file
        if file is None:
            return
        told = json.dumps(asdict(match)) + "\n"
        try:
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else [told]
            whole = [line for line in lines if line.endswith("\n")]  # the last may have been cut off by a crash
            self.games = [ChessGame(**json.loads(line)) for line in whole[1:]]
        except (OSError, ValueError, TypeError) as error:
            raise UserError(f"cannot read games of chess in {file}: {error}") from None
        if not whole or _identity(whole[0]) != _identity(told):
            raise UserError(f"{file} does not hold the games of {told.strip()}")
        whole[0] = told  # there may be more games now
        if not read_only:
            write_atomically(file, "".join(whole).encode())

    def add(self, game: ChessGame) -> None:
        """Keep one more game."""
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(game)) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
        self.games.append(game)


def _identity(heading: str) -> dict[str, Any]:
    """What makes a match another one; how many games there are does not."""
    try:
        match: dict[str, Any] = json.loads(heading)
        return {name: value for name, value in match.items() if name != "games"}
    except (ValueError, AttributeError):
        return {}


def summarize(match: ChessMatch, games: Sequence[ChessGame]) -> dict[str, Any]:
    """What the games say about the first player, as plain data; only whole pairs count for Elo."""
    scores = {game.number: _score_of_first(game) for game in games}
    pairs = [(scores[number], scores[number + 1]) for number in sorted(scores) if number % 2 == 0 and number + 1 in scores]
    tally = Tally.of_pairs(pairs)
    shares = [_share(scores[number] for number in scores if number % 2 == swapped) for swapped in (0, 1)]
    plies = [len(game.moves.split()) for game in games]
    return {
        "players": list(match.players),
        **sum(shares, Share()).as_data(),
        "as_white": shares[0].as_data(),
        "as_black": shares[1].as_data(),
        "counts": list(tally.counts),
        "elo": tally.elo().as_data(),
        "normalized_elo": tally.normalized_elo().as_data(),
        "los": tally.los().as_data(),
        "endings": dict(Counter(game.ending for game in games).most_common()),
        "plies": {"least": min(plies, default=0), "most": max(plies, default=0), "mean": sum(plies) / max(len(plies), 1)},
    }


def _score_of_first(game: ChessGame) -> float:
    score = SCORES[game.result]
    return 1 - score if game.number % 2 else score


def _share(scores: Iterable[float]) -> Share:
    found = Counter(scores)
    return Share(found[1.0], found[0.5], found[0.0])
