"""Random chess games, compiled: the rollouts of Arya's chess player.

Moves are generated in python-chess's order and chosen by the same random numbers, so a compiled
game is the one that `fourlab.chess.game.Chess` plays (`tests/chess/test_rollouts.py`).

A position is an array of SIZE numbers: pieces by square (a1 = 0, b1 = 1, …, h8 = 63), then the side
to move, castling rights and the square of a capture en passant. White's pieces are PAWN to KING,
black's are negative, and an empty square is 0.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fourlab.compiled._jit import kernel

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(1, 7)
SIDE = 64
"""Index of the side to move: +1 white, -1 black."""
RIGHTS = 65
"""Index of the castling rights, a sum of: 1 white h-side, 2 white a-side, 4 and 8 black's."""
PASSANT = 66
"""Index of the square behind a pawn that has just moved two squares; NOWHERE if there is none."""
SIZE = 67
NOWHERE = -1
MOST_MOVES = 256
"""No position has more pseudo-legal moves; 218 is the most that are legal."""
MOST_PLIES = 100
"""Plies without a capture or a pawn move that are a draw (FIDE article 9.3)."""
OUT_OF_WORDS = 2
"""In place of a result: the random numbers did not suffice."""

Board = NDArray[np.int64]
Moves = NDArray[np.int64]
"""Every move is its origin + 64 * target + 4096 * the piece of a promotion."""


class Squares(NamedTuple):
    """Squares that a piece can reach, by its own square; rows end with NOWHERE."""

    rays: NDArray[np.int64]
    """By square, direction (four straight ones, then four diagonal ones) and distance."""
    knights: NDArray[np.int64]
    """In descending order."""
    kings: NDArray[np.int64]


@cache
def squares() -> Squares:
    """Return the tables of the 8 x 8 board."""
    straight = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    diagonal = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    jumps = [(file, 3 - abs(file)) for file in (-2, -1, 1, 2)]
    jumps += [(file, -rank) for file, rank in jumps]
    rays = np.full((64, 8, 8), NOWHERE, np.int64)
    steps = np.full((2, 64, 9), NOWHERE, np.int64)
    for square in range(64):
        file, rank = square % 8, square // 8
        for direction, (right, up) in enumerate(straight + diagonal):
            for distance in range(1, 8):
                x, y = file + distance * right, rank + distance * up
                if 0 <= x < 8 and 0 <= y < 8:
                    rays[square, direction, distance - 1] = 8 * y + x
        for table, offsets in zip(steps, (jumps, straight + diagonal), strict=True):
            targets = [
                8 * (rank + up) + file + right
                for right, up in offsets
                if 0 <= file + right < 8 and 0 <= rank + up < 8
            ]
            table[square, : len(targets)] = sorted(targets, reverse=True)
    return Squares(rays, steps[0], steps[1])


@kernel
def copy_board(board: Board, target: Board) -> None:
    """Copy a position; a slice assignment would take longer to compile."""
    for index in range(SIZE):
        target[index] = board[index]


@kernel
def is_attacked(board: Board, square: int, by: int, s: Squares) -> bool:
    """Return whether a side, +1 or -1, attacks a square."""
    for i in range(9):
        origin = s.knights[square, i]
        if origin == NOWHERE:
            break
        if board[origin] == KNIGHT * by:
            return True
    for direction in range(8):
        slider = ROOK if direction < 4 else BISHOP
        for distance in range(8):
            origin = s.rays[square, direction, distance]
            if origin == NOWHERE:
                break
            piece = board[origin] * by
            if piece == 0:
                continue
            if piece in (slider, QUEEN) or (distance == 0 and piece == KING):
                return True
            # Pawns attack forwards: they stand a rank nearer to their own side.
            if distance == 0 and direction >= 4 and piece == PAWN and (square - origin) * by > 0:
                return True
            break
    return False


@kernel
def king_of(board: Board, side: int) -> int:
    """Return the square of a side's king."""
    square = 0
    while board[square] != KING * side:
        square += 1
    return square


@kernel
def can_castle(board: Board, side: int, right: int, s: Squares) -> bool:
    """Return whether a side may castle with one of its rooks; `right` is 1 (h-side) or 2."""
    bit = right if side == 1 else 4 * right
    if not board[RIGHTS] & bit:
        return False
    king = 4 if side == 1 else 60
    first, last = (king + 1, king + 2) if right == 1 else (king - 3, king - 1)
    for square in range(first, last + 1):
        if board[square] != 0:
            return False
    # The king must not be in check, nor pass or reach an attacked square.
    step = 1 if right == 1 else -1
    attacked = 0
    for distance in range(3):
        attacked += is_attacked(board, king + step * distance, -side, s)
    return attacked == 0


@kernel
def add_pawn_move(moves: Moves, count: int, origin: int, target: int) -> int:
    """Append a pawn's move, or four of them if it promotes; return the number of moves."""
    if 8 <= target < 56:
        moves[count] = origin + 64 * target
        return count + 1
    for piece in range(QUEEN, PAWN, -1):
        moves[count] = origin + 64 * target + 4096 * piece
        count += 1
    return count


@kernel
def add_piece_moves(board: Board, origin: int, s: Squares, moves: Moves, count: int) -> int:
    """Append the moves of a piece other than a pawn, highest target first."""
    side = board[SIDE]
    piece = board[origin] * side
    if piece in (KNIGHT, KING):
        for i in range(9):
            target = s.knights[origin, i] if piece == KNIGHT else s.kings[origin, i]
            if target == NOWHERE:
                break
            if board[target] * side <= 0:
                moves[count] = origin + 64 * target
                count += 1
        return count
    begin = count
    for direction in range(4 if piece == BISHOP else 0, 4 if piece == ROOK else 8):
        for distance in range(8):
            target = s.rays[origin, direction, distance]
            if target == NOWHERE or board[target] * side > 0:
                break
            move = origin + 64 * target
            # Insertion sort: rays come one after the other.
            place = count
            while place > begin and moves[place - 1] < move:
                moves[place] = moves[place - 1]
                place -= 1
            moves[place] = move
            count += 1
            if board[target] != 0:
                break
    return count


@kernel
def list_passant(board: Board, moves: Moves, count: int) -> int:
    """Append the captures en passant."""
    target = board[PASSANT]
    if target == NOWHERE:
        return count
    side = board[SIDE]
    # The higher of two capturing pawns first.
    for offset in (1, -1):
        file = target % 8 + offset
        origin = target - 8 * side + offset
        if 0 <= file < 8 and board[origin] == PAWN * side:
            moves[count] = origin + 64 * target
            count += 1
    return count


@kernel
def list_moves(board: Board, s: Squares, moves: Moves) -> int:
    """Write the pseudo-legal moves in python-chess's order; return their number."""
    side = board[SIDE]
    count = 0
    for origin in range(63, -1, -1):
        if board[origin] * side > PAWN:
            count = add_piece_moves(board, origin, s, moves, count)
    king = 4 if side == 1 else 60
    for right in (1, 2):
        if can_castle(board, side, right, s):
            moves[count] = king + 64 * (king + 2 if right == 1 else king - 2)
            count += 1
    for origin in range(63, -1, -1):
        if board[origin] == PAWN * side:
            for offset in (1, -1):
                file = origin % 8 + offset
                target = origin + 8 * side + offset
                if 0 <= file < 8 and board[target] * side < 0:
                    count = add_pawn_move(moves, count, origin, target)
    for target in range(63, -1, -1):
        origin = target - 8 * side
        if board[target] == 0 and 0 <= origin < 64 and board[origin] == PAWN * side:
            count = add_pawn_move(moves, count, origin, target)
    # Both of these ranks run from the higher square to the lower.
    begin = 24 if side == 1 else 32
    for target in range(begin + 7, begin - 1, -1):
        origin = target - 16 * side
        is_free = board[target] == 0 and board[target - 8 * side] == 0
        if is_free and board[origin] == PAWN * side:
            moves[count] = origin + 64 * target
            count += 1
    return list_passant(board, moves, count)


@kernel
def play_move(board: Board, move: int) -> bool:
    """Play a pseudo-legal move; return whether it captures or moves a pawn."""
    origin = move & 63
    target = (move >> 6) & 63
    promotion = move >> 12
    side = board[SIDE]
    piece = board[origin] * side
    is_capture = board[target] != 0
    board[origin] = 0
    board[target] = side * (promotion if promotion else piece)
    if piece == PAWN and target == board[PASSANT] and (target - origin) % 8 != 0:
        board[target - 8 * side] = 0
    if piece == KING and abs(target - origin) == 2:
        # Castling: the rook jumps over the king.
        corner = origin + 3 if target > origin else origin - 4
        board[corner] = 0
        board[(origin + target) // 2] = ROOK * side
    board[PASSANT] = NOWHERE
    if piece == PAWN and abs(target - origin) == 16:
        board[PASSANT] = (origin + target) // 2
    # Rights end when the king or the rook moves, or the rook is taken.
    lost = 0
    for square in (origin, target):
        if square == 4 or square == 7:
            lost |= 1
        if square == 4 or square == 0:
            lost |= 2
        if square == 60 or square == 63:
            lost |= 4
        if square == 60 or square == 56:
            lost |= 8
    board[RIGHTS] &= 15 - lost
    board[SIDE] = -side
    return bool(is_capture or piece == PAWN)


@kernel
def is_legal(board: Board, move: int, s: Squares, scratch: Board) -> bool:
    """Return whether a pseudo-legal move leaves its own king safe."""
    copy_board(board, scratch)
    play_move(scratch, move)
    return not is_attacked(scratch, king_of(scratch, board[SIDE]), -board[SIDE], s)


@kernel
def is_insufficient(board: Board) -> bool:
    """Return whether neither side has the material to mate, as python-chess defines it."""
    white_knights = black_knights = white_bishops = black_bishops = dark = light = 0
    for square in range(64):
        piece = abs(board[square])
        if piece in (PAWN, ROOK, QUEEN):
            return False
        if piece == KNIGHT:
            white_knights += board[square] > 0
            black_knights += board[square] < 0
        elif piece == BISHOP:
            white_bishops += board[square] > 0
            black_bishops += board[square] < 0
            is_dark = (square // 8 + square % 8) % 2 == 0
            dark += is_dark
            light += not is_dark
    knights = white_knights + black_knights
    if knights:
        # Only a single knight against a bare king.
        return bool(knights + white_bishops + black_bishops == 1)
    return dark == 0 or light == 0


@kernel
def remember(board: Board, s: Squares, history: NDArray[np.int64], place: int) -> None:
    """Write a position into the history; a capture en passant counts only if it is legal."""
    copy_board(board, history[place])
    if board[PASSANT] == NOWHERE:
        return
    moves = np.empty(2, np.int64)
    scratch = np.empty(SIZE, np.int64)
    count = list_passant(board, moves, 0)
    history[place, PASSANT] = NOWHERE
    for i in range(count):
        if is_legal(board, moves[i], s, scratch):
            history[place, PASSANT] = board[PASSANT]


@kernel
def is_third(history: NDArray[np.int64], last: int) -> bool:
    """Return whether the last position of a history occurred at least twice before."""
    occurrences = 1
    # Every second position has the same side to move.
    for place in range(last - 2, -1, -2):
        index = 0
        while index < SIZE and history[place, index] == history[last, index]:
            index += 1
        if index == SIZE:
            occurrences += 1
    return occurrences >= 3


@kernel
def below(n: int, words: NDArray[np.int64], used: int) -> tuple[int, int]:
    """Return a number from 0 to n - 1 and how many words are used then, as `random.Random` does.

    The number is OUT_OF_WORDS below 0 if the words do not suffice.
    """
    bits = 0
    while n >> bits:
        bits += 1
    while used < len(words):
        number = words[used] >> (32 - bits)
        used += 1
        if number < n:
            return number, used
    return -OUT_OF_WORDS, used


@kernel
def chess_rollout(
    history: NDArray[np.int64],
    last: int,
    clock: int,
    s: Squares,
    words: NDArray[np.int64],
    used: int,
) -> tuple[int, int, int]:
    """Play random moves from the last position of a history to the end of the game.

    `clock` counts the plies since the last capture or pawn move; the history has the positions
    since then, as far as they are known, and room for MOST_PLIES + 1. Returns the result from
    white's point of view or OUT_OF_WORDS, the plies played and the number of words used.
    """
    board = np.empty(SIZE, np.int64)
    scratch = np.empty(SIZE, np.int64)
    moves = np.empty(MOST_MOVES, np.int64)
    for place in range(last + 1):
        copy_board(history[place], board)
        remember(board, s, history, place)
    plies = 0
    while True:
        count = list_moves(board, s, moves)
        legal = 0
        while legal < count and not is_legal(board, moves[legal], s, scratch):
            legal += 1
        side = int(board[SIDE])
        if legal == count:
            in_check = is_attacked(board, king_of(board, side), -side, s)
            return (-side if in_check else 0), plies, used
        if is_insufficient(board) or clock >= MOST_PLIES or is_third(history, last):
            return 0, plies, used
        # Rejection sampling, as in plain Python.
        while True:
            choice, used = below(count, words, used)
            if choice < 0:
                return OUT_OF_WORDS, plies, used
            if is_legal(board, moves[choice], s, scratch):
                break
        if play_move(board, moves[choice]):
            clock = 0
            last = 0
        else:
            clock += 1
            last += 1
        plies += 1
        remember(board, s, history, last)


def warm_up() -> None:
    """Compile the kernels: play one move from a position with two kings and a pawn."""
    history = np.zeros((MOST_PLIES + 1, SIZE), np.int64)
    history[0, [4, 12, 60]] = [KING, PAWN, -KING]
    history[0, [SIDE, PASSANT]] = [1, NOWHERE]
    chess_rollout(history, 0, 0, squares(), np.zeros(1, np.int64), 0)
