"""The textbook search with compiled rollouts: the same games from the same random numbers."""

import random
from dataclasses import dataclass

import chess
import numpy as np
from numpy.typing import NDArray

from fourlab.agents.mcts.textbook import TextbookSearch
from fourlab.chess.game import Chess, ChessState
from fourlab.compiled import chess as compiled

RIGHTS = {chess.H1: 1, chess.A1: 2, chess.H8: 4, chess.A8: 8}
"""Castling rights by the square of the rook, as the compiled board writes them."""
WORDS = 4096
"""Random words that are generated at a time; a rollout of 350 plies uses about a thousand."""


class Words:
    """A source of random numbers for Python and kernels; the numbers are `random.Random`'s.

    `below(n)` equals `random.Random(seed).randrange(n)`, call by call.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.words = np.zeros(0, np.int64)
        """Numbers of 32 bits, in the order of the generator."""
        self.used = 0
        """How many of them are used."""

    def extend(self) -> None:
        """Drop the used words and generate more."""
        # The first word of a long integer is its lowest.
        more = self._random.getrandbits(32 * WORDS).to_bytes(4 * WORDS, "little")
        fresh = np.frombuffer(more, "<u4").astype(np.int64)
        self.words = np.concatenate([self.words[self.used :], fresh])
        self.used = 0

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1, each equally likely."""
        bits = n.bit_length()
        while True:
            if self.used == len(self.words):
                self.extend()
            number = int(self.words[self.used]) >> (32 - bits)
            self.used += 1
            # Rejection keeps the numbers equally likely.
            if number < n:
                return number


@dataclass
class CompiledSearch(TextbookSearch[ChessState, chess.Move]):
    """A search whose rollouts are random games without a cut, played by a kernel."""

    words: Words | None = None
    """The source of `below`."""

    def simulate(self, state: ChessState, others_turn: bool) -> float:
        """Play a rollout; return the result for the side that moved to `state`."""
        assert self.words is not None
        result, _ = rollout(state, self.words)
        return result if Chess().to_move(state) == 1 else -result


def rollout(state: ChessState, words: Words) -> tuple[int, int]:
    """Play random moves to the end; return white's result and the number of plies."""
    history = np.zeros((compiled.MOST_PLIES + 1, compiled.SIZE), np.int64)
    clock = state.board.halfmove_clock
    boards: list[NDArray[np.int64]] = []
    earlier: ChessState | None = state
    # Positions before the last capture or pawn move cannot occur again.
    while earlier is not None and len(boards) <= min(clock, compiled.MOST_PLIES):
        boards.append(as_array(earlier))
        earlier = earlier.before
    history[: len(boards)] = boards[::-1]
    while True:
        # A copy, since a rollout that runs out of words begins again.
        positions = history.copy()
        result, plies, used = compiled.chess_rollout(
            positions, len(boards) - 1, clock, compiled.squares(), words.words, words.used
        )
        if result != compiled.OUT_OF_WORDS:
            words.used = used
            return int(result), int(plies)
        words.extend()


def as_array(state: ChessState) -> NDArray[np.int64]:
    """Return a position as kernels read it; the array is cached with the state."""
    if (cached := state.__dict__.get("_array")) is not None:
        return cached  # type: ignore[no-any-return]
    board = state.board
    array = np.zeros(compiled.SIZE, np.int64)
    for piece in chess.PIECE_TYPES:
        for colour, sign in ((chess.WHITE, 1), (chess.BLACK, -1)):
            for square in chess.scan_forward(board.pieces_mask(piece, colour)):
                array[square] = sign * piece
    array[compiled.SIDE] = 1 if board.turn else -1
    rights = board.clean_castling_rights()
    array[compiled.RIGHTS] = sum(
        bit for square, bit in RIGHTS.items() if rights & chess.BB_SQUARES[square]
    )
    array[compiled.PASSANT] = compiled.NOWHERE if board.ep_square is None else board.ep_square
    state.__dict__["_array"] = array
    return array
