"""Finished games in an SQLite file: one writer, one row per game, nothing lost in a crash.

The file is in WAL mode: writes go to a write-ahead log first. The log is copied into the file
(a checkpoint) only as a whole and then truncated, so if the log is lost or cut off, what remains is
a prefix of what was written. Readers can open the file at any time, also while a run is writing.

Every game has a hash, and the sum of all hashes is stored with their number (`hashes.py`), so that
damage and careless edits are noticed when the file is opened.
"""

import json
import math
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from fourlab.arena.hashes import Flaw, Root, flaws, row_hash
from fourlab.arena.replay import first_impossible
from fourlab.arena.schema import TABLES, distrust, mode_to_read, refuse_foreign
from fourlab.errors import Damaged, UserError
from fourlab.files import require_regular
from fourlab.game.outcome import Outcome
from fourlab.game.position import Position
from fourlab.game.record import Cause, Record, Thought

VERSION = 2
"""The file's `user_version`; version 1 had no hashes, which are added at the next write."""
ROWS_BETWEEN_CHECKPOINTS = 5000
"""A checkpoint syncs the disk, which is slow; between two of them the log grows."""
BUSY_SECONDS = 30
"""How long a statement waits for a lock that another process holds."""
MAX_PLIES = 64
"""No board has more cells."""
RECENT = 2000
"""Games begin in the order of their numbers, so only the last few numbers can have gaps."""


class StoredGame(NamedTuple):
    """A row of the file: one game as plain fields; `record` is the game itself."""

    number: int
    unit: int
    """The two games of one opening with swapped colours have the same unit."""
    red: str
    yellow: str
    board: str
    start: str
    """The moves from the empty board, or a FEN."""
    moves: str
    """Columns played from `start`, counted from 1: 4453, or 10,4,3 if one has two digits."""
    plies: int
    """Number of discs on the board at the end."""
    result: int | None
    """1 red won, 0 draw, -1 yellow won; None if the game has no result."""
    cause: str
    detail: str
    seed: int
    """The tournament's seed; with the number it determines all random numbers of the game."""
    red_seconds: float
    yellow_seconds: float
    thoughts: str
    """JSON: [value, visits, seconds] of every move."""
    scores: str | None = None
    """JSON: the exact score of every position, from its side to move's point of view; None until
    the game is solved."""

    @classmethod
    def of(
        cls, number: int, unit: int, red: str, yellow: str, record: Record, seed: int
    ) -> "StoredGame":
        """Return the row of a finished game."""
        start = record.start
        # If yellow moves first, red's moves are those at odd indices.
        seconds = [thought.seconds for thought in record.thoughts]
        red_seconds = sum(seconds[start.to_move :: 2])
        yellow_seconds = sum(seconds[1 - start.to_move :: 2])
        # Microseconds: the clock is no more precise, and shorter numbers keep the file small.
        thoughts = [
            [thought.value, thought.visits, round(thought.seconds, 6)]
            for thought in record.thoughts
        ]
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
            round(red_seconds, 6),
            round(yellow_seconds, 6),
            json.dumps(thoughts, separators=(",", ":")),
        )

    def check(self) -> None:
        """Raise UserError if the row has fields that no game has.

        SQLite stores anything in any column, and the file may come from somebody else.
        """
        for name, value, kinds in zip(self._fields, self, _TYPES, strict=True):
            if not isinstance(value, kinds):
                raise UserError(f"game {str(self.number)[:20]} is damaged: {name} is {value!r:.40}")
        if not _MOVES.fullmatch(self.moves):
            raise UserError(f"game {self.number} is damaged: moves are {self.moves!r:.40}")
        possible = {
            "number": self.number >= 0,
            "unit": self.unit >= 0,
            "plies": 0 <= self.plies <= MAX_PLIES,
            "result": self.result in (None, -1, 0, 1),
            "cause": self.cause in _CAUSES,
            "red_seconds": 0 <= self.red_seconds < math.inf,
            "yellow_seconds": 0 <= self.yellow_seconds < math.inf,
        }
        for name, is_possible in possible.items():
            if not is_possible:
                value = getattr(self, name)
                raise UserError(f"game {self.number} is damaged: {name} is {value!r:.40}")

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns played, counted from 0."""
        # Iterating over a text without commas yields its digits.
        numbers = self.moves.split(",") if "," in self.moves else self.moves
        return tuple(int(number) - 1 for number in numbers if number)

    @property
    def start_position(self) -> Position:
        """The position the game began from."""
        # A given start may have any numbers of discs; it was accepted when the run began.
        return Position(self.start, self.board, check_counts=False)

    @property
    def at_fault(self) -> str:
        """The agent that forfeited the game; empty if none did."""
        # Only a forfeit ends a game abnormally with a result, and its winner is the other side.
        if self.cause == Cause.NORMAL or self.result is None:
            return ""
        return self.red if self.result < 0 else self.yellow

    @property
    def record(self) -> Record:
        """The game as a record; without thoughts if they were not read."""
        try:
            thoughts = [
                Thought(
                    None if value is None else float(value),
                    None if visits is None else tuple(map(int, visits)),
                    float(seconds),
                )
                for value, visits, seconds in json.loads(self.thoughts or "[]")
            ]
            result = None if self.result is None else Outcome(self.result)
            cause = Cause(self.cause)
            start = self.start_position
            record = Record(start, self.columns, result, cause, self.detail, tuple(thoughts))
            if thoughts and len(thoughts) != len(record.columns):
                raise ValueError(f"{len(thoughts)} thoughts on {len(record.columns)} moves")
            for _ in record.positions():
                pass  # every move can be played
        except (ArithmeticError, RecursionError, TypeError, ValueError) as error:
            raise UserError(f"game {self.number} is damaged: {error}") from None
        return record

    @property
    def exact_scores(self) -> tuple[int, ...] | None:
        """The scores of all positions; None if the game is not solved."""
        if self.scores is None:
            return None
        try:
            scores = tuple(map(int, json.loads(self.scores)))
        except (ArithmeticError, RecursionError, TypeError, ValueError) as error:
            raise UserError(f"game {self.number} is damaged: {error}") from None
        if len(scores) != len(self.columns) + 1:
            raise UserError(f"game {self.number} is damaged: it has {len(scores)} scores")
        return scores


_TYPES = (
    *(int, int, str, str, str, str, str, int),
    *(int | None, str, str, int, int | float, int | float, str, str | None),
)
"""The types of the fields of StoredGame, in their order."""
_MOVES = re.compile(r"[1-9]{0,64}|(?:[1-9][0-9]?,){1,64}(?:[1-9][0-9]?)?")
_CAUSES = frozenset(cause.value for cause in Cause)


_NUMBERS = "SELECT number FROM games"
WITHOUT_THOUGHTS = ", ".join("'[]'" if name == "thoughts" else name for name in StoredGame._fields)
"""All columns of a row, but an empty list for the thoughts, which are most of its bytes."""


def write_columns(columns: Iterable[int]) -> str:
    """Write columns, given from 0, as move notation: 4453, or 10,4,3 if one has two digits."""
    numbers = [str(column + 1) for column in columns]
    if all(len(number) == 1 for number in numbers):
        return "".join(numbers)
    # The trailing comma tells column 12 from columns 1 and 2.
    return ",".join(numbers) + ("," if len(numbers) == 1 else "")


class StoreError(OSError):
    """The file cannot be written or read; games stored before are safe."""


class DamagedStore(StoreError, Damaged):
    """The file is corrupt and no longer holds what was stored."""


def _store_error(what: str, error: sqlite3.Error) -> StoreError:
    """Return the error to raise instead of SQLite's."""
    # OperationalError is about locks, permissions and space, which may pass, but also, without a
    # code or with the general one, about texts that are not UTF-8 and statements that do not fit.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    may_pass = isinstance(error, sqlite3.OperationalError) and code != sqlite3.SQLITE_ERROR
    message = " ".join(f"{what}: {error}".split())
    return StoreError(message) if may_pass else DamagedStore(message)


class Store:
    """The games of one run."""

    def __init__(self, file: Path, read_only: bool = False, check: bool = True) -> None:
        """Open the file, and create it unless `read_only`.

        With `check`, SQLite's quick check reads the whole file first (0.2 s for 100,000 games).
        """
        self._file = file
        self._read_only = read_only
        self._rows_since_checkpoint = 0
        if read_only and not file.exists():
            raise UserError(f"there are no games in {file.parent}")
        require_regular(file)
        # In an URI a name may hold ? and #, which `quote` escapes; rwc creates the file.
        mode = mode_to_read(file) if read_only else "rwc"
        address = f"file:{quote(str(file))}?mode={mode}"
        try:
            self._connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)
            try:
                if read_only:
                    self._connection.execute("PRAGMA query_only=1")
                distrust(self._connection)
                self._set_up(check)
            except BaseException:
                self._connection.close()
                raise
        except sqlite3.Error as error:
            raise _store_error(f"cannot open {file}", error) from None
        except UnicodeDecodeError as error:  # SQLite's message quotes what is damaged
            raise DamagedStore(f"cannot open {file}: it is damaged ({error})") from None

    def _set_up(self, check: bool) -> None:
        self._connection.isolation_level = None  # transactions are explicit
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise UserError(f"{self._file} was written by a newer Fourlab")
        refuse_foreign(self._connection)
        if self._read_only and not self._has_table("games"):
            raise UserError(f"there are no games in {self._file.parent}")
        if version >= 2 and not self.has_hashes:
            raise sqlite3.DatabaseError("the hashes of its games are missing")
        if check:
            (verdict,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
            # The exception that SQLite raises for a file it cannot read at all.
            if verdict != "ok":
                raise sqlite3.DatabaseError(f"it is damaged ({verdict})")
        if not self._read_only:
            # Before anything is written, so that a refused file stays as it is.
            for flaw in self.impossible():
                raise sqlite3.DatabaseError(str(flaw))
            self._connection.execute("PRAGMA journal_mode=WAL")
            # NORMAL syncs at checkpoints only. A killed process loses nothing; a power cut may lose
            # the newest games but cannot corrupt the file.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA wal_autocheckpoint=0")  # see `checkpoint`
            self._create()
            self.checkpoint()
        if check:
            for flaw in self.flaws():
                raise sqlite3.DatabaseError(
                    f"{flaw} (fourlab verify {self._file.parent} shows all damage)"
                )

    def number_outside(self, total: int) -> int | None:
        """Return the number of a game that a tournament of `total` games does not have, or None."""
        first = self._count("SELECT ifnull(min(number), 0) FROM games")
        last = self.end() - 1
        return first if first < 0 else last if last >= total else None

    def _create(self) -> None:
        """Create the tables of a new file; games of version 1 get hashes."""
        if self.has_hashes:
            return
        self._connection.execute("BEGIN IMMEDIATE")
        for statement in TABLES.values():
            self._connection.execute(statement)
        self._connection.execute("DELETE FROM root")
        self._connection.execute("INSERT INTO root VALUES (?, ?)", (0, Root().hash))
        self._connection.execute("DELETE FROM hashes")  # another process may have been faster
        numbers = [number for (number,) in self._connection.execute(_NUMBERS)]
        self._update_hashes(numbers)
        self._connection.execute(f"PRAGMA user_version={VERSION}")
        self._connection.execute("COMMIT")

    def impossible(self) -> list[Flaw]:
        """Return the first game that breaks the rules if the file has no hashes (version 1)."""
        if self.has_hashes or not self._has_table("games"):
            return []
        return first_impossible(self.games(thoughts=True))

    @property
    def has_hashes(self) -> bool:
        """Whether the file has hashes; files of version 1 have none until they are written to."""
        return self._has_table("hashes")

    def _has_table(self, name: str) -> bool:
        tables = self._connection.execute("SELECT name FROM sqlite_master").fetchall()
        return (name,) in tables

    def structure(self) -> list[Flaw]:
        """Return what is wrong with the file itself, by SQLite's own full check."""
        verdicts = self._connection.execute("PRAGMA integrity_check(10)").fetchall()
        return [Flaw(None, f"is damaged: {text}") for (text,) in verdicts if text != "ok"]

    def flaws(self) -> list[Flaw]:
        """Return the games that are not what was stored; none if the file has no hashes."""
        if not self.has_hashes:  # version 1
            return []
        # A damaged text may not be UTF-8.
        self._connection.text_factory = lambda text: text.decode(errors="surrogateescape")
        # One transaction, since another process may store games meanwhile.
        self._connection.execute("BEGIN")
        try:
            roots = self._connection.execute("SELECT games, hash FROM root").fetchall()
            hashes = dict(self._connection.execute("SELECT number, hash FROM hashes"))
            rows = self._connection.execute("SELECT * FROM games ORDER BY number")
            return flaws(rows, hashes, roots[0] if len(roots) == 1 else ())
        finally:
            self._connection.rollback()
            self._connection.text_factory = str

    def add(self, games: Iterable[StoredGame]) -> None:
        """Store finished games in one transaction; once this returns they survive a crash."""
        # REPLACE: an interrupted game is stored too, and its number is played again.
        marks = ",".join("?" * len(StoredGame._fields))
        rows = list(games)
        numbers = [game.number for game in rows]
        self._write(f"INSERT OR REPLACE INTO games VALUES ({marks})", rows, numbers)

    def set_scores(self, number: int, scores: tuple[int, ...]) -> None:
        """Store the exact scores of a game's positions."""
        row = (json.dumps(scores), number)
        self._write("UPDATE games SET scores = ? WHERE number = ?", [row], [number])

    def drop_from(self, number: int) -> None:
        """Delete the games from `number` on: a sequential test was decided before them."""
        rows = self._connection.execute(f"{_NUMBERS} WHERE number >= ?", (number,))
        numbers = [number for (number,) in rows]
        self._write("DELETE FROM games WHERE number >= ?", [(number,)], numbers)

    def _write(
        self, statement: str, rows: Sequence[tuple[object, ...]], numbers: Iterable[int]
    ) -> None:
        """Execute a statement for every row; `numbers` are the games that it changes."""
        try:
            # IMMEDIATE takes the write lock now, where busy_timeout applies; a deferred
            # transaction that has to upgrade its lock fails at once.
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(statement, rows)
            self._update_hashes(numbers)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._connection.rollback()
            raise StoreError(f"cannot write to {self._file}: {error}") from None
        self._rows_since_checkpoint += len(rows)
        if self._rows_since_checkpoint >= ROWS_BETWEEN_CHECKPOINTS:
            self.checkpoint()

    def _update_hashes(self, numbers: Iterable[int]) -> None:
        """Bring the hashes of some games, and the root, up to date within a transaction."""
        query = self._connection.execute
        games, total = query("SELECT games, hash FROM root").fetchone()
        root = Root(games, int.from_bytes(total, "big"))
        for number in numbers:
            before = query("SELECT hash FROM hashes WHERE number = ?", (number,)).fetchone()
            row = query("SELECT * FROM games WHERE number = ?", (number,)).fetchone()
            if before is not None:
                root.remove(before[0])
            if row is None:
                query("DELETE FROM hashes WHERE number = ?", (number,))
            else:
                digest = row_hash(row)
                root.add(digest)
                query("INSERT OR REPLACE INTO hashes VALUES (?, ?)", (number, digest))
        query("UPDATE root SET games = ?, hash = ?", (root.games, root.hash))

    def checkpoint(self) -> None:
        """Copy the write-ahead log into the file and truncate it, unless a reader is active."""
        try:
            self._connection.execute("PRAGMA busy_timeout=0")  # do not wait for readers
            # While a reader is active this reports "busy" in its result row instead of raising;
            # a later checkpoint does the rest.
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute(f"PRAGMA busy_timeout={1000 * BUSY_SECONDS}")
        except sqlite3.Error as error:
            raise StoreError(f"cannot write to {self._file}: {error}") from None
        self._rows_since_checkpoint = 0

    def finished(self) -> set[int]:
        """Return the numbers of the games that need not be played again."""
        try:
            rows = self._connection.execute(
                "SELECT number FROM games WHERE cause != ?", (Cause.INTERRUPTED.value,)
            )
            return {number for (number,) in rows}
        except sqlite3.Error as error:
            raise _store_error(f"cannot read {self._file}", error) from None

    def __len__(self) -> int:
        return self._count("SELECT count(*) FROM games")

    def end(self) -> int:
        """Return the last game's number plus 1, or 0 if there is no game."""
        return self._count("SELECT ifnull(max(number) + 1, 0) FROM games")

    def progress(self) -> int:
        """Return how many games need not be played again.

        This does not read the whole table: only the most recent numbers can have gaps.
        """
        before = max(self.end() - RECENT, 0)
        recent = "SELECT count(*) FROM games WHERE number >= ? AND cause != ?"
        return before + self._count(recent, before, Cause.INTERRUPTED.value)

    def _count(self, statement: str, *values: object) -> int:
        try:
            (count,) = self._connection.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise _store_error(f"cannot read {self._file}", error) from None
        return int(count)

    def games(
        self, where: str = "1", *values: object, thoughts: bool = False
    ) -> Iterator[StoredGame]:
        """Yield the games that match an SQL condition, in the order of their numbers.

        The agents' thoughts, which are most of a row's bytes, are read only if `thoughts` is set.
        """
        columns = "*" if thoughts else WITHOUT_THOUGHTS
        try:
            for row in self._connection.execute(
                f"SELECT {columns} FROM games WHERE {where} ORDER BY number", values
            ):
                game = StoredGame._make(row)
                game.check()
                yield game
        except sqlite3.Error as error:
            raise _store_error(f"cannot read {self._file}", error) from None

    def game(self, number: int) -> StoredGame | None:
        """Return one game with its thoughts, None if it is not stored."""
        return next(self.games("number = ?", number, thoughts=True), None)

    def close(self) -> None:
        """Checkpoint the log and close the file."""
        try:
            if not self._read_only:
                self.checkpoint()
        except StoreError:
            pass  # nothing is lost: SQLite reads the log when the file is opened next
        finally:
            self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
