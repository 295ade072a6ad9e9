"""A gate before the searches: so many think, some wait, and everybody else is told at once to come back later."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from fastapi import Request

from fourlab.agent import Stop

T = TypeVar("T")


class Busy(Exception):
    """There is no place left, not even for waiting."""

    retry_after = 1
    """Seconds."""


class Gate:
    """Threads for searches, and a bounded queue before them.

    Searches are compiled and let go of Python's lock, so the event loop goes on while they run. Nobody is let in who would have
    to wait longer than `patience`, by how long searches took of late.
    """

    def __init__(self, places: int, waiting: int, patience: float, name: str) -> None:
        self._name, self._places, self._most, self._patience = name, places, places + waiting, patience
        self._pool: ThreadPoolExecutor | None = None
        self._stops: set[Stop] = set()
        self._usual = 0.0
        self.inside = 0
        """Who thinks or waits."""

    def open(self) -> None:
        """Begin to take work."""
        self._pool = ThreadPoolExecutor(self._places, self._name)

    def close(self) -> None:
        """Take no more, and end what is being thought."""
        assert self._pool is not None
        for stop in self._stops:
            stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Take a place, or raise Busy."""
        before = self.inside - self._places + 1
        if self.inside >= self._most or before * self._usual > self._patience * self._places:
            raise Busy
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    def start(self, work: Callable[[Stop], T], stop: Stop) -> "asyncio.Future[T]":
        """Begin work that was let in, as soon as a thread is free."""
        assert self._pool is not None

        def timed() -> T:
            started = time.perf_counter()
            self._stops.add(stop)
            try:
                return work(stop)
            finally:
                self._stops.discard(stop)
                self._usual += (time.perf_counter() - started - self._usual) / 8

        return asyncio.get_running_loop().run_in_executor(self._pool, timed)

    async def think(self, request: Request, work: Callable[[Stop], T]) -> T:
        """Let work happen in a thread; it is told to stop when the one who asked has gone."""
        stop = Stop()
        with self.enter():
            thinking = self.start(work, stop)
            watching = asyncio.ensure_future(_gone(request))
            both: set[asyncio.Future[Any]] = {thinking, watching}
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                stop.set()  # of no effect if the work is done
                watching.cancel()
                await asyncio.wait({thinking})  # the place is taken until the thread is free
        return thinking.result()


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
