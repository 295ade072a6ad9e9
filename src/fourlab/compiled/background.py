"""Compile groups of kernels in child processes, the most wanted group first.

A child process reads the names of groups from its standard input and answers each with a line of
JSON. Its standard input is also its lifeline: the system closes the pipe however the parent ends,
and then the child ends too.

This module itself imports nothing compiled, so that a server can import it before it answers its
first request.
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
"""CPU seconds until a child process has loaded the compiler."""
PRIOR_SECONDS = 2.0
"""With this weight the pace is assumed to be the typical one until it has been measured."""
OVERDUE_SHARE = 0.1
"""An overdue group is expected to take this share of its elapsed time more."""


class CompilationFailed(Exception):
    """A group could not be compiled; the message is one line that says why."""


class Closed(Exception):
    """The compilation was ended before a group was ready."""


class Worker(Protocol):
    """Compiles one group at a time."""

    startup_seconds: float
    """Typical seconds that the first group takes longer than the others."""

    def run(self, name: str) -> float:
        """Compile a group and return the CPU seconds it took; raises CompilationFailed."""
        ...

    def close(self) -> None:
        """End, from any thread, also while a group is being compiled."""
        ...


class Child:
    """A worker in a process of its own, started with the first group; killed when it is closed."""

    startup_seconds = STARTUP_SECONDS

    def __init__(self, niceness: int = 0) -> None:
        self._niceness = niceness
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def run(self, name: str) -> float:
        """Compile a group; a child that has died is replaced."""
        process = self._alive()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{name}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):  # the child has died, or `close` came in between
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
    """A worker in this process, for a cache that no other process would find."""

    startup_seconds = 0.0

    def run(self, name: str) -> float:
        """Compile a group."""
        from fourlab.compiled.warmup import compile_group

        try:
            return compile_group(name)
        except Exception as error:  # whatever goes wrong inside a compiler
            raise CompilationFailed(f"cannot compile {name}: {_one_line(error)}") from error

    def close(self) -> None:
        """A running compilation cannot be ended here."""


class Background:
    """Groups of kernels on their way to being ready. Every method may be called from any thread."""

    def __init__(
        self,
        names: Iterable[str],
        workers: Sequence[Worker],
        typical: Mapping[str, float],
        compiled: Iterable[str] = (),
        load: Callable[[str], object] | None = None,
        on_compiled: Callable[[str, float, float], None] = lambda name, seconds, cpu_seconds: None,
    ) -> None:
        """Take the names of the groups, the most wanted first, and those that are compiled already.

        `load` is called with a group once it is compiled, before it is ready: a server loads it
        from the cache, which takes up to a second that should not count as thinking time. If
        compiling fails, `load` is all that is left to try; a group for which it fails as well
        counts as ready, so that nobody waits for it in vain.
        `on_compiled` is called with a group, its seconds and its CPU seconds, one at a time.
        """
        self._names = tuple(dict.fromkeys(names))
        self._workers, self._typical, self._load, self._on_compiled = (
            workers,
            typical,
            load,
            on_compiled,
        )
        self._lock = threading.RLock()
        self._closed = False
        self._queue: list[str] = []
        self._running: dict[str, tuple[float, float]] = {}  # its start, its typical seconds
        self._spent = self._typically = PRIOR_SECONDS  # measured so far, and typical
        self._futures: dict[str, Future[None]] = {}
        done = set(compiled)
        self._to_load: list[str] = []
        for name in self._names:
            future: Future[None] = Future()
            future.set_running_or_notify_cancel()  # nobody who stops waiting for it can cancel it
            if name not in done:
                self._queue.append(name)
            elif load is not None:
                self._to_load.append(name)
            else:
                future.set_result(None)
            self._futures[name] = future

    @property
    def names(self) -> tuple[str, ...]:
        """All groups."""
        return self._names

    def start(self) -> None:
        """Begin to compile, and to load what is compiled."""
        if self._to_load:
            threading.Thread(target=self._load_compiled, daemon=True, name="load").start()
        for worker in self._workers[: len(self._queue)]:
            threading.Thread(target=self._work, args=(worker,), daemon=True, name="compile").start()

    def run(self) -> None:
        """Compile everything, then return; raises CompilationFailed at the first failure."""
        if [type(worker) for worker in self._workers] == [Here]:
            self._work(self._workers[0])  # in this thread, where Ctrl-C is heard
        else:
            self.start()
        for future in wait(self._futures.values(), return_when=FIRST_EXCEPTION).done:
            future.result()

    def close(self) -> None:
        """End at once; whoever waits gets Closed."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            waiting = [future for future in self._futures.values() if not future.done()]
        for worker in self._workers:
            worker.close()
        for future in waiting:
            _settle(future, Closed("the compilation was ended"))

    def prefer(self, names: Iterable[str]) -> list["Future[None]"]:
        """Move groups to the front of the queue; return the futures of those not ready."""
        known = [name for name in names if name in self._futures]
        wanted = [name for name in known if not self._futures[name].done()]
        with self._lock:
            first = [name for name in wanted if name in self._queue]
            self._queue = [*first, *(name for name in self._queue if name not in first)]
        return [self._futures[name] for name in wanted]

    def state(self, name: str) -> State:
        """Say how far a group is."""
        with self._lock:
            if self._futures[name].done():
                return "ready"
            return "compiling" if name in self._running else "queued"

    def is_ready(self) -> bool:
        """Whether all groups are ready."""
        return all(future.done() for future in self._futures.values())

    def seconds_left(self) -> dict[str, float]:
        """Estimate in how many seconds each group will be ready; 0 for those that are.

        The estimate follows from typical times and the pace on this machine so far.
        """
        with self._lock:
            now = time.monotonic()
            pace = self._pace(now)
            left = dict.fromkeys(self._names, 0.0)
            for name, (started, typical) in self._running.items():
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
        """Return the seconds on the wall that a typical second takes, overdue groups included."""
        pace = self._spent / self._typically
        running = [(now - started, typical) for started, typical in self._running.values()]
        late = [(elapsed, typical) for elapsed, typical in running if elapsed > pace * typical]
        spent = self._spent + sum(elapsed for elapsed, _ in late)
        return spent / (self._typically + sum(typical for _, typical in late))

    def _work(self, worker: Worker) -> None:
        startup = worker.startup_seconds
        while (name := self._take(startup)) is not None:
            started, failure, cpu_seconds = time.monotonic(), None, 0.0
            try:
                cpu_seconds = worker.run(name)
            except CompilationFailed as error:
                failure = error
            except Exception as error:  # no process could be started, say
                failure = CompilationFailed(f"cannot compile {name}: {_one_line(error)}")
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
                except Exception as error:  # nobody reads what it prints, say; `run` raises it
                    outcome = error
        _settle(self._futures[name], outcome)


def _settle(future: "Future[None]", failure: Exception | None) -> None:
    """Give a future its result; `close` and a worker may do so at the same time."""
    with suppress(InvalidStateError):
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)


_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    f"from {__name__} import _answer_parent; _answer_parent(int(sys.argv[2]))"
)


def _start(niceness: int) -> "subprocess.Popen[str]":
    """Start a child in a process group of its own: Ctrl-C is for the parent, who ends its children."""
    apart: dict[str, Any] = {"process_group": 0}
    if sys.platform == "win32":
        priority = subprocess.BELOW_NORMAL_PRIORITY_CLASS if niceness else 0
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | priority}
    return subprocess.Popen(
        # -P: modules are not looked for in the user's current folder.
        [sys.executable, "-P", "-c", _CHILD, json.dumps(sys.path), str(niceness)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what matters is in the answers
        text=True,
        **apart,
    )


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # what was not written yet is of no use any more
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
        except Exception as error:  # whatever goes wrong inside a compiler; the parent decides
            answer = {"error": _one_line(error)}
        print(json.dumps(answer), flush=True)


def _listen(names: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        names.put(line.rstrip("\n"))
    os._exit(0)  # also in the middle of a compilation


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
