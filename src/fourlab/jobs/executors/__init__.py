"""Where work is done: every executor takes a function and items, and yields each item's result as it comes.

The function must give the same result wherever and however often it is called on an item, so that an item whose process
died is simply done again.
"""

from importlib.util import find_spec

from fourlab.errors import UserError
from fourlab.jobs.executors.work import (
    Executor as Executor,
)
from fourlab.jobs.executors.work import (
    Lost as Lost,
)
from fourlab.jobs.executors.work import (
    Pace as Pace,
)
from fourlab.jobs.executors.work import (
    Unwatched as Unwatched,
)
from fourlab.jobs.executors.work import (
    Watch as Watch,
)
from fourlab.jobs.executors.work import (
    Work as Work,
)


def check(name: str, workers: int, address: str | None = None) -> None:
    """Tell what is wrong with a choice of executor before anything begins."""
    if name not in ("local", "threads", "ray"):
        raise UserError(f"there is no executor {name!r}; executors are local, threads, ray")
    if workers < 1:
        raise UserError(f"at least one worker is needed, not {workers}")
    if address is not None and name != "ray":
        raise UserError("an address is for the executor ray")
    if name == "ray" and find_spec("ray") is None:
        raise UserError("the executor ray needs Ray: pip install 'fourlab[ray]'")


def executor(name: str, workers: int, address: str | None = None, staying: bool = False) -> Executor:
    """The executor of a name; `staying` local processes wait for the next work until `close`, as Ray's do."""
    check(name, workers, address)
    if name == "threads":
        from fourlab.jobs.executors.threads import Threads

        return Threads(workers)
    if name == "local":
        from fourlab.jobs.executors.local import Local

        return Local(workers, staying)
    from fourlab.jobs.executors.ray import Ray

    return Ray(workers, address)
