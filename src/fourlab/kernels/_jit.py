"""The one decorator that compiles a kernel, and where compiled code is kept.

Numba's own cache has three faults that cost users a day each: it does not notice an edited callee in another file, it
fails at import when neither the package nor the home folder can be written, and it forgets that bounds checking was
asked for. So compiled code lives in a folder of our own whose name is a hash of every kernel's source and of the
compile settings; if no folder can be written, a private temporary one serves for this process.
"""

import atexit
import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba

_TEMPORARY = "fourlab-kernels-"
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function, inlined: bool = False) -> Function:
    """Compile a function on first use; release the GIL while it runs."""
    with _numba_cache_in(CACHE_FOLDER):
        settings = {"nogil": True, "error_model": "numpy", "cache": CACHE_FOLDER is not None, "forceinline": inlined}
        compiled = numba.njit(**settings)(function)
    return compiled  # type: ignore[no-any-return]


def inlined_kernel(function: Function) -> Function:
    """A kernel that is pasted into each caller: left to itself, LLVM calls some of the solver's small steps, which costs 10 %."""
    return kernel(function, inlined=True)


def source_hash(folder: Path) -> str:
    """Name the state of all kernel sources and compile settings in sixteen letters."""
    digest = hashlib.sha256(f"boundscheck={numba.config.BOUNDSCHECK} opt={numba.config.OPT}".encode())
    for file in sorted(folder.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


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
    name = source_hash(Path(__file__).parent)
    for place in cache_places():
        folder = place / name
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
    """Tell whether a cache folder outlives this process."""
    return folder is not None and not folder.name.startswith(_TEMPORARY)


def _is_ours(folder: Path) -> bool:
    """Tell whether the folder is ours alone to write: Numba loads pickles from it, and pickles can run code."""
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return False
    if sys.platform == "win32":
        return True  # folders below LOCALAPPDATA are private by default
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


@contextlib.contextmanager
def _numba_cache_in(folder: Path | None) -> Iterator[None]:
    """Point Numba's cache at the folder while a function is being decorated, then restore the user's setting."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = "" if folder is None else str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


CACHE_FOLDER = choose_cache_folder()
