"""The gate's queue: who gets the next place, and who is refused, by a clock that the test sets."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from fourlab.web.gate import Busy, Gate
from fourlab.web.settings import HALF_LIFE_SECONDS


class Clock:
    """A clock that goes only when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Scene:
    """A gate, its clock, and requests by name; a name begins with its address."""

    def __init__(
        self, places: int, waiting: int = 10, patience: float = 100, reserved: int = 0
    ) -> None:
        self.clock = Clock()
        self.gate = Gate(places, waiting, patience, reserved, self.clock)
        self.inside: list[str] = []
        self.refused: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, *names: str) -> None:
        """Let requests arrive, one after the other."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks[name] = asyncio.ensure_future(self._request(name))
            await _settle()

    async def end(self, name: str, seconds: float = 1.0) -> None:
        """Let a search end after some seconds."""
        self.clock.now += seconds
        self._ends[name].set()
        await _settle()

    async def leave(self, name: str) -> None:
        """Let a client go."""
        self._tasks[name].cancel()
        await _settle()

    async def _request(self, name: str) -> None:
        try:
            async with self.gate.enter(name[0]):
                self.inside.append(name)
                try:
                    await self._ends[name].wait()
                finally:
                    self.inside.remove(name)
        except Busy:
            self.refused.append(name)


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def played(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(story())  # type: ignore[arg-type]


def test_requests_of_one_address_are_served_in_the_order_of_arrival() -> None:
    async def story() -> None:
        scene = Scene(places=1)
        await scene.come("a1", "a2", "a3")
        assert scene.inside == ["a1"]
        await scene.end("a1")
        assert scene.inside == ["a2"]
        await scene.end("a2")
        assert scene.inside == ["a3"]

    played(story)


def test_a_modest_address_goes_before_a_greedy_one() -> None:
    async def story() -> None:
        scene = Scene(places=1)
        await scene.come("a1", "a2", "a3", "a4", "b1")
        await scene.end("a1")
        assert scene.inside == ["b1"]
        await scene.end("b1", 0.1)
        await scene.come("b2")
        assert scene.inside == ["a2"]
        await scene.end("a2")
        assert scene.inside == ["b2"], "b has used 0.1 s, a 2 s"

    played(story)


def test_used_time_is_forgotten() -> None:
    async def story() -> None:
        scene = Scene(places=1)
        await scene.come("a1")
        await scene.end("a1", 60)
        scene.clock.now += 10 * HALF_LIFE_SECONDS
        await scene.come("b1")
        await scene.come("b2", "a2")
        await scene.end("b1", 1)
        assert scene.inside == ["a2"], "60 s count as 0.06 s by now"

    played(story)


def test_a_running_search_counts() -> None:
    async def story() -> None:
        scene = Scene(places=2)
        await scene.come("a1", "b1", "a2", "b2")
        await scene.end("b1", 5)
        # Both have used 5 s; a still runs.
        scene.clock.now += 5
        assert scene.inside in (["a1", "a2"], ["a1", "b2"])
        scene = Scene(places=2)
        await scene.come("a1", "c1", "a2", "b1")
        await scene.end("c1", 5)
        assert scene.inside == ["a1", "b1"]

    played(story)


def test_the_last_place_is_for_addresses_that_have_none() -> None:
    async def story() -> None:
        scene = Scene(places=3, reserved=1)
        await scene.come("a1", "a2", "a3", "a4")
        assert scene.inside == ["a1", "a2"]
        await scene.come("b1", "b2")
        assert scene.inside == ["a1", "a2", "b1"]
        await scene.end("b1", 0.01)
        assert scene.inside == ["a1", "a2", "b2"]
        await scene.end("b2", 0.01)
        assert scene.inside == ["a1", "a2"], "the place stays free for others"

    played(story)


def test_a_single_place_is_not_reserved() -> None:
    async def story() -> None:
        scene = Scene(places=1, reserved=1)
        await scene.come("a1")
        assert scene.inside == ["a1"]

    played(story)


def test_a_full_queue_refuses_the_newest_request_of_the_longest_queue() -> None:
    async def story() -> None:
        scene = Scene(places=1, waiting=3)
        await scene.come("a1", "a2", "a3", "a4")
        await scene.come("a5")
        assert scene.refused == ["a5"]
        await scene.come("b1")
        assert scene.refused == ["a5", "a4"]
        await scene.come("c1")
        assert scene.refused == ["a5", "a4", "a3"]
        await scene.come("d1")
        assert scene.refused == ["a5", "a4", "a3", "d1"], "all queues have one request"

    played(story)


def test_a_request_that_has_just_gone_can_be_refused() -> None:
    async def story() -> None:
        scene = Scene(places=1, waiting=2)
        await scene.come("a1", "a2", "a3")
        # The client of a3 goes, and its task has not run yet when b1 needs room.
        account = max(scene.gate._accounts.values(), key=lambda other: len(other.waiting))
        account.waiting[-1].cancel()
        await scene.come("b1")
        assert "b1" not in scene.refused

    played(story)


def test_a_request_that_would_wait_too_long_is_refused_by_its_own_queue() -> None:
    async def story() -> None:
        scene = Scene(places=1, patience=1.0)
        for number in range(20):
            await scene.come(f"a{number}")
            await scene.end(f"a{number}", 0.4)
        await scene.come("ax", "ay", "az", "bx")
        assert scene.inside == ["ax"]
        assert scene.refused == [], "0.4 s and 0.8 s"
        await scene.come("aw")
        assert scene.refused == ["aw"], "three of them wait: 1.6 s"

    played(story)


def test_clients_that_leave_free_their_places_in_the_queue() -> None:
    async def story() -> None:
        scene = Scene(places=1)
        await scene.come("a1", "a2", "b1")
        await scene.leave("b1")
        await scene.leave("a1")
        assert scene.inside == ["a2"]
        assert scene.gate.inside == 1
        await scene.leave("a2")
        assert scene.gate.inside == 0

    played(story)


def test_no_request_waits_longer_than_twice_the_patience() -> None:
    async def story() -> None:
        gate = Gate(1, 10, 0.01)
        async with gate.enter("a"):
            with pytest.raises(Busy):
                async with gate.enter("b"):
                    raise AssertionError
        assert gate.inside == 0

    played(story)


def test_accounts_of_addresses_that_have_gone_are_dropped() -> None:
    async def story() -> None:
        scene = Scene(places=2)
        for address in "abcdefgh":
            await scene.come(f"{address}1")
            await scene.end(f"{address}1", 0.0)
        assert len(scene.gate._accounts) <= 1

    played(story)
