"""Where compiled kernels are kept between processes.

Numba's own cache costs users a day: it ignores edits in other files, it fails at import when neither
the package nor the home folder can be written, it forgets that bounds checking was asked for, its
entries are tied to the path of the source file, and a damaged entry breaks every later process.
This one has a file per kernel and signature. The file's name contains a hash of everything the
machine code depends on: the source of the kernel's module and of all modules that one imports, the
compile settings, the processor, and the versions of Python and Numba. So a second clone or virtual
environment finds the entries of the first, and an edit recompiles only what depends on it.
"""

import atexit
import contextlib
import hashlib
import os
import pickle  # of machine code, in a folder only the user can write; Numba has no other form
import re
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import serialize
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult

from fourlab.modules import closure

_TEMPORARY = "fourlab-kernels-"
_ALWAYS = ("fourlab.compiled._jit", "fourlab.compiled._cache")
"""Modules that decide how every kernel is compiled."""
_CHECKSUM_BYTES = 32
_KEPT_SECONDS = 30 * 24 * 3600.0
"""Entries that nobody has loaded for this long are deleted."""


USED: set[str] = set()
"""The names of all entries that this process has asked for or written."""


class KernelCache(_Cache):  # type: ignore[misc]
    """The compiled forms of one kernel on disk, in the protocol of Numba's dispatchers."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._function = function
        self._folder = folder

    @property
    def cache_path(self) -> str:
        """The folder of the entries."""
        return str(self._folder)

    def _note(self, file: Path) -> Path:
        USED.add(file.name)
        return file

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled form for a signature, None if there is none; damaged files are deleted."""
        target_context.refresh()
        file = self._note(self.file_of(signature, target_context.codegen()))
        with contextlib.suppress(OSError):
            content = file.read_bytes()
            checksum, data = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
            if hashlib.sha256(data).digest() == checksum:
                os.utime(file)  # marks the entry as used, see `prune`
                return CompileResult._rebuild(target_context, *pickle.loads(data))
            file.unlink()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled form; a folder that cannot be written is not an error."""
        data = serialize.dumps(compiled._reduce())
        file = self._note(self.file_of(signature, compiled.codegen))
        unfinished = file.with_suffix(f".{os.getpid()}.tmp")
        try:
            unfinished.write_bytes(hashlib.sha256(data).digest() + data)
            unfinished.replace(file)
        except OSError:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            return
        prune(self._folder)

    def file_of(self, signature: Any, codegen: Any) -> Path:
        """Return the path of the entry for a signature."""
        function = self._function
        constants = [cell.cell_contents for cell in function.__closure__ or ()]
        parts = (closure_hash(function.__module__), signature, codegen.magic_tuple(), constants)
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
        name = re.sub(r"\W+", ".", f"{function.__module__.removeprefix('fourlab.')}.{function.__qualname__}")
        return self._folder / f"{name}-{key}.kernel"

    def enable(self) -> None:
        """Part of Numba's protocol; the cache is always enabled."""

    def disable(self) -> None:
        """Part of Numba's protocol; the cache is always enabled."""

    def flush(self) -> None:
        """Part of Numba's protocol; entries are written at once."""


def prune(folder: Path) -> None:
    """Delete entries, and unfinished files, that have not been used for a month."""
    oldest = time.time() - _KEPT_SECONDS
    for pattern in ("*.kernel", "*.tmp", "*.ready"):
        for file in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < oldest:
                    file.unlink()


@cache
def closure_hash(module: str) -> str:
    """Hash the sources a module depends on, the compile settings and the versions."""
    versions = (numba.__version__, llvmlite.__version__, sys.version, sysconfig.get_config_var("abiflags"))
    config = numba.config
    settings = (config.BOUNDSCHECK, str(config.OPT), getattr(config, "USING_SVML", None))
    digest = hashlib.sha256(repr((versions, settings)).encode())
    for name, source in sorted(closure(module, *_ALWAYS).items()):
        digest.update(name.encode() + b"\0" + source)
    return digest.hexdigest()


def cache_places() -> Iterator[Path]:
    """Yield the folders to try, best first."""
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
    """Make the cache folder at the first place that works, else a temporary one, else None."""
    for place in cache_places():
        folder = place / "kernels"
        with contextlib.suppress(OSError):
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
    """Return whether only we can write the folder: its entries are pickles, which can run code."""
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return False
    if sys.platform == "win32":
        return True  # folders below LOCALAPPDATA are private by default
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


CACHE_FOLDER = choose_cache_folder()
