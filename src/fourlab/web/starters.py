"""How worker processes are started: forked from a process that has everything loaded, or spawned.

Forking takes milliseconds and shares memory, but is safe only from a process with one thread, and
not on every system. Elsewhere each worker is a new interpreter.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any, Protocol

from fourlab.web.settings import Caps


class Unavailable(Exception):
    """No worker can be started: the process that starts them has ended."""


class NoProcess(Exception):
    """The system does not allow another process."""


class Process(Protocol):
    """A worker process."""

    pid: int

    def kill(self) -> None:
        """End the process at once; nothing happens if it has ended."""
        ...

    async def ended(self) -> int | None:
        """Wait for the end of a killed process; return its exit code, None if it is not known."""
        ...


class Starter(Protocol):
    """Starts worker processes."""

    shares_memory: bool
    """Whether workers have what was loaded before they were started."""

    async def start(self) -> tuple[Process, socket.socket]:
        """Start a worker; return it and this side of its connection."""
        ...

    async def open(
        self, connection: socket.socket, most: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open streams over a connection, with lines of at most `most` bytes."""
        ...

    async def load(self, name: str) -> str | None:
        """Load a group of kernels for later workers; return what went wrong, None if nothing."""
        ...

    def close(self) -> None:
        """Start no more workers."""
        ...


def can_fork() -> bool:
    """Return whether workers are forked here: elsewhere than on Linux, libraries forbid it."""
    return sys.platform == "linux"


_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from fourlab.web.{module} import main; main(int(sys.argv[2]), *json.loads(sys.argv[3]))"
)


def _launch(
    module: str, inherited: socket.socket, caps: Caps, imports: Sequence[str]
) -> "subprocess.Popen[bytes]":
    """Run `main` of a module in a new interpreter, in a process group that gets no Ctrl-C."""
    options: dict[str, Any] = {"process_group": 0, "pass_fds": [inherited.fileno()]}
    if sys.platform == "win32":
        os.set_handle_inheritable(inherited.fileno(), True)
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP, "close_fds": False}
    arguments = [json.dumps([os.getpid(), asdict(caps), list(imports)])]
    # One thread per process: forking is safe then, and there is a process for every search.
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        # -P keeps the user's current folder out of the module search path.
        [
            *(sys.executable, "-P", "-c", _CHILD.format(module=module)),
            *(json.dumps(sys.path), str(inherited.fileno()), *arguments),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **threads},
        **options,
    )


async def _streams(
    connection: socket.socket, most: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    connection.setblocking(False)
    if hasattr(socket, "AF_UNIX") and connection.family == socket.AF_UNIX:
        return await asyncio.open_unix_connection(sock=connection, limit=most)
    return await asyncio.open_connection(sock=connection, limit=most)


class Forked:
    """A worker that `nursery.py` has forked."""

    def __init__(self, pid: int, nursery: "Forks") -> None:
        self.pid = pid
        self._nursery = nursery
        self._buried = False

    def kill(self) -> None:
        """Kill the process. Its number is its own until `ended` has asked for its exit code."""
        if not self._buried:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)

    async def ended(self) -> int | None:
        """Let the nursery wait for the process."""
        if self._buried:
            return None
        self._buried = True
        answer = await self._nursery.ask({"do": "bury", "pid": self.pid})
        status: int | None = answer["status"]
        return status


class Nursery:
    """The child process that forks workers (`nursery.py`), and the connection to it.

    A server can start it before its event loop, to import meanwhile what it needs itself. The
    thread that starts it must live as long as the server: the child ends with it.
    """

    def __init__(self, caps: Caps, imports: Sequence[str] = ()) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = _launch("nursery", theirs, caps, imports)

    def close(self) -> None:
        """End the child, and with it, on Linux, the workers."""
        self.control.close()
        self._process.kill()
        self._process.wait()


@contextmanager
def early_nursery(caps: Caps) -> Iterator[Nursery | None]:
    """Start the nursery before the server imports what it needs; None where nothing is forked."""
    nursery = Nursery(caps) if can_fork() else None
    try:
        yield nursery
    finally:
        if nursery is not None:
            nursery.close()


class Forks:
    """Workers forked from a child process that does nothing else."""

    shares_memory = True

    def __init__(self, nursery: Nursery) -> None:
        self._nursery = nursery
        self._control = nursery.control
        self._control.setblocking(False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._control.fileno(), self._receive)
        self._waiting: deque[asyncio.Future[dict[str, Any]]] = deque()
        self._closed = False

    async def start(self) -> tuple[Process, socket.socket]:
        """Fork a worker."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                answer = await self.ask({"do": "fork"}, theirs)
            except BaseException:
                ours.close()
                raise
        if "error" in answer:  # the system has no more processes, for example
            ours.close()
            raise NoProcess(answer["error"])
        return Forked(answer["pid"], self), ours

    async def open(
        self, connection: socket.socket, most: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open streams over a connection."""
        return await _streams(connection, most)

    async def load(self, name: str) -> str | None:
        """Load a group of kernels, which later workers share."""
        return (await self.ask({"do": "load", "name": name})).get("error")

    def close(self) -> None:
        """End the child, and with it, on Linux, the workers."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._control.fileno())
        self._nursery.close()
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(Unavailable())

    async def ask(
        self, order: dict[str, Any], attached: socket.socket | None = None
    ) -> dict[str, Any]:
        """Send an order and return the answer; answers come in the order of the orders."""
        if self._closed:
            raise Unavailable
        sockets = [] if attached is None else [attached.fileno()]
        try:
            socket.send_fds(self._control, [json.dumps(order).encode()], sockets)
        except OSError:
            self.close()
            raise Unavailable from None
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._waiting.append(future)
        # Shielded, because a cancelled request must not disturb the order of the answers.
        return await asyncio.shield(future)

    def _receive(self) -> None:
        try:
            packet = self._control.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            packet = b""
        if not packet:
            self.close()
            return
        future = self._waiting.popleft()
        if not future.done():
            future.set_result(json.loads(packet))


class Spawned:
    """A worker in an interpreter of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.pid = process.pid
        self._process = process

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    async def ended(self) -> int | None:
        """Wait for the process."""
        return await asyncio.to_thread(self._process.wait)


class Spawns:
    """Workers in interpreters of their own, for systems where processes are not forked."""

    shares_memory = False

    def __init__(self, caps: Caps, imports: Sequence[str]) -> None:
        self._caps = caps
        self._imports = imports
        self._processes: list[subprocess.Popen[bytes]] = []

    async def start(self) -> tuple[Process, socket.socket]:
        """Start an interpreter; it loads kernels on request."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                process = _launch("worker", theirs, self._caps, self._imports)
            except OSError as error:
                ours.close()
                raise NoProcess(str(error)) from None
        self._processes = [other for other in self._processes if other.poll() is None]
        self._processes.append(process)
        return Spawned(process), ours

    async def open(
        self, connection: socket.socket, most: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open streams over a connection."""
        return await _streams(connection, most)

    async def load(self, name: str) -> str | None:
        """Do nothing: every worker loads what it needs."""
        return None

    def close(self) -> None:
        """End all workers."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
