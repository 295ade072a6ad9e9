"""The notations: round trips, other spellings, and errors."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Position, Rules, UserError
from fourlab.game.notation import NOTATIONS
from tests.strategies import examples, positions

SEQUENCES = ("moves", "moves0", "letters")


@examples(300)
@given(positions(), st.sampled_from(list(NOTATIONS)))
def test_every_notation_is_read_back_on_its_board(position: Position, notation: str) -> None:
    if notation == "letters" and position.rules.columns > 26:
        with pytest.raises(UserError, match="no letters for"):
            position.write(notation)
        return
    text = position.write(notation)
    again = Position(text, position.rules, notation=notation)
    assert again == position
    if notation in SEQUENCES:
        assert again.moves == position.moves


@examples(300)
@given(positions(st.just(Rules())), st.sampled_from(list(NOTATIONS)))
def test_every_notation_is_recognised(position: Position, notation: str) -> None:
    assert Position(position.write(notation)) == position


@given(positions())
def test_fen_includes_the_board_size(position: Position) -> None:
    again = Position(position.write("fen"))
    assert again == position
    assert again.rules == position.rules


@given(positions(), st.sampled_from(["fen", "key", "ascii"]))
def test_hand_made_boards_keep_their_side_to_move(position: Position, notation: str) -> None:
    swapped = Position(
        position.grid(), position.rules, to_move=1 - position.to_move, check_counts=False
    )
    text = swapped.write(notation)
    assert Position(text, position.rules, notation=notation, check_counts=False) == swapped


EXAMPLES = {
    "moves": "4453",
    "moves0": "0:3342",
    "letters": "ddec",
    "kaggle": json.dumps([0] * 28 + [0, 0, 0, 2, 0, 0, 0] + [0, 0, 2, 1, 1, 0, 0]),
    "uci": ",".join("b" * 12 + "obbbbb" + "xobbbb" + "xbbbbb" + "b" * 12),
    "fen": "7/7/7/7/3y3/2yrr2 r 4",
    "ascii": "\n".join(
        [". . . . . . ."] * 4 + [". . . O . . .", ". . O X X . .", "1 2 3 4 5 6 7", "red to move"]
    ),
    "key": "key:40830a08081",
}


def test_there_is_an_example_of_every_notation() -> None:
    assert set(EXAMPLES) == set(NOTATIONS)


@pytest.mark.parametrize(("notation", "text"), list(EXAMPLES.items()))
def test_the_example_is_written_and_read(notation: str, text: str) -> None:
    assert Position("4453").write(notation) == text
    assert Position(text) == Position("4453")


@pytest.mark.parametrize(
    "text",
    [
        " 4453 ",
        "4 4 5 3",
        "4,4,5,3",
        "DDEC",
        "7/7/7/7/3y3/2yrr2",
        "7/7/7/7/3y3/2yrr2 r",
        EXAMPLES["uci"] + ",win",
        EXAMPLES["uci"].replace(",", ", "),
        "|.......|\n" * 4 + "|...o...|\n|..oxx..|\n+-------+\n",
        "0 0 0 0 0 0 0\n" * 4 + "0 0 0 2 0 0 0\n0 0 2 1 1 0 0",
        "KEY:40830A08081".replace("KEY", "key"),
    ],
)
def test_other_spellings_are_understood(text: str) -> None:
    assert Position(text) == Position("4453")


def test_python_lists_are_understood() -> None:
    position = Position("4453")
    assert Position(json.loads(position.write("kaggle"))) == position
    assert Position(position.grid()) == position
    assert Position(tuple(map(tuple, position.grid()))) == position


def test_drawings_and_grids_include_the_board_size() -> None:
    assert Position(". . .\nX O .").rules == Rules(3, 2, 4)
    assert Position([[0, 0, 0], [1, 2, 0]], "3x2x3").rules == Rules(3, 2, 3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4453x", "neither a notation nor a name"),
        ("0123", "columns count from 1"),
        ("8", "no column 8"),
        ("0:7", "no column 7 .counted from 0."),
        ("ddz", "neither columns a to g nor a name"),
        ("no-such-name", "vannucci-abril"),
        ("[1, 2", "neither a notation nor a name"),
        ("[1, 2]", "has 42 cells, the list has 2"),
        ("[" + "7," * 41 + "7]", "a cell is 0"),
        ('["x"' + ",0" * 41 + "]", "a cell is 0"),
        ("b,x", "has 42 cells, the line has 2"),
        ("7/7/7/7/7/6 r 4", "same number of cells"),
        ("99999999999/7 r 4", "too long"),
        ("7/7/7/7/7/7 r 2", "at least three in a row"),
        ("X . Q\n. . .", "not 'Q'"),
        ("key:0", "not the key"),
        ("key:ffffffffffffffff", "not the key"),
        ("5" * 5000, "column 5 is full"),
        ("[1.0" + ",0" * 41 + "]", "a cell is 0"),
        ("[" * 50_000 + "]" * 50_000, "cannot read the list"),
        ("1," + "9" * 5000, "no such column"),
        ("0:1," + "9" * 5000, "no such column"),
        ("9" * 5000 + "/7 r 4", "too long"),
    ],
)
def test_bad_texts_are_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(UserError, match=why) as refusal:
        Position(text)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_user_error(text: str) -> None:
    for notation in (None, *NOTATIONS):
        try:
            Position(text, notation=notation)
        except UserError as refusal:
            assert "\n" not in str(refusal)


def test_a_text_that_is_not_in_the_named_notation_is_refused() -> None:
    with pytest.raises(UserError, match="not written in the notation 'uci'"):
        Position("4453", notation="uci")
    with pytest.raises(UserError, match="unknown notation 'pgn'; there are moves"):
        Position("4453", notation="pgn")
    assert Position("3342", notation="moves0") == Position("4453")


def test_a_board_of_another_size_is_refused() -> None:
    with pytest.raises(UserError, match=r"board given is 7x6, but 5x4x4"):
        Position("7/7/7/7/7/7", "5x4")
    with pytest.raises(UserError, match=r"4 in a row, but 7x6x5"):
        Position("7/7/7/7/7/7 r 4", "7x6x5")


def test_a_position_set_up_as_a_board_has_no_moves_to_write() -> None:
    with pytest.raises(UserError, match="not known"):
        Position("vannucci-abril").write("moves")


def test_on_wide_boards_spaces_separate_the_columns() -> None:
    assert Position("11 12", "12x4").moves == (10, 11)
    assert Position("11,12", "12x4").moves == (10, 11)
    assert Position("0:10 11", "12x4").moves == (10, 11)
    assert Position("44 53").moves == (3, 3, 4, 2)
    with pytest.raises(UserError, match="separate the columns by commas"):
        Position("10", "12x4")


def test_numpy_boards_are_understood() -> None:
    import numpy as np

    position = Position("4453")
    assert Position(np.array(position.grid())) == position
    assert Position(np.array(position.grid()).ravel()) == position


def test_a_printed_board_can_be_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    from fourlab.cli.board import print_board

    for moves in ("4453", "1212121"):
        print_board(Position(moves))
        assert Position(capsys.readouterr().out) == Position(moves)


def test_two_columns_of_discs_are_not_taken_for_column_numbers() -> None:
    assert Position("0 0\n1 2").rules == Rules(2, 2, 4)
    assert Position(str(Position("12", "2x2"))) == Position("12", "2x2")
