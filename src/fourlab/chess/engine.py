"""A chess program of others as a player, limited to the lowest rating that it states."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess.engine

from fourlab.agent import Limit
from fourlab.chess.game import ChessState
from fourlab.chess.players import ChessDecision, OnDecision
from fourlab.errors import UserError

if TYPE_CHECKING:
    import numpy as np

PROGRAM = "stockfish"
FOLDERS = ("/usr/games", "/opt/homebrew/bin")
"""Where packages put programs that may not be on the path; the first is Debian's."""
ABSENT = f"{PROGRAM} is not installed (Debian: apt-get install {PROGRAM})"
NODES = 5_000
"""Nodes per move: more than the first plies take, after which a limited engine chooses."""
SECONDS = 60.0
"""How long a program may take to start, or to answer."""


def find_program() -> str | None:
    """Return the path of the program; None if it is not installed."""
    places = [shutil.which(PROGRAM), *(shutil.which(PROGRAM, path=folder) for folder in FOLDERS)]
    return next((place for place in places if place), None)


@dataclass(frozen=True)
class RatedEngine:
    """A running program, limited to `elo`.

    It chooses among its candidates at random, by the clock: its games cannot be repeated.
    """

    engine: chess.engine.SimpleEngine
    name: str
    """What the program calls itself, with its version."""
    elo: int
    """The lowest rating that it states (UCI_Elo)."""

    def decide(
        self,
        state: ChessState,
        limit: Limit,
        rng: "np.random.Generator",
        on_decision: OnDecision | None = None,
    ) -> ChessDecision:
        """Return the program's move; `limit` and `rng` have no influence on it."""
        try:
            move = self.engine.play(state.board, chess.engine.Limit(nodes=NODES)).move
        except (chess.engine.EngineError, TimeoutError) as error:
            raise UserError(f"{self.name} does not answer: {error}") from None
        if move is None:
            raise UserError(f"{self.name} gives no move in {state.board.fen()}")
        return ChessDecision(move, line=(move,))


@contextmanager
def rated_engine(*command: str) -> Iterator[RatedEngine]:
    """Run a program at its lowest rating; raise UserError if it cannot be limited to one."""
    program = " ".join(command)
    try:
        engine = chess.engine.SimpleEngine.popen_uci(list(command), timeout=SECONDS)
    except (OSError, chess.engine.EngineError, TimeoutError) as error:
        raise UserError(f"{program} does not run as a chess engine: {error}") from None
    with engine:
        rating = engine.options.get("UCI_Elo")
        if rating is None or rating.min is None or "UCI_LimitStrength" not in engine.options:
            raise UserError(f"{program} cannot be limited to a rating (UCI_Elo)")
        engine.configure({"UCI_LimitStrength": True, "UCI_Elo": rating.min})
        yield RatedEngine(engine, engine.id.get("name", program), rating.min)
