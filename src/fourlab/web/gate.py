"""A gate before the searches: so many think, some wait, and everybody else is told at once to come back later."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from anyio import CancelScope
from fastapi import Request

from fourlab.agent import Stop

T = TypeVar("T")


class Busy(Exception):
    """There is no place left, not even for waiting."""

    retry_after = 1
    """Seconds."""


class Gone(Exception):
    """Whoever asked is not there any more."""


class Gate:
    """Threads for searches, and a bounded queue before them.

    Searches are compiled and let go of Python's lock, so the event loop goes on while they run. Who would have to wait longer
    than `patience`, by how long searches took of late, is refused at once, and nobody waits twice as long whatever happens.
    """

    def __init__(self, places: int, waiting: int, patience: float, name: str) -> None:
        self._name, self._places, self._most, self._patience = name, places, places + waiting, patience
        self._pool: ThreadPoolExecutor | None = None
        self._free = asyncio.Semaphore(places)
        self._stops: set[Stop] = set()
        self._usual = 0.0
        self._inside = 0

    def open(self) -> None:
        """Begin to take work."""
        self._pool = ThreadPoolExecutor(self._places, self._name)
        self._free = asyncio.Semaphore(self._places)

    def stop(self) -> None:
        """End what is being thought."""
        for stop in list(self._stops):
            stop.set()

    def close(self) -> None:
        """Take no more."""
        assert self._pool is not None
        self.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        """Take a place as soon as one is free, or raise Busy."""
        before = self._inside - self._places + 1
        if self._inside >= self._most or before * self._usual > self._patience * self._places:
            raise Busy
        self._inside += 1
        try:
            try:
                await asyncio.wait_for(self._free.acquire(), 2 * self._patience)
            except TimeoutError:
                raise Busy from None
            try:
                yield
            finally:
                self._free.release()
        finally:
            self._inside -= 1

    @asynccontextmanager
    async def start(self, work: Callable[[Stop], T]) -> "AsyncIterator[asyncio.Future[T]]":
        """Let work happen in a thread. Leaving the block tells it to stop; the place is taken until the thread is free."""
        assert self._pool is not None
        stop = Stop()

        def timed() -> T:
            started = time.perf_counter()
            try:
                return work(stop)
            finally:
                self._usual += (time.perf_counter() - started - self._usual) / 8

        async with self.enter():
            self._stops.add(stop)
            thinking = asyncio.get_running_loop().run_in_executor(self._pool, timed)
            try:
                yield thinking
            finally:
                stop.set()  # of no effect if the work is done
                with CancelScope(shield=True):
                    await asyncio.wait({thinking})
                thinking.exception()  # whoever wants to know has asked
                self._stops.discard(stop)

    async def think(self, request: Request, work: Callable[[Stop], T]) -> T:
        """Let work happen in a thread; it is told to stop when the one who asked has gone."""
        async with self.start(work) as thinking:
            watching = asyncio.ensure_future(gone(request))
            both: set[asyncio.Future[Any]] = {thinking, watching}
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                watching.cancel()
            if not thinking.done():
                raise Gone
            return thinking.result()


async def gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
