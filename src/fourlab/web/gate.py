"""Admission to searches: a few run, some wait, all others get 503 at once; fair between addresses.

Places go to the address that has used the least search time recently, and some places only to
addresses that have none. So a client that sends a hundred times as many requests as another delays
its own requests, not the other's.
"""

import asyncio
import math
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import Request

from fourlab.web.settings import HALF_LIFE_SECONDS

T = TypeVar("T")


class Busy(Exception):
    """The queue is full."""

    retry_after = 1
    """Seconds."""


class Gone(Exception):
    """The client has closed the connection."""


@dataclass
class Account:
    """What an address uses, and what it waits for."""

    running: list[float] = field(default_factory=list)
    """When its running searches began."""
    waiting: "deque[asyncio.Future[float]]" = field(default_factory=deque)
    """Its requests in the order of arrival; a future gets the time at which the
    request gets a place."""
    used: float = 0.0
    """Search time of ended searches in seconds, as of `used_at`; it decays."""
    used_at: float = 0.0


class Gate:
    """A number of places, and a bounded queue for each address.

    A request that would wait longer than `patience` seconds, estimated from the duration of recent
    searches, is refused at once; none waits longer than twice that.
    """

    def __init__(
        self,
        places: int,
        waiting: int,
        patience: float,
        reserved: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places = places
        self._most_waiting = waiting
        self._patience = patience
        # With a single place there is none to reserve.
        self._shared = max(places - reserved, 1)
        self._clock = clock
        self._accounts: defaultdict[str, Account] = defaultdict(Account)
        self._mean_seconds = 0.0  # exponential moving average of recent searches
        self._running = 0
        self._waiting = 0

    @property
    def inside(self) -> int:
        """The number of requests that have a place or wait for one."""
        return self._running + self._waiting

    @asynccontextmanager
    async def enter(self, address: str) -> AsyncIterator[None]:
        """Take a place as soon as one is free for this address, or raise Busy."""
        if self._may_start(self._accounts[address]):
            started = self._begin(address)
        else:
            started = await self._wait(address)
        try:
            yield
        finally:
            self._end(address, started)

    def _may_start(self, account: Account) -> bool:
        """Return whether an address may take a place: the last ones only if it has none."""
        places = self._shared if account.running else self._places
        return self._running < places

    def _begin(self, address: str) -> float:
        """Take a place and return the time."""
        now = self._clock()
        self._running += 1
        self._accounts[address].running.append(now)
        return now

    def _end(self, address: str, started: float) -> None:
        account = self._accounts[address]
        now = self._clock()
        account.used = self._decayed(account, now) + now - started
        account.used_at = now
        account.running.remove(started)
        self._running -= 1
        self._mean_seconds += (now - started - self._mean_seconds) / 8
        self._serve()
        self._forget()

    async def _wait(self, address: str) -> float:
        """Wait for a place and return the time at which it is taken; or raise Busy."""
        account = self._accounts[address]
        if self._expected_wait(account) > self._patience:
            self._forget()
            raise Busy
        if self._waiting >= self._most_waiting:
            self._make_room(account)
        place: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        account.waiting.append(place)
        self._waiting += 1
        try:
            async with asyncio.timeout(2 * self._patience):
                return await place
        except BaseException as error:
            if place in account.waiting:
                account.waiting.remove(place)
                self._waiting -= 1
            elif place.done() and not place.cancelled() and place.exception() is None:
                # The place was given in the moment in which the request was cancelled.
                self._end(address, place.result())
            self._forget()
            if isinstance(error, TimeoutError):
                raise Busy from None
            raise

    def _expected_wait(self, account: Account) -> float:
        """Return the seconds that a new request of an address would wait.

        Addresses take turns, so it waits for all earlier requests of its own address, and for as
        many of each other address.
        """
        own = len(account.waiting)
        ahead = sum(min(len(other.waiting), own + 1) for other in self._accounts.values())
        return (ahead + 1) * self._mean_seconds / self._shared

    def _make_room(self, account: Account) -> None:
        """Refuse the newest request of the address with the longest queue; or raise Busy."""
        longest = max(self._accounts.values(), key=lambda other: len(other.waiting))
        if len(longest.waiting) <= len(account.waiting) + 1:
            self._forget()
            raise Busy
        newest = longest.waiting.pop()
        self._waiting -= 1
        if not newest.done():  # its client may have gone at this moment
            newest.set_exception(Busy())

    def _serve(self) -> None:
        """Give free places to waiting requests, those of the most modest address first."""
        while self._waiting:
            now = self._clock()
            candidates = [
                (self._usage(account, now), address)
                for address, account in self._accounts.items()
                if account.waiting and self._may_start(account)
            ]
            if not candidates:
                return
            _, address = min(candidates)
            place = self._accounts[address].waiting.popleft()
            self._waiting -= 1
            if not place.done():  # else its request is being cancelled
                place.set_result(self._begin(address))

    def _usage(self, account: Account, now: float) -> float:
        """Return the search time that an address has used recently, in seconds."""
        return self._decayed(account, now) + sum(now - started for started in account.running)

    def _decayed(self, account: Account, now: float) -> float:
        return account.used * math.exp2((account.used_at - now) / HALF_LIFE_SECONDS)

    def _forget(self) -> None:
        """Drop the accounts of addresses that have used next to nothing for a while."""
        now = self._clock()
        for address, account in list(self._accounts.items()):
            if not account.running and not account.waiting and self._decayed(account, now) < 0.001:
                del self._accounts[address]


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
