"""Small calls of the kernels of chess; part of `small_run.py`."""

import numpy as np

from fourlab.compiled import chess

S = chess.squares()


def position() -> np.ndarray:
    """Return a position in which white can castle, promote and capture en passant."""
    board = np.zeros(chess.SIZE, np.int64)
    board[[0, 4, 7]] = [chess.ROOK, chess.KING, chess.ROOK]
    board[[56, 60, 63]] = [-chess.ROOK, -chess.KING, -chess.ROOK]
    board[[36, 49, 18]] = [chess.PAWN, chess.PAWN, chess.KNIGHT]
    board[[35, 54, 42]] = [-chess.PAWN, -chess.PAWN, -chess.BISHOP]
    board[[chess.SIDE, chess.RIGHTS, chess.PASSANT]] = [1, 15, 43]
    return board


def copied() -> list[int]:
    """Return a copy of the position."""
    board = np.zeros(chess.SIZE, np.int64)
    chess.copy_board(position(), board)
    return board.tolist()


def listed() -> list[int]:
    """Return the pseudo-legal moves."""
    moves = np.zeros(chess.MOST_MOVES, np.int64)
    return moves[: chess.list_moves(position(), S, moves)].tolist()


def appended(function: str, *arguments: object) -> list[object]:
    """Call a kernel that appends moves; return its result and the moves."""
    moves = np.zeros(30, np.int64)
    if function == "pawn":
        return [chess.add_pawn_move(moves, 0, *arguments), moves.tolist()]
    if function == "piece":
        return [chess.add_piece_moves(position(), *arguments, S, moves, 0), moves.tolist()]
    return [chess.list_passant(position(), moves, 0), moves.tolist()]


def played(move: int) -> list[object]:
    """Play a move."""
    board = position()
    return [chess.play_move(board, move), board.tolist()]


def remembered() -> np.ndarray:
    """Return a history in which a position occurs three times."""
    history = np.zeros((chess.MOST_PLIES + 1, chess.SIZE), np.int64)
    for place in (0, 2, 4):
        chess.remember(position(), S, history, place)
    return history


def rolled_out(words: int) -> tuple[int, int, int]:
    """Play a game at random."""
    numbers = np.random.default_rng(1).integers(2**32, size=words)
    return chess.chess_rollout(remembered(), 0, 0, S, numbers, 0)


CHESS_RESULTS = {
    "compiled.chess.copy_board": lambda: copied(),
    "compiled.chess.is_attacked": lambda: [
        chess.is_attacked(position(), square, by, S) for square in range(64) for by in (1, -1)
    ],
    "compiled.chess.king_of": lambda: [chess.king_of(position(), side) for side in (1, -1)],
    "compiled.chess.can_castle": lambda: [
        chess.can_castle(position(), side, right, S) for side in (1, -1) for right in (1, 2)
    ],
    "compiled.chess.add_pawn_move": lambda: [
        appended("pawn", 8, 16),
        appended("pawn", 49, 57),
    ],
    "compiled.chess.add_piece_moves": lambda: [appended("piece", origin) for origin in (0, 4, 18)],
    "compiled.chess.list_passant": lambda: appended("passant"),
    "compiled.chess.list_moves": lambda: listed(),
    "compiled.chess.play_move": lambda: [played(move) for move in listed()],
    "compiled.chess.is_legal": lambda: [
        chess.is_legal(position(), move, S, position()) for move in listed()
    ],
    "compiled.chess.is_insufficient": lambda: chess.is_insufficient(position()),
    "compiled.chess.remember": lambda: remembered()[:5].tolist(),
    "compiled.chess.is_third": lambda: [chess.is_third(remembered(), last) for last in (2, 4)],
    "compiled.chess.below": lambda: chess.below(7, np.array([2**32 - 1, 2**31]), 0),
    "compiled.chess.chess_rollout": lambda: [rolled_out(words) for words in (5, 5000)],
}
