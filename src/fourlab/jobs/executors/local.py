"""Work in processes of this machine. A process that dies or hangs is replaced, and its items are done again.

Each process has a pipe of its own and a little shared memory, in which it says what it is doing, so that after a sudden
death it is known which item, and which side of the game, was at it.
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

from fourlab.interrupts import hear_interrupts, interrupts_held
from fourlab.jobs.executors.work import Lost, Pace, Work
from fourlab.jobs.processes import worker_context

BATCH_SECONDS = 0.1
MOST_IN_A_BATCH = 200
HANG_SECONDS = 10.0
"""Who thinks so much longer than allowed will not answer."""
PATIENCE_SECONDS = 2.0
"""So long may a game take to be given up."""
STOPPED, ABORTED = 1, 2
NOTHING = -1
"""The item of a process that has not begun with one."""
DEATHS_ALLOWED, KILLS_ALLOWED = 3, 10
"""An item at which so many processes die is lost; it takes more if they were killed, for that usually comes from outside."""
DEATHS_IN_PREPARATION, DEATHS_AT_START = 3, 30
"""If so many in a row die before their first item, preparation is left out, or all is lost."""
PREPARATION_SECONDS = 120.0
"""Whatever has to be compiled is compiled by then."""


class _Shared(Structure):
    """What a process and its master tell each other without a message."""

    _fields_ = (
        ("item", c_int64),
        ("side", c_int64),
        ("deadline", c_double),
        ("stop", c_int64),
        ("busy", c_bool),
    )


class _Watch:
    """The worker's side of the shared memory."""

    def __init__(self, shared: Any) -> None:
        self.shared = shared

    def thinking(self, side: int, seconds: float | None) -> None:
        """Tell who thinks, and until when at most."""
        self.shared.side = side
        self.shared.deadline = 0.0 if seconds is None else time.monotonic() + seconds + HANG_SECONDS

    def aborted(self) -> bool:
        """Whether the master wants no more."""
        return bool(self.shared.stop == ABORTED)


class Local:
    """Processes of this machine."""

    def __init__(self, workers: int, staying: bool = False) -> None:
        """`staying` processes wait for the next work, since to start one takes seconds, until `close`."""
        self.workers, self.staying = workers, staying
        self._stop = 0
        self._give_up_at = math.inf
        self._deaths_at_start = 0
        self._hands: list[_Hand] = []

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        """Yield results as they come, a batch at a time."""
        waiting, again, deaths = deque(items), deque[int](), Counter[int]()
        pace = Pace(self.workers, BATCH_SECONDS, MOST_IN_A_BATCH)
        try:
            while time.monotonic() < self._give_up_at:
                while (waiting or again) and (hand := self._free_hand(work)):
                    # What was with a process that died travels alone, so that it takes nothing with it.
                    source, size = (again, 1) if again else (waiting, pace.size(len(waiting)))
                    hand.send([source.popleft() for _ in range(size)])
                busy = [hand for hand in self._hands if hand.batches]
                if not busy:
                    return
                ready = connection.wait([hand.pipe for hand in busy], timeout=0.2)
                for hand in busy:
                    hung = hand.hangs()
                    if hand.pipe in ready:
                        try:
                            results, seconds = hand.receive()
                        except (EOFError, OSError):
                            pass
                        else:
                            if results:
                                pace.learn(seconds, len(results))
                                yield results
                            continue
                    elif not hung:
                        continue
                    self._hands.remove(hand)
                    hand.process.kill()
                    hand.process.join()
                    self._count_start(hand)
                    lost, rest = hand.bury(deaths, hung)
                    again.extend(rest)
                    if lost:
                        yield lost
        finally:
            self._dismiss([hand for hand in self._hands if hand.batches or not self.staying])

    def _free_hand(self, work: Work) -> "_Hand | None":
        """A process that has little to do, if there is one and there is to be any more work."""
        if self._stop:
            return None
        least = min(self._hands, key=lambda hand: len(hand.batches), default=None)
        prepare = self._deaths_at_start < DEATHS_IN_PREPARATION
        if least is not None and not least.batches:
            if least.work is not work:
                least.take_up(work, prepare)
            return least
        if len(self._hands) < self.workers:
            self._hands.append(_Hand())
            self._hands[-1].take_up(work, prepare)
            self._tell(self._stop)  # it was not there to hear what was said while it was started
            return self._hands[-1]
        return least if least is not None and len(least.batches) < 2 else None  # one in hand, one to go on with at once

    def _count_start(self, dead: "_Hand") -> None:
        """Count processes that die before their first item; those to come go without preparation, which may be to blame."""
        self._deaths_at_start = self._deaths_at_start + 1 if dead.shared.item == NOTHING else 0
        if self._deaths_at_start == DEATHS_AT_START:
            raise ChildProcessError(f"workers die before they begin ({_cause(dead.process.exitcode)})")

    def stop(self) -> None:
        """Let every process finish the item in hand."""
        self._tell(STOPPED)

    def abort(self) -> None:
        """Ask every process to give up what is in hand, and wait for it only a little."""
        self._tell(ABORTED)
        self._give_up_at = min(self._give_up_at, time.monotonic() + PATIENCE_SECONDS)

    def close(self) -> None:
        """Send home who is still there."""
        self._dismiss(list(self._hands))

    def _dismiss(self, hands: "list[_Hand]") -> None:
        for hand in hands:
            hand.dismiss()
            self._hands.remove(hand)

    def _tell(self, word: int) -> None:
        self._stop = max(self._stop, word)
        for hand in self._hands:
            hand.shared.stop = self._stop


class _Hand:
    """One process at work, as its master sees it."""

    def __init__(self) -> None:
        context: Any = worker_context()
        self.shared: Any = context.RawValue(_Shared, NOTHING)
        self.pipe, others = context.Pipe()
        self.batches: deque[list[int]] = deque()
        self.work: Any = None
        self.process = context.Process(target=_serve, args=(others, self.shared), daemon=True)
        with interrupts_held():
            self.process.start()
        others.close()

    def take_up(self, work: Any, prepare: bool) -> None:
        """Give it other work; what it did before is forgotten."""
        self.work, self.shared.item = work, NOTHING
        self.shared.deadline = time.monotonic() + PREPARATION_SECONDS if prepare else 0.0
        with contextlib.suppress(OSError):  # as below
            self.pipe.send((work, prepare))

    def send(self, batch: list[int]) -> None:
        self.batches.append(batch)
        with contextlib.suppress(OSError):  # it is dead, and will be found so
            self.pipe.send(batch)

    def receive(self) -> tuple[list[Any], float]:
        results, seconds = self.pipe.recv()
        self.batches.popleft()
        return results, seconds

    def hangs(self) -> bool:
        """Whether the side to move, or the preparation, should have come to an end long ago."""
        return bool(0 < self.shared.deadline < time.monotonic())

    def bury(self, deaths: Counter[int], hung: bool) -> tuple[list[tuple[int, Any]], list[int]]:
        """Clear up after a dead process; returns the item that is lost, if one is, and those to be done again."""
        rest = [item for batch in self.batches for item in batch]
        lost: list[tuple[int, Any]] = []
        if self.shared.busy:
            item = int(self.shared.item)
            deaths[item] += 1
            was_killed = self.process.exitcode == -getattr(signal, "SIGKILL", 0)
            if hung or deaths[item] >= (KILLS_ALLOWED if was_killed else DEATHS_ALLOWED):
                why = "no answer" if hung else f"the process died {deaths[item]} times ({_cause(self.process.exitcode)})"
                lost.append((item, Lost(why, int(self.shared.side), hung)))
                rest.remove(item)
        self.close()
        return lost, rest

    def dismiss(self) -> None:
        """Send it home; what it has in hand is of no use any more."""
        self.process.kill()
        self.process.join()
        self.close()

    def close(self) -> None:
        self.pipe.close()
        self.process.close()


def _serve(pipe: Any, shared: Any) -> None:
    """The life of a process: work and batches in, results out, until the pipe or the master is gone."""
    signal.signal(signal.SIGTERM, lambda number, frame: None)  # the master decides what that means …
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # … and Ctrl-C
    hear_interrupts()
    threading.Thread(target=_die_with_the_master, daemon=True).start()
    watch = _Watch(shared)
    work: Any = None
    with contextlib.suppress(EOFError, OSError):
        while True:
            told = pipe.recv()
            if isinstance(told, tuple):
                work, prepare = told
                if prepare:
                    work.prepare()
                    shared.deadline = 0.0
                continue
            results, before = [], time.perf_counter()
            for item in told:
                if shared.stop:
                    break
                shared.item, shared.side, shared.deadline, shared.busy = item, -1, 0.0, True
                results.append((item, work(item, watch)))
                shared.busy, shared.deadline = False, 0.0
            pipe.send((results, time.perf_counter() - before))


def _die_with_the_master() -> None:
    master = parent_process()
    assert master is not None
    connection.wait([master.sentinel])
    os._exit(1)


def _cause(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
