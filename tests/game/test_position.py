import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import (
    RED,
    YELLOW,
    IllegalColumn,
    ImpossiblePosition,
    Outcome,
    Position,
    Rules,
    UserError,
)
from tests.naive import NaiveGame
from tests.strategies import examples, games, positions


@examples(300)
@given(games())
def test_a_game_goes_as_on_the_naive_board(game: tuple[Rules, list[int]]) -> None:
    rules, moves = game
    naive, position = NaiveGame(rules.columns, rules.rows, rules.in_a_row), Position(board=rules)
    for column in [*moves, None]:
        assert list(position.legal_columns()) == naive.legal()
        assert (position.outcome() is not None) == naive.is_over()
        if (outcome := position.outcome()) is not None:
            assert outcome.winner == naive.winner
        assert set(position.winning_cells()) == naive.winning_cells()
        assert position.grid() == naive.grid()
        assert position.to_move == naive.to_move
        assert position.ply == sum(map(len, naive.discs))
        for open_column in position.legal_columns():
            won = position.play(open_column).winning_cells() != ()
            assert position.makes_line(open_column, position.to_move) == won
        if column is not None:
            naive.play(column)
            position = position.play(column)


@given(positions())
def test_moves_in_the_mirror_image_are_mirrored(position: Position) -> None:
    mirrored = position.mirror()
    last = position.rules.columns - 1
    assert mirrored.mirror() == position
    assert mirrored.outcome() == position.outcome()
    assert mirrored.canonical_key == position.canonical_key
    assert {last - column for column in mirrored.legal_columns()} == set(position.legal_columns())
    assert {(last - column, row) for column, row in mirrored.winning_cells()} == set(
        position.winning_cells()
    )
    for column in position.legal_columns():
        assert position.play(column).mirror() == mirrored.play(last - column)


@given(positions())
def test_swapped_colours_change_only_the_winner(position: Position) -> None:
    """The same discs in the other colours: same columns, same lines, same key, the other winner."""
    grid = [[(0, 2, 1)[cell] for cell in row] for row in position.grid()]
    swapped = Position(grid, position.rules, to_move=1 - position.to_move, check_counts=False)
    assert swapped.key == position.key
    assert swapped.legal_columns() == position.legal_columns()
    assert swapped.winning_cells() == position.winning_cells()
    outcome = position.outcome()
    other = swapped.outcome()
    assert (outcome is None) == (other is None)
    if outcome is not None and other is not None:
        assert other.score(RED) == outcome.score(YELLOW)


@given(positions())
def test_equal_positions_have_equal_hashes_whatever_their_history(position: Position) -> None:
    given_as_board = Position(position.grid(), position.rules)
    assert given_as_board == position
    assert hash(given_as_board) == hash(position)
    assert position != position.write("fen")
    for column in position.legal_columns():
        assert position.play(column) != position


@given(positions())
def test_repr_evaluates_to_the_same_position(position: Position) -> None:
    assert eval(repr(position)) == position
    without_history = Position(position.grid(), position.rules)
    assert eval(repr(without_history)) == position


@given(positions())
def test_a_position_can_be_pickled(position: Position) -> None:
    assert pickle.loads(pickle.dumps(position)) == position


def test_a_position_never_changes() -> None:
    position = Position("44")
    with pytest.raises(AttributeError, match="never changes"):
        position.red = 5
    with pytest.raises(AttributeError, match="never changes"):
        del position.red
    position.play(3)
    assert position == Position("44")


def test_different_rules_make_different_positions() -> None:
    assert Position(board="7x6x4") != Position(board="7x6x5")


@pytest.mark.parametrize(
    ("moves", "cells"),
    [
        ("1122334", {(0, 0), (1, 0), (2, 0), (3, 0)}),
        ("1212121", {(0, 0), (0, 1), (0, 2), (0, 3)}),
        ("12233434464", {(0, 0), (1, 1), (2, 2), (3, 3)}),
        ("76655454424", {(6, 0), (5, 1), (4, 2), (3, 3)}),
    ],
)
def test_four_in_a_row_wins_in_each_direction(moves: str, cells: set[tuple[int, int]]) -> None:
    position = Position(moves)
    assert position.outcome() is Outcome.RED_WINS
    assert set(position.winning_cells()) == cells
    assert Position(moves[:-1]).outcome() is None
    assert position.legal_columns() == ()


def test_a_disc_that_makes_two_lines_marks_them_both() -> None:
    before = Position(
        """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . X . . . . .
        . O X . . . .
        X X X . O O O
        """,
        check_counts=False,
        to_move=RED,
    )
    across = {(0, 0), (1, 0), (2, 0), (3, 0)}
    assert set(before.play(3).winning_cells()) == across
    diagonal = {(0, 3), (1, 2), (2, 1), (3, 0)}
    grid = before.grid()
    grid[2][0], grid[3][0], grid[4][0] = 1, 2, 2
    after = Position(grid, check_counts=False, to_move=RED).play(3)
    assert set(after.winning_cells()) == across | diagonal


def test_a_full_board_without_a_line_is_a_draw() -> None:
    position = Position("12213443", board="4x2x4")
    assert position.outcome() is Outcome.DRAW
    assert position.outcome().winner is None  # type: ignore[union-attr]
    assert position.winning_cells() == ()


def test_a_full_column_cannot_be_played() -> None:
    with pytest.raises(IllegalColumn) as error:
        Position("444444").play(3)
    assert str(error.value) == "column 3 (counted from 0) is full: Position('444444')"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8", "there is no column 8: Position('') has columns 1 to 7"),
        ("0:7", "there is no column 7 (counted from 0): Position('') has columns 0 to 6"),
        ("4444444", "column 4 is full: Position('444444')"),
        ("0:3333333", "column 3 (counted from 0) is full: Position('444444')"),
        ("ddddddd", "column 4 is full: Position('444444')"),
    ],
)
def test_errors_name_columns_as_they_were_given(text: str, message: str) -> None:
    with pytest.raises(IllegalColumn) as error:
        Position(text)
    assert str(error.value) == message


def test_a_position_draws_itself_in_notebooks() -> None:
    drawing = Position("1212121")._repr_svg_()
    assert drawing.startswith("<svg ")
    assert drawing.count('stroke-width="5"') == 4  # the winning line


@pytest.mark.parametrize("column", [-1, 7, 100])
def test_a_column_off_the_board_cannot_be_played(column: int) -> None:
    with pytest.raises(IllegalColumn, match=f"no column {column} .counted from 0."):
        Position().play(column)


def test_a_finished_game_cannot_be_continued() -> None:
    with pytest.raises(IllegalColumn, match=r"the game is over \(red wins\)"):
        Position("1212121").play(5)


@pytest.mark.parametrize(
    ("board", "why"),
    [
        ("7/7/7/7/r6/7 y 4", "floats above an empty cell in column 1"),
        ("7/7/7/7/7/rr5 r 4", "2 red and 0 yellow discs with red to move"),
        ("7/7/7/7/7/y6 r 4", "0 red and 1 yellow"),
        ("7/7/7/7/7/r6 r 4", "1 red and 0 yellow discs with red to move"),
        ("7/7/7/7/yyyy3/rrrr3 r 4", "both sides have 4 in a row"),
        ("7/7/7/7/yyy4/rrrry2 r 4", "red has won already"),
    ],
)
def test_an_impossible_board_says_why(board: str, why: str) -> None:
    with pytest.raises(ImpossiblePosition, match=why):
        Position(board)


def test_counts_can_be_waived_but_floating_discs_and_two_winners_cannot() -> None:
    assert Position("7/7/7/7/7/rrr4 y 4", check_counts=False).to_move == YELLOW
    for impossible in ("7/7/7/7/r6/7 y 4", "7/7/7/7/yyyy3/rrrr3 r 4"):
        with pytest.raises(ImpossiblePosition):
            Position(impossible, check_counts=False)


def test_the_side_to_move_can_be_set() -> None:
    grid = [[0, 0, 0, 0]] * 3 + [[1, 0, 0, 2]]
    assert Position(grid).to_move == RED
    assert Position(grid, to_move=YELLOW, check_counts=False).to_move == YELLOW
    with pytest.raises(ImpossiblePosition, match="not yellow's turn"):
        Position("44", to_move=YELLOW)


def test_a_position_can_be_made_from_a_position() -> None:
    position = Position("4453")
    assert Position(position) == position
    with pytest.raises(UserError, match="7x6x4 board, not 5x4x4"):
        Position(position, "5x4")


@pytest.mark.parametrize(
    "board",
    [
        "0x6x4",
        "7x0x4",
        "7x6x2",
        "8x7x4",
        "16x3x4",
        "1x63x3",
        "32x1x3",
        "7",
        "7x6x4x2",
        "axb",
        "",
        "-1x4",
    ],
)
def test_a_bad_board_size_is_refused(board: str) -> None:
    with pytest.raises(UserError):
        Rules.parse(board)


@pytest.mark.parametrize(
    ("board", "rules"), [("7x6x4", Rules()), ("5x4", Rules(5, 4, 4)), (" 8X6x5 ", Rules(8, 6, 5))]
)
def test_board_sizes_are_read(board: str, rules: Rules) -> None:
    assert Rules.parse(board) == rules
    assert Rules.parse(str(rules)) == rules


@given(st.sampled_from(list(Outcome)))
def test_scores_are_opposite_for_the_two_sides(outcome: Outcome) -> None:
    assert outcome.score(RED) == -outcome.score(YELLOW) == outcome.value


def test_only_mirror_images_share_a_canonical_key() -> None:
    left, right = Position("1"), Position("7")
    assert left.canonical_key == right.canonical_key == min(left.key, right.key)
    assert len({Position(str(column)).canonical_key for column in range(1, 8)}) == 4


def test_columns_may_be_numpy_integers() -> None:
    position = Position()
    for kind in (np.int64, np.int32, np.int8, np.uint8):
        played = position.play(kind(6))
        assert played == Position("7")
        assert type(played.red) is int
        assert played.write("kaggle") == Position("7").write("kaggle")
    with pytest.raises(TypeError):
        position.play(3.0)  # type: ignore[arg-type]


def test_a_hand_made_position_can_be_made_from_itself() -> None:
    hand_made = Position("7/7/7/7/7/rrr4 y 4", check_counts=False)
    assert Position(hand_made) == hand_made


def test_the_side_to_move_must_be_a_side() -> None:
    with pytest.raises(UserError, match="0 \\(red\\) or 1"):
        Position(to_move=5)


def test_very_long_lines_are_allowed_but_not_absurd_ones() -> None:
    position = Position("4", board="7x6x61")
    assert Position(position.write("fen")) == position
    assert position.winning_cells() == ()
    with pytest.raises(UserError, match="no board has room"):
        Rules(7, 6, 1000)


def test_a_board_that_is_too_large_is_refused_in_one_line() -> None:
    with pytest.raises(UserError) as error:
        Rules(8, 7)
    assert str(error.value) == "board 8x7x4 is too large: (rows + 1) * columns may be at most 63"
