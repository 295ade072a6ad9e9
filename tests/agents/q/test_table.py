"""Tables of learned values: lookups, and files that are whole, damaged or forged."""

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Position, Rules, UserError
from fourlab.agents.q import table as q_table
from fourlab.agents.q.table import QForm, QTable, load_table, named_table, shipped_table

SMALL = Rules.parse("4x3x3")


def table_of(form: QForm, positions: list[Position], seed: int = 0) -> QTable:
    """Return a table with random values for these positions."""
    keys = [position.canonical_key if form.mirror else position.key for position in positions]
    distinct = np.unique(keys)
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(len(distinct), form.numbers)).astype(np.float32)
    return QTable.of(form, distinct, numbers, {"seed": seed})


def random_positions(count: int, seed: int = 0) -> list[Position]:
    """Return at least `count` positions of random games."""
    rng = np.random.default_rng(seed)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position(board=SMALL)
        while position.outcome() is None:
            positions.append(position)
            position = position.play(int(rng.choice(position.legal_columns())))
    return positions


FORMS = [
    QForm(SMALL),
    QForm(SMALL, mirror=True, initial=0.1),
    QForm(SMALL, counted=True),
    QForm(SMALL, "state-action"),
    QForm(SMALL, "state-action", mirror=True, counted=True, win=2.0, loss=-3.0),
]


@pytest.mark.parametrize("form", FORMS)
def test_a_column_has_the_value_of_its_entry(form: QForm) -> None:
    """The reference searches the entries for the position or its mirror image."""
    positions = random_positions(300)
    table = table_of(form, positions[:150])
    keys, numbers = table.entries()
    entries = {int(key): row for key, row in zip(keys, numbers, strict=True)}
    for position in positions:
        values, stored = table.look_up(position)
        expected = {}
        hits = 0
        for column in position.legal_columns():
            number = 0 if form.form == "afterstate" else column
            mover = position.to_move
            state = Position(position.play(column).grid(), SMALL, to_move=mover, check_counts=False)
            if form.form == "state-action":
                state = position
            images = [
                (state, number),
                (state.mirror(), 0 if form.form == "afterstate" else SMALL.columns - 1 - column),
            ]
            row = None
            for image, place in images if form.mirror else images[:1]:
                if image.key in entries and (not form.mirror or image.key == image.canonical_key):
                    row = float(entries[image.key][place])
                    break
            hits += row is not None
            expected[column] = float(np.float32(form.initial)) if row is None else row
        assert values == expected
        assert stored == hits
        assert table.greedy(position) == max(values, key=lambda column: (values[column], -column))


def test_values_are_scaled_to_expected_results() -> None:
    table = QTable(QForm(SMALL, win=2.0, loss=-2.0))
    assert [table.scaled(value) for value in (-5, -2, 0, 1, 2, 9)] == [-1, -1, 0, 0.5, 1, 1]


@pytest.mark.parametrize("form", FORMS)
def test_a_saved_table_is_read_back(form: QForm, tmp_path: Path) -> None:
    table = table_of(form, random_positions(200))
    table.save(tmp_path / "a.q")
    again = QTable.load(tmp_path / "a.q")
    assert again.form == form
    assert again.about == {"seed": 0}
    for one, other in zip(table.entries(), again.entries(), strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    again.save(tmp_path / "b.q")
    assert (tmp_path / "a.q").read_bytes() == (tmp_path / "b.q").read_bytes()


def test_an_empty_table_is_read_back(tmp_path: Path) -> None:
    QTable(FORMS[0]).save(tmp_path / "a.q")
    assert len(QTable.load(tmp_path / "a.q")) == 0


def test_growing_changes_no_value() -> None:
    table = table_of(FORMS[0], random_positions(200))
    before = [table.look_up(position) for position in random_positions(100)]
    slots = table.slots
    while table.slots == slots:
        q_table.qtable.insert(10**6 + len(table), table.words, table.numbers, table.layout)
        table.make_room()
    assert [table.look_up(position) for position in random_positions(100)] == before


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("q") / "a.q"
    table_of(FORMS[0], random_positions(60)).save(file)
    return file.read_bytes()


def refused(data: bytes, folder: Path) -> str:
    """Return the error message for a file, which must be one line."""
    file = folder / "damaged.q"
    file.write_bytes(data)
    with pytest.raises(UserError) as error:
        QTable.load(file)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_cut_short_anywhere_is_refused(whole: bytes, tmp_path: Path) -> None:
    for length in [*range(0, 60), *range(60, len(whole), 7)]:
        assert "is not a table of values or is damaged" in refused(whole[:length], tmp_path)
    assert "damaged" in refused(whole + b"\0", tmp_path)


@given(data=st.data())
def test_a_flipped_bit_anywhere_is_detected(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    place, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    flipped = bytearray(whole)
    flipped[place] ^= 1 << bit
    assert "damaged" in refused(bytes(flipped), tmp_path_factory.getbasetemp())


def forged(
    whole: bytes, keys: np.ndarray | None = None, numbers: np.ndarray | None = None, **changed: Any
) -> bytes:
    """Return a file with changed description or contents and a valid checksum."""
    length = int.from_bytes(whole[40:44], "little")
    description = json.loads(whole[44 : 44 + length])
    first, _ = description["lengths"]
    parts = [whole[44 + length : 44 + length + first], whole[44 + length + first :]]
    if keys is not None:
        parts[0] = q_table._pack(np.diff(keys, prepend=0).astype("<i8"))
        description["entries"] = len(keys)
    if numbers is not None:
        parts[1] = q_table._pack(numbers.astype("<f4"))
    description |= {"lengths": [len(part) for part in parts], **changed}
    text = json.dumps(description).encode()
    body = len(text).to_bytes(4, "little") + text + b"".join(parts)
    return q_table.MAGIC + hashlib.sha256(body).digest() + body


def test_a_forged_file_is_refused(whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "whole.q").write_bytes(forged(whole))
    keys, numbers = QTable.load(tmp_path / "whole.q").entries()
    nan = numbers.copy()
    nan[3] = np.nan
    twice = keys.copy()
    twice[5] = twice[4]
    invalid = keys.copy()
    invalid[0] = 1
    for data, message in (
        (forged(whole, numbers=nan), "values that are not finite"),
        (forged(whole, keys=twice), "not sorted"),
        (forged(whole, keys=invalid), "invalid positions"),
        (forged(whole, keys=keys[::-1]), "not sorted"),
        (forged(whole, board="3x3x3"), "positions of another board"),
        (forged(whole, entries=10**15), "more entries than it can hold"),
        (forged(whole, entries=len(keys) + 1), "not the number it claims"),
        (forged(whole, entries=-1), "do not add up"),
        (forged(whole, lengths=[1, 2]), "do not add up"),
        (forged(whole, lengths=[-1, 2]), "do not add up"),
        (forged(whole, form="thought"), "there is no form"),
        (forged(whole, form="state-action"), "not the number it claims"),
        (forged(whole, initial=float("inf")), "rewards must be finite"),
        (forged(whole, format=99), "format 99 instead of 1"),
        (forged(whole, board=None), "damaged"),
        (forged(whole, mirror=True), "holds both"),
    ):
        assert message in refused(data, tmp_path)
    bomb = zlib.compress(bytes(50_000_000), 9)
    body = b"\2\0\0\0{}" + bomb
    assert "damaged" in refused(q_table.MAGIC + hashlib.sha256(body).digest() + body, tmp_path)


def test_missing_files_and_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*none\.q: No such file"):
        QTable.load(tmp_path / "none.q")
    with pytest.raises(UserError, match=r"cannot read .*none\.q: No such file"):
        load_table(tmp_path / "none.q")
    assert "does not begin with FOURLABQ" in refused(b"PK\3\4 something else", tmp_path)


def test_a_table_is_read_again_only_if_its_file_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "a.q"
    table_of(FORMS[0], random_positions(50), seed=1).save(file)
    first = load_table(file)
    assert load_table(file) is first
    table_of(FORMS[0], random_positions(80), seed=2).save(file)
    assert load_table(file).about == {"seed": 2}


def test_the_shipped_table_is_for_the_board_in_its_name() -> None:
    table = shipped_table()
    assert str(table.form.rules) == "5x4x4"
    assert len(table) > 100_000
    assert table.look_up(Position(board="5x4x4"))[1] == 5


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_table_keeps_the_learned_values_of_early_positions(form: QForm) -> None:
    positions = random_positions(300)
    table = table_of(form, positions)
    small = table.cut(4)
    assert small.about == {"seed": 0, "cut": 4}
    assert 0 < len(small) < len(table)
    assert table.cut(99).entries()[0].tolist() == table.entries()[0].tolist()
    # The values of a position with a column are those of the position or of the one after.
    depth = 4 if form.form == "state-action" else 3
    for position in positions:
        if position.ply <= depth:
            assert small.look_up(position) == table.look_up(position)
        else:
            assert small.look_up(position)[1] == 0


def test_a_cut_table_drops_positions_that_have_learned_nothing() -> None:
    form = QForm(SMALL, initial=0.5)
    keys = np.unique([position.key for position in random_positions(20)])
    numbers = np.full((len(keys), 1), 0.5, np.float32)
    numbers[3] = 0.25
    assert QTable.of(form, keys, numbers).cut(42).entries()[0].tolist() == [keys[3]]


@pytest.mark.parametrize("name", ["arya", "arya-faithful"])
def test_aryas_tables_are_shipped_with_their_settings(name: str) -> None:
    table = named_table(name)
    assert str(table.form.rules) == "7x6x4"
    settings = (table.about[key] for key in ("games", "seed", "alpha", "gamma", "cut"))
    assert list(settings) == [3_000_000, 0, 0.01, 0.99, 10]
    # The fault: exploration ends after a few thousand games.
    assert table.about["epsilon_least"] == (0.1 if name == "arya" else 0.0)
    assert table.look_up(Position())[1] == 7
