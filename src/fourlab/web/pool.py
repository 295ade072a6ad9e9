"""Worker processes for searches, killed and replaced if they crash, overrun or need much memory.

A search of a request runs in a worker (`worker.py`). The server only waits for it, so that nothing
a search does can harm the server: a crash of compiled code ends the worker alone, a search that
ignores its time limit is killed, and memory is limited by the system.
"""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import asynccontextmanager, suppress
from typing import Any

from anyio import CancelScope

from fourlab.errors import NotThere, UserError
from fourlab.web.settings import (
    GRACE_SECONDS,
    LOAD_SECONDS,
    MOST_ANSWER_BYTES,
    SPARE_WORKERS,
    START_ATTEMPTS,
    START_SECONDS,
    STOP_SECONDS,
    WORKER_SEARCHES,
    Caps,
)
from fourlab.web.starters import (
    Forks,
    NoProcess,
    Nursery,
    Process,
    Spawns,
    Starter,
    Unavailable,
    can_fork,
)

log = logging.getLogger("fourlab.web")

OnProgress = Callable[[str], None]


class SearchFailed(Exception):
    """A search crashed or raised an exception; the log says more."""


class Overdue(Exception):
    """A search was killed because it ignored its time limit."""


class OutOfMemory(Exception):
    """A search needed more memory than a worker may take."""


class Worker:
    """The server's side of a worker process."""

    def __init__(
        self,
        process: Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        generation: int,
    ) -> None:
        self.process = process
        self.reader = reader
        self.writer = writer
        self.generation = generation
        """How many groups of kernels were loaded when it was started."""
        self.searches = 0
        self.overdue = False
        self.dead = False

    async def answer(self, do: str, fields: dict[str, Any], on_progress: OnProgress) -> str:
        """Send an order and return the answer as JSON; raise what the work has raised."""
        self.searches += 1
        order = {"number": self.searches, "do": do, "fields": fields}
        self.writer.write(json.dumps(order).encode() + b"\n")
        while True:
            try:
                line = (await self.reader.readline()).decode()
            except (OSError, ValueError):  # the worker has died, or sends too much
                line = ""
            word, _, data = line.rstrip("\n").partition(" ")
            match word:
                case "progress":
                    on_progress(data)
                    continue
                case "done":
                    return data
                case "missing":
                    raise NotThere(json.loads(data))
                case "wrong":
                    raise UserError(json.loads(data))
                case "memory":
                    self.dead = True
                    raise OutOfMemory
                case "fault":
                    log.error("an error in a search: %s %s\n%s", do, fields, json.loads(data))
                    raise SearchFailed
            self.dead = True
            if self.overdue:
                log.warning("a search was killed after its time limit: %s %s", do, fields)
                raise Overdue
            log.error("a search has ended its process: %s %s", do, fields)
            raise SearchFailed

    def stop(self) -> None:
        """Tell the running search to end."""
        if not self.dead:
            self.writer.write(json.dumps({"stop": self.searches}).encode() + b"\n")

    def kill(self) -> None:
        """Kill the process; whoever waits for its answer gets Overdue."""
        self.overdue = True
        self.process.kill()

    def is_usable(self) -> bool:
        """Return whether the process can take another search."""
        alive = not self.dead and not self.overdue and not self.reader.at_eof()
        return alive and self.searches < WORKER_SEARCHES


class Pool:
    """The worker processes of a server. All methods but `load` run in the event loop's thread.

    There are as many workers as searches at the same time, and a few spare ones. `imports` are
    modules that workers import; tests use them to bring agents that misbehave. `nursery` is the
    process that forks workers, if it has been started already.
    """

    def __init__(
        self,
        caps: Caps,
        imports: Sequence[str] = (),
        fork: bool | None = None,
        grace: float = GRACE_SECONDS,
        stop_seconds: float = STOP_SECONDS,
        nursery: Nursery | None = None,
    ) -> None:
        self._caps = caps
        self._imports = list(imports)
        self._fork = can_fork() if fork is None else fork
        self._grace = grace
        self._stop_seconds = stop_seconds
        self._nursery = nursery
        self._spare = min(SPARE_WORKERS, caps.searches)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starter: Starter | None = None
        self._groups: list[str] = []
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._beginning = asyncio.Lock()
        self._loading: set[Future[None]] = set()
        self._closed = False

    def open(self) -> None:
        """Start the processes, without waiting for them."""
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._starter = Spawns(self._caps, self._imports)
        if self._fork:
            self._starter = Forks(self._nursery or Nursery(self._caps, self._imports))
            self._nursery = None  # it ends with the server; the next one needs another
        self._later(self._refill)

    def stop(self) -> None:
        """Stop all running searches."""
        for worker in self._busy:
            worker.stop()

    def close(self) -> None:
        """Kill all processes."""
        self._closed = True
        for loading in list(self._loading):
            _settle(loading)
        for task in self._tasks:
            task.cancel()
        for worker in (*self._idle, *self._busy):
            worker.writer.close()
            worker.process.kill()
        self._idle = []
        if self._starter is not None:
            self._starter.close()

    def processes(self) -> list[int]:
        """Return the numbers of all worker processes."""
        return [worker.process.pid for worker in (*self._idle, *self._busy)]

    def busy(self) -> int:
        """Return the number of workers that search."""
        return len(self._busy)

    @asynccontextmanager
    async def start(
        self,
        do: str,
        fields: dict[str, Any],
        seconds: float,
        on_progress: OnProgress = lambda data: None,
    ) -> "AsyncIterator[asyncio.Task[str]]":
        """Begin a search that should take at most `seconds`; yield the task of its answer.

        Half of the grace later it is asked to stop, all of it later killed. Leaving the block stops
        it, and kills it if it does not end soon.
        """
        worker = await self._take()
        loop = asyncio.get_running_loop()
        answering = asyncio.ensure_future(worker.answer(do, fields, on_progress))
        timers = [
            loop.call_later(seconds + self._grace / 2, worker.stop),
            loop.call_later(seconds + self._grace, worker.kill),
        ]
        try:
            yield answering
        finally:
            for timer in timers:
                timer.cancel()
            with CancelScope(shield=True):
                if not answering.done():
                    worker.stop()
                    await asyncio.wait({answering}, timeout=self._stop_seconds)
                if not answering.done():
                    worker.kill()
                    await asyncio.wait({answering})
            answering.exception()  # marks it as retrieved; the caller has handled it
            self._give_back(worker)

    async def run(self, do: str, fields: dict[str, Any], seconds: float) -> str:
        """Do some work and return its answer."""
        async with self.start(do, fields, seconds) as answering:
            return await answering

    def load(self, name: str) -> None:
        """Load a compiled group for all workers. Called in a thread, which waits until it is."""
        assert self._loop is not None
        done: Future[None] = Future()
        self._loading.add(done)

        def begin() -> None:
            task = asyncio.ensure_future(self._load(name))
            task.add_done_callback(lambda _: _settle(done))

        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(begin)
            if not self._closed:
                done.result()
        self._loading.discard(done)

    async def _load(self, name: str) -> None:
        if self._closed:
            return
        starter = self._starter
        assert starter is not None
        try:
            error = await asyncio.wait_for(starter.load(name), LOAD_SECONDS)
        except Unavailable:  # the next start begins anew
            error = None
        except TimeoutError:
            log.error("the kernels of %s cannot be loaded in %.0f s", name, LOAD_SECONDS)
            starter.close()
            return
        if error is not None:
            log.error("the kernels of %s cannot be loaded: %s", name, error)
        self._groups.append(name)
        outdated, self._idle = self._idle, []
        for worker in outdated:
            self._later(self._renew, worker)
        self._later(self._refill)

    async def _renew(self, worker: Worker) -> None:
        """Replace a worker by one that has the newest kernels, or let it load them itself."""
        assert self._starter is not None
        if self._starter.shares_memory:
            await self._bury(worker)
            return
        self._busy.add(worker)
        await self._update(worker)
        self._give_back(worker)

    async def _update(self, worker: Worker) -> None:
        """Let a worker load what it does not share; if it cannot, its searches compile it."""
        assert self._starter is not None
        if not self._starter.shares_memory:
            worker.generation = len(self._groups)
            killing = asyncio.get_running_loop().call_later(LOAD_SECONDS, worker.kill)
            try:
                with suppress(SearchFailed, OutOfMemory, Overdue):
                    await worker.answer("load", {"names": self._groups}, lambda data: None)
            finally:
                killing.cancel()

    async def _take(self) -> Worker:
        """Return an idle worker, or start one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_usable():
                self._busy.add(worker)
                return worker
            self._later(self._bury, worker)
        starting = asyncio.ensure_future(self._start())
        try:
            worker = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(self._keep)  # the next request takes it
            raise
        self._busy.add(worker)
        return worker

    def _keep(self, starting: "asyncio.Future[Worker]") -> None:
        if not starting.cancelled() and starting.exception() is None:
            self._give_back(starting.result())

    def _give_back(self, worker: Worker) -> None:
        self._busy.discard(worker)
        if self._closed:
            worker.process.kill()
            return
        if worker.is_usable() and worker.generation == len(self._groups):
            self._idle.append(worker)
            return
        if worker.is_usable():
            self._later(self._renew, worker)
        else:
            self._later(self._bury, worker)
        self._later(self._refill)

    async def _refill(self) -> None:
        """Start workers until the spare ones are there."""
        while len(self._idle) + len(self._busy) < self._spare and not self._closed:
            worker = await self._start()
            self._idle.insert(0, worker)  # used last: the others have warm caches

    async def _start(self) -> Worker:
        """Start a worker; one that hangs at its start is killed, and another one started."""
        for _ in range(START_ATTEMPTS):
            process, connection, starter, generation = await self._process()
            worker = Worker(process, *await starter.open(connection, MOST_ANSWER_BYTES), generation)
            try:
                await self._greet(worker)
            except TimeoutError:
                log.error("a worker was not ready in %.0f s and is killed", START_SECONDS)
                self._later(self._bury, worker)
            except BaseException:
                self._later(self._bury, worker)
                raise
            else:
                return worker
        raise NoProcess("workers hang at their start")

    async def _process(self) -> tuple[Process, socket.socket, Starter, int]:
        """Start a process; if the one that forks them has ended or hangs, begin anew."""
        while True:
            starter = self._starter
            assert starter is not None
            generation = len(self._groups) if starter.shares_memory else 0
            try:
                # It may be loading a group of kernels, which has its own time limit.
                async with asyncio.timeout(LOAD_SECONDS + START_SECONDS):
                    return *await starter.start(), starter, generation
            except TimeoutError:
                log.error("the process that starts workers hangs and is killed")
                starter.close()
            except Unavailable:
                pass
            if self._closed:
                raise Unavailable
            await self._begin_anew(starter)

    async def _greet(self, worker: Worker) -> None:
        """Wait until a worker is ready, which does not count as time of its first search."""
        async with asyncio.timeout(START_SECONDS):
            greeting = await worker.reader.readline()
        if self._closed or not greeting.startswith(b"ready "):
            raise NoProcess("a worker ended at its start")
        if worker.generation < len(self._groups):
            await self._update(worker)
            if not worker.is_usable():
                raise NoProcess("a worker could not load the kernels")

    async def _begin_anew(self, failed: Starter) -> None:
        """Start another process that forks workers, and load into it what the last one had."""
        async with self._beginning:
            if self._starter is not failed or self._closed:
                return  # another task has done this
            log.error("the process that starts workers has ended; another one is started")
            failed.close()
            starter = Forks(Nursery(self._caps, self._imports))
            self._starter = starter
            for name in list(self._groups):
                try:
                    await asyncio.wait_for(starter.load(name), LOAD_SECONDS)
                except Unavailable:
                    return  # the next start begins anew
                except TimeoutError:
                    # Searches compile what they need of this group; it is not tried again here.
                    log.error("the kernels of %s cannot be loaded in %.0f s", name, LOAD_SECONDS)
                    self._groups.remove(name)
                    starter.close()
                    return

    async def _bury(self, worker: Worker) -> None:
        worker.writer.close()
        worker.process.kill()
        await worker.process.ended()

    def _later(self, work: Callable[..., Awaitable[None]], *arguments: Worker) -> None:
        """Do something beside everything else; `close` cancels it."""

        async def quietly() -> None:
            with suppress(Unavailable, NoProcess):
                await work(*arguments)

        task = asyncio.ensure_future(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _settle(future: "Future[None]") -> None:
    with suppress(InvalidStateError):
        future.set_result(None)
