"""A worker process: answers one request at a time over a socket, until the socket is closed.

The server sends lines of JSON: `{"number": 7, "do": "move", "fields": {…}}` asks for work,
`{"stop": 7}` ends it early. The worker says `ready` when it is, and answers with lines of a word
and JSON: `progress` any number of times, then one of ANSWERS. Nothing is pickled, and nothing that
the worker sends is executed.
"""

import gc
import json
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from fourlab.agent import Stop
from fourlab.errors import NotThere, UserError
from fourlab.web.searching import KINDS
from fourlab.web.settings import WORKER_MEGABYTES, WORKER_NICENESS, Caps

ANSWERS = ("done", "wrong", "missing", "memory", "fault")
"""How work ends: an answer, a UserError, a NotThere, no memory left, any other exception."""


@dataclass(frozen=True)
class Order:
    """Work that the server asks for."""

    number: int
    do: str
    fields: dict[str, Any]
    stop: Stop


def serve(connection: socket.socket, caps: Caps) -> None:
    """Answer the server; never returns, because the process ends with the connection."""
    _limit_this_process()
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, orders), daemon=True).start()
    sending = threading.Lock()

    def send(word: str, data: str) -> None:
        with sending:
            connection.sendall(f"{word} {data}\n".encode())

    send("ready", "null")
    while True:
        order = orders.get()
        word, data = _answer(order, caps, lambda event: send("progress", event))
        try:
            send(word, data)
        except OSError:  # the server has gone
            os._exit(0)
        if word == "memory":
            os._exit(0)  # what could not be allocated may have left anything behind


def _answer(order: Order, caps: Caps, report: Any) -> tuple[str, str]:
    try:
        return "done", KINDS[order.do](order.fields, caps, order.stop, report)
    except NotThere as error:
        return "missing", json.dumps(str(error))
    except UserError as error:
        return "wrong", json.dumps(str(error))
    except MemoryError:
        return "memory", "null"
    except BaseException:  # an agent may raise anything; only a dead process ends a worker
        return "fault", json.dumps(traceback.format_exc())


def _listen(connection: socket.socket, orders: "queue.SimpleQueue[Order]") -> None:
    """Queue what the server asks for, and set the stop flag of the running search if it says so.

    When the server closes the connection, or has died, the process ends, whatever it does.
    """
    current = Order(-1, "", {}, Stop())
    with suppress(OSError):
        for line in _lines(connection):
            message = json.loads(line)
            if "stop" in message:
                if message["stop"] == current.number:
                    current.stop.set()
                continue
            current = Order(message["number"], message["do"], message["fields"], Stop())
            orders.put(current)
    os._exit(0)


def _lines(connection: socket.socket) -> Iterator[bytes]:
    with connection.makefile("rb") as file:
        yield from file


def _limit_this_process() -> None:
    """Limit memory, forbid core dumps, lower the priority, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.enable()
    with suppress(ImportError, OSError, ValueError):  # not on Windows
        import resource

        os.nice(WORKER_NICENESS)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = _data_bytes() + WORKER_MEGABYTES * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _data_bytes() -> int:
    """Return the bytes of this process's private writable memory; 0 where it is not known."""
    if sys.platform != "linux":
        return 0
    # The sixth number of statm: data and stack, in pages.
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE")


def die_with_parent(parent: int) -> None:
    """Let the system kill this process when its parent process ends, where it can (Linux)."""
    if sys.platform != "linux":
        return
    import ctypes

    parent_death_signal = 1  # PR_SET_PDEATHSIG
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the call
        os._exit(0)


def main(descriptor: int, parent: int, caps: dict[str, Any], imports: list[str]) -> None:
    """Run a worker in an interpreter of its own, where processes are not forked."""
    die_with_parent(parent)
    connection = socket.socket(fileno=descriptor)
    for name in imports:
        import_module(name)
    serve(connection, Caps(**caps))
