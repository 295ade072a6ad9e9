"""A gate before the searches: so many think, so many wait, and everybody else is told at once to come back later."""

import asyncio
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

    Searches are compiled and let go of Python's lock, so the event loop goes on while they run.
    """

    def __init__(self, places: int, waiting: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(places, thread_name_prefix=name)
        self._most = places + waiting
        self.inside = 0
        """Who thinks or waits."""

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Take a place, or raise Busy."""
        if self.inside >= self._most:
            raise Busy
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    def start(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Begin work that was let in, as soon as a thread is free."""
        return asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def think(self, request: Request, work: Callable[[Stop], T]) -> T:
        """Let work happen in a thread; it is told to stop when the one who asked has gone."""
        stop = Stop()
        with self.enter():
            thinking = self.start(lambda: work(stop))
            watching = asyncio.ensure_future(_gone(request))
            both: set[asyncio.Future[Any]] = {thinking, watching}
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                stop.set()  # of no effect if the work is done
                watching.cancel()
                await asyncio.wait({thinking})  # the place is taken until the thread is free
        return thinking.result()

    def close(self) -> None:
        """Take no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
