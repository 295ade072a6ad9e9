"""A match between two chess players: paired openings, a file of games, and a summary."""

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
from fourlab.chess.players import ChessPlayer, player
from fourlab.errors import UserError
from fourlab.files import open_to_append, read_bounded, write_atomically
from fourlab.options import check, option
from fourlab.parsing import parse_json

MOST_GAMES = 1_000_000
MAX_GAME_BYTES = 16_384
"""No line of a file of games is longer: a move takes 6 bytes, and the rules end long games."""
MAX_FILE_BYTES = 1 << 30
SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
"""White's score by result."""


@dataclass(frozen=True)
class ChessGame:
    """A finished game."""

    number: int
    start: str
    """A FEN."""
    moves: str
    """UCI notation, separated by spaces: e2e4 e7e5 …"""
    result: str
    """1-0, 1/2-1/2 or 0-1."""
    ending: str
    """checkmate, or the reason for the draw."""

    def __post_init__(self) -> None:
        texts = (self.start, self.moves, self.result, self.ending)
        if type(self.number) is not int or not all(isinstance(text, str) for text in texts):
            raise UserError("a game has fields of other types")
        if not 0 <= self.number < MOST_GAMES:
            raise UserError(f"there is no game {self.number}")
        if self.result not in SCORES:
            raise UserError(f"game {self.number} cannot end with {self.result!r:.20}")


@dataclass(frozen=True)
class ChessMatch:
    """A match as a value: each game is a function of the match and the game's number."""

    players: tuple[str, str]
    games: int = option(
        100, "Two per opening; in even ones the first player has white.", least=2, most=MOST_GAMES
    )
    plies: int = option(
        4, "Random moves of an opening, after which there is no mate in one.", least=0, most=20
    )
    simulations: int | None = option(None, "Simulations per move.", least=1, most=10**12)
    seconds: float | None = option(None, "Time per move.", above=0, most=86_400, unit="s")
    seed: int = option(0, "The same seed gives the same games.", least=0, most=2**63 - 1)

    def __post_init__(self) -> None:
        check(self)
        if self.games < 2 or self.games % 2:
            raise UserError(
                "every opening is played twice, so the number of games must be even, "
                f"not {self.games}"
            )
        # Raise errors of wrong names and bounds now, not in the first game.
        for name in self.players:
            player(name)
        self.limit  # noqa: B018

    @property
    def limit(self) -> Limit:
        """The limit per move of both players; without bounds their own settings apply."""
        return Limit(seconds=self.seconds, simulations=self.simulations)

    def opening(self, unit: int) -> ChessState:
        """Return the opening of the games 2 * unit and 2 * unit + 1."""
        # The seeds of games are [seed, number, side] with side 0 or 1.
        # So an opening does not depend on how many others are played.
        rng = np.random.default_rng([self.seed, unit, 2])
        while True:
            state = ChessState.of()
            for _ in range(self.plies):
                if not state.ending:
                    state = state.play(state.moves[int(rng.integers(len(state.moves)))])
            if not state.ending and mate_in_one(state) is None:
                return state

    def prepare(self) -> None:
        """Do nothing: there is nothing to compile."""

    def __call__(self, number: int, watch: object = None) -> ChessGame:
        """Play one game; `watch` is ignored, since our own players need no supervision."""
        return self.play(number, *map(player, self.players))

    def play(self, number: int, first: ChessPlayer, second: ChessPlayer) -> ChessGame:
        """Play one game between any two players, from the match's opening and random numbers."""
        start = state = self.opening(number // 2)
        # Both play every opening with either colour.
        players = (second, first) if number % 2 else (first, second)
        rngs = [np.random.default_rng([self.seed, number, side]) for side in (0, 1)]
        moves: list[str] = []
        while not state.ending:
            side = 0 if state.board.turn else 1
            move = players[side].decide(state, self.limit, rngs[side]).move
            state = state.play(move)
            moves.append(move.uci())
        return ChessGame(number, start.board.fen(), " ".join(moves), state.result, state.ending)


class Games:
    """The finished games of a match, kept in a file of JSON lines: the match, then its games.

    A game is on disk before it counts, so a stopped match resumes where it was.
    """

    def __init__(self, match: ChessMatch, file: Path, read_only: bool = False) -> None:
        self.file = file
        heading = json.dumps(asdict(match)) + "\n"
        try:
            lines = _lines(file) if file.exists() else [heading]
            self.games = [_game(line) for line in lines[1:]]
        except (OSError, ValueError) as error:
            raise UserError(f"cannot read chess games in {file}: {error}") from None
        numbers = Counter(game.number for game in self.games)
        for number, count in numbers.most_common(1):
            if count > 1:
                raise UserError(f"cannot read chess games in {file}: game {number} is there twice")
        if not lines or _identity(lines[0]) != _identity(heading):
            raise UserError(f"{file} does not hold the games of {heading.strip()}")
        lines[0] = heading  # the number of games may have changed
        if not read_only:
            write_atomically(file, "".join(lines).encode())

    def add(self, game: ChessGame) -> None:
        """Append a game to the file, and to `games` once it is on disk."""
        with open_to_append(self.file) as stream:
            stream.write(json.dumps(asdict(game)) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        self.games.append(game)


def _lines(file: Path) -> list[str]:
    """Return the complete lines of a file; a crash may have cut off the last one."""
    text = read_bounded(file, MAX_FILE_BYTES).decode()
    # Only line feeds end lines: a player's name may have other separators.
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]
    if max(map(len, lines), default=0) > MAX_GAME_BYTES:
        raise UserError(f"a line has more than {MAX_GAME_BYTES:,} characters")
    return lines


def _game(line: str) -> ChessGame:
    fields = parse_json(line, "a game")
    if not isinstance(fields, dict) or fields.keys() != ChessGame.__dataclass_fields__.keys():
        raise UserError(f"{line.strip()!r:.40} is not a game")
    return ChessGame(**fields)


def _identity(heading: str) -> dict[str, Any]:
    """Return what identifies a match: its settings except the number of games."""
    try:
        match: dict[str, Any] = parse_json(heading, "the first line")
        return {name: value for name, value in match.items() if name != "games"}
    except (UserError, AttributeError):
        return {}


def summarize(match: ChessMatch, games: Sequence[ChessGame]) -> dict[str, Any]:
    """Return the results from the first player's side as JSON data; Elo counts whole pairs only."""
    scores = {game.number: _score_of_first(game) for game in games}
    pairs = [
        (scores[number], scores[number + 1])
        for number in sorted(scores)
        if number % 2 == 0 and number + 1 in scores
    ]
    # Pairs, not games, are independent: both games share an opening.
    tally = Tally.of_pairs(pairs)
    as_white = _share(score for number, score in scores.items() if number % 2 == 0)
    as_black = _share(score for number, score in scores.items() if number % 2 == 1)
    plies = [len(game.moves.split()) for game in games]
    return {
        "players": list(match.players),
        **(as_white + as_black).as_data(),
        "as_white": as_white.as_data(),
        "as_black": as_black.as_data(),
        "counts": list(tally.counts),
        "elo": tally.elo().as_data(),
        "normalized_elo": tally.normalized_elo().as_data(),
        "los": tally.los().as_data(),
        "endings": dict(Counter(game.ending for game in games).most_common()),
        "plies": {
            "least": min(plies, default=0),
            "most": max(plies, default=0),
            "mean": sum(plies) / max(len(plies), 1),
        },
    }


def _score_of_first(game: ChessGame) -> float:
    score = SCORES[game.result]
    # In odd games the first player has black.
    return 1 - score if game.number % 2 else score


def _share(scores: Iterable[float]) -> Share:
    counts = Counter(scores)
    return Share(counts[1.0], counts[0.5], counts[0.0])
