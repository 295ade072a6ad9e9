"""Links, pipes and devices in run folders."""

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from fourlab.arena.store import Store
from fourlab.arena.verify import verify
from fourlab.errors import UserError
from fourlab.jobs import links
from fourlab.jobs.job import Session
from fourlab.jobs.kinds import job_of
from fourlab.jobs.links import link_to_elsewhere, refuse_links
from fourlab.jobs.run import Run, find_run, open_run
from fourlab.jobs.runner import begin, work
from tests.jobs.test_runner import Squares

pytestmark = pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege on Windows")

PLACES = ["games.sqlite", "journal", "figures", "work/a/b/c/d.json", "checkpoints/000001/weights"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return open_run(tmp_path, "x", {"kind": "match"}, tmp_path / "run")


def put(folder: Path, name: str) -> Path:
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_out_of_a_run_is_found(run: Run, tmp_path: Path, place: str, exists: bool) -> None:
    secret = tmp_path / "secret"
    if exists:
        secret.mkdir()
    put(run.folder, place).symlink_to(secret)
    reason = f"{place} is not a file of its folder but a link to elsewhere"
    assert link_to_elsewhere(run.folder) == reason
    with pytest.raises(UserError, match=f"{run.folder}: {place} is not a file of its folder"):
        refuse_links(run.folder)


def test_links_within_a_run_and_to_a_run_are_allowed(run: Run, tmp_path: Path) -> None:
    put(run.folder, "figures/a.svg").write_text("<svg/>")
    put(run.folder, "figures/b.svg").symlink_to("a.svg")
    put(run.folder, "all").symlink_to(".")
    (tmp_path / "linked").symlink_to(run.folder)
    refuse_links(run.folder)
    refuse_links(tmp_path / "linked")


@pytest.mark.parametrize("database", ["lock", "games.sqlite", "work/a/games.sqlite"])
def test_a_journal_that_makes_sqlite_delete_a_file_is_found(
    run: Run, tmp_path: Path, database: str
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    file = put(run.folder, database)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE a (b)")
    # A header without pages, then the record that names another file: its number, name, length and
    # checksum (https://www.sqlite.org/fileformat2.html, and pager.c).
    pages = file.stat().st_size // 4096
    name = os.fsencode(precious)
    header = links.JOURNAL_MAGIC + struct.pack(">IIIII", 0, 0, pages, 512, 4096)
    record = struct.pack(">I", 0x40000000 // 4096 + 1) + name
    record += struct.pack(">II", len(name), sum(name)) + links.JOURNAL_MAGIC
    journal = file.with_name(f"{file.name}-journal")
    journal.write_bytes(header.ljust(512, b"\0") + record)
    with pytest.raises(UserError, match=r"lock is not empty|names another file"):
        refuse_links(run.folder)
    if database == "lock":
        file.write_bytes(b"")
    with pytest.raises(UserError, match=f"{database}-journal names another file"):
        refuse_links(run.folder)
    assert precious.exists()
    # Without the check SQLite does delete it.
    if database != "lock":
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("SELECT * FROM a")
        assert not precious.exists()


def test_a_journal_of_one_database_is_left_to_sqlite(run: Run) -> None:
    put(run.folder, "games.sqlite-journal").write_bytes(links.JOURNAL_MAGIC + bytes(600))
    put(run.folder, "lock").write_bytes(b"")
    refuse_links(run.folder)


def test_pipes_are_found(run: Run) -> None:
    os.mkfifo(put(run.folder, "work/results.json"))
    reason = "work/results.json is not a file of its folder but a pipe or a device"
    assert link_to_elsewhere(run.folder) == reason


def test_the_look_is_bounded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        put(run.folder, f"work/{number}").touch()
    monkeypatch.setattr(links, "MAX_ENTRIES", 10)
    assert link_to_elsewhere(run.folder) == "it has more than 10 files"
    monkeypatch.undo()
    put(run.folder, "/".join("a" * 20)).touch()
    assert link_to_elsewhere(run.folder) == "its folders are more than 16 levels deep"
    assert link_to_elsewhere(run.folder / "none") == "it cannot be read (No such file or directory)"


def test_no_command_opens_a_run_with_links(run: Run, tmp_path: Path) -> None:
    put(run.folder, "games.sqlite").symlink_to(tmp_path / "elsewhere")
    for name in (str(run.folder), "run", "last"):
        with pytest.raises(UserError, match=r"games\.sqlite is not a file of its folder"):
            find_run(tmp_path, name)
    with pytest.raises(UserError, match=r"games\.sqlite is not a file of its folder"):
        job_of(run)
    with pytest.raises(UserError, match=r"games\.sqlite is not a file of its folder"):
        verify(run)


def test_no_job_works_in_a_run_with_links(tmp_path: Path) -> None:
    job = Squares(3)
    run = begin(job, tmp_path)
    outside = tmp_path / "outside"
    (run.folder / "lock").symlink_to(outside)
    with pytest.raises(UserError, match="lock is not a file of its folder"):
        work(job, run, Session())
    with pytest.raises(UserError, match="is not a regular file"), run.locked():
        pass
    with pytest.raises(UserError, match="is not a regular file"):
        _ = run.is_locked
    assert not outside.exists()


def test_a_link_to_games_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "games.sqlite"
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is not a regular file"):
        Store(file)
    assert not (tmp_path / "elsewhere").exists()
