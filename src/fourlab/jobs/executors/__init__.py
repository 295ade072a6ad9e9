"""Executors: where work runs. Each applies a function to items and yields results as they arrive.

The function must return the same result for an item wherever and however often it is called, so
that the items of a worker that died can simply be done again.
"""

from importlib.util import find_spec

from fourlab.errors import UserError
from fourlab.jobs.executors.work import Executor, Lost, Pace, Watch, Work
from fourlab.processors import usable_processors

__all__ = ["Executor", "Lost", "Pace", "Watch", "Work", "check", "make_executor"]


MOST_RAY_WORKERS = 10_000
WORKERS_PER_PROCESSOR = 4
WORKERS_ANYWHERE = 64
"""Workers that are allowed on a machine with few processors, too."""


def most_workers() -> int:
    """Return the most workers on this machine: more would only use up its memory."""
    return max(WORKERS_ANYWHERE, WORKERS_PER_PROCESSOR * usable_processors())


def check(name: str, workers: int, address: str | None = None) -> None:
    """Raise UserError for a choice of executor that cannot work."""
    if name not in ("local", "threads", "ray"):
        raise UserError(f"there is no executor {name!r}; executors are local, threads, ray")
    if workers < 1:
        raise UserError(f"at least one worker is needed, not {workers}")
    most = MOST_RAY_WORKERS if name == "ray" else most_workers()
    if workers > most:
        raise UserError(f"at most {most} workers are possible here, not {workers}")
    if address is not None and name != "ray":
        raise UserError("an address is for the executor ray")
    if name == "ray" and find_spec("ray") is None:
        raise UserError("the executor ray needs Ray: pip install 'fourlab[ray]'")


def make_executor(
    name: str, workers: int, address: str | None = None, keep_alive: bool = False
) -> Executor:
    """Return the executor with this name.

    With `keep_alive`, local processes wait for more work until `close`, as Ray's always do.
    """
    check(name, workers, address)
    if name == "threads":
        from fourlab.jobs.executors.threads import Threads

        return Threads(workers)
    if name == "local":
        from fourlab.jobs.executors.local import Local

        return Local(workers, keep_alive)
    # Last and here: importing Ray takes seconds.
    from fourlab.jobs.executors.ray import Ray

    return Ray(workers, address)
