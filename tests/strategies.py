"""Hypothesis strategies for boards, games and positions."""

import os

from hypothesis import settings
from hypothesis import strategies as st

from fourlab import Position, Rules
from fourlab.game.geometry import MAX_BITS

FULL = os.environ.get("FOURLAB_EXAMPLES") == "all"
"""Whether property tests try all their examples, as in `make soak`."""
FEW = 40
"""The maximum number of examples of a property in `make test`."""


def examples(number: int) -> settings:
    """Return settings for this many examples in `make soak`, fewer in `make test`."""
    return settings(max_examples=number if FULL else min(number, FEW))


@st.composite
def boards(draw: st.DrawFn) -> Rules:
    """Return any allowed board, including very narrow and very flat ones."""
    columns = draw(st.integers(1, 31))
    rows = draw(st.integers(1, MAX_BITS // columns - 1))
    return Rules(columns, rows, draw(st.integers(3, 9)))


@st.composite
def usual_boards(draw: st.DrawFn) -> Rules:
    """Return a board of a common size."""
    sizes = ["7x6x4", "5x6x4", "5x2x4", "5x3x4", "5x4x4", "6x5x3", "8x6x5", "4x4x3"]
    return Rules.parse(draw(st.sampled_from(sizes)))


ANY_BOARD = st.one_of(usual_boards(), boards())


@st.composite
def games(draw: st.DrawFn, rules: st.SearchStrategy[Rules] = ANY_BOARD) -> tuple[Rules, list[int]]:
    """Return a board and a sequence of legal moves on it, possibly a whole game."""
    board = draw(rules)
    position = Position(board=board)
    moves: list[int] = []
    for _ in range(draw(st.integers(0, board.columns * board.rows))):
        if not position.legal_columns():
            break
        moves.append(draw(st.sampled_from(position.legal_columns())))
        position = position.play(moves[-1])
    return board, moves


@st.composite
def positions(draw: st.DrawFn, rules: st.SearchStrategy[Rules] = ANY_BOARD) -> Position:
    """Return a position reached by legal moves."""
    board, moves = draw(games(rules))
    position = Position(board=board)
    for column in moves:
        position = position.play(column)
    return position
