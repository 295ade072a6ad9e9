"""How many processors this process may use: those of the machine, less what was taken from it.

A process may be bound to some processors (`taskset`, job schedulers), and a container may have a
limit of processor time, which is kept in files of the control groups (cgroups) of Linux.
"""

import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

GROUPS = Path("/sys/fs/cgroup")
"""Where control groups are mounted; in a container, its own group is the topmost one."""
MEMBERSHIP = Path("/proc/self/cgroup")
"""A line for each hierarchy of groups that this process is in: number:controllers:path."""


def usable_processors() -> int:
    """Return the number of processors that this process may use, at least one."""
    allowed = allowed_processors()
    limit = time_limit()
    # A limit of 1.5 processors is rounded up: two workers use all of it, one would not.
    return allowed if limit is None else max(1, min(allowed, math.ceil(limit)))


def allowed_processors() -> int:
    """Return the number of processors that the scheduler may put this process on."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13; obeys PYTHON_CPU_COUNT, too
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def time_limit(groups: Path = GROUPS, membership: Path = MEMBERSHIP) -> float | None:
    """Return the tightest limit of processor time, in processors; None if there is none."""
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):  # another system than Linux, or one that hides the file
        return None
    limits = [limit for line in lines for limit in _limits(line, groups)]
    return min(limits, default=None)


def _limits(line: str, groups: Path) -> Iterator[float]:
    """Yield the limits of one line of the membership, from the process's group upwards."""
    _, _, rest = line.partition(":")
    controllers, _, path = rest.partition(":")
    if not controllers:  # version 2 has one hierarchy, with the number 0 and no list
        root, read = groups, _version_2
    elif "cpu" in controllers.split(","):
        # The mount has the name of the list, or a link named after the controller alone.
        root = groups / controllers if (groups / controllers).is_dir() else groups / "cpu"
        read = _version_1
    else:
        return
    # The path may be the host's, which does not exist in the container: then only the root does.
    inside = PurePosixPath(path.lstrip("/"))
    for folder in (inside, *inside.parents):
        if ".." not in folder.parts and (limit := read(root / folder)) is not None:
            yield limit


def _version_2(folder: Path) -> float | None:
    """Read `cpu.max`: microseconds per period, or the word max."""
    return _ratio(_numbers(folder / "cpu.max"))


def _version_1(folder: Path) -> float | None:
    """Read the quota, -1 for none, and the period, both in microseconds."""
    return _ratio(_numbers(folder / "cpu.cfs_quota_us") + _numbers(folder / "cpu.cfs_period_us"))


def _ratio(numbers: list[int]) -> float | None:
    """Return quota by period; None for anything that is no limit."""
    match numbers:
        case [quota, period] if quota > 0 and period > 0:
            return quota / period
    return None


def _numbers(file: Path) -> list[int]:
    """Return the whole numbers in a small file; nothing if it cannot be read."""
    try:
        words = file.read_text(encoding="ascii").split()
        return [int(word) for word in words]
    except (OSError, ValueError):
        return []
