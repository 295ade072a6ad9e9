"""Chess as a `Game` for the textbook search: states, rollout policies, priors, an evaluation."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import chess

from fourlab.agents.mcts.textbook import Below
from fourlab.errors import UserError

VALUES = {
    chess.PAWN: 1,
    chess.KNIGHT: 3,
    chess.BISHOP: 3,
    chess.ROOK: 5,
    chess.QUEEN: 9,
    chess.KING: 0,
}
"""The usual piece values, in pawns."""
HALF = 5
"""A material lead of this many pawns has the value ½ on the scale from -1 to +1."""
EAGERNESS = 2
"""Weight of a move per pawn of profit; a quiet move has weight 1."""


@dataclass(frozen=True, eq=False)
class ChessState:
    """An immutable position with its history; legal moves are generated once and cached.

    The board must not be changed in place.
    """

    board: chess.Board
    before: "ChessState | None" = None
    """The state one move earlier, for threefold repetition."""

    @classmethod
    def of(cls, fen: str = chess.STARTING_FEN, moves: Iterable[str] = ()) -> "ChessState":
        """Return the state after some moves, written as g1f3 or Nf3, from a FEN."""
        try:
            board = chess.Board(fen)
        except ValueError as error:
            raise UserError(f"{fen!r} is not a FEN: {error}") from None
        if status := board.status():
            raise UserError(f"{fen!r} is not a legal chess position: {_words(status)}")
        # Every move is played, so that repetitions among them count.
        state = cls(board)
        for move in moves:
            state = state.play(state.read(move))
        return state

    def play(self, move: chess.Move) -> "ChessState":
        """Return the state after a legal move."""
        board = self.board.copy(stack=False)
        board.push(move)
        return ChessState(board, self)

    def read(self, text: str) -> chess.Move:
        """Return the legal move that a text such as g1f3 or Nf3 stands for."""
        # Both raise subclasses of ValueError for text that is not a legal move.
        for parse in (self.board.parse_uci, self.board.parse_san):
            try:
                if move := parse(text):  # a null move is falsy
                    return move
            except ValueError:
                continue
        raise UserError(f"{text!r} is not a legal move here")

    @cached_property
    def moves(self) -> list[chess.Move]:
        """The legal moves."""
        return list(self.board.generate_legal_moves())

    def among(self, moves: Collection[str]) -> "ChessState":
        """Return the same state restricted to some moves; to all, if none of those is legal."""
        state = ChessState(self.board, self.before)
        if allowed := [move for move in self.moves if move.uci() in moves]:
            state.__dict__["moves"] = allowed  # the cache of the property `moves`
        return state

    @cached_property
    def ending(self) -> str:
        """Why the game is over; empty while it continues. Claimable draws count as claimed."""
        board = self.board
        # `any` stops at the first legal move; most states of rollouts never need all of them.
        if not any(board.generate_legal_moves()):
            return "checkmate" if board.is_check() else "stalemate"
        if board.is_insufficient_material():
            return "insufficient material"
        # A hundred plies without a capture or a pawn move (FIDE article 9.3).
        if board.halfmove_clock >= 100:
            return "fifty moves"
        return "threefold repetition" if self._is_third() else ""

    @property
    def result(self) -> str:
        """The result in PGN notation: 1-0, 0-1, 1/2-1/2, or * while the game continues."""
        if self.ending == "checkmate":
            # The side to move is mated; `turn` is True for white.
            return "0-1" if self.board.turn else "1-0"
        return "1/2-1/2" if self.ending else "*"

    @cached_property
    def _key(self) -> tuple[object, ...]:
        """What two positions must have in common to count as repetitions (FIDE article 9.2)."""
        board = self.board
        return (
            board.pawns,
            board.knights,
            board.bishops,
            board.rooks,
            board.queens,
            board.kings,
            board.occupied_co[chess.WHITE],
            board.turn,
            board.clean_castling_rights(),
            # A square that no pawn can capture on makes no difference.
            board.ep_square if board.has_legal_en_passant() else None,
        )

    def _is_third(self) -> bool:
        """Return whether the position occurred at least twice before.

        Only positions since the last capture or pawn move can be equal, and only every second one
        has the same side to move.
        """
        state = self
        occurrences = 1
        # The clock counts plies; each step goes back two.
        for _ in range(self.board.halfmove_clock // 2):
            if state.before is None or state.before.before is None:
                break
            state = state.before.before
            # The occupancy is a cheap first test.
            if state.board.occupied == self.board.occupied and state._key == self._key:
                occurrences += 1
        return occurrences >= 3


class Chess:
    """Chess as a `Game` with uniformly random rollouts; white is side 0."""

    def to_move(self, state: ChessState) -> int:
        """Return the side to move."""
        return 0 if state.board.turn else 1

    def legal_moves(self, state: ChessState) -> Sequence[chess.Move]:
        """Return the legal moves, in python-chess's order."""
        return state.moves

    def play(self, state: ChessState, move: chess.Move) -> ChessState:
        """Return the state after a move."""
        return state.play(move)

    def score(self, state: ChessState, side: int) -> int | None:
        """Return the result for a side, +1, 0 or -1; None while the game continues."""
        if not state.ending:
            return None
        if state.ending != "checkmate":
            return 0
        # The side to move is mated.
        return -1 if side == self.to_move(state) else 1

    def random_move(self, state: ChessState, below: Below) -> chess.Move:
        """Return a legal move, chosen uniformly."""
        # Pseudo-legal: moves that may leave the king in check, which are quick to generate.
        return _sample(state.board, list(state.board.generate_pseudo_legal_moves()), below)

    def rollout_move(self, state: ChessState, below: Below) -> chess.Move:
        """Return a legal move, chosen uniformly."""
        return self.random_move(state, below)


class ChessWithCaptures(Chess):
    """Chess whose rollouts play the most profitable capture or promotion, else a random move."""

    def rollout_move(self, state: ChessState, below: Below) -> chess.Move:
        """Return the legal move with the greatest profit, or a random one if none has any."""
        board = state.board
        best_gain = 0
        best_move = None
        candidates = list(board.generate_pseudo_legal_moves())
        for move in candidates:
            gain = profit(board, move)
            # The test for check is slow, so it comes last.
            if gain > best_gain and not board.is_into_check(move):
                best_gain = gain
                best_move = move
        return best_move or _sample(board, candidates, below)


def _sample(board: chess.Board, candidates: Sequence[chess.Move], below: Below) -> chess.Move:
    """Return a random legal one of some pseudo-legal moves.

    Rejection sampling: faster than testing first which moves leave the king in check.
    """
    # Ends: states of a rollout that is not over have a legal move.
    while board.is_into_check(move := candidates[below(len(candidates))]):
        pass
    return move


def mate_in_one(state: ChessState) -> chess.Move | None:
    """Return a move that mates, None if there is none."""
    board = state.board.copy(stack=False)
    for move in state.moves:
        board.push(move)
        # Mate: in check without a legal move.
        if board.is_check() and not any(board.generate_legal_moves()):
            return move
        board.pop()
    return None


def profit(board: chess.Board, move: chess.Move) -> int:
    """Return what a capture or promotion gains, in pawns.

    The value of the moving piece is subtracted if it can be recaptured. Quiet moves have profit 0;
    so do captures en passant, for simplicity.
    """
    taken = board.piece_type_at(move.to_square)
    piece = move.promotion or board.piece_type_at(move.from_square)
    if (taken is None and move.promotion is None) or piece is None:
        return 0
    gain = VALUES[taken] if taken else 0
    if move.promotion:
        # The pawn becomes the piece.
        gain += VALUES[piece] - VALUES[chess.PAWN]
    # Pessimistic: a recapture is assumed to be possible and final.
    if board.is_attacked_by(not board.turn, move.to_square):
        gain -= VALUES[piece]
    return gain


def priors(state: ChessState, moves: Sequence[chess.Move]) -> list[float]:
    """Return priors of moves, which sum to 1 and grow with the profit."""
    weights = [1 + EAGERNESS * max(profit(state.board, move), 0) for move in moves]
    return [weight / sum(weights) for weight in weights]


def evaluate(state: ChessState) -> float:
    """Return the expected result from material alone.

    It is from the side to move's point of view, -1 to +1: lead / (|lead| + HALF), in pawns.
    """
    board = state.board
    lead = 0
    for piece, value in VALUES.items():
        # Bitboards of the pieces of one type and colour.
        own = board.pieces_mask(piece, board.turn).bit_count()
        opposing = board.pieces_mask(piece, not board.turn).bit_count()
        lead += value * (own - opposing)
    return lead / (abs(lead) + HALF)


def _words(status: chess.Status) -> str:
    """Return the names of python-chess's status flags in plain words."""
    flags = [flag for flag in chess.Status if flag & status]
    return ", ".join(str(flag.name).lower().replace("_", " ") for flag in flags)
