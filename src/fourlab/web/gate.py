"""Admission control for searches: a few run, some wait, and all others get 503 at once."""

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
    """The queue is full."""

    retry_after = 1
    """Seconds."""


class Gone(Exception):
    """The client has closed the connection."""


class Gate:
    """Threads for searches, and a bounded queue before them.

    Searches are compiled and release the GIL, so the event loop runs beside them. A request that
    would wait longer than `patience` seconds, estimated from the duration of recent searches, is
    refused at once; none waits longer than twice that.
    """

    def __init__(self, places: int, waiting: int, patience: float, name: str) -> None:
        self._name = name
        self._places = places
        self._max_inside = places + waiting
        self._patience = patience
        self._pool: ThreadPoolExecutor | None = None
        # One permit per thread: work that is admitted never waits in the pool's own queue.
        self._free = asyncio.Semaphore(places)
        self._stops: set[Stop] = set()
        self._mean_seconds = 0.0  # exponential moving average of recent searches
        self._inside = 0  # requests that search or wait; changed only in the event loop

    def open(self) -> None:
        """Start to accept work."""
        self._pool = ThreadPoolExecutor(self._places, self._name)
        # A semaphore belongs to the event loop that first waited for it; each start has its own.
        self._free = asyncio.Semaphore(self._places)

    def stop(self) -> None:
        """Stop all running searches."""
        for stop in list(self._stops):
            stop.set()

    def close(self) -> None:
        """Stop all searches and accept no more."""
        assert self._pool is not None
        self.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        """Take a place as soon as one is free, or raise Busy."""
        # Requests that must end before this one can start; not positive if a place is free.
        ahead = self._inside - self._places + 1
        expected_wait = ahead * self._mean_seconds / self._places
        if self._inside >= self._max_inside or expected_wait > self._patience:
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
        """Run work in a thread. Leaving the block stops it and waits until the thread is free."""
        assert self._pool is not None
        stop = Stop()

        def timed() -> T:
            started = time.perf_counter()
            try:
                return work(stop)
            finally:
                seconds = time.perf_counter() - started
                # 1/8 weighs about the last eight searches. Threads may overwrite each other's
                # update, which an estimate can bear.
                self._mean_seconds += (seconds - self._mean_seconds) / 8

        async with self.enter():
            self._stops.add(stop)
            thinking = asyncio.get_running_loop().run_in_executor(self._pool, timed)
            try:
                yield thinking
            finally:
                stop.set()  # without effect if the work is done
                # Also when this task is cancelled, the place is given back only once the thread is
                # free: otherwise the next search would wait behind an abandoned one.
                with CancelScope(shield=True):
                    await asyncio.wait({thinking})
                thinking.exception()  # marks it as retrieved; the caller has handled it
                self._stops.discard(stop)

    async def think(self, request: Request, work: Callable[[Stop], T]) -> T:
        """Run work in a thread; stop it and raise Gone if the client closes the connection."""
        async with self.start(work) as thinking:
            return await unless_gone(request, thinking)


async def unless_gone(request: Request, work: "asyncio.Future[T]") -> T:
    """Wait for work and return its result; raise Gone if the client closes the connection."""
    watching = asyncio.ensure_future(_gone(request))
    both: set[asyncio.Future[Any]] = {work, watching}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
    if not work.done():
        raise Gone
    return work.result()


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    # A message before that is the end of the body, which the route has read.
    while (await request.receive())["type"] != "http.disconnect":
        pass
