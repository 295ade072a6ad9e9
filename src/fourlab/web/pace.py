"""Pacing: a client that sends many requests per second waits while others are there, too.

The gate shares searches; this shares the event loop, which every request needs, even one that is
refused at once.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from fourlab.web.settings import (
    BURST_REQUESTS,
    MOST_PACED_ADDRESSES,
    PACED_REQUESTS_PER_SECOND,
    PEAK_REQUESTS_PER_SECOND,
    SHARED_SECONDS,
    TOGETHER_REQUESTS,
)


@dataclass
class Bucket:
    """A token bucket: every request takes a token, and tokens come back at a constant rate.

    Below zero, its size is the number of requests that wait.
    """

    tokens: float
    at: float
    """When `tokens` was right, which is when the last request came."""
    spaced_until: float = 0.0
    """When all its requests would have been worked on at the peak rate."""


class Pace:
    """The token buckets of all addresses, the one that asked last at the end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait(self, address: str) -> float:
        """Count a request, and return the seconds that it must wait: 0 for an address alone."""
        now = self._clock()
        bucket = self._buckets.get(address)
        if bucket is None:
            bucket = Bucket(BURST_REQUESTS, now)
            self._buckets[address] = bucket
            if len(self._buckets) > MOST_PACED_ADDRESSES:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(address)
        refilled = bucket.tokens + (now - bucket.at) * PACED_REQUESTS_PER_SECOND
        bucket.tokens = min(refilled, BURST_REQUESTS) - 1
        bucket.at = now
        if not self._is_shared(now):
            # Nobody is kept waiting, so nothing is owed; but the reserve is spent.
            bucket.tokens = max(bucket.tokens, 0.0)
            bucket.spaced_until = now
            return 0.0
        # A burst leaves gaps for others: the generic cell rate algorithm (ITU-T I.371).
        together = TOGETHER_REQUESTS / PEAK_REQUESTS_PER_SECOND
        spaced = max(bucket.spaced_until, now)
        bucket.spaced_until = spaced + 1 / PEAK_REQUESTS_PER_SECOND
        gap = spaced + 1 / PEAK_REQUESTS_PER_SECOND - together - now
        return max(gap, -bucket.tokens / PACED_REQUESTS_PER_SECOND, 0.0)

    def _is_shared(self, now: float) -> bool:
        """Return whether an address besides the last one has asked recently."""
        _, *others = islice(reversed(self._buckets.values()), 2)
        return any(now - other.at < SHARED_SECONDS for other in others)
