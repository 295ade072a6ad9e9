"""Load files that anyone may have written, and measure what that takes.

    python -m tests.safety.loader FOLDER

All files of the folder are loaded by the prefix and suffix of their names. For every file a line of
JSON says how that ended, the resident memory that it took above that of the idle process, which has
loaded a good file of every kind, and the processor time. A crash, a hang (by the limit of processor
time) or too much memory (by the limit of address space) ends the process.
"""

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fourlab.agents.q.table import QTable
from fourlab.agents.q.text import read_text
from fourlab.bridges.kaggle.weights import read as read_for_kaggle
from fourlab.datasets import labels
from fourlab.errors import UserError
from fourlab.nets.evaluator import load as load_onnx
from fourlab.nets.weights import load_net
from fourlab.solver.book import Book
from fourlab.training.torch_state import load_tensors

CPU_SECONDS = 60
SPARE_ADDRESSES = 8 << 30
LOADERS: dict[str, Callable[[Path], Any]] = {
    "net": lambda file: load_onnx(str(file)),
    "book": Book.load,
    "data": labels.load,
    "table": QTable.load,
    "text": lambda file: read_text(file, "second"),
    "weights": load_net,
    "kaggle": lambda file: read_for_kaggle(str(file.with_suffix(".onnx"))),
    "state": load_tensors,
}
"""Loaders by the first word of a file's name."""
BESIDE = (".json",)
"""Files that belong to others of the same name."""


def memory(field: str) -> int:
    """Return a field of this process's status in bytes, such as VmRSS."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def load(file: Path) -> str:
    """Load a file; returns what the user would read, or nothing if it was accepted."""
    try:
        LOADERS[file.name.partition("-")[0]](file)
    except UserError as error:
        return f"refused: {error}"
    except Exception as error:  # what the test looks for
        return f"{type(error).__name__}: {error}"
    return ""


def main(folder: Path) -> None:
    """Load the good files of a folder, then the others."""
    files = [file for file in sorted(folder.iterdir()) if file.suffix not in BESIDE]
    good = [file for file in files if "-good" in file.name]
    for file in good:
        load(file)
    gc.collect()
    idle = memory("VmRSS")
    addresses = memory("VmSize") + SPARE_ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    for file in files:
        # Forget the highest resident memory so far.
        Path("/proc/self/clear_refs").write_text("5")
        started = time.process_time()
        outcome = load(file)
        seconds = time.process_time() - started
        row = {
            "file": file.name,
            "outcome": outcome,
            "bytes": file.stat().st_size,
            "memory": memory("VmHWM") - idle,
            "seconds": seconds,
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
