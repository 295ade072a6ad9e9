"""Reads run folders for the web; nothing outside a run folder is read through a link in it.

A name in a request is compared with the names in the folder of runs and never made a path.
"""

import os
import stat
from pathlib import Path
from typing import Any

from fourlab.errors import NotThere, UserError
from fourlab.jobs.links import link_to_elsewhere
from fourlab.jobs.run import Run
from fourlab.web.settings import MOST_FIGURE_BYTES

# SQLite's readers lock this range of a file, beyond any data, and its writers exclude them there.
LOCK_START = 0x40000002
LOCK_BYTES = 510
Stamp = tuple[tuple[str, int, int], ...]
"""Names, modification times in nanoseconds and sizes of the files of a run."""


def names(home: Path) -> list[str]:
    """Return the names of the runs in a folder, sorted: they begin with the date."""
    try:
        with os.scandir(home) as entries:
            return sorted(entry.name for entry in entries if _is_run(entry))
    except OSError:
        return []


def _is_run(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir() and os.path.lexists(os.path.join(entry.path, "manifest.json"))
    except OSError:
        return False


def find(home: Path, name: str) -> Run:
    """Return the run of this name; raise NotThere, or UserError if it has links to elsewhere."""
    if name not in names(home):
        raise NotThere(f"there is no run {name!r}")
    folder = home / name
    if (reason := link_to_elsewhere(folder)) is not None:
        raise UserError(f"{name} is not served: {reason}")
    return Run(folder)


def stamp(home: Path, name: str) -> Stamp:
    """Return what changes when a run changes: the files in its folder and in its folder `work`.

    The games of a run in progress are in `games.sqlite-wal`, which counts, too.
    """
    marks = []
    for folder in (home / name, home / name / "work"):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    marks.append((entry.name, status.st_mtime_ns, status.st_size))
        except OSError:  # there is no such folder, or the run is deleted at this moment
            continue
    return tuple(sorted(marks))


def row(home: Path, name: str) -> dict[str, Any]:
    """Return the row of a run in the list of runs (`fourlab.analysis.overview.row`)."""
    from fourlab.analysis import overview

    return overview.row(Run(home / name))


def damaged_row(name: str, headline: str) -> dict[str, Any]:
    """Return the row of a run that cannot be described."""
    unknown = dict.fromkeys(("kind", "done", "total", "unit", "created"))
    return {"name": name, **unknown, "status": "damaged", "headline": headline}


def is_locked(home: Path, name: str) -> bool:
    """Return whether a process works on a run."""
    lock = os.path.join(home, name, "lock")
    return not _is_surely_free(lock) and Run(home / name).is_locked


def _is_surely_free(file: str) -> bool:
    """Return whether no process can hold a lock of SQLite's, at a tenth of the cost of asking it.

    A writer has locked the bytes that the documentation of SQLite's file format calls the lock-byte
    page. If they can be locked for reading, there is none.
    """
    try:
        import fcntl
    except ImportError:  # on Windows
        return not os.path.isfile(file)
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return True  # there is no lock, or it is a link, which is not followed
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, LOCK_BYTES, LOCK_START)
    except OSError:
        return False
    finally:
        os.close(descriptor)  # which also unlocks
    return True


def figure(run: Run, name: str) -> str:
    """Return a figure of a run as SVG text; like a run's name, `name` is only compared."""
    from fourlab.analysis import overview

    file = overview.figure(run, name)
    status = file.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_FIGURE_BYTES:
        raise UserError(f"{name} is not a figure, or is too large to be shown")
    return file.read_text(encoding="utf-8", errors="replace")
