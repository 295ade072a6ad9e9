"""The tables of a file of games, and what is refused in a file that somebody else has written."""

import os
import sqlite3
from pathlib import Path

MAX_CELL_BYTES = 4 << 20
"""Most bytes of a value or a row; the longest, a game's thoughts, take a few thousand."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    number INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL,
    red TEXT NOT NULL,
    yellow TEXT NOT NULL,
    board TEXT NOT NULL,
    start TEXT NOT NULL,
    moves TEXT NOT NULL,
    plies INTEGER NOT NULL,
    result INTEGER CHECK (result IN (-1, 0, 1)),
    cause TEXT NOT NULL
        CHECK (cause IN ('normal', 'illegal move', 'timeout', 'crash', 'interrupted')),
    detail TEXT NOT NULL,
    seed INTEGER NOT NULL,
    red_seconds REAL NOT NULL,
    yellow_seconds REAL NOT NULL,
    thoughts TEXT NOT NULL,
    scores TEXT
)
"""
HASHES = "CREATE TABLE IF NOT EXISTS hashes (number INTEGER PRIMARY KEY, hash BLOB NOT NULL)"
ROOT = "CREATE TABLE IF NOT EXISTS root (games INTEGER NOT NULL, hash BLOB NOT NULL)"
TABLES = {"games": SCHEMA, "hashes": HASHES, "root": ROOT}


def distrust(connection: sqlite3.Connection) -> None:
    """Prepare a connection for a file that anybody may have written."""
    # Functions with side effects are not run by the schema, and no value takes much memory.
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES)


def refuse_foreign(connection: sqlite3.Connection) -> None:
    """Raise DatabaseError if the file has anything but our tables as we create them.

    SQLite would run a trigger that somebody has planted whenever a game is stored; a generated
    column, a default or a collation of a table could change what is read.
    """
    for kind, name, statement in connection.execute("SELECT type, name, sql FROM sqlite_master"):
        if kind != "table" or name not in TABLES:
            raise sqlite3.DatabaseError(f"it has a {kind} {name!r:.40}, which is not Fourlab's")
        if _normal(statement) != _normal(TABLES[name]):
            raise sqlite3.DatabaseError(f"its table {name!r} was not created by Fourlab")


def _normal(statement: object) -> str:
    """Return an SQL statement without what SQLite leaves out, and with single spaces."""
    return " ".join(str(statement).replace("IF NOT EXISTS ", "").split())


def mode_to_read(file: Path) -> str:
    """Return the mode in which SQLite opens a file of games to read it, as written in a URI."""
    has_log, has_journal = (_is_filled(Path(f"{file}{end}")) for end in ("-wal", "-journal"))
    if not os.access(file.parent, os.W_OK):
        # SQLite cannot create its lock files here, and without a log there is no writer.
        return "ro" if has_log else "ro&immutable=1"
    # Only who may write removes the lock files that SQLite makes beside a database with a log. What
    # somebody else has left to be written into the file stays as it is.
    may_write = os.access(file, os.W_OK) and not has_log and not has_journal
    return "rw" if may_write else "ro"


def _is_filled(file: Path) -> bool:
    return file.is_file() and file.stat().st_size > 0
