"""Links, pipes and devices in run folders, which may come from somebody else.

Work on a run writes to its files and reads them. A link could lead these writes to any file of the
user's, and a pipe or a device would be waited for. The folder itself may be a link: the user has
named it.
"""

import os
from pathlib import Path

from fourlab.errors import UserError

MAX_ENTRIES = 100_000
"""Files and folders that are looked at; the largest study has some hundred."""
MAX_LEVELS = 16
"""Folders inside each other; a training inside a study has six."""


def refuse_links(folder: Path) -> None:
    """Raise UserError if a run folder has a link that leads out of it, a pipe or a device."""
    if (reason := link_to_elsewhere(folder)) is not None:
        raise UserError(f"{folder}: {reason}")


def link_to_elsewhere(folder: Path) -> str | None:
    """Return what a run folder has that is no file of its own, None if there is nothing.

    These are links that lead out of it, pipes and devices.
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
                    waiting.append((entry.path, f"{name}/", level + 1))
                elif not entry.is_file(follow_symlinks=False) and os.path.lexists(entry.path):
                    return f"{name} is not a file of its folder but a pipe or a device"
    return None


def _is_within(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([folder, path]) == folder
    except ValueError:  # on another drive
        return False
