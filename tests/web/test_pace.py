"""Pacing: whoever sends too many requests waits, but only while others ask, too."""

from itertools import pairwise

import pytest

from fourlab.web.pace import Pace
from fourlab.web.settings import (
    BURST_REQUESTS,
    MOST_PACED_ADDRESSES,
    PACED_REQUESTS_PER_SECOND,
    PEAK_REQUESTS_PER_SECOND,
    SHARED_SECONDS,
    TOGETHER_REQUESTS,
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> Pace:
    return Pace(clock)


def test_an_address_alone_never_waits(pace: Pace, clock: Clock) -> None:
    assert {pace.wait("a") for _ in range(5000)} == {0.0}
    pace.wait("b")
    clock.now += SHARED_SECONDS
    assert {pace.wait("a") for _ in range(5000)} == {0.0}


def test_a_burst_leaves_gaps_for_others_and_then_the_rate_is_lower(pace: Pace) -> None:
    pace.wait("b")
    waits = [pace.wait("a") for _ in range(int(BURST_REQUESTS) + 300)]
    steps = [later - sooner for sooner, later in pairwise(waits)]
    assert set(waits[:TOGETHER_REQUESTS]) == {0.0}
    assert steps[TOGETHER_REQUESTS] == pytest.approx(1 / PEAK_REQUESTS_PER_SECOND)
    assert steps[-1] == pytest.approx(1 / PACED_REQUESTS_PER_SECOND)


def test_a_client_that_waits_for_its_answers_is_never_delayed(pace: Pace, clock: Clock) -> None:
    for _ in range(100):
        pace.wait("b")
        assert pace.wait("a") == 0.0
        clock.now += 0.011


def test_a_greedy_address_waits_as_soon_as_another_one_comes(pace: Pace) -> None:
    for _ in range(5000):
        pace.wait("a")
    assert pace.wait("b") == 0.0
    assert pace.wait("a") > 0
    assert pace.wait("b") == 0.0, "the other one does not wait"


def test_debts_are_paid_by_time(pace: Pace, clock: Clock) -> None:
    pace.wait("b")
    for _ in range(int(BURST_REQUESTS) + 100):
        pace.wait("a")
    clock.now += max(
        101 / PACED_REQUESTS_PER_SECOND, (BURST_REQUESTS + 101) / PEAK_REQUESTS_PER_SECOND
    )
    pace.wait("b")
    assert pace.wait("a") == 0.0


def test_old_addresses_are_forgotten(pace: Pace) -> None:
    for number in range(MOST_PACED_ADDRESSES + 50):
        pace.wait(str(number))
    assert len(pace._buckets) == MOST_PACED_ADDRESSES
