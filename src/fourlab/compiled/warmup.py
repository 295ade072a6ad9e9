"""Compile all kernels ahead of time, by a small call of each.

Kernels are compiled in groups. A group is compiled by calling one function in the module of its
kernels; GROUPS names it as a string, because these modules belong to all packages. A compiled
group leaves a stamp in the cache folder: a list of its cache entries, by which a later process sees
that the group need not be compiled again.
"""

import hashlib
import time
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from fourlab.compiled._cache import CACHE_FOLDER, USED, closure_hash, is_kept
from fourlab.errors import UserError
from fourlab.files import write_atomically


class Group(NamedTuple):
    """Kernels that are compiled together."""

    module: str
    """The module of the kernels."""
    call: str
    """The function in that module that calls all of them."""
    seconds: float
    """Typical CPU seconds to compile, for estimates (`fourlab warmup --jobs 1 --json`)."""


GROUPS: dict[str, Group] = {
    # This is the order of `fourlab warmup --jobs 1`; several processes begin with the longest.
    "perft": Group("fourlab.compiled.counting", "warm_up_perft", 0.6),
    "distinct positions": Group("fourlab.compiled.counting", "warm_up_distinct", 0.6),
    "samples": Group("fourlab.datasets.sample", "warm_up", 0.9),
    "rollouts": Group("fourlab.compiled.rollouts", "warm_up", 0.3),
    "rollouts in lanes": Group("fourlab.compiled.rollouts", "warm_up_lanes", 0.3),
    "negamax": Group("fourlab.compiled.negamax", "warm_up", 0.5),
    "minimax": Group("fourlab.agents.minimax.kernel", "warm_up", 1.1),
    "solver": Group("fourlab.solver.batch", "warm_up", 2.7),
    "tree search": Group("fourlab.agents.mcts.kernel", "warm_up", 3.6),
    "tree search with threads": Group("fourlab.agents.mcts.kernel", "warm_up_threads", 1.9),
    "tree search with patterns": Group("fourlab.agents.mcts.kernel", "warm_up_patterns", 1.5),
    "tree search with patterns and threads": Group(
        "fourlab.agents.mcts.kernel", "warm_up_patterns_threads", 1.6
    ),
    "guided search": Group("fourlab.agents.mcts.guided_kernel", "warm_up", 1.8),
    "network search": Group("fourlab.agents.alphazero.forest_kernel", "warm_up", 5.3),
    "endgames": Group("fourlab.solver.endgame", "warm_up", 1.3),
    "games in step": Group("fourlab.compiled.batches", "warm_up", 1.0),
    "chess rollouts": Group("fourlab.compiled.chess", "warm_up", 2.0),
    "Q-learning": Group("fourlab.agents.q.kernel", "warm_up", 4.3),
    "pattern search": Group("fourlab.agents.patterns.search", "warm_up", 3.0),
    "pattern values": Group("fourlab.compiled.patterns", "warm_up", 0.4),
    "pattern training": Group("fourlab.agents.patterns.kernel", "warm_up", 6.0),
    "planes": Group("fourlab.compiled.planes", "warm_up", 0.8),
}


def check_names(names: Iterable[str]) -> None:
    """Raise UserError for a name that is not in GROUPS."""
    for name in names:
        if name not in GROUPS:
            groups = ", ".join(GROUPS)
            raise UserError(f"there is no group of kernels {name!r}; groups are {groups}")


def load(name: str) -> None:
    """Compile a group or load it from the cache."""
    group = GROUPS[name]
    getattr(import_module(group.module), group.call)()


def compile_group(name: str) -> float:
    """Compile a group or load it from the cache, leave a stamp, and return the CPU seconds."""
    # CPU time of this thread: the estimates must not depend on what else the machine does.
    before = time.thread_time()
    load(name)
    spent = time.thread_time() - before
    if (stamp := stamp_of(name)) is not None:
        with suppress(UserError):  # on a full disk, for example, the next process checks again
            write_atomically(stamp, "\n".join(sorted(USED)).encode())
    return spent


def is_compiled(name: str) -> bool:
    """Return whether an earlier process has compiled the group for this machine."""
    stamp = stamp_of(name)
    try:
        # `prune` may have deleted an entry that the stamp lists, so all must still exist.
        entries = [] if stamp is None else stamp.read_text().split()
        return stamp is not None and all((stamp.parent / entry).exists() for entry in entries)
    except (OSError, ValueError):  # there is no stamp, or it is damaged
        return False


def stamp_of(name: str) -> Path | None:
    """Return the file that marks a group as compiled; None if the cache is temporary."""
    folder = CACHE_FOLDER
    if folder is None or not is_kept(folder):
        return None
    return folder / f"{name.replace(' ', '-')}.{_state(GROUPS[name].module)}.ready"


def _state(module: str) -> str:
    """Hash what a module's machine code depends on: sources, versions, settings, processor."""
    # Here, since importing `_cache` has said in one line if they are missing.
    import llvmlite.binding
    import numba

    # A home folder may be shared by machines with different processors.
    features = llvmlite.binding.get_host_cpu_features().flatten()
    processor = (llvmlite.binding.get_host_cpu_name(), features)
    settings = (numba.config.CPU_NAME, numba.config.CPU_FEATURES)
    parts = (closure_hash(module), processor, settings)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
