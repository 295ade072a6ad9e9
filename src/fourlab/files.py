"""Atomic writes, and checksums of files."""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from fourlab.errors import UserError


def write_atomically(file: Path, data: bytes) -> None:
    """Write a file so that even after a crash it has either the old or the new contents."""
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


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def digest(file: Path) -> str:
    """Return the SHA-256 of a file's contents, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
