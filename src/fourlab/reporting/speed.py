"""Measuring speed on machines that are never quiet: competitors take turns, and each one's best turn counts."""

import time
from collections.abc import Callable


def rates(competitors: dict[str, Callable[[], int]], turns: int = 5) -> dict[str, float]:
    """Measure work per CPU second of this thread.

    Every competitor does one piece of work a turn and returns how much it was. Turns are interleaved, so a slow moment
    of the machine falls on all; one turn in advance, not counted, lets everybody compile.
    """
    best = dict.fromkeys(competitors, 0.0)
    for turn in range(turns + 1):
        for name, work in competitors.items():
            before = time.thread_time()
            done = work()
            spent = max(time.thread_time() - before, 1e-9)
            if turn:
                best[name] = max(best[name], done / spent)
    return best
