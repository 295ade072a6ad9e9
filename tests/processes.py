"""Child processes, as listed in Linux's /proc."""

import time
from collections.abc import Callable
from pathlib import Path


def children(parent: int) -> list[int]:
    """Return the running processes that a process has started."""
    running = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, ppid = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:  # the process has ended meanwhile
            continue
        if int(ppid) == parent and state != "Z":
            running.append(int(folder.name))
    return running


def runs(process: int) -> bool:
    """Return whether a process is still running."""
    try:
        stat = Path("/proc", str(process), "stat").read_text()
    except OSError:
        return False
    state = stat.rpartition(")")[2].split()[0]
    return state != "Z"


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, without a time limit: the machine may be busy."""
    while not condition():
        time.sleep(0.05)
