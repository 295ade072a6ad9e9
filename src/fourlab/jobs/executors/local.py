"""Work in processes of this machine. One that dies or hangs is replaced and its items are retried.

Every worker has its own pipe and a small piece of shared memory in which it notes what it is
doing. After a sudden death the shared memory shows which item, and which side of the game, was
in progress.
"""

import contextlib
import math
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from ctypes import Structure, c_bool, c_double, c_int64
from multiprocessing import connection, parent_process
from typing import Any

from fourlab.interrupts import allow_interrupts, interrupts_held
from fourlab.jobs.executors.work import Lost, Pace, Watch, Work, is_ordered
from fourlab.jobs.processes import without_main_module, worker_context

BATCH_SECONDS = 0.1
"""Long enough that messages cost little, short enough that progress looks continuous."""
MAX_BATCH_ITEMS = 200
HANG_SECONDS = 10.0
"""A side that exceeds its time limit by this much is considered hung."""
ABORT_SECONDS = 2.0
"""Workers have this long to abandon their games before they are killed."""
STOPPED, ABORTED = 1, 2
"""Levels of the stop flag: finish the current item, or abandon it."""
NO_ITEM = -1
"""The item of a worker that has not begun one."""
NO_SIDE = -1
"""The side to move before either side has begun to think."""
DEATHS_ALLOWED, KILLS_ALLOWED = 3, 10
"""An item is lost after this many deaths of its workers. Kills (SIGKILL) usually come from outside
and are not the item's fault, so more of them are allowed."""
DEATHS_IN_PREPARATION, DEATHS_AT_START = 3, 30
"""After this many deaths in a row before a first item, preparation is skipped; respectively, the
executor gives up."""
PREPARATION_SECONDS = 120.0
"""Time limit for `Work.prepare`, which may have to compile everything."""


class _Shared(Structure):
    """The memory that a worker shares with the main process.

    There is no lock, since a worker that dies while holding one would block the main process. Every
    field is written by one side at a time and is read and written in one instruction.
    """

    _fields_ = (
        ("item", c_int64),
        ("side", c_int64),
        # In seconds of time.monotonic(), a clock that all processes share; 0 means no deadline.
        ("deadline", c_double),
        # Written by the main process only; it never falls.
        ("stop", c_int64),
        # True from the beginning of an item to its end: only then is the item to blame for a death.
        ("busy", c_bool),
    )


class _SharedWatch(Watch):
    """A watch that notes in shared memory which side is thinking, and until when."""

    def __init__(self, shared: Any) -> None:
        self.shared = shared

    def thinking(self, side: int, seconds: float | None) -> None:
        """Note the side and its deadline."""
        self.shared.side = side
        self.shared.deadline = 0.0 if seconds is None else time.monotonic() + seconds + HANG_SECONDS

    def aborted(self) -> bool:
        """Return whether the main process has asked to abandon the game."""
        return bool(self.shared.stop == ABORTED)


class Local:
    """An executor whose workers are processes of this machine."""

    def __init__(self, workers: int, keep_alive: bool = False) -> None:
        """With `keep_alive`, processes wait for more work until `close`: starting one is slow."""
        self.workers = workers
        self.keep_alive = keep_alive
        self._stop = 0
        self._kill_at = math.inf
        self._deaths_at_start = 0
        self._workers: list[_Worker] = []

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        """Yield results as they arrive, a batch at a time."""
        waiting = deque(items)
        retries: deque[int] = deque()
        deaths: Counter[int] = Counter()
        pace = Pace(1 if is_ordered(work) else self.workers, BATCH_SECONDS, MAX_BATCH_ITEMS)
        try:
            while time.monotonic() < self._kill_at:
                while (waiting or retries) and (worker := self._free_worker(work)):
                    # Items of a dead worker are sent one by one: a fatal one takes no other along.
                    queue, size = (retries, 1) if retries else (waiting, pace.size(len(waiting)))
                    worker.send([queue.popleft() for _ in range(size)])
                busy = [worker for worker in self._workers if worker.batches]
                if not busy:
                    return
                # The timeout is for deadlines and `abort`, which no pipe announces.
                ready = connection.wait([worker.pipe for worker in busy], timeout=0.2)
                for worker in busy:
                    hung = worker.is_hung()
                    # An answer that has arrived counts, even if the deadline has passed since.
                    if worker.pipe in ready:
                        try:
                            results, seconds = worker.receive()
                        except (EOFError, OSError):
                            pass  # the worker has died
                        else:
                            if results:
                                pace.learn(seconds, len(results))
                                yield results
                            continue
                    elif not hung:
                        continue
                    # Dead or hung. Killed first, it can no longer change the shared memory.
                    self._workers.remove(worker)
                    worker.kill()
                    self._count_death_at_start(worker)
                    lost, unfinished = worker.unfinished_items(deaths, hung)
                    worker.close()
                    retries.extend(unfinished)
                    if lost:
                        yield lost
        finally:
            # A worker with unanswered batches would answer them to the next `map`.
            self._stop_workers(
                [worker for worker in self._workers if worker.batches or not self.keep_alive]
            )

    def _free_worker(self, work: Work) -> "_Worker | None":
        """Return a worker that can take another batch, or None; start one if there is room."""
        if self._stop:
            return None
        most = 1 if is_ordered(work) else self.workers
        workers = self._workers[:most]
        worker = min(workers, key=lambda worker: len(worker.batches), default=None)
        prepare = self._deaths_at_start < DEATHS_IN_PREPARATION
        if worker is not None and not worker.batches:
            if worker.work is not work:
                worker.assign(work, prepare)
            return worker
        if len(workers) < most:
            worker = _Worker()
            self._workers.append(worker)
            worker.assign(work, prepare)
            # `stop` or `abort` may have been called while the worker was started.
            self._set_stop(self._stop)
            return worker
        # A second batch keeps a worker busy while the results of the first travel.
        return worker if worker is not None and len(worker.batches) < 2 else None

    def _count_death_at_start(self, dead: "_Worker") -> None:
        """Count workers that die before their first item; preparation may be to blame."""
        self._deaths_at_start = self._deaths_at_start + 1 if dead.shared.item == NO_ITEM else 0
        if self._deaths_at_start == DEATHS_AT_START:
            cause = _cause_of_death(dead.process.exitcode)
            raise ChildProcessError(f"workers die before they begin ({cause})")

    def stop(self) -> None:
        """Let every worker finish its current item."""
        self._set_stop(STOPPED)

    def abort(self) -> None:
        """Ask every worker to abandon its current item, and kill those that do not."""
        self._set_stop(ABORTED)
        self._kill_at = min(self._kill_at, time.monotonic() + ABORT_SECONDS)

    def close(self) -> None:
        """Kill the remaining workers."""
        self._stop_workers(list(self._workers))

    def _stop_workers(self, workers: "list[_Worker]") -> None:
        for worker in workers:
            worker.kill()
            worker.close()
            self._workers.remove(worker)

    def _set_stop(self, level: int) -> None:
        """Raise the stop level of all workers; it never falls."""
        self._stop = max(self._stop, level)
        for worker in self._workers:
            worker.shared.stop = self._stop


class _Worker:
    """A worker process, as the main process sees it."""

    def __init__(self) -> None:
        context: Any = worker_context()
        self.shared: Any = context.RawValue(_Shared, NO_ITEM)  # the first field; others are zero
        self.pipe, worker_end = context.Pipe()
        self.batches: deque[list[int]] = deque()
        """The batches that were sent and not yet answered, oldest first."""
        self.work: Any = None
        self.process = context.Process(target=_serve, args=(worker_end, self.shared), daemon=True)
        with interrupts_held(), without_main_module():
            self.process.start()
        # Only the worker may hold its end: otherwise its death would not end the pipe.
        worker_end.close()

    def assign(self, work: Any, prepare: bool) -> None:
        """Replace the work; the worker must be idle."""
        self.work = work
        # Safe without a lock: an idle worker writes nothing to the shared memory.
        self.shared.item = NO_ITEM
        self.shared.deadline = time.monotonic() + PREPARATION_SECONDS if prepare else 0.0
        self._send((work, prepare))

    def send(self, batch: list[int]) -> None:
        self.batches.append(batch)
        self._send(batch)

    def _send(self, message: Any) -> None:
        # A dead worker is noticed when the main process reads from its pipe.
        with contextlib.suppress(OSError):
            self.pipe.send(message)

    def receive(self) -> tuple[list[Any], float]:
        results, seconds = self.pipe.recv()
        self.batches.popleft()
        return results, seconds

    def is_hung(self) -> bool:
        """Return whether the side to move, or the preparation, is past its deadline."""
        return bool(0 < self.shared.deadline < time.monotonic())

    def unfinished_items(
        self, deaths: Counter[int], hung: bool
    ) -> tuple[list[tuple[int, Any]], list[int]]:
        """Return the item that a dead worker has lost, if any, and the items to retry."""
        unfinished = [item for batch in self.batches for item in batch]
        if not self.shared.busy:
            return [], unfinished
        item = int(self.shared.item)
        deaths[item] += 1
        # The exit code of a process that died of a signal is minus the signal's number. SIGKILL is
        # what the kernel sends when memory runs out. Windows has no such signal.
        was_killed = self.process.exitcode == -getattr(signal, "SIGKILL", 0)
        allowed = KILLS_ALLOWED if was_killed else DEATHS_ALLOWED
        if hung:
            why = "no answer"
        elif deaths[item] >= allowed:
            cause = _cause_of_death(self.process.exitcode)
            why = f"the process died {deaths[item]} times ({cause})"
        else:
            return [], unfinished
        unfinished.remove(item)
        side = None if self.shared.side == NO_SIDE else int(self.shared.side)
        return [(item, Lost(why, side, hung))], unfinished

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def close(self) -> None:
        self.pipe.close()
        self.process.close()


def _serve(pipe: Any, shared: Any) -> None:
    """Run a worker: receive work and batches, send results, until the main process ends."""
    # Only the main process decides what SIGTERM and Ctrl-C mean, which a terminal sends to the
    # whole group. SIGTERM gets a handler, because programs that an agent starts would inherit
    # SIG_IGN and could not be ended with it.
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    allow_interrupts()
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    watch = _SharedWatch(shared)
    work: Any = None
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = pipe.recv()
            # A tuple is new work, a list the items of a batch.
            if isinstance(message, tuple):
                work, prepare = message
                if prepare:
                    work.prepare()
                    shared.deadline = 0.0
                continue
            results = []
            before = time.perf_counter()
            for item in message:
                if shared.stop:
                    break
                # In this order: whenever `busy` is set, the other fields describe this item.
                shared.item = item
                shared.side = NO_SIDE
                shared.deadline = 0.0
                shared.busy = True
                results.append((item, work(item, watch)))
                shared.busy = False
                shared.deadline = 0.0
            pipe.send((results, time.perf_counter() - before))


def _exit_with_parent() -> None:
    """Wait until the main process has ended, then end this one at once."""
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    # Not sys.exit: this is not the main thread, and compiled code would not be interrupted.
    os._exit(1)


def _cause_of_death(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
