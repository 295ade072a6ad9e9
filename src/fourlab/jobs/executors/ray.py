"""Work on a Ray cluster, by default one that is started on this machine.

Ray's tasks may run more than once or not at all; here that does no harm, since an item's result depends on nothing else.
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
from fourlab.jobs.executors.work import Lost, Pace, Unwatched, Work

BATCH_SECONDS = 2.0
MOST_IN_A_BATCH = 100
FAILURES_ALLOWED = 10
"""A task that fails so often is lost; many, since it may not have been the fault of the item, or not even begun."""
_prepared: set[bytes] = set()


class Ray:
    """A Ray cluster."""

    def __init__(self, workers: int, address: str | None = None) -> None:
        if not ray.is_initialized():
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what newer versions will do, lest they warn
            here: dict[str, Any] = {} if address else {"num_cpus": workers, "include_dashboard": False}
            try:
                _knock(address)
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **here)
            except (OSError, RuntimeError, ValueError) as error:
                raise UserError(f"cannot reach Ray at {address or 'this machine'}: {_first_line(error)}") from None
        self.workers = workers
        self._stopped = self._aborted = False

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        """Yield results as they come, a batch at a time."""
        waiting, again, deaths = deque(items), deque[int](), Counter[int]()
        sent_work, running = ray.put(work), dict[Any, list[int]]()
        pace = Pace(self.workers, BATCH_SECONDS, MOST_IN_A_BATCH)
        try:
            while not self._aborted:
                while (waiting or again) and not self._stopped and len(running) < 2 * self.workers:  # some to go on with
                    source, size = (again, 1) if again else (waiting, pace.size(len(waiting)))
                    batch = [source.popleft() for _ in range(size)]
                    deed = _do_carefully if source is again else _do
                    running[deed.remote(sent_work, sent_work.binary(), batch)] = batch
                if not running:
                    return
                ready, _ = ray.wait(list(running), timeout=0.2)
                for task in ready:
                    batch = running.pop(task)
                    try:
                        results, seconds = ray.get(task)
                    except ray.exceptions.RayError as error:
                        if len(batch) == 1:  # of several nobody knows which it was
                            deaths.update(batch)
                        lost = [item for item in batch if deaths[item] >= FAILURES_ALLOWED]
                        again.extend(item for item in batch if item not in lost)
                        results = [(item, Lost(f"its task failed {deaths[item]} times ({_first_line(error)})")) for item in lost]
                    else:
                        pace.learn(seconds, len(batch))
                    if results:
                        yield results
        finally:
            for task in running:
                ray.cancel(task, force=True)

    def stop(self) -> None:
        """Send nothing more."""
        self._stopped = True

    def abort(self) -> None:
        """Wait for nothing more."""
        self._stopped = self._aborted = True

    def close(self) -> None:
        """Ray's processes go with Ray."""


@ray.remote(max_retries=0)  # we count the failures ourselves
def _do(work: Any, name: bytes, batch: list[int]) -> tuple[list[tuple[int, Any]], float]:
    """One task: a batch of items."""
    watch = _Alarm()
    if name not in _prepared:
        work.prepare()
        _prepared.add(name)
    before = time.perf_counter()
    return [(item, work(item, watch)) for item in batch], time.perf_counter() - before


@ray.remote(max_retries=0)
def _do_carefully(work: Any, name: bytes, batch: list[int]) -> tuple[list[tuple[int, Any]], float]:
    """A task for what was with one that failed: in a process of its own, so that it is known who is to blame."""
    before = time.perf_counter()
    return [result for results in Local(1).map(work, batch) for result in results], time.perf_counter() - before


class _Alarm(Unwatched):
    """Ends the process, and so the task, of a side that thinks far too long; it will be found out carefully."""

    def __init__(self) -> None:
        self._deadline = math.inf
        threading.Thread(target=self._wait, daemon=True).start()

    def thinking(self, side: int, seconds: float | None) -> None:
        """Set the alarm."""
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds + HANG_SECONDS

    def _wait(self) -> None:
        while time.monotonic() < self._deadline:
            time.sleep(1)
        os._exit(1)


def _knock(address: str | None) -> None:
    """Raise an error soon if nobody is at home; Ray itself would wait for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200]
