"""The process from which workers are forked. It runs one thread, so that forking is safe.

(onnxruntime has a thread of its own, which sleeps as long as nothing is searched here.)

It has loaded the compiled kernels, the opening book and the network; its children share this memory
and are ready in milliseconds. The server sends packets of JSON over a Unix socket, with the socket
of a new worker attached, and gets one packet as an answer to each.
"""

import gc
import json
import os
import signal
import socket
from contextlib import suppress
from importlib import import_module
from typing import Any

from fourlab.web import searching, worker
from fourlab.web.settings import Caps

MOST_PACKET_BYTES = 65536


def main(descriptor: int, parent: int, caps: dict[str, Any], imports: list[str]) -> None:
    """Serve until the server closes the socket."""
    worker.die_with_parent(parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # signals to the process group are for the server
    control = socket.socket(fileno=descriptor)
    for name in imports:
        import_module(name)
    searching.prepare()
    # The collector would write to the objects that the workers share.
    gc.disable()
    gc.freeze()
    while True:
        try:
            packet, sockets, _, _ = socket.recv_fds(control, MOST_PACKET_BYTES, 1)
        except OSError:  # the server has ended without reading the last answer
            return
        if not packet:
            return
        order = json.loads(packet)
        answer: dict[str, Any]
        match order["do"]:
            case "fork":
                answer = _fork(control, sockets[0], Caps(**caps))
            case "load":
                answer = _load(order["name"])
            case "bury":
                answer = _bury(order["pid"])
        with suppress(OSError):  # the next look at the socket ends this
            control.send(json.dumps(answer).encode())


def _fork(control: socket.socket, descriptor: int, caps: Caps) -> dict[str, Any]:
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(descriptor)
        return {"error": str(error)}
    if pid == 0:
        try:
            control.close()
            worker.die_with_parent(parent)
            worker.serve(socket.socket(fileno=descriptor), caps)
        finally:
            os._exit(1)  # never back into the loop above
    os.close(descriptor)
    return {"pid": pid}


def _load(name: str) -> dict[str, Any]:
    try:
        searching.load_group(name)
    except Exception as error:  # a compiler can raise anything
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}
    finally:
        gc.collect()
        gc.freeze()
    return {}


def _bury(pid: int) -> dict[str, Any]:
    """Wait for the end of a worker that the server has killed, and return how it ended.

    Until then its number cannot be given to another process, so the server kills no other.
    """
    try:
        _, status = os.waitpid(pid, 0)
    except ChildProcessError:
        return {"status": None}
    return {"status": os.waitstatus_to_exitcode(status)}
