"""Imported by the workers of a test: the first worker, nursery or load of kernels hangs.

Which of them hangs is the text of a file in the folder of marks (`faulty.MARKS`).
"""

import os
import time
from pathlib import Path
from typing import Any

from fourlab.web import searching, worker
from tests.web import faulty

faulty.register()
FOLDER = Path(os.environ[faulty.MARKS])
HANGS = FOLDER / "hangs"


def hang(what: str) -> None:
    """Hang at the first call that finds `what` in the file."""
    if HANGS.exists() and HANGS.read_text() == what:
        HANGS.unlink()
        (FOLDER / "process").write_text(str(os.getpid()))
        faulty.mark("hung")
        time.sleep(10**6)


limit = worker._limit_this_process
load = searching.load_group


def limit_or_hang() -> None:
    hang("worker")
    limit()


def load_or_hang(name: str) -> Any:
    hang("load")
    return load(name)


worker._limit_this_process = limit_or_hang
searching.load_group = load_or_hang
hang("nursery")
