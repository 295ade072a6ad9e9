"""Bhat's file format for tables of values."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from fourlab import Position, UserError
from fourlab.agents.q.table import QForm, QTable
from fourlab.agents.q.text import read_text, write_text
from fourlab.game.rules import Rules

TEXT = (
    '"((0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 1, 0, 0), (1, 0, 2, 2, 0))",0.95\n'
    '"((0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 1, 2, 0))",-2\n'
    '"((0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (2, 2, 2, 0, 0))",1.0\n'
)
"""On the last board the first player has not moved at all: in Bhat's training it may pass."""


def written(tmp_path: Path, text: str, name: str = "a.gz") -> Path:
    file = tmp_path / name
    file.write_bytes(gzip.compress(text.encode()))
    return file


def test_values_belong_to_the_positions_after_the_second_players_disc(tmp_path: Path) -> None:
    table = read_text(written(tmp_path, TEXT))
    assert str(table.form.rules) == "5x4x4"
    assert len(table) == 3
    values, stored = table.look_up(Position("3", board="5x4x4"))
    assert stored == 1
    assert values == {0: 1.0, 1: 1.0, 2: 1.0, 3: -2.0, 4: 1.0}
    assert table.look_up(Position("133", board="5x4x4"))[0][3] == pytest.approx(0.95)


def test_a_file_that_was_read_is_written_alike(tmp_path: Path) -> None:
    table = read_text(written(tmp_path, TEXT))
    assert write_text(table, tmp_path / "b.gz") == 3
    lines = gzip.decompress((tmp_path / "b.gz").read_bytes()).decode().splitlines()
    assert sorted(lines) == sorted(TEXT.replace(",-2\n", ",-2.0\n").splitlines())
    again = read_text(tmp_path / "b.gz")
    assert [part.tolist() for part in again.entries()] == [
        part.tolist() for part in table.entries()
    ]
    # The gzip header has no date, so that equal tables give equal files.
    assert (tmp_path / "b.gz").read_bytes()[4:8] == bytes(4)


@pytest.mark.parametrize("seat", ["first", "second", "both"])
@pytest.mark.parametrize("mirror", [False, True])
def test_tables_of_every_seat_are_read_back(seat: str, mirror: bool, tmp_path: Path) -> None:
    rules = Rules.parse("4x3x3")
    rng = np.random.default_rng(1)
    distinct = set()
    for _ in range(40):
        position = Position(board=rules)
        while position.outcome() is None:
            mover = position.to_move
            position = position.play(int(rng.choice(position.legal_columns())))
            if seat == "both" or mover == (seat == "second"):
                after = Position(position.grid(), rules, to_move=mover, check_counts=False)
                distinct.add(after.canonical_key if mirror else after.key)
    keys = np.array(sorted(distinct))
    numbers = rng.normal(size=(len(keys), 1)).astype(np.float32)
    form = QForm(rules, mirror=mirror, initial=1.0, win=2.0, loss=-2.0)
    table = QTable.of(form, keys, numbers, {"seat": seat})
    lines = write_text(table, tmp_path / "a.gz")
    again = read_text(tmp_path / "a.gz", seat, in_a_row=3)  # type: ignore[arg-type]
    assert len(again) == lines
    assert lines > len(table) if mirror else lines == len(table)
    if not mirror:
        assert [part.tolist() for part in again.entries()] == [
            part.tolist() for part in table.entries()
        ]
    for position in (
        Position(board=rules),
        Position("1", board=rules),
        Position("23", board=rules),
    ):
        assert again.look_up(position) == table.look_up(position)


ROW = "(0, 0, 0, 0, 0)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no positions"),
        (f'{TEXT}"(({ROW}),)",1\n', "line 4: .* is not a board of 4 rows and 5 columns"),
        (TEXT + "something\n", "line 4: 'something.*' is not a board"),
        (TEXT + TEXT.splitlines()[0] + "\n", "line 4: the position occurs twice"),
        (TEXT.replace("0.95", "nan"), "line 1: nan is not a value"),
        (TEXT.replace("0.95", "1e99"), "line 1: 1e99 is not a value"),
        (TEXT.replace("0.95", "x"), "line 1: could not convert"),
        (
            TEXT.replace("(0, 0, 1, 0, 0), (1, 0, 2", "(0, 0, 1, 0, 0), (1, 0, 0"),
            "line 1: a disc floats",
        ),
        (TEXT.replace("0, 1, 0, 0)", "0, 3, 0, 0)"), "line 1: .* is not a board"),
    ],
)
def test_malformed_lines_are_reported(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        read_text(written(tmp_path, text))


def test_without_a_seat_the_numbers_of_discs_must_show_who_moved(tmp_path: Path) -> None:
    first, second, third = TEXT.splitlines(keepends=True)
    reordered = second + first + third
    with pytest.raises(UserError, match="line 3: the numbers of discs do not show"):
        read_text(written(tmp_path, reordered), "both")
    table = read_text(written(tmp_path, TEXT))
    table.about = {}
    with pytest.raises(UserError, match="do not show who has moved"):
        write_text(table, tmp_path / "b.gz")


def test_boards_of_the_other_player_are_refused(tmp_path: Path) -> None:
    """The opponent may have passed, so the learner may have too many discs, but never too few."""
    for seat, line in (
        ("second", "(1, 0, 0, 0, 0)"),
        ("second", "(1, 2, 1, 0, 0)"),
        ("first", "(1, 2, 0, 0, 0)"),
    ):
        text = f'"({ROW}, {ROW}, {ROW}, {line})",1\n'
        with pytest.raises(
            UserError,
            match=f"line 1: by the numbers of discs the {seat} player was not the last to move",
        ):
            read_text(written(tmp_path, text), seat)  # type: ignore[arg-type]
    for seat, line in (("second", "(2, 0, 0, 0, 0)"), ("first", "(1, 1, 1, 2, 0)")):
        text = f'"({ROW}, {ROW}, {ROW}, {line})",1\n'
        assert len(read_text(written(tmp_path, text), seat)) == 1  # type: ignore[arg-type]


def test_files_that_are_missing_truncated_or_not_gzip_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text(TEXT)
    whole = written(tmp_path, TEXT).read_bytes()
    (tmp_path / "short").write_bytes(whole[:-10])
    for name in ("plain", "short", "none"):
        with pytest.raises(UserError, match=f"cannot read .*{name}"):
            read_text(tmp_path / name)


def test_tables_of_state_action_values_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has values of positions after a disc"):
        write_text(QTable(QForm(Rules.parse("4x3x3"), "state-action")), tmp_path / "a.gz")
