"""Run the real server with only the kernel groups given as arguments; print its address.

The event loop runs in the main thread, so importing a compiler or a network runtime there is an
error: it would block every request for seconds.
"""

import sys
import threading
from typing import Any

from fourlab.web.readiness import Readiness, compile_in_background
from fourlab.web.serve import address_of, listen, server_of
from fourlab.web.settings import Settings

HEAVY = {"numba", "llvmlite", "onnxruntime"}


def no_heavy_import(event: str, arguments: tuple[Any, ...]) -> None:
    if (
        event == "import"
        and arguments[0] in HEAVY
        and threading.current_thread() is threading.main_thread()
    ):
        raise AssertionError(f"{arguments[0]} is imported in the event loop's thread")


if __name__ == "__main__":
    assert not HEAVY & sys.modules.keys()
    sys.addaudithook(no_heavy_import)
    listening = listen("127.0.0.1", 0)
    server = server_of(
        Settings(), Readiness(lambda load: compile_in_background(load, sys.argv[1:]))
    )
    print(address_of(listening), flush=True)
    server.run(sockets=[listening])
