"""Links, pipes, devices and journals in run folders, which may come from somebody else.

Work on a run writes to its files and reads them. A link could lead these writes to any file of the
user's, and a pipe or a device would be waited for. The folder itself may be a link: the user has
named it. A folder in the place of a file is refused with them, in the same words by all commands.

SQLite finishes an interrupted transaction with the journal beside a database. A journal can name
another file, which SQLite opens and then deletes. Only transactions over several databases have
such journals, and Fourlab makes none.
"""

import os
import re
from pathlib import Path

from fourlab.errors import UserError

MAX_ENTRIES = 100_000
"""Files and folders that are looked at; the largest study has some hundred."""
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""How the journals of SQLite begin; one that names another file ends with it, too."""
A_FILE = re.compile(r"lock|.*\.(?:json|jsonl|sqlite|toml)|(?:lock|.*\.sqlite)-(?:journal|shm|wal)")
"""Names of files in run folders that are read, among them those that SQLite makes."""
SPARSE_BYTES = 10**9
"""A file of this size or more must have most of its contents on the disk. One that is a hole takes
next to nothing to send, and minutes or hours to read."""
MAX_LEVELS = 16
"""Folders inside each other; a training inside a study has six."""


def refuse_links(folder: Path) -> None:
    """Raise UserError if a run folder has something that is no file of its own."""
    if (reason := link_to_elsewhere(folder)) is not None:
        raise UserError(f"{folder}: {reason}")


def link_to_elsewhere(folder: Path) -> str | None:
    """Return what a run folder has that is no file of its own, None if there is nothing.

    These are links that lead out of it, pipes, devices, folders in the place of files, and what
    makes SQLite delete other files.
    """
    try:
        return _first_fault(folder)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"


def _first_fault(folder: Path) -> str | None:
    inside = os.path.realpath(folder)
    # Folders that are still to be looked at, with their names within the run.
    waiting = [(os.fspath(folder), "", 1)]
    count = 0
    while waiting:
        path, prefix, level = waiting.pop()
        if level > MAX_LEVELS:
            return f"its folders are more than {MAX_LEVELS} levels deep"
        try:
            entries = os.scandir(path)
        except FileNotFoundError:
            if level == 1:
                raise
            continue  # a checkpoint that is deleted at this moment
        with entries:
            for entry in entries:
                count += 1
                if count > MAX_ENTRIES:
                    return f"it has more than {MAX_ENTRIES:,} files"
                name = f"{prefix}{entry.name}"
                if entry.is_symlink():
                    if not _is_within(os.path.realpath(entry.path), inside):
                        return f"{name} is not a file of its folder but a link to elsewhere"
                elif entry.is_dir(follow_symlinks=False):
                    if A_FILE.fullmatch(entry.name):
                        return f"{name} is in the way: it is a folder, and a file is needed"
                    waiting.append((entry.path, f"{name}/", level + 1))
                elif not entry.is_file(follow_symlinks=False) and os.path.lexists(entry.path):
                    return f"{name} is not a file of its folder but a pipe or a device"
                elif name == "lock" and _size(entry.path):
                    return "lock is not empty, so it is not the run's lock"
                elif name.endswith("-journal") and _names_another_file(entry.path):
                    return f"{name} names another file, which SQLite would delete"
                elif _is_sparse(entry):
                    return f"{name} is a file of many gigabytes that are not there"
    return None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def _is_sparse(entry: "os.DirEntry[str]") -> bool:
    """Return whether a large file is almost empty on the disk, where the system says so."""
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    # In units of 512 bytes; compression by a file system does not reach a factor of 100.
    blocks = getattr(status, "st_blocks", None)
    return (
        blocks is not None and status.st_size >= SPARSE_BYTES and 51_200 * blocks < status.st_size
    )


def _names_another_file(path: str) -> bool:
    """Return whether a journal of SQLite ends with the name of a file."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(_size(path) - len(JOURNAL_MAGIC), 0))
            return stream.read(len(JOURNAL_MAGIC)) == JOURNAL_MAGIC
    except FileNotFoundError:
        return False  # the transaction has just ended


def _is_within(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([folder, path]) == folder
    except ValueError:  # on another drive
        return False
