"""Work on a Ray cluster, by default one that is started on this machine.

Ray may run a task more than once or not at all. That does no harm here, because the result of an
item depends only on the item.
"""

import logging
import math
import os
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Any

import ray

from fourlab.errors import UserError
from fourlab.jobs.executors.local import HANG_SECONDS, Local
from fourlab.jobs.executors.work import Lost, Pace, StopFlags, Watch, Work, is_ordered

# A task costs milliseconds and crosses the network, so batches are longer than on one machine.
BATCH_SECONDS = 2.0
MAX_BATCH_ITEMS = 100
FAILURES_ALLOWED = 10
"""An item is lost after this many failed tasks. The limit is high because a task may fail through
no fault of its item, or even before it begins."""
_prepared: dict[bytes, Any] = {}
"""In a Ray worker: the work that it has prepared, by object id, with what it remembers."""


class Ray(StopFlags):
    """An executor that runs on a Ray cluster, whose processes end with the cluster."""

    def __init__(self, workers: int, address: str | None = None) -> None:
        super().__init__(workers)
        if not ray.is_initialized():
            # The default of future versions; without it this version warns.
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            # A running cluster has its own number of processors, and Ray refuses another.
            options: dict[str, Any] = {}
            if not address:
                options = {"num_cpus": workers, "include_dashboard": False}
            try:
                _check_reachable(address)
                ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
            except (OSError, RuntimeError, ValueError) as error:
                raise UserError(
                    f"cannot reach Ray at {address or 'this machine'}: {_first_line(error)}"
                ) from None

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        """Yield results as they arrive, a batch at a time."""
        waiting = deque(items)
        retries: deque[int] = deque()
        failures: Counter[int] = Counter()
        shared_work = ray.put(work)
        running: dict[Any, list[int]] = {}
        # Two tasks per worker, so that none waits for its next one; in order, one after another.
        tasks = 1 if is_ordered(work) else 2 * self.workers
        pace = Pace(self.workers, BATCH_SECONDS, MAX_BATCH_ITEMS)
        try:
            while not self._aborted:
                while (waiting or retries) and not self._stopped and len(running) < tasks:
                    # Items of failed tasks one by one, as in `Local.map`.
                    if retries:
                        task = _run_isolated
                        batch = [retries.popleft()]
                    else:
                        task = _run
                        batch = [waiting.popleft() for _ in range(pace.size(len(waiting)))]
                    # The reference, an argument, arrives as the work; its id identifies it there.
                    running[task.remote(shared_work, shared_work.binary(), batch)] = batch
                if not running:
                    return
                ready, _ = ray.wait(list(running), timeout=0.2)
                for reference in ready:
                    batch = running.pop(reference)
                    try:
                        results, seconds = ray.get(reference)
                    except ray.exceptions.RayError as error:
                        results = _count_failure(batch, failures, retries, error)
                    else:
                        pace.learn(seconds, len(batch))
                    if results:
                        yield results
        finally:
            # Force ends the processes too: compiled code does not notice a polite request.
            for reference in running:
                ray.cancel(reference, force=True)


def _count_failure(
    batch: list[int], failures: Counter[int], retries: deque[int], error: Exception
) -> list[tuple[int, Any]]:
    """Queue the items of a failed task again; returns those that have failed too often as lost."""
    # In a batch of several items nobody knows which one was at fault.
    if len(batch) == 1:
        failures.update(batch)
    lost: list[tuple[int, Any]] = []
    for item in batch:
        if failures[item] < FAILURES_ALLOWED:
            retries.append(item)
        else:
            why = f"its task failed {failures[item]} times ({_first_line(error)})"
            lost.append((item, Lost(why)))
    return lost


@ray.remote(max_retries=0)  # `_count_failure` counts instead
def _run(work: Any, work_id: bytes, batch: list[int]) -> tuple[list[tuple[int, Any]], float]:
    """Work on a batch in a Ray worker; returns the results and the seconds they took."""
    watch = _Alarm()
    if work_id not in _prepared:
        work.prepare()
        _prepared[work_id] = work
    work = _prepared[work_id]
    before = time.perf_counter()
    results = [(item, work(item, watch)) for item in batch]
    return results, time.perf_counter() - before


@ray.remote(max_retries=0)
def _run_isolated(
    work: Any, work_id: bytes, batch: list[int]
) -> tuple[list[tuple[int, Any]], float]:
    """Retry an item of a failed task in a child process, to find out which side is at fault."""
    before = time.perf_counter()
    results = [result for results in Local(1).map(work, batch) for result in results]
    return results, time.perf_counter() - before


class _Alarm(Watch):
    """Ends the process, and with it the task, of a side that far exceeds its time limit.

    The item is then retried by `_run_isolated`, which finds out which side it was.
    """

    def __init__(self) -> None:
        self._deadline = math.inf
        threading.Thread(target=self._wait, daemon=True).start()

    def thinking(self, side: int, seconds: float | None) -> None:
        """Set the alarm."""
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds + HANG_SECONDS

    def _wait(self) -> None:
        # Polling is precise enough: HANG_SECONDS are added to every deadline.
        while time.monotonic() < self._deadline:
            time.sleep(1)
        os._exit(1)


def _check_reachable(address: str | None) -> None:
    """Raise OSError after at most 10 seconds if no server answers; Ray waits for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200]
