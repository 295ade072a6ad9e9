"""Compiled rollouts of chess: the games that plain Python plays, from the same random numbers."""

import random

import chess
import numpy as np
import pytest

from fourlab.agents.mcts.textbook import TextbookSearch
from fourlab.chess.game import Chess, ChessState
from fourlab.chess.rollouts import CompiledSearch, Words, as_array, rollout
from fourlab.compiled import chess as compiled

FENS = (
    chess.STARTING_FEN,
    "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "7k/PPP5/8/8/8/8/ppp5/7K w - - 0 1",
    "8/8/8/K1pP3r/8/8/8/4k3 w - c6 0 1",  # the capture en passant would expose the king
    "8/8/8/2pP4/1K6/8/8/4k3 w - c6 0 1",  # it ends a check
    "4k3/8/8/8/8/8/8/R3K2r w Q - 0 1",
    "8/8/4k3/8/8/3N1K2/8/6b1 b - - 90 80",
    "4k3/8/8/2b5/8/8/8/2B1K3 w - - 10 40",
)


def as_number(move: chess.Move) -> int:
    return move.from_square + 64 * move.to_square + 4096 * (move.promotion or 0)


@pytest.mark.parametrize("fen", FENS)
def test_moves_and_positions_are_python_chess_s(fen: str) -> None:
    chance = random.Random(1)
    tables = compiled.squares()
    moves = np.zeros(compiled.MOST_MOVES, np.int64)
    for _ in range(6):
        state = ChessState.of(fen)
        while not state.ending:
            board = state.board
            array = as_array(state)
            expected = list(board.generate_pseudo_legal_moves())
            count = compiled.list_moves(array, tables, moves)
            assert moves[:count].tolist() == list(map(as_number, expected)), board.fen()
            scratch = array.copy()
            legal = [compiled.is_legal(array, moves[i], tables, scratch) for i in range(count)]
            assert legal == [not board.is_into_check(move) for move in expected], board.fen()
            assert compiled.is_insufficient(array) == board.is_insufficient_material()
            move = chance.choice(state.moves)
            after = array.copy()
            assert compiled.play_move(after, as_number(move)) == board.is_zeroing(move)
            state = state.play(move)
            assert (after == as_array(state)).all(), (board.fen(), move)


@pytest.mark.parametrize("fen", FENS)
def test_rollouts_are_those_of_plain_python(fen: str) -> None:
    """Both start in the middle of a game, whose positions count as repetitions."""
    chance = random.Random(2)
    lengths = set()
    for seed in range(6):
        state = ChessState.of(fen)
        for _ in range(chance.randrange(40)):
            after = state.play(chance.choice(state.moves))
            if after.ending:
                break
            state = after
        if state.ending:
            continue
        words = Words(seed)
        result, plies = rollout(state, words)
        below = random.Random(seed).randrange
        end = state
        length = 0
        while not end.ending:
            end = end.play(Chess().random_move(end, below))
            length += 1
        assert (result, plies) == (Chess().score(end, 0), length)
        # Both have used the same random numbers.
        assert [words.below(1000) for _ in range(20)] == [below(1000) for _ in range(20)]
        lengths.add(length)
    assert len(lengths) > 1 or fen.startswith("4k3/8/8/2b5")


def test_positions_before_the_rollout_count_as_repetitions() -> None:
    there_and_back = ["Ra2", "Kd8", "Ra1", "Ke8"]
    state = ChessState.of("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", (there_and_back * 2)[:-1])
    assert not state.ending
    draws = 0
    for seed in range(40):
        result, plies = rollout(state, Words(seed))
        # The move back to e8 repeats the position for the third time.
        draws += plies == 1 and result == 0
    assert 0 < draws < 40


@pytest.mark.parametrize("seed", range(3))
def test_the_search_is_the_textbook_s(seed: int) -> None:
    state = ChessState.of(moves=["e4", "d5", "e5", "f5"])
    words = Words(seed)
    fast = CompiledSearch(Chess(), words.below, 2.0, words=words).search(state, 25)
    slow = TextbookSearch(Chess(), random.Random(seed).randrange, 2.0).search(state, 25)
    statistics = [
        [(edge.move, edge.visits, edge.total) for edge in root.edges] for root in (fast, slow)
    ]
    assert statistics[0] == statistics[1]


@pytest.mark.parametrize("n", [1, 2, 3, 20, 64, 1000])
def test_words_are_the_numbers_of_python_s_generator(n: int) -> None:
    words = Words(7)
    below = random.Random(7).randrange
    # More numbers than are generated at a time.
    assert [words.below(n) for _ in range(10_000)] == [below(n) for _ in range(10_000)]
