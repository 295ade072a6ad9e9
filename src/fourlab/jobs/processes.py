"""How worker processes are started.

On Linux, Python's fork server starts them: a process that has imported what workers need forks
itself, which takes milliseconds. Elsewhere every worker is a new interpreter, which takes half a
second of CPU time. Forking the calling process is no option: it would copy its threads' locks.

Workers of the fork server inherit the environment variables that this process had when it started
its first worker; later changes to `os.environ` do not reach them.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from types import ModuleType

PLAIN = ["fourlab.jobs.fork_server", "fourlab.agents.registry", "fourlab.arena.tournament"]
COMPILED = ["fourlab.agents.mcts.agent", "fourlab.solver"]
"""What the fork server imports: the first list always, the second only if this process has loaded
the compiler by the time it starts its first worker, because then workers need it, too. Modules are
named by strings because they belong to higher layers."""


def worker_context() -> BaseContext:
    """Return the `multiprocessing` context that starts workers."""
    if sys.platform != "linux":
        return get_context("spawn")
    # The list of modules matters only for the first worker: then the server starts.
    server = get_context("forkserver")
    compiler = "fourlab.compiled._jit" in sys.modules
    server.set_forkserver_preload([*PLAIN, *(COMPILED if compiler else [])])
    return server


@contextmanager
def without_main_module() -> Iterator[None]:
    """Keep workers that are started meanwhile from running the user's script again.

    By default they import the main module of this process, and with it a script that starts workers
    outside `if __name__ == "__main__"`. Ours need nothing that is defined there.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
