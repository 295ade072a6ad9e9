"""Seals: the hashes of a run's files, which reveal damage and careless edits.

`seal.json` is written whenever work on a run ends, and removed when work begins, so a run that was
killed has none. Games have hashes of their own (`arena/hashes.py`), which a killed run has, too.

A seal finds every changed bit of the files that it lists. It is no signature: somebody who changes
a file and computes a new seal is not noticed.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourlab.errors import UserError
from fourlab.files import digest, write_atomically
from fourlab.parsing import MAX_SEAL_BYTES, read_json

SEAL_FILE = "seal.json"
PROGRESS_FILE = "progress.json"
UNSEALED = ("lock", "lock-journal", SEAL_FILE)
"""The lock is an empty database that holds nothing of the run; a seal does not list itself."""
BESIDE_DATABASES = re.compile(r"(?P<database>.*\.sqlite)(?P<suffix>-wal|-shm|-journal)", re.DOTALL)
"""What SQLite keeps beside an open database; see `_unfinished`."""
TEMPORARY = re.compile(r"\.(?P<file>.+)\.[a-z0-9_]{8}", re.DOTALL)
"""What `write_atomically` calls a file until it is complete; a killed process leaves it behind."""
FOUND_FILE = "found.json"
"""What a study found in an experiment; it is made again from the experiment's stored work."""
REWRITTEN = (PROGRESS_FILE, "report.html", "report.md", "results.json", "figures/", FOUND_FILE)
"""Files that are made from the others, and so are written again by `fourlab resume`."""


@dataclass(frozen=True)
class Damage:
    """A file that is not as it was when the run was sealed."""

    file: str
    """Its path within the run folder, with forward slashes."""
    why: str
    is_foreign: bool = False
    """Whether no job reads it: it was added, it is hidden, or it was a link when it was sealed."""

    @property
    def is_rewritten(self) -> bool:
        """Whether resuming the run writes the file again."""
        return any(
            self.file == name or f"/{name}" in self.file or self.file.startswith(name)
            for name in REWRITTEN
        )

    def __str__(self) -> str:
        return f"{self.file} {self.why}"


def seal(folder: Path, without: Path | None = None) -> None:
    """Write the hashes of all files of a run but one."""
    files = {
        name: _fingerprint(folder / name)
        for name in sorted(_files(folder))
        if folder / name != without
    }
    content = {"version": 1, "files": files, "sha256": _hash_of(files)}
    write_atomically(folder / SEAL_FILE, (json.dumps(content, indent=1) + "\n").encode())


def unseal(folder: Path) -> None:
    """Remove the seal, since the files are about to change."""
    (folder / SEAL_FILE).unlink(missing_ok=True)


def is_sealed(folder: Path) -> bool:
    """Return whether a run has a seal."""
    return (folder / SEAL_FILE).exists()


def damage(folder: Path, skip: Iterable[str] = ()) -> Iterator[Damage]:
    """Yield the files that differ from the seal, `skip` aside; none if there is no seal."""
    if not is_sealed(folder):
        return
    try:
        sealed = _read(folder)
    except ValueError as error:
        yield Damage(SEAL_FILE, f"is damaged ({error}), so files cannot be compared with it")
        return
    present = set(_files(folder))
    for name, expected in sealed.items():
        if name in skip:
            continue
        is_foreign = bool(expected.get("link")) or name.startswith(".") or "/." in name
        if name not in present:
            yield Damage(name, "is missing", is_foreign)
        elif _differs(folder / name, expected):
            yield Damage(name, "was changed", is_foreign)
    for name in sorted(present - sealed.keys()):
        yield Damage(name, "was added", is_foreign=True)
    for name in sorted(_unfinished(folder)):
        yield Damage(name, "holds changes of a database")


def refuse_damage(folder: Path) -> None:
    """Raise UserError if a file that a resumed run would read has changed since it was sealed.

    Databases are left to their own checks, which say what is wrong with which game. Some damaged
    files are removed, see `discard`.
    """
    databases = [name for name in _files(folder) if name.endswith(".sqlite")]
    for flaw in damage(folder, skip=databases):
        discard(folder, flaw)
        if flaw.file == SEAL_FILE or not (flaw.is_rewritten or flaw.is_foreign):
            raise UserError(
                f"{folder}: {flaw} since work on the run ended "
                f"(fourlab verify {folder} shows all damage)"
            )


def discard(folder: Path, flaw: Damage) -> None:
    """Remove a damaged file that finished work would not write again as long as it is there.

    The progress is only shown; what a study found is read and not made again.
    """
    is_made_again = flaw.file == PROGRESS_FILE or flaw.file.endswith(f"/{FOUND_FILE}")
    if is_made_again and flaw.file in _files(folder):
        (folder / flaw.file).unlink(missing_ok=True)


def _unfinished(folder: Path) -> Iterator[str]:
    """Yield what SQLite would still write into the databases of a run; readers leave it empty."""
    for pattern in ("*.sqlite-wal", "*.sqlite-journal"):
        for file in folder.rglob(pattern):
            if _is_of_sqlite(file) and file.stat().st_size:
                yield file.relative_to(folder).as_posix()


def _fingerprint(file: Path) -> dict[str, Any]:
    """Return the size and hash of a file; a link is its target, not what that holds."""
    if file.is_symlink():
        target = b"link to " + os.fsencode(os.readlink(file))
        return {"bytes": len(target), "sha256": hashlib.sha256(target).hexdigest(), "link": True}
    return {"bytes": file.stat().st_size, "sha256": digest(file)}


def _differs(file: Path, expected: dict[str, Any]) -> bool:
    """Return whether a file is not the one that was sealed; other sizes need no hash."""
    if not file.is_symlink() and file.stat().st_size != expected["bytes"]:
        return True
    return _fingerprint(file) != expected


def _read(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the sealed files; raise ValueError if the seal is damaged."""
    file = folder / SEAL_FILE
    try:
        if file.is_symlink():
            raise ValueError("it is a link")
        content = read_json(file, MAX_SEAL_BYTES)
        files: dict[str, dict[str, Any]] = content["files"]
        is_intact = content["version"] == 1 and content["sha256"] == _hash_of(files)
        entries = [(entry["bytes"], entry["sha256"]) for entry in files.values()]
    except (AttributeError, RecursionError, KeyError, TypeError, ValueError):
        raise ValueError("it is not what was written") from None
    if not is_intact:
        raise ValueError("its own hash is wrong")
    if not all(type(size) is int and isinstance(sha256, str) for size, sha256 in entries):
        raise ValueError("it is not what was written")
    if not all(map(_is_path_within, files)):
        raise ValueError("it names files outside the run")
    return files


def _is_path_within(name: str) -> bool:
    """Return whether a name is a path as `_files` yields it, which cannot lead out of a folder."""
    path = Path(name)
    is_plain = path.parts == tuple(name.split("/")) and not path.is_absolute() and not path.drive
    try:
        return is_plain and ".." not in path.parts and b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:  # no file has such a name
        return False


def _hash_of(files: dict[str, dict[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def _files(folder: Path) -> Iterator[str]:
    """Yield the files and links of a run that a seal lists, as paths with forward slashes."""
    for file in folder.rglob("*"):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink() or (
            file.is_file()
            and name not in UNSEALED
            and not _is_of_sqlite(file)
            and not _is_temporary(file)
        ):
            yield name


def _is_of_sqlite(file: Path) -> bool:
    """Return whether SQLite keeps a file beside a database."""
    named = BESIDE_DATABASES.fullmatch(file.name)
    return named is not None and file.is_file() and file.with_name(named["database"]).is_file()


def _is_temporary(file: Path) -> bool:
    """Return whether a file is what was written of another one when Fourlab was killed."""
    named = TEMPORARY.fullmatch(file.name)
    return named is not None and file.with_name(named["file"]).is_file()
