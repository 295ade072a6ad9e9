"""The on-disk cache of compiled kernels.

Numba's own cache ignores edits in other files, fails at import if neither the package nor the home
folder is writable, ignores whether bounds checking is on, ties its entries to the path of the
source file, and breaks every later process once an entry is damaged.

This cache has one file per kernel and signature. The file's name contains a hash of everything that
the machine code depends on: the source of the kernel's module and of all modules it imports, the
compile settings, the processor, and the versions of Python and Numba. Thus a second clone or
virtual environment uses the entries of the first, and an edit recompiles only the kernels that
depend on it.
"""

import atexit
import contextlib
import hashlib
import logging
import os
import pickle  # Numba has no other format for machine code; only the user can write the folder
import re
import shutil
import stat
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fourlab.compiled._missing import no_compiler

try:
    import llvmlite
    import numba
except ImportError as error:
    raise no_compiler(error) from None

from numba.core import serialize
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult

from fourlab.modules import closure

_LOGGER = logging.getLogger("fourlab.kernels")
"""The logger of `_jit.py`; by default Python prints its messages to standard error."""
_TEMPORARY = "fourlab-kernels-"
_ALWAYS = ("fourlab.compiled._jit", "fourlab.compiled._cache")
"""Modules that determine how every kernel is compiled."""
# An entry is the SHA-256 of its name and of the rest, then the pickle of Numba's CompileResult. The
# name is hashed, too, so that the entry of another kernel is noticed.
_CHECKSUM_BYTES = 32
_MAX_BYTES = 64 << 20
"""The largest entry that is read; the largest kernel has less than a megabyte."""
_KEPT_SECONDS = 30 * 24 * 3600.0
"""Entries that have not been loaded for this long are deleted."""


USED: set[str] = set()
"""The file names of all entries that this process has looked up or written."""


class KernelCache(_Cache):  # type: ignore[misc]
    """The cache entries of one kernel, with the interface that Numba's dispatchers expect."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._function = function
        self._folder = folder

    @property
    def cache_path(self) -> str:
        """The folder of the entries."""
        return str(self._folder)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the entry for a signature, or None. A damaged entry is deleted."""
        # As Numba's own cache does: the context must be initialised before code is loaded.
        target_context.refresh()
        file = self.file_of(signature, target_context.codegen())
        try:
            content = _read(file)
        except OSError:  # there is no entry, or it cannot be read
            return None
        except ValueError as error:
            _discard(file, error)
            return None
        try:
            checksum = content[:_CHECKSUM_BYTES]
            data = content[_CHECKSUM_BYTES:]
            if _checksum(file, data) != checksum:
                raise ValueError("its checksum is wrong")
            compiled = CompileResult._rebuild(target_context, *pickle.loads(data))
        except Exception as error:  # a pickle of anything can raise anything
            _discard(file, error)
            return None
        with contextlib.suppress(OSError):
            os.utime(file)  # marks the entry as used, see `prune`
        return compiled

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write the entry for a signature. Failing to write is not an error."""
        data = serialize.dumps(compiled._reduce())
        file = self.file_of(signature, compiled.codegen)
        # Another name first, which no other call uses: neither a process that reads meanwhile nor
        # one that writes the same entry may meet half of it.
        unfinished = None
        try:
            handle, unfinished = tempfile.mkstemp(".tmp", f"{file.stem}.", self._folder)
            with os.fdopen(handle, "wb") as stream:
                stream.write(_checksum(file, data) + data)
            os.replace(unfinished, file)
        except OSError:
            with contextlib.suppress(OSError):
                if unfinished is not None:
                    os.unlink(unfinished)
            return
        prune(self._folder)

    def file_of(self, signature: Any, codegen: Any) -> Path:
        """Return the path of the entry for a signature, and note that it is used."""
        function = self._function
        # Constants of an enclosing function are compiled in (`rollouts._lane_kernel`).
        constants = [cell.cell_contents for cell in function.__closure__ or ()]
        parts = (closure_hash(function.__module__), signature, codegen.magic_tuple(), constants)
        # 24 hexadecimal digits are 96 bits: no two of a few thousand entries will ever share a
        # name.
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
        module = function.__module__.removeprefix("fourlab.")
        name = re.sub(r"\W+", ".", f"{module}.{function.__qualname__}")
        file = self._folder / f"{name}-{key}.kernel"
        USED.add(file.name)
        return file

    def enable(self) -> None:
        """Do nothing: part of Numba's interface, but this cache is always enabled."""

    def disable(self) -> None:
        """Do nothing: part of Numba's interface, but this cache is always enabled."""

    def flush(self) -> None:
        """Do nothing: part of Numba's interface, but entries are written at once."""


def _read(file: Path) -> bytes:
    """Return the contents of an entry; raise OSError, or ValueError if it is no file of ours."""
    # Without waiting for a pipe. Not by `fourlab.files`: every kernel depends on what is imported
    # here.
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a regular file")
        if status.st_size > _MAX_BYTES:
            raise ValueError("it is too large")
        with open(handle, "rb", closefd=False) as stream:
            return stream.read(_MAX_BYTES)
    finally:
        os.close(handle)


def _checksum(file: Path, data: bytes) -> bytes:
    return hashlib.sha256(file.name.encode() + b"\0" + data).digest()


def _discard(file: Path, error: Exception) -> None:
    """Remove a damaged entry, whatever it is, and say so."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    _LOGGER.warning("compiling again, since %s is damaged (%s)", file, reason)
    with contextlib.suppress(OSError):
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        else:
            file.unlink()


def prune(folder: Path) -> None:
    """Delete entries and unfinished files that have not been used for a month."""
    oldest = time.time() - _KEPT_SECONDS
    # Unfinished files of a killed process and stamps of `warmup.py` grow old, too.
    for pattern in ("*.kernel", "*.tmp", "*.ready"):
        for file in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < oldest:
                    file.unlink()
    # The first version kept Numba's own cache in folders of this form beside ours.
    for old in folder.parent.glob("[0-9a-f]" * 16):
        with contextlib.suppress(OSError):
            is_ours = all(inside.name.startswith("kernels_") for inside in old.iterdir())
            if is_ours and old.stat().st_mtime < oldest:
                shutil.rmtree(old, ignore_errors=True)


@cache
def closure_hash(module: str) -> str:
    """Hash all sources that a module depends on, the compile settings and the versions."""
    versions = (
        numba.__version__,
        llvmlite.__version__,
        sys.version,
        sysconfig.get_config_var("abiflags"),
    )
    config = numba.config
    # Settings of the environment that change the machine code but not the sources.
    settings = (config.BOUNDSCHECK, str(config.OPT), getattr(config, "USING_SVML", None))
    digest = hashlib.sha256(repr((versions, settings)).encode())
    # In order of names: modules are not always found in the same order.
    for name, source in sorted(closure(module, *_ALWAYS).items()):
        digest.update(name.encode() + b"\0" + source)
    return digest.hexdigest()


def cache_places() -> Iterator[Path]:
    """Yield the folders to try, in order of preference."""
    for variable in ("FOURLAB_CACHE_DIR", "NUMBA_CACHE_DIR"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        yield Path(os.environ["LOCALAPPDATA"]) / "fourlab" / "cache"
    if os.environ.get("XDG_CACHE_HOME"):
        yield Path(os.environ["XDG_CACHE_HOME"]) / "fourlab"
    with contextlib.suppress(RuntimeError):  # no HOME and no entry in the user database
        yield Path.home() / ".cache" / "fourlab"


def choose_cache_folder() -> Path | None:
    """Create the cache folder and return it: a temporary one if need be, None if nothing works."""
    for place in cache_places():
        folder = place / "kernels"
        with contextlib.suppress(OSError):
            # Not accessible to other users: entries are pickles.
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if _is_ours(folder):
                return folder
    with contextlib.suppress(OSError):
        folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder
    return None


def is_kept(folder: Path | None) -> bool:
    """Return whether a cache folder outlives this process."""
    return folder is not None and not folder.name.startswith(_TEMPORARY)


def _is_ours(folder: Path) -> bool:
    """Return whether only this user can write the folder: pickles can run code when loaded."""
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return False
    if sys.platform == "win32":
        return True  # folders below LOCALAPPDATA are private by default
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


CACHE_FOLDER = choose_cache_folder()
