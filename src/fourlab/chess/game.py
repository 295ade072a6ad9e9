"""Chess as a game that the textbook's search can play: its states, and what a beginner sees in a state and in a move."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import chess

from fourlab.agents.mcts.textbook import Below
from fourlab.errors import UserError

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
"""What the pieces are worth."""
HALF = 5
"""A lead of so many pawns counts as half a win."""
EAGERNESS = 2
"""By how much each pawn of profit makes a move more promising; a quiet move has 1."""


@dataclass(frozen=True, eq=False)
class ChessState:
    """A position with what came before it. Nobody plays on its board: a state is a value, and its moves are found only once."""

    board: chess.Board
    before: "ChessState | None" = None

    @classmethod
    def of(cls, fen: str = chess.STARTING_FEN, moves: Iterable[str] = ()) -> "ChessState":
        """The state after some moves, written as g1f3 or as Nf3, from a position."""
        try:
            board = chess.Board(fen)
        except ValueError as error:
            raise UserError(f"{fen!r} is not a FEN: {error}") from None
        if status := board.status():
            raise UserError(f"{fen!r} is not a position of chess: {_words(status)}")
        state = cls(board)
        for move in moves:
            state = state.play(state.read(move))
        return state

    def play(self, move: chess.Move) -> "ChessState":
        """The state after a legal move."""
        board = self.board.copy(stack=False)
        board.push(move)
        return ChessState(board, self)

    def read(self, text: str) -> chess.Move:
        """The legal move that a text means, be it written as g1f3 or as Nf3."""
        for read in (self.board.parse_uci, self.board.parse_san):
            try:
                if move := read(text):  # a null move is false
                    return move
            except ValueError:
                continue
        raise UserError(f"{text!r} is not a legal move here")

    @cached_property
    def moves(self) -> list[chess.Move]:
        """The legal moves."""
        return list(self.board.generate_legal_moves())

    def among(self, moves: Collection[str]) -> "ChessState":
        """The same state for who may choose between some of its moves only; between all, if none of those is legal."""
        state = ChessState(self.board, self.before)
        if some := [move for move in self.moves if move.uci() in moves]:
            state.__dict__["moves"] = some  # where `moves` remembers them
        return state

    @cached_property
    def ending(self) -> str:
        """Why the game is over, or nothing while it goes on. A draw that may be claimed is claimed."""
        board = self.board
        if not any(board.generate_legal_moves()):  # one is enough to know; most states of rollouts never need them all
            return "checkmate" if board.is_check() else "stalemate"
        if board.is_insufficient_material():
            return "insufficient material"
        if board.halfmove_clock >= 100:
            return "fifty moves"
        return "threefold repetition" if self._is_third() else ""

    @property
    def result(self) -> str:
        """The result as chess players write it: 1-0, 0-1, 1/2-1/2, or * while the game goes on."""
        if self.ending == "checkmate":
            return "0-1" if self.board.turn else "1-0"
        return "1/2-1/2" if self.ending else "*"

    @cached_property
    def _key(self) -> tuple[object, ...]:
        """What must be the same for a position to be the same."""
        b = self.board
        pieces = b.pawns, b.knights, b.bishops, b.rooks, b.queens, b.kings, b.occupied_co[chess.WHITE]
        return *pieces, b.turn, b.clean_castling_rights(), b.ep_square if b.has_legal_en_passant() else None

    def _is_third(self) -> bool:
        """Whether the position was there twice before, which must have been since the last capture or pawn's move."""
        state, times = self, 1
        for _ in range(self.board.halfmove_clock // 2):
            if state.before is None or state.before.before is None:
                break
            state = state.before.before
            times += state.board.occupied == self.board.occupied and state._key == self._key  # the first is quickly compared
        return times >= 3


class Chess:
    """Chess as a `Game`; white is side 0."""

    def to_move(self, state: ChessState) -> int:
        """The side to move."""
        return 0 if state.board.turn else 1

    def legal_moves(self, state: ChessState) -> Sequence[chess.Move]:
        """The legal moves, in python-chess's order."""
        return state.moves

    def play(self, state: ChessState, move: chess.Move) -> ChessState:
        """Make a move."""
        return state.play(move)

    def score(self, state: ChessState, side: int) -> int | None:
        """The result for a side."""
        if not state.ending:
            return None
        if state.ending != "checkmate":
            return 0
        return -1 if side == self.to_move(state) else 1

    def random_move(self, state: ChessState, below: Below) -> chess.Move:
        """Any legal move, all with the same chance."""
        return _draw(state.board, list(state.board.generate_pseudo_legal_moves()), below)

    def rollout_move(self, state: ChessState, below: Below) -> chess.Move:
        """Rollouts are uniformly random."""
        return self.random_move(state, below)


class ChessWithCaptures(Chess):
    """Rollouts take what is taken with a profit, the greatest first; else they are random."""

    def rollout_move(self, state: ChessState, below: Below) -> chess.Move:
        """Look for the most profitable move."""
        board, best, chosen = state.board, 0, None
        candidates = list(board.generate_pseudo_legal_moves())
        for move in candidates:
            if (gain := profit(board, move)) > best and not board.is_into_check(move):
                best, chosen = gain, move
        return chosen or _draw(board, candidates, below)


def _draw(board: chess.Board, candidates: Sequence[chess.Move], below: Below) -> chess.Move:
    """Draw until a move is legal: quicker than to ask first which ones leave the king in check."""
    while board.is_into_check(move := candidates[below(len(candidates))]):
        pass
    return move


def mate_in_one(state: ChessState) -> chess.Move | None:
    """A move that mates, if there is one."""
    board = state.board.copy(stack=False)
    for move in state.moves:
        board.push(move)
        if board.is_check() and not any(board.generate_legal_moves()):
            return move
        board.pop()
    return None


def profit(board: chess.Board, move: chess.Move) -> int:
    """What a capture or a promotion wins, in pawns, less the piece that moves if it can be taken back; 0 for other moves.

    Taking en passant counts as a quiet move.
    """
    taken, piece = board.piece_type_at(move.to_square), move.promotion or board.piece_type_at(move.from_square)
    if (taken is None and move.promotion is None) or piece is None:
        return 0
    gain = (VALUES[taken] if taken else 0) + (VALUES[piece] - VALUES[chess.PAWN] if move.promotion else 0)
    return gain - VALUES[piece] if board.is_attacked_by(not board.turn, move.to_square) else gain


def priors(state: ChessState, moves: Sequence[chess.Move]) -> list[float]:
    """How promising moves look: the more, the greater their profit."""
    weights = [1 + EAGERNESS * max(profit(state.board, move), 0) for move in moves]
    return [weight / sum(weights) for weight in weights]


def judge(state: ChessState) -> float:
    """The result to be expected for the side to move, -1 to +1, by the values of the pieces alone."""
    board, lead = state.board, 0
    own, other = board.turn, not board.turn
    for piece, value in VALUES.items():
        lead += value * (board.pieces_mask(piece, own).bit_count() - board.pieces_mask(piece, other).bit_count())
    return lead / (abs(lead) + HALF)


def _words(status: chess.Status) -> str:
    return ", ".join(str(each.name).lower().replace("_", " ") for each in chess.Status if each & status)
