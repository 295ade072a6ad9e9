"""A file of games that somebody else has written is refused unless its tables are ours."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from fourlab.arena.schema import MAX_CELL_BYTES, SCHEMA, distrust
from fourlab.arena.store import DamagedStore, Store
from fourlab.errors import UserError
from tests.arena.kill_writer import game


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "games.sqlite"
    with Store(file) as store:
        store.add([game(0), game(1)])
    return file


def execute(file: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def version_1(file: Path, schema: str = SCHEMA) -> None:
    """Make a file without hashes, with a table of games of another form."""
    columns = "number, unit, red, yellow, board, start, moves, plies, result, cause, detail, seed, "
    columns += "red_seconds, yellow_seconds, thoughts, scores"
    execute(
        file,
        "ALTER TABLE games RENAME TO old",
        schema,
        f"INSERT INTO games ({columns}) SELECT {columns} FROM old",
        "DROP TABLE old",
        "DROP TABLE hashes",
        "DROP TABLE root",
        "PRAGMA user_version = 1",
    )


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE VIEW winners AS SELECT * FROM games", "it has a view 'winners'"),
        ("CREATE TABLE more (x)", "it has a table 'more'"),
        ("CREATE INDEX by_cause ON games (cause)", "it has a index 'by_cause'"),
        (
            "CREATE TRIGGER planted AFTER INSERT ON games BEGIN DELETE FROM hashes; END",
            "it has a trigger 'planted'",
        ),
        ("ALTER TABLE games ADD COLUMN more", "table 'games' was not created by Fourlab"),
        ("ALTER TABLE root ADD COLUMN more", "table 'root' was not created by Fourlab"),
        ("ALTER TABLE hashes RENAME COLUMN hash TO digest", "table 'hashes' was not created"),
    ],
)
def test_anything_but_our_tables_is_refused(
    file: Path, statement: str, reason: str, read_only: bool, check: bool
) -> None:
    execute(file, statement)
    with pytest.raises(DamagedStore) as caught:
        Store(file, read_only, check)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("result INTEGER CHECK", "result INTEGER DEFAULT 1 CHECK"),
        ("(result IN (-1, 0, 1))", "(1)"),
        ("detail TEXT NOT NULL", "detail TEXT NOT NULL COLLATE NOCASE"),
        ("scores TEXT", "scores TEXT, extra TEXT AS (upper(red)) VIRTUAL"),
    ],
)
def test_a_table_of_games_of_another_form_is_refused(file: Path, ours: str, theirs: str) -> None:
    assert ours in SCHEMA
    version_1(file, SCHEMA.replace(ours, theirs))
    with pytest.raises(DamagedStore, match="table 'games' was not created by Fourlab"):
        Store(file)


def test_a_file_of_version_1_is_read(file: Path) -> None:
    version_1(file)
    with Store(file, read_only=True) as store:
        assert not store.has_hashes
        assert len(store) == 2
    with Store(file) as store:
        assert store.has_hashes


def test_the_schema_of_a_file_is_not_trusted(file: Path) -> None:
    with Store(file) as store:
        assert store._connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


@pytest.mark.parametrize("column", ["thoughts", "red", "moves", "scores"])
def test_huge_cells_are_refused_before_they_are_read(file: Path, column: str) -> None:
    version_1(file)
    execute(file, f"UPDATE games SET {column} = printf('%.*c', {2 * MAX_CELL_BYTES}, '1')")
    with pytest.raises(DamagedStore, match="too big"):
        Store(file)  # which computes the hashes of all games
    # Thoughts are read only on request.
    with Store(file, read_only=True, check=False) as store, pytest.raises(DamagedStore):
        list(store.games(thoughts=True))


def test_texts_that_are_not_utf_8_are_damage(file: Path) -> None:
    version_1(file)
    execute(file, "UPDATE games SET detail = CAST(x'ff' AS TEXT) WHERE number = 1")
    with Store(file, read_only=True) as store, pytest.raises(DamagedStore, match="UTF-8"):
        list(store.games())


def test_a_schema_that_is_not_utf_8_is_damage(file: Path) -> None:
    data = file.read_bytes()
    assert b"plies INTEGER" in data
    file.write_bytes(data.replace(b"plies INTEGER", b"pl\xffes INTEGER"))
    for read_only in (True, False):
        with pytest.raises(DamagedStore):
            Store(file, read_only)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("number", -7),
        ("unit", -1),
        ("plies", 65),
        ("plies", -1),
        ("red_seconds", "9e999"),
        ("yellow_seconds", -0.5),
        ("moves", "'0'"),
        ("moves", "'" + "1," * 65 + "'"),
    ],
)
def test_values_that_no_game_has_are_named(file: Path, column: str, value: object) -> None:
    version_1(file)
    execute(file, f"UPDATE games SET {column} = {value} WHERE number = 1")
    with Store(file, read_only=True) as store, pytest.raises(UserError, match="is damaged"):
        list(store.games())


def test_values_that_the_table_forbids_are_damage(file: Path) -> None:
    version_1(file)
    execute(file, "PRAGMA ignore_check_constraints = 1", "UPDATE games SET result = 9")
    with pytest.raises(DamagedStore, match="CHECK constraint"):
        Store(file)
    with Store(file, read_only=True, check=False) as store, pytest.raises(UserError, match="is 9"):
        list(store.games())


def test_games_outside_a_tournament_are_found_by_their_numbers(file: Path) -> None:
    with Store(file) as store:
        assert store.number_outside(2) is None
        assert store.number_outside(1) == 1
    version_1(file)
    execute(file, f"UPDATE games SET number = {2**63 - 1} WHERE number = 0")
    with Store(file, read_only=True, check=False) as store:
        assert store.number_outside(100) is not None
    execute(file, "UPDATE games SET number = -5 WHERE number = 1")
    with Store(file, read_only=True, check=False) as store:
        assert store.number_outside(100) == -5


def test_an_empty_file_has_no_games_to_read(tmp_path: Path) -> None:
    (tmp_path / "games.sqlite").write_bytes(b"")
    with pytest.raises(UserError, match="there are no games in"):
        Store(tmp_path / "games.sqlite", read_only=True)


def test_a_connection_that_distrusts_its_file_reads_no_huge_values() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        distrust(connection)
        with pytest.raises(sqlite3.DataError, match="too big"):
            connection.execute(f"SELECT zeroblob({2 * MAX_CELL_BYTES})").fetchone()
