"""Finished games in an SQLite file: one writer, a row for each game as soon as it is over, nothing lost in a crash.

The write-ahead log is folded into the file only as a whole and then emptied, so whatever happens to the log, what is left
is a beginning of what was written. Reading is possible at any time, also while a run goes on.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from fourlab.errors import Damaged, UserError
from fourlab.game.outcome import Outcome
from fourlab.game.position import Position
from fourlab.game.record import Cause, Record, Thought

VERSION = 1
ROWS_BETWEEN_FOLDS = 5000
PATIENCE_SECONDS = 30
RECENT = 2000
"""Games are begun in the order of their numbers, so before the last few all are there."""


class StoredGame(NamedTuple):
    """One row: a game as it is stored. Counting needs only these plain fields; `record` is the game itself."""

    number: int
    unit: int
    """The two games of one opening with swapped colours have the same unit."""
    red: str
    yellow: str
    board: str
    start: str
    """The moves from the empty board, or a FEN."""
    moves: str
    """The columns played from the start on, counted from 1, as 4453, or 10,4,3 if a column has two digits."""
    plies: int
    """How many discs were on the board at the end."""
    result: int | None
    """Red's view: 1, 0 or -1; None if there is none."""
    cause: str
    detail: str
    seed: int
    """With the number, all that chance depends on."""
    red_seconds: float
    yellow_seconds: float
    thoughts: str
    """JSON; for each move its value, visits and seconds."""
    scores: str | None = None
    """JSON; the exact score of every position for its side to move, once the game has been solved."""

    @classmethod
    def of(cls, number: int, unit: int, red: str, yellow: str, record: Record, seed: int) -> "StoredGame":
        """The row of a finished game."""
        start, thoughts = record.start, record.thoughts
        spent = [sum(each.seconds for each in thoughts[first::2]) for first in (start.to_move, 1 - start.to_move)]
        told = [[each.value, each.visits, round(each.seconds, 6)] for each in thoughts]
        return cls(
            number,
            unit,
            red,
            yellow,
            str(start.rules),
            start.write("fen" if start.moves is None else "moves"),
            write_columns(record.columns),
            start.ply + len(record.columns),
            None if record.result is None else record.result.value,
            record.cause.value,
            record.detail,
            seed,
            round(spent[0], 6),
            round(spent[1], 6),
            json.dumps(told, separators=(",", ":")),
        )

    @property
    def columns(self) -> tuple[int, ...]:
        """What was played, counted from 0."""
        return tuple(int(column) - 1 for column in (self.moves.split(",") if "," in self.moves else self.moves) if column)

    @property
    def first_to_move(self) -> int:
        """The side that moved first after the opening."""
        return self.start_position.to_move

    @property
    def start_position(self) -> Position:
        """Where the game began."""
        return Position(self.start, self.board, check_counts=False)

    @property
    def at_fault(self) -> str:
        """The agent that lost for another reason than the game, or nothing."""
        if self.cause == Cause.NORMAL or self.result is None:
            return ""
        return self.red if self.result < 0 else self.yellow

    @property
    def record(self) -> Record:
        """The game as it was played."""
        thoughts = [
            Thought(value, None if visits is None else tuple(visits), seconds)
            for value, visits, seconds in json.loads(self.thoughts or "[]")
        ]
        result = None if self.result is None else Outcome(self.result)
        return Record(self.start_position, self.columns, result, Cause(self.cause), self.detail, tuple(thoughts))

    @property
    def exact_scores(self) -> tuple[int, ...] | None:
        """The scores, if the game has been solved."""
        return None if self.scores is None else tuple(json.loads(self.scores))


SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    number INTEGER PRIMARY KEY, unit INTEGER NOT NULL, red TEXT NOT NULL, yellow TEXT NOT NULL, board TEXT NOT NULL,
    start TEXT NOT NULL, moves TEXT NOT NULL, plies INTEGER NOT NULL, result INTEGER CHECK (result IN (-1, 0, 1)),
    cause TEXT NOT NULL CHECK (cause IN ('normal', 'illegal move', 'timeout', 'crash', 'interrupted')),
    detail TEXT NOT NULL, seed INTEGER NOT NULL, red_seconds REAL NOT NULL, yellow_seconds REAL NOT NULL,
    thoughts TEXT NOT NULL, scores TEXT
)
"""
WITHOUT_THOUGHTS = ", ".join("'[]'" if name == "thoughts" else name for name in StoredGame._fields)


def write_columns(columns: Iterable[int]) -> str:
    """Columns counted from 0 as people write them."""
    numbers = [str(column + 1) for column in columns]
    if all(len(number) == 1 for number in numbers):
        return "".join(numbers)
    return ",".join(numbers) + ("," if len(numbers) == 1 else "")


class StoreError(OSError):
    """The file could not be written or read; what was stored before is safe."""


class DamagedStore(StoreError, Damaged):
    """The file was spoiled from outside, and no longer holds what was stored."""


class Store:
    """The games of one run."""

    def __init__(self, file: Path, read_only: bool = False, check: bool = True) -> None:
        """Open the file, if it can be read from end to end; a `check` takes a fifth of a second for 100,000 games."""
        self._file, self._since_fold, self._read_only, self._check = file, 0, read_only, check
        if read_only and not file.exists():
            raise UserError(f"there are no games in {file.parent}")
        address = f"file:{quote(str(file))}?mode={'ro' if read_only else 'rwc'}"
        if read_only and not os.access(file.parent, os.W_OK) and not file.with_name(f"{file.name}-wal").exists():
            address += "&immutable=1"  # where nothing can be written, nobody writes
        try:
            self._base = sqlite3.connect(address, uri=True, timeout=PATIENCE_SECONDS)
            try:
                self._set_up()
            except BaseException:
                self._base.close()
                raise
        except sqlite3.OperationalError as error:
            raise StoreError(f"cannot open {file}: {error}") from None
        except sqlite3.DatabaseError as error:
            raise DamagedStore(f"cannot open {file}: {error}") from None

    def _set_up(self) -> None:
        self._base.isolation_level = None
        (version,) = self._base.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise UserError(f"{self._file} was written by a newer Fourlab")
        if self._check:
            (verdict,) = self._base.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(f"it is damaged ({verdict})")
        if not self._read_only:
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.execute("PRAGMA wal_autocheckpoint=0")
            self._base.execute(SCHEMA)
            self._base.execute(f"PRAGMA user_version={VERSION}")
            self.fold()

    def add(self, games: Iterable[StoredGame]) -> None:
        """Store finished games, all or none; once this returns they survive a crash."""
        marks = ",".join("?" * len(StoredGame._fields))
        self._write(f"INSERT OR REPLACE INTO games VALUES ({marks})", list(games))

    def judge(self, number: int, scores: tuple[int, ...]) -> None:
        """Store what a game's positions are worth."""
        self._write("UPDATE games SET scores = ? WHERE number = ?", [(json.dumps(scores), number)])

    def drop_from(self, number: int) -> None:
        """Forget the games from a number on: a test was decided before them."""
        self._write("DELETE FROM games WHERE number >= ?", [(number,)])

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        try:
            self._base.execute("BEGIN IMMEDIATE")
            self._base.executemany(statement, rows)
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._base.rollback()
            raise StoreError(f"cannot write to {self._file}: {error}") from None
        self._since_fold += len(rows)
        if self._since_fold >= ROWS_BETWEEN_FOLDS:
            self.fold()

    def fold(self) -> None:
        """Bring the log into the file and empty it; if somebody is reading, another time."""
        try:
            self._base.execute("PRAGMA busy_timeout=0")  # a reader may take long, and nobody waits for it
            self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._base.execute(f"PRAGMA busy_timeout={1000 * PATIENCE_SECONDS}")
        except sqlite3.Error as error:
            raise StoreError(f"cannot write to {self._file}: {error}") from None
        self._since_fold = 0

    def finished(self) -> set[int]:
        """The numbers of the games that need not be played again."""
        rows = self._base.execute("SELECT number FROM games WHERE cause != ?", (Cause.INTERRUPTED.value,))
        return {number for (number,) in rows}

    def end(self) -> int:
        """The number after the last game's, 0 if there is none."""
        return self._count("SELECT ifnull(max(number) + 1, 0) FROM games")

    def progress(self) -> int:
        """How many games need not be played again, without reading them all: only the latest can have gaps among them."""
        before = max(self.end() - RECENT, 0)
        recent = "SELECT count(*) FROM games WHERE number >= ? AND cause != ?"
        return before + self._count(recent, before, Cause.INTERRUPTED.value)

    def _count(self, statement: str, *values: object) -> int:
        try:
            (count,) = self._base.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise StoreError(f"cannot read {self._file}: {error}") from None
        return int(count)

    def games(self, where: str = "1", *values: object, thoughts: bool = False) -> Iterator[StoredGame]:
        """The games in the order of their numbers; with what the agents thought only if wished, for it is much."""
        columns = "*" if thoughts else WITHOUT_THOUGHTS
        try:
            for row in self._base.execute(f"SELECT {columns} FROM games WHERE {where} ORDER BY number", values):
                yield StoredGame._make(row)
        except sqlite3.Error as error:
            raise StoreError(f"cannot read {self._file}: {error}") from None

    def game(self, number: int) -> StoredGame | None:
        """One game."""
        return next(self.games("number = ?", number, thoughts=True), None)

    def close(self) -> None:
        """Fold and let go."""
        try:
            if not self._read_only:
                self.fold()
        except StoreError:
            pass  # the log is read when the file is opened next
        finally:
            self._base.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
