"""How worker processes are started.

On Linux, Python's fork server is asked: a process that has imported what workers need and forks
itself for each of them, which takes milliseconds. Elsewhere every worker is a new interpreter, which
takes half a second of CPU time. Forking the calling process would copy the locks of its threads.

Workers of the fork server have the environment variables of the moment when this process started its
first one; later changes of `os.environ` do not reach them.
"""

import sys
from multiprocessing import get_context
from multiprocessing.context import BaseContext

PLAIN = ["fourlab.jobs.fork_server", "fourlab.agents.registry", "fourlab.arena.tournament"]
COMPILED = ["fourlab.agents.mcts.agent", "fourlab.solver"]
"""What the fork server imports, the second list only if the compiler is loaded when this process
starts its first worker: workers will need it, too. By name, since these modules belong to higher
layers."""


def worker_context() -> BaseContext:
    """Return the context of `multiprocessing` that starts workers."""
    if sys.platform != "linux":
        return get_context("spawn")
    server = get_context("forkserver")
    compiler = "fourlab.compiled._jit" in sys.modules
    server.set_forkserver_preload([*PLAIN, *(COMPILED if compiler else [])])
    return server
