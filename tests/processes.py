"""The children of a process, by what Linux says of them."""

import time
from collections.abc import Callable
from pathlib import Path


def children(parent: int) -> list[int]:
    """The processes that a process has started and that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, ppid = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has ended meanwhile
            continue
        if int(ppid) == parent and state != "Z":
            found.append(int(folder.name))
    return found


def runs(process: int) -> bool:
    """Whether a process still runs."""
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something that happens sooner or later, however busy the machine is."""
    while not condition():
        time.sleep(0.05)
