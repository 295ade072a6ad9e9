"""Check a run for damage, and repair its games.

Files are compared with the run's seal (`jobs/seal.py`), games with their hashes (`hashes.py`).
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fourlab.arena.hashes import Flaw, row_hash
from fourlab.arena.replay import refuse_impossible
from fourlab.arena.schema import distrust
from fourlab.arena.store import Store, StoredGame, StoreError
from fourlab.arena.tournament import Tournament, read_config
from fourlab.errors import UserError
from fourlab.game.record import Cause, Record
from fourlab.jobs.links import refuse_links
from fourlab.jobs.run import Run
from fourlab.jobs.seal import SEAL_FILE, Damage, damage, is_sealed

READ_ERRORS = (UserError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What files raise whose contents are not those that Fourlab writes."""
UNSEALED = (
    "is missing, although the run is finished: it was removed, the run is of an older version, or "
    "it was killed at its very end (fourlab resume writes it)"
)
LOST = "lost: the stored game was damaged and cannot be played again in the same way"
"""The detail of a game that stands for a damaged one that cannot be replayed."""


@dataclass(frozen=True)
class Verification:
    """What was checked in a run, and what is damaged."""

    is_sealed: bool
    """Whether the files could be compared with a seal; a killed run has none."""
    games: int
    """Games that were compared with their hashes."""
    files: tuple[Damage, ...]
    """Damaged files other than databases of games."""
    flaws: dict[str, tuple[Flaw, ...]]
    """Damage to databases of games, by file."""

    @property
    def is_sound(self) -> bool:
        """Whether no damage was found."""
        return not self.files and not self.flaws

    def as_data(self) -> dict[str, Any]:
        """Return the verification as JSON data."""
        return {
            "sound": self.is_sound,
            "sealed": self.is_sealed,
            "games_checked": self.games,
            "files": [{"file": item.file, "why": item.why} for item in self.files],
            "games": [
                {"file": file, "number": flaw.number, "why": flaw.why}
                for file, flaws in self.flaws.items()
                for flaw in flaws
            ],
        }


def verify(run: Run) -> Verification:
    """Compare the files and games of a run with the hashes that were stored with them."""
    refuse_links(run.folder)
    games = 0
    files = []
    flaws: dict[str, tuple[Flaw, ...]] = {}
    for path in sorted(run.folder.rglob("*.sqlite")):
        name = path.relative_to(run.folder).as_posix()
        index = path.with_name(f"{path.name}-shm")
        had_index = os.path.lexists(index)
        try:
            with Store(path, read_only=True, check=False) as store:
                if store.has_hashes:
                    games += len(store)
                flaws_of_file = [*store.structure(), *store.flaws()]
                if not flaws_of_file:
                    flaws_of_file += store.impossible()
                if is_sealed(run.folder) and not store.has_hashes:
                    flaws_of_file.append(Flaw(None, "has no hashes, although the run was sealed"))
                if path == run.games_file and not flaws_of_file:
                    flaws_of_file += _foreign_games(run, store)
        except (StoreError, UserError, sqlite3.Error) as error:
            flaws_of_file = [Flaw(None, f"cannot be read: {error}")]
        if not had_index and not run.is_locked:
            index.unlink(missing_ok=True)  # SQLite leaves it if there is a log that it cannot clear
        if flaws_of_file:
            flaws[name] = tuple(flaws_of_file)
    if not is_sealed(run.folder) and _is_finished(run) and not run.is_locked:
        files.append(Damage(SEAL_FILE, UNSEALED))
    for item in damage(run.folder):
        if item.file.endswith(".sqlite"):
            # Its games are sound, but for example an unused part of the file has changed.
            flaws.setdefault(item.file, (Flaw(None, item.why),))
        else:
            files.append(item)
    return Verification(is_sealed(run.folder), games, tuple(files), flaws)


def _foreign_games(run: Run, store: Store) -> Iterator[Flaw]:
    """Yield the games that are not of the run's tournament, or have values that no game has.

    Somebody who adds a game to a file can also compute its hash, or leave out all hashes.
    """
    try:
        tournament = read_config(run.config)
    except READ_ERRORS as error:
        yield Flaw(None, f"cannot be compared with the run's configuration: {error}")
        return
    try:
        for game in store.games():
            tournament.refuse_foreign(game)
    except UserError as error:
        yield Flaw(None, str(error))


def _is_finished(run: Run) -> bool:
    """Return whether a run has results of all its work, or results that cannot be read."""
    if not (run.folder / "results.json").exists():
        return False
    results: Any = run.results
    if not isinstance(results, dict):
        return True
    with contextlib.suppress(*READ_ERRORS):
        # Matches and studies write results when they are stopped, too.
        if "of" in results and results["games"] < results["of"]:
            return False
        if "experiments" in results:
            return set(run.config["experiments"]) <= set(results["experiments"])
    return True


def salvage(file: Path, total: int, lost: Callable[[int], StoredGame | None]) -> int:
    """Replace a damaged database by one with the games that are sound; returns how many are not.

    Games are numbered from 0 to `total` - 1, or by what the file has if that is 0. `lost` returns
    the row that stands for a damaged game, or None if the game is to be played again. The damaged
    file is kept under the name FILE.damaged.
    """
    repaired = file.with_name(f"{file.name}.repaired")
    repaired.unlink(missing_ok=True)
    damaged = 0
    rows: list[StoredGame] = []
    source = sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)
    source.text_factory = lambda text: text.decode(errors="surrogateescape")
    with contextlib.closing(source):
        distrust(source)
        # One query per game: in a damaged file, a scan ends at the first page that is unreadable.
        for number in range(total) if total else sorted(_numbers(source)):
            try:
                row = _sound_row(source, number)
            except (sqlite3.Error, ValueError):
                damaged += 1
                row = lost(number)
            if row is not None:
                rows.append(row)
    with Store(repaired) as store:
        store.add(rows)
    os.replace(file, file.with_name(f"{file.name}.damaged"))
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    os.replace(repaired, file)
    return damaged


def _numbers(source: sqlite3.Connection) -> set[int]:
    """Return the numbers of games and hashes, as far as they can be read."""
    numbers = set()
    for table in ("games", "hashes"):
        with contextlib.suppress(sqlite3.Error):
            for (number,) in source.execute(f"SELECT number FROM {table}"):
                numbers.add(number)
    return numbers


def _sound_row(source: sqlite3.Connection, number: int) -> StoredGame | None:
    """Return a game, None if it was never stored; raise ValueError or sqlite3.Error if damaged."""
    row = source.execute("SELECT * FROM games WHERE number = ?", (number,)).fetchone()
    if not _has_hashes(source):
        if row is None:
            return None
        game = StoredGame._make(row)
        refuse_impossible(game)
        return game
    digest = source.execute("SELECT hash FROM hashes WHERE number = ?", (number,)).fetchone()
    if row is None and digest is None:
        return None
    if row is None or digest is None or row_hash(row) != digest[0]:
        raise ValueError("not what was stored")
    return StoredGame._make(row)


def _has_hashes(source: sqlite3.Connection) -> bool:
    tables = source.execute("SELECT name FROM sqlite_master WHERE name = 'hashes'")
    return tables.fetchone() is not None


def lost_game(tournament: Tournament, number: int) -> StoredGame:
    """Return the row of a game without a result, for one that is damaged beyond repair."""
    game = tournament.game(number)
    return tournament.stored(game, Record(game.start, (), None, Cause.CRASH, LOST))


def unrepairable(verification: Verification) -> Damage | None:
    """Return a damaged file that neither a replay nor `fourlab resume` makes again, or None."""
    for item in verification.files:
        if not item.is_rewritten and item.file != SEAL_FILE and not item.is_foreign:
            return item
    return None
