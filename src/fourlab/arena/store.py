"""Finished games in an SQLite file: one writer, a row for each game as soon as it is over, nothing lost in a crash.

The write-ahead log is folded into the file only as a whole and then emptied, so whatever happens to the log, what is left
is a beginning of what was written. Reading is possible at any time, also while a run goes on.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fourlab.errors import UserError
from fourlab.game.outcome import Outcome
from fourlab.game.position import Position
from fourlab.game.record import Cause, Record, Thought

VERSION = 1
ROWS_BETWEEN_FOLDS = 5000
SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    number   INTEGER PRIMARY KEY,
    unit     INTEGER NOT NULL,  -- the pair of games with swapped colours
    red      TEXT NOT NULL,
    yellow   TEXT NOT NULL,
    board    TEXT NOT NULL,
    start    TEXT NOT NULL,     -- moves from the empty board, or a FEN
    moves    TEXT NOT NULL,     -- from the start on, columns from 1, with commas
    result   INTEGER,           -- red's view: 1, 0, -1; NULL if there is none
    cause    TEXT NOT NULL,
    detail   TEXT NOT NULL,
    seed     INTEGER NOT NULL,  -- with the number, all that chance depends on
    thoughts TEXT NOT NULL,     -- JSON, for each move: value, visits, seconds
    scores   TEXT               -- JSON, the exact score of every position, once judged
)
"""


class StoreError(Exception):
    """The file could not be written or read; what was stored before is safe."""


@dataclass(frozen=True)
class Played:
    """A game in the store."""

    number: int
    unit: int
    red: str
    yellow: str
    record: Record
    seed: int
    scores: tuple[int, ...] | None = None
    """The exact score of every position of the game for its side to move, if the game has been judged."""

    @property
    def moves(self) -> str:
        """The columns played, for people."""
        return ",".join(str(column + 1) for column in self.record.columns)

    @property
    def start(self) -> str:
        """Where the game began: the moves from the empty board, or a FEN."""
        return self.record.start.write("fen" if self.record.start.moves is None else "moves")


class Store:
    """The games of one run."""

    def __init__(self, file: Path, read_only: bool = False) -> None:
        self._file, self._since_fold, self._read_only = file, 0, read_only
        if read_only and not file.exists():
            raise UserError(f"there are no games in {file.parent}")
        try:
            self._base = sqlite3.connect(f"file:{_uri(file)}?mode={'ro' if read_only else 'rwc'}", uri=True, timeout=30)
            self._base.isolation_level = None
            if not read_only:
                self._base.execute("PRAGMA journal_mode=WAL")
                self._base.execute("PRAGMA synchronous=NORMAL")
                self._base.execute("PRAGMA wal_autocheckpoint=0")
                self._base.execute(SCHEMA)
            (version,) = self._base.execute("PRAGMA user_version").fetchone()
            if not read_only:
                self._base.execute(f"PRAGMA user_version={VERSION}")
                self.fold()
        except sqlite3.Error as error:
            raise StoreError(f"cannot open {file}: {error}") from None
        if version > VERSION:
            raise UserError(f"{file} was written by a newer Fourlab")

    def add(self, games: Iterable[Played]) -> None:
        """Store finished games, all or none; once this returns they survive a crash."""
        rows = [_row(game) for game in games]
        marks = ",".join("?" * 13)
        self._write(f"INSERT OR REPLACE INTO games VALUES ({marks})", rows)

    def judge(self, number: int, scores: tuple[int, ...]) -> None:
        """Store what a game's positions are worth."""
        self._write("UPDATE games SET scores = ? WHERE number = ?", [(json.dumps(scores), number)])

    def drop_from(self, number: int) -> None:
        """Forget the games from a number on: a test was decided before them."""
        self._write("DELETE FROM games WHERE number >= ?", [(number,)])

    def _write(self, statement: str, rows: list[tuple[object, ...]]) -> None:
        try:
            self._base.execute("BEGIN IMMEDIATE")
            self._base.executemany(statement, rows)
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise StoreError(f"cannot write to {self._file}: {error}") from None
        self._since_fold += len(rows)
        if self._since_fold >= ROWS_BETWEEN_FOLDS:
            self.fold()

    def fold(self) -> None:
        """Bring the log into the file and empty it; if somebody is reading, another time."""
        self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._since_fold = 0

    def finished(self) -> set[int]:
        """The numbers of the games that need not be played again."""
        rows = self._base.execute("SELECT number FROM games WHERE cause != ?", (Cause.INTERRUPTED.value,))
        return {number for (number,) in rows}

    def games(self, where: str = "1", values: tuple[object, ...] = ()) -> Iterator[Played]:
        """The games in the order of their numbers."""
        try:
            for row in self._base.execute(f"SELECT * FROM games WHERE {where} ORDER BY number", values):
                yield _played(row)
        except sqlite3.Error as error:
            raise StoreError(f"cannot read {self._file}: {error}") from None

    def game(self, number: int) -> Played | None:
        """One game."""
        return next(self.games("number = ?", (number,)), None)

    def close(self) -> None:
        """Fold and let go."""
        try:
            if not self._read_only:
                self.fold()
        except sqlite3.Error:
            pass  # the log is read when the file is opened next
        finally:
            self._base.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _uri(file: Path) -> str:
    from urllib.parse import quote

    return quote(str(file))


def _row(game: Played) -> tuple[object, ...]:
    record = game.record
    thoughts = [[each.value, each.visits, round(each.seconds, 6)] for each in record.thoughts]
    return (
        game.number,
        game.unit,
        game.red,
        game.yellow,
        str(record.start.rules),
        game.start,
        game.moves,
        None if record.result is None else record.result.value,
        record.cause.value,
        record.detail,
        game.seed,
        json.dumps(thoughts, separators=(",", ":")),
        None if game.scores is None else json.dumps(game.scores),
    )


def _played(row: tuple[object, ...]) -> Played:
    number, unit, red, yellow, board, start, moves, result, cause, detail, seed, thoughts, scores = row
    position = Position(str(start), str(board), check_counts=False)
    columns = tuple(int(column) - 1 for column in str(moves).split(",") if column)
    record = Record(
        position,
        columns,
        None if result is None else Outcome(result),
        Cause(str(cause)),
        str(detail),
        tuple(
            Thought(value, None if visits is None else tuple(visits), seconds)
            for value, visits, seconds in json.loads(str(thoughts))
        ),
    )
    judged = None if scores is None else tuple(json.loads(str(scores)))
    return Played(int(str(number)), int(str(unit)), str(red), str(yellow), record, int(str(seed)), judged)
