"""Atomic writes, bounded reads and checksums of files, without waiting for pipes and devices."""

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import TextIO

from fourlab.errors import UserError


def write_atomically(file: Path, data: bytes) -> None:
    """Write a file so that even after a crash it has either the old or the new contents.

    A pipe or a device is refused: it would be replaced by the file.
    """
    refuse_special(file)
    try:
        # In the same folder, since a rename is atomic only within one file system.
        handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                # Before the rename, lest a power cut leave the new name with empty contents.
                os.fsync(stream.fileno())
            # mkstemp makes files that only their owner can read.
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror or error}") from None


def make_folder(folder: Path) -> None:
    """Make a folder, and those around it, unless it exists; raise UserError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error.strerror}") from None


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def digest(file: Path) -> str:
    """Return the SHA-256 of a regular file's contents, in hexadecimal."""
    with os.fdopen(_open_regular(file), "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_bounded(file: Path, max_bytes: int, follow_links: bool = True) -> bytes:
    """Return the contents of a regular file of at most `max_bytes`; raises OSError or UserError.

    Devices and pipes, which may never end, are refused. A link is followed if the user has named
    the file, but not if it lies in a folder that came from somebody else.
    """
    with os.fdopen(_open_regular(file, follow_links), "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > max_bytes:
            raise UserError(f"{file} has more than {max_bytes:,} bytes")
        # No more than was announced, should the file grow meanwhile.
        return stream.read(size)


def _open_regular(file: Path, follow_links: bool = True) -> int:
    """Open a regular file to read, without waiting for a pipe; raises OSError or UserError."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not follow_links:
        if file.is_symlink():
            raise UserError(f"{file} is a link, which is not followed")
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(file, flags)
    except ValueError as error:  # a null character in the path
        raise UserError(f"cannot read {str(file)!r}: {error}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UserError(f"{file} is not a file")
    return handle


def open_to_append(file: Path) -> TextIO:
    """Open a text file to append to, made if there is none; raises OSError or UserError.

    A link is not followed and a pipe is not waited for: the folder may come from somebody else.
    """
    require_regular(file)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    # Should a link or a pipe take the file's place at this moment.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.fdopen(os.open(file, flags, 0o666), "a", encoding="utf-8")


def check_target(file: Path) -> None:
    """Raise UserError if a file could not be written once the work is done."""
    if file.is_dir():
        raise UserError(f"cannot write {file}: it is a folder")
    refuse_special(file)
    if not file.parent.is_dir():
        raise UserError(f"cannot write {file}: there is no such folder")


def refuse_special(file: Path) -> None:
    """Raise UserError if a file that is to be written is a pipe or a device, or a link to one."""
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        return  # whoever writes it says why that fails
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise UserError(f"cannot write {file}: it is not a regular file")


def require_regular(file: Path) -> None:
    """Raise UserError if a file exists and is a link, a pipe, a device or a folder.

    For files that SQLite opens, which would follow a link and wait for a pipe.
    """
    try:
        mode = file.lstat().st_mode
    except (OSError, ValueError):
        return  # whoever opens it says why that fails
    if not stat.S_ISREG(mode):
        raise UserError(f"{file} is not a regular file")
