"""Compile groups of kernels in child processes, in order of priority.

A child process reads names of groups from its standard input and answers every name with a line of
JSON. It ends when its standard input is closed, which the system does however the parent ends.

This module imports nothing compiled, so that a server can import it before its first request.
"""

import heapq
import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, InvalidStateError, wait
from contextlib import suppress
from typing import Any, Literal, Protocol

log = logging.getLogger(__name__)

State = Literal["ready", "compiling", "queued"]
STARTUP_SECONDS = 1.0
"""CPU seconds that a child process takes to load the compiler."""
PRIOR_SECONDS = 2.0
"""The weight, in typical seconds, of the prior that this machine compiles at the typical pace."""
OVERDUE_SHARE = 0.1
"""The estimated time left for an overdue group, as a share of its elapsed time."""


class CompilationFailed(Exception):
    """A group could not be compiled; the message says why in one line."""


class Closed(Exception):
    """Compilation was ended before a group was ready."""


class Worker(Protocol):
    """Compiles one group at a time."""

    startup_seconds: float
    """Typical extra seconds for the first group."""

    def run(self, name: str) -> float:
        """Compile a group and return the CPU seconds it took; raises CompilationFailed."""
        ...

    def close(self) -> None:
        """End the worker; may be called from any thread, even during a compilation."""
        ...


class Child:
    """A worker in a child process, which starts with the first group and is killed by `close`."""

    startup_seconds = STARTUP_SECONDS

    def __init__(self, niceness: int = 0) -> None:
        self._niceness = niceness
        self._process: subprocess.Popen[str] | None = None
        # `close` may come from another thread than `run`, even while the process is being started.
        self._lock = threading.Lock()
        self._closed = False

    def run(self, name: str) -> float:
        """Compile a group, in a new process if the last one has died."""
        process = self._alive()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{name}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):  # the child has died, or another thread called `close`
            line = ""
        if not line:
            raise CompilationFailed(f"the process that compiled {name} ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise CompilationFailed(f"cannot compile {name}: {answer['error']}")
        return float(answer["seconds"])

    def close(self) -> None:
        """Kill the process."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                _end(self._process)

    def _alive(self) -> "subprocess.Popen[str]":
        """Return the running process, started anew if necessary."""
        with self._lock:
            if self._closed:
                raise CompilationFailed("the compilation was ended")
            if self._process is not None and self._process.poll() is not None:
                _end(self._process)
                self._process = None
            if self._process is None:
                self._process = _start(self._niceness)
            return self._process


class Here:
    """A worker in this process, for a temporary cache that other processes do not share."""

    startup_seconds = 0.0

    def run(self, name: str) -> float:
        """Compile a group."""
        from fourlab.compiled.warmup import compile_group

        try:
            return compile_group(name)
        except Exception as error:  # a compiler can raise anything
            raise CompilationFailed(f"cannot compile {name}: {_one_line(error)}") from error

    def close(self) -> None:
        """Do nothing: a compilation in this process cannot be ended."""


class Background:
    """Compiles groups of kernels in the background. Methods may be called from any thread."""

    def __init__(
        self,
        names: Iterable[str],
        workers: Sequence[Worker],
        typical: Mapping[str, float],
        compiled: Iterable[str] = (),
        load: Callable[[str], object] | None = None,
        on_compiled: Callable[[str, float, float], None] = lambda name, seconds, cpu_seconds: None,
    ) -> None:
        """Create a queue of groups.

        `names` are the groups in order of priority, `compiled` those that are compiled already, and
        `typical` the typical seconds to compile each group. `load` is called with the name of a
        compiled group before the group counts as ready: a server loads the kernels from the cache
        then, since the up to one second that this takes must not count as thinking time. `load` is
        called even if the compilation failed, and the group counts as ready whether `load` succeeds
        or not, so that no request waits forever. `on_compiled` is called with the name, the seconds
        and the CPU seconds of a compiled group; calls never overlap.
        """
        self.names = tuple(dict.fromkeys(names))
        """The names of all groups."""
        self._workers = workers
        self._typical = typical
        self._load = load
        self._on_compiled = on_compiled
        # Reentrant: `on_compiled` is called with the lock held, and may ask for `seconds_left`.
        self._lock = threading.RLock()
        self._closed = False
        self._queue: list[str] = []
        self._running: dict[str, tuple[float, float]] = {}  # start, typical seconds
        # Seconds that compiled groups took, and would typically take; both start with the prior.
        self._spent = PRIOR_SECONDS
        self._typically = PRIOR_SECONDS
        self._futures: dict[str, Future[None]] = {}
        done = set(compiled)
        self._to_load: list[str] = []
        for name in self.names:
            future: Future[None] = Future()
            future.set_running_or_notify_cancel()  # a waiter that gives up cannot cancel it
            if name not in done:
                self._queue.append(name)
            elif load is not None:
                self._to_load.append(name)
            else:
                future.set_result(None)
            self._futures[name] = future

    def start(self) -> None:
        """Start compiling in the background, and loading the groups that are compiled already."""
        if self._to_load:
            threading.Thread(target=self._load_compiled, daemon=True, name="load").start()
        # No more workers than groups: every child process loads the compiler first.
        for worker in self._workers[: len(self._queue)]:
            threading.Thread(target=self._work, args=(worker,), daemon=True, name="compile").start()

    def run(self) -> None:
        """Compile all groups and return; raises CompilationFailed at the first failure."""
        if [type(worker) for worker in self._workers] == [Here]:
            self._work(self._workers[0])  # in this thread, which receives Ctrl-C
        else:
            self.start()
        for future in wait(self._futures.values(), return_when=FIRST_EXCEPTION).done:
            future.result()

    def close(self) -> None:
        """End all compilations; futures that are not done raise Closed."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            waiting = [future for future in self._futures.values() if not future.done()]
        # First, or the thread of a killed process would report a failure.
        for future in waiting:
            _settle(future, Closed("the compilation was ended"))
        # Outside the lock: killing a process waits for its end, and its thread needs the lock to
        # finish.
        for worker in self._workers:
            worker.close()

    def prefer(self, names: Iterable[str]) -> list["Future[None]"]:
        """Move groups to the front of the queue; return the futures of those not ready."""
        # Futures of ready groups are left out, so an empty list means that nothing needs to be
        # waited for.
        unready = [
            name for name in names if name in self._futures and not self._futures[name].done()
        ]
        with self._lock:
            first = [name for name in unready if name in self._queue]
            self._queue = [*first, *(name for name in self._queue if name not in first)]
        return [self._futures[name] for name in unready]

    def state(self, name: str) -> State:
        """Return the state of a group."""
        with self._lock:
            if self._futures[name].done():
                return "ready"
            return "compiling" if name in self._running else "queued"

    def is_ready(self) -> bool:
        """Return whether all groups are ready."""
        return all(future.done() for future in self._futures.values())

    def seconds_left(self) -> dict[str, float]:
        """Estimate the seconds until each group is ready, 0 if it is.

        Estimates are typical times multiplied by this machine's pace so far.
        """
        with self._lock:
            now = time.monotonic()
            pace = self._pace(now)
            left = dict.fromkeys(self.names, 0.0)
            for name, (started, typical) in self._running.items():
                # An overdue group is expected to take a tenth longer than it already has.
                elapsed = now - started
                left[name] = max(pace * typical - elapsed, OVERDUE_SHARE * elapsed)
            # Each group of the queue goes to the worker that is free first.
            free = [left[name] for name in self._running]
            free += [0.0] * (len(self._workers) - len(free))
            heapq.heapify(free)
            for name in self._queue:
                left[name] = heapq.heappop(free) + pace * self._typical.get(name, 1.0)
                heapq.heappush(free, left[name])
            return left

    def _pace(self, now: float) -> float:
        """Return wall-clock seconds per typical second, taking overdue groups into account."""
        # A Bayesian average: PRIOR_SECONDS at pace 1, then what was measured.
        pace = self._spent / self._typically
        # A running group says something about the pace only once it is overdue.
        running = [(now - started, typical) for started, typical in self._running.values()]
        late = [(elapsed, typical) for elapsed, typical in running if elapsed > pace * typical]
        spent = self._spent + sum(elapsed for elapsed, _ in late)
        return spent / (self._typically + sum(typical for _, typical in late))

    def _work(self, worker: Worker) -> None:
        """Compile groups with a worker until the queue is empty."""
        startup = worker.startup_seconds
        while (name := self._take(startup)) is not None:
            started = time.monotonic()
            failure = None
            cpu_seconds = 0.0
            try:
                cpu_seconds = worker.run(name)
            except CompilationFailed as error:
                failure = error
            except Exception as error:  # for example, no process could be started
                failure = CompilationFailed(f"cannot compile {name}: {_one_line(error)}")
            # A failed group is compiled by `load` in this process, so its failure is only logged.
            if self._load is not None and not self._closed:
                self._try_load(self._load, name, failure)
                failure = None
            self._finish(name, time.monotonic() - started, cpu_seconds, failure)
            startup = 0.0
        worker.close()

    def _load_compiled(self) -> None:
        assert self._load is not None
        for name in self._to_load:
            self._try_load(self._load, name, None)
            _settle(self._futures[name], None)

    def _try_load(
        self,
        load: Callable[[str], object],
        name: str,
        failure: CompilationFailed | None,
    ) -> None:
        if failure is not None:
            log.warning("%s; it is compiled in this process", failure)
        try:
            load(name)
        except Exception:
            log.exception("the kernels of %s cannot be loaded", name)

    def _take(self, startup: float) -> str | None:
        with self._lock:
            if self._closed or not self._queue:
                return None
            name = self._queue.pop(0)
            self._running[name] = (time.monotonic(), self._typical.get(name, 1.0) + startup)
            return name

    def _finish(
        self,
        name: str,
        seconds: float,
        cpu_seconds: float,
        failure: CompilationFailed | None,
    ) -> None:
        outcome: Exception | None = failure
        with self._lock:
            _, typical = self._running.pop(name)
            self._spent += seconds
            self._typically += typical
            if failure is None and not self._closed:
                try:
                    self._on_compiled(name, seconds, cpu_seconds)
                except Exception as error:  # for example, a closed pipe; `run` raises it
                    outcome = error
        _settle(self._futures[name], outcome)


def _settle(future: "Future[None]", failure: Exception | None) -> None:
    """Set the outcome of a future; `close` and a worker may do so at the same time."""
    with suppress(InvalidStateError):
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)


# The child gets the parent's module search path, so that it compiles the same sources.
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    f"from {__name__} import _answer_parent; _answer_parent(int(sys.argv[2]))"
)


def _start(niceness: int) -> "subprocess.Popen[str]":
    """Start a child in its own process group, so that only the parent receives Ctrl-C."""
    group_options: dict[str, Any] = {"process_group": 0}
    if sys.platform == "win32":
        priority = subprocess.BELOW_NORMAL_PRIORITY_CLASS if niceness else 0
        group_options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | priority}
    return subprocess.Popen(
        # -P keeps the user's current folder out of the module search path.
        [sys.executable, "-P", "-c", _CHILD, json.dumps(sys.path), str(niceness)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # errors are reported in the answers
        text=True,
        **group_options,
    )


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # unwritten data does not matter any more
                stream.close()


def _answer_parent(niceness: int) -> None:
    """Compile the groups named on standard input until it is closed."""
    if hasattr(os, "nice"):
        os.nice(niceness)
    names: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(names,), daemon=True).start()
    from fourlab.compiled.warmup import compile_group

    while True:
        name = names.get()
        try:
            answer: dict[str, object] = {"seconds": compile_group(name)}
        except Exception as error:  # a compiler can raise anything; the parent decides
            answer = {"error": _one_line(error)}
        print(json.dumps(answer), flush=True)


def _listen(names: "queue.SimpleQueue[str]") -> None:
    """Queue the lines of standard input; end the process when it is closed."""
    # A thread of its own, because the end of the parent must be noticed during a compilation.
    for line in sys.stdin:
        names.put(line.rstrip("\n"))
    os._exit(0)  # even in the middle of a compilation


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
