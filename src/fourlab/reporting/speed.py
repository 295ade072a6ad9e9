"""Measuring speed on a busy machine: competitors take turns, and the best turn counts."""

import time
from collections.abc import Callable


def rates(competitors: dict[str, Callable[[], int]], turns: int = 5) -> dict[str, float]:
    """Return the work per CPU second of this thread, by competitor.

    A competitor does one piece of work per turn and returns its amount. Turns are interleaved, so
    that a slow moment of the machine affects all competitors. A first turn, not counted, lets them
    compile.
    """
    best = dict.fromkeys(competitors, 0.0)
    for turn in range(turns + 1):
        for name, work in competitors.items():
            # CPU time: what other processes take does not count.
            before = time.thread_time()
            done = work()
            # The clock may not have moved during a very short piece of work.
            seconds = max(time.thread_time() - before, 1e-9)
            if turn > 0:
                best[name] = max(best[name], done / seconds)
    return best
