"""The budget of a tree search: simulations, time and a stop flag, shared by its threads."""

import math
import threading
import time
from collections.abc import Callable

import numpy as np

from fourlab.agent import Stop
from fourlab.agents.mcts import kernel
from fourlab.agents.mcts.tree import SearchTree
from fourlab.agents.mcts.xray import marks

# With this a limit of 50 ms is overrun by 0.8 ms (docs/explanation/speed.md).
CHUNK_SECONDS = 0.001
"""The search runs in compiled chunks of about this length and reads the clock in between."""
MAX_CHUNK = 1 << 16
"""Simulations per chunk at most."""


class Budget:
    """What is left of a search's simulations and time; several threads may spend it."""

    def __init__(
        self,
        simulations: int | None,
        seconds: float | None,
        stop: Stop | None,
        clock: Callable[[], float],
        wall_seconds: float | None = None,
    ) -> None:
        """Start the clock; `wall_seconds` is a second bound if `clock` is not the wall clock."""
        self.simulations = simulations
        self.seconds = seconds
        # uint8[1], a view of the caller's flag: kernels see it as soon as another thread sets it.
        self.stop = np.zeros(1, np.uint8) if stop is None else np.frombuffer(stop.flag, np.uint8)
        self.clock = clock
        self.started: float | None = clock()
        self.deadline = None if wall_seconds is None else time.perf_counter() + wall_seconds
        # Simulations given out to threads, and simulations completed.
        self.taken = self.done = 0
        self.finished = False
        self.lock = threading.Lock()

    def share(self, runs: int, threads: int) -> "Budget":
        """Return the budget of one of several runs: all the simulations, but a part of the time."""
        # A copy without __init__, which would start the clock: a run may wait for a thread first.
        run = Budget.__new__(Budget)
        run.__dict__.update(self.__dict__, lock=threading.Lock(), started=None)
        if self.seconds is not None:
            # Example: of six runs on two threads, three follow one another, so each has a third of
            # the time.
            run.seconds = self.seconds * min(threads, runs) / runs
        return run

    def elapsed(self) -> float:
        """Return the seconds since the search started; the clock of a run starts at first use."""
        if self.started is None:
            self.started = self.clock()
        return self.clock() - self.started

    def left(self) -> float:
        """Return the seconds that are left, infinite without a bound."""
        left = math.inf if self.seconds is None else self.seconds - self.elapsed()
        if self.deadline is not None:
            left = min(left, self.deadline - time.perf_counter())
        return left

    def is_over(self) -> bool:
        """Return whether the time is up or the search is stopped."""
        return bool(self.stop[0]) or self.left() <= 0

    def max_blocks(self, per_simulation: int) -> int:
        """Return an upper bound on the blocks that the budget can fill."""
        if self.simulations is not None:
            # Blocks 0 and 1 are in use from the start; the third is spare.
            return self.simulations * per_simulation + 3
        # Far more than any machine fills: 10 million blocks per second.
        return 2**40 if self.seconds is None else int(self.seconds * 1e7) + 1000

    def spend(self, tree: SearchTree, state: int, snap: Callable[[], None] | None) -> None:
        """Search until the budget is spent, the root is proven or the search is stopped.

        `state` is the thread's random state. `snap` is called at the simulation counts of `marks`.
        """
        # Threads on one tree take smaller chunks, so that none waits long for another at the end.
        largest = MAX_CHUNK // 32 if tree.switches.shared else MAX_CHUNK
        # With a clock, the first chunk measures the speed, which is unknown before.
        chunk = largest if self.seconds is None else 1
        counts = marks()
        mark = next(counts)
        self.elapsed()
        while not self.finished:
            with self.lock:
                simulations = chunk
                if self.simulations is not None:
                    simulations = min(simulations, self.simulations - self.taken)
                if snap is not None:
                    # End the chunk at the mark, so that the snapshot is of exactly that many
                    # simulations.
                    simulations = min(simulations, max(mark - self.taken, 1))
                self.taken += simulations
            if simulations <= 0:
                return
            before = time.perf_counter()
            done, reason, state = tree.search(simulations, state, self.stop)
            spent = time.perf_counter() - before
            with self.lock:
                self.done += done
            out_of_time = self.left() <= 0
            if reason != kernel.RUNNING or out_of_time or tree.most_visits >= tree.max_visits:
                self.finished = True
            if snap is not None and self.done >= mark:
                snap()
                while mark <= self.done:
                    mark = next(counts)
            if self.seconds is not None:
                chunk = min(_next_chunk(done, spent, self.left()), largest)


def _next_chunk(done: int, spent: float, left: float) -> int:
    """Return the simulations that take CHUNK_SECONDS or the `left` seconds, whichever is less.

    The rate is that of the last chunk, `done` simulations in `spent` seconds; the next one is at
    most eight times as large.
    """
    rate = max(done, 1) / max(spent, 1e-7)
    fitting = int(rate * min(CHUNK_SECONDS, max(left, 0.0)))
    return max(1, min(fitting, 8 * max(done, 1), MAX_CHUNK))
