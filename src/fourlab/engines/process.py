"""A running engine program: its process, its three pipes, and bounds on everything it does.

Nothing that the program does may block us, fill our memory or leave processes behind. Whatever goes
wrong is a `Forfeit` with its cause. `launch.py` runs between Fourlab and the program, and ends it
with all its descendants, also if Fourlab itself is killed.
"""

import contextlib
import errno
import fnmatch
import itertools
import math
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence

from fourlab.agent import Forfeit
from fourlab.engines import launch
from fourlab.game.record import Cause

LINE_BYTES = 64 * 1024
"""Longest line that a program may write."""
MOVE_BYTES = 1024 * 1024
"""Most bytes that a program may write for one move."""
MOVE_LINES = 10_000
"""Most lines that a program may write for one move."""
STDERR_BYTES = 4096
"""How much of the end of stderr is kept, to quote its last line."""
STDERR_CHARACTERS = 200
"""How much of that line is quoted."""
EXIT_SECONDS = 0.5
"""How long a program has to exit after `quit`, and again after SIGTERM."""
MEMORY_SLACK = 4
"""The kernel's limit is this many times the bound: it counts reserved memory, of which programs use
only a part, while the bound is on memory in use."""
POLL_SECONDS = 0.05
"""Longest time between two looks at the clock."""
STOP_POLL_SECONDS = 0.005
"""Longest time between two looks at a stop flag, which another thread may set."""
LAUNCH_SECONDS = 60.0
"""How long the launcher may take to start a program; on an idle machine it takes 0.05 s."""
CPU_SECONDS = 3600.0
"""Processor time of a program, unless its caller sets another limit."""
KILL_ROUNDS = 10
"""How often to look for descendants of a launcher that does not end them itself."""
MOST_TASKS = 1000
"""Processes and threads of a program and its descendants together (Linux)."""
ENVIRONMENT = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TZ"),
    *("TMPDIR", "TEMP", "TMP"),
    # What every program needs on Windows.
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA"),
    # Where compiled kernels are, for engines that are Fourlab itself, and numbers of threads.
    *("FOURLAB_CACHE_DIR", "XDG_CACHE_HOME", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
)
"""Patterns of the environment variables that a program gets. Others may hold passwords and keys, or
change which code a program loads, as PYTHONPATH and LD_LIBRARY_PATH do."""


class Program:
    """A program and its descendants; sending and reading lines never blocks for long.

    `cmd` is a command line or a list of arguments. Besides ENVIRONMENT the program gets the
    variables whose names are in `env`.
    """

    def __init__(
        self,
        cmd: str | Sequence[str],
        megabytes: float,
        cpu_seconds: float = CPU_SECONDS,
        env: Sequence[str] = (),
    ) -> None:
        self.owner = os.getpid()
        self._is_killed = False
        self.pings = itertools.count(1)
        self.greeting: list[str] = []
        self._max_memory = int(megabytes * 1e6)
        self._max_tasks = MOST_TASKS
        limits = (
            *(MEMORY_SLACK * self._max_memory, math.ceil(cpu_seconds)),
            *(self._max_memory, self._max_tasks),
        )
        try:
            self._popen, self._control = _start(cmd, environment(env), limits)
        except OSError as error:
            raise Forfeit(Cause.CRASH, f"cannot start {cmd}: {error.strerror or error}") from None
        except ValueError as error:
            raise Forfeit(Cause.CRASH, f"cannot start {cmd!r}: {error}") from None
        assert self._popen.stdin
        assert self._popen.stdout
        assert self._popen.stderr
        self._pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes)
        self._open = [self._out, self._err]
        # Only stdin: `poll` says when the other two can be read without blocking.
        if sys.platform != "win32":
            os.set_blocking(self._in, False)
        self._lines: deque[bytes] = deque()
        self._partial_line = b""
        self._stderr_tail = b""
        self.reset_counters()

    def reset_counters(self) -> None:
        """Count the output for one move from here on."""
        self._bytes_read = 0
        self._lines_read = 0

    def send(self, *lines: str) -> None:
        """Write lines to the program's stdin without blocking.

        A pipe holds hundreds of commands, so if it is full the program does not read it.
        """
        text = "".join(f"{line}\n" for line in lines).encode()
        try:
            written = os.write(self._in, text)
        except BlockingIOError:  # not a byte fits; if only a part does, `written` is smaller
            written = 0
        except OSError:
            raise self._exit_forfeit("closed its input") from None
        if written < len(text):
            raise Forfeit(Cause.CRASH, "does not read its input")

    def ping(self, seconds: float) -> list[str] | None:
        """Send a ping; return the lines before its pong, or None if there is none in time."""
        # Numbers are never used again, so a late pong cannot be taken for this one.
        number = next(self.pings)
        self.send(f"ping {number}")
        return self.read_until(f"pong {number}", time.monotonic() + seconds)

    def read_until(self, answer: str, deadline: float) -> list[str] | None:
        """Wait for an answer; return the lines before it, or None once the deadline has passed.

        `deadline` is a value of `time.monotonic`.
        """
        before: list[str] = []
        while time.monotonic() < deadline:
            line = self.read_line(deadline)
            if line is not None and line.split() == answer.split():
                return before
            if line is not None:
                before.append(line)
        return None

    def read_line(self, deadline: float) -> str | None:
        """Return the next line, or None once the deadline has passed."""
        while not self._lines:
            if self._out not in self._open:
                raise self._exit_forfeit("closed its output")
            left = deadline - time.monotonic()
            # Even at the deadline, look once at what has already arrived.
            self._split_lines(self._read(min(left, POLL_SECONDS)))
            if left <= 0 and not self._lines:
                return None
        return self._lines.popleft().decode(errors="replace")

    def _read(self, seconds: float) -> bytes:
        """Return what is in stdout, waiting at most this long; drain stderr on the way."""
        output = b""
        for pipe in _readable(self._open, max(0.0, seconds)):
            # os.read returns what there is; an empty chunk is the end of the pipe.
            chunk = os.read(pipe, 64 * 1024)
            if not chunk:
                self._open.remove(pipe)
            elif pipe == self._out:
                output = chunk
            else:
                self._stderr_tail = (self._stderr_tail + chunk)[-STDERR_BYTES:]
        return output

    def _split_lines(self, chunk: bytes) -> None:
        """Split output into lines; raise Forfeit if it exceeds its bounds."""
        self._bytes_read += len(chunk)
        self._lines_read += chunk.count(b"\n")
        if self._bytes_read > MOVE_BYTES:
            raise Forfeit(Cause.CRASH, f"wrote more than {MOVE_BYTES} bytes for one move")
        if self._lines_read > MOVE_LINES:
            raise Forfeit(Cause.CRASH, f"wrote more than {MOVE_LINES} lines for one move")
        # Lines are split as bytes: a chunk may end within a UTF-8 character.
        *lines, self._partial_line = (self._partial_line + chunk).split(b"\n")
        if max(map(len, (self._partial_line, *lines))) > LINE_BYTES:
            raise Forfeit(Cause.CRASH, f"wrote a line of more than {LINE_BYTES} bytes")
        self._lines.extend(lines)

    def _exit_forfeit(self, otherwise: str) -> Forfeit:
        """Return a Forfeit that says how the program exited, or `otherwise` if it still runs."""
        self._wait(EXIT_SECONDS)
        for _ in range(16):  # bounded: a program that still runs may write to stderr without end
            if not self._read(0) and self._err not in self._open:
                break
        code = self._popen.poll()
        if (excess := self._excess()) is not None:
            return Forfeit(Cause.CRASH, excess)
        if code is None:
            reason = otherwise
        elif code < 0:
            reason = f"was killed by signal {-code} ({signal.strsignal(-code)})"
        else:
            reason = f"exited with code {code}"
        last = self._stderr_tail.decode(errors="replace").strip().rpartition("\n")[2]
        printable = "".join(letter for letter in last if letter.isprintable())
        quote = printable[:STDERR_CHARACTERS].strip()
        return Forfeit(Cause.CRASH, f"{reason}: {quote}" if quote else reason)

    def _excess(self) -> str | None:
        """Return the limit for which the launcher has killed the program; None if it has not."""
        if self._control is None:
            return None
        try:
            word, _, number = self._control.recv(64, socket.MSG_DONTWAIT).decode().partition(" ")
        except OSError:  # there is no message
            return None
        if word == "memory":
            most = f"{self._max_memory / 1e6:g} MB"
            return f"used {int(number) / 1e6:.0f} MB of memory, more than its {most}"
        if word == "tasks":
            return f"ran {int(number)} processes and threads, more than {self._max_tasks}"
        return None

    def close_input(self) -> None:
        """Close the program's stdin."""
        self._pipes[0].close()
        self._in = -1  # the system may soon give the descriptor to another file

    def ends_within(self, seconds: float) -> bool:
        """Wait at most this long for the program to exit; return whether it has."""
        self._wait(seconds)
        return self._popen.poll() is not None

    def _wait(self, seconds: float) -> None:
        """Wait for the program to exit; drain its output, since a full pipe would block it."""
        deadline = time.monotonic() + seconds
        while self._popen.poll() is None and time.monotonic() < deadline:
            self._read(0.01)

    def kill(self) -> None:
        """Order the end of the program and all its descendants, and do not wait for it."""
        self._is_killed = True
        self._kill(hard=True)

    def close(self) -> None:
        """Send `quit`, then SIGTERM, then kill all that is left, and close the pipes.

        Nobody waits for a program that was killed because it did not answer in time.
        """
        if self._is_killed:
            # At the interpreter's exit no thread can be started; then the launcher ends the rest.
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=self._close, daemon=True).start()
                return
        self._close()

    def _close(self) -> None:
        try:
            if self.owner == os.getpid():  # a forked copy must leave its parent's program alone
                self._end()
        finally:
            for pipe in self._pipes:
                pipe.close()
            if self._control is not None:
                self._control.close()

    def _end(self) -> None:
        try:
            if self._popen.poll() is None and not self._is_killed:
                with contextlib.suppress(Forfeit):
                    self.send("quit")
                self._pipes[0].close()
                self._wait(EXIT_SECONDS)
            # SIGTERM first, so that a program can end its own children and delete its files.
            if self._popen.poll() is None and not self._is_killed:
                self._kill(hard=False)
                self._wait(EXIT_SECONDS)
        finally:  # also if Ctrl-C interrupts the waiting
            self._kill(hard=True)
            # After SIGKILL only a broken disc or driver can keep a process alive.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(5)
            if self._popen.poll() is None:
                self._kill_below_launcher()
                self._popen.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._popen.wait(5)

    def _kill_below_launcher(self) -> None:
        """Kill all descendants of a launcher that does not: the program may have stopped it."""
        # They cannot escape meanwhile: the launcher, their subreaper, is still there. Each round
        # finds those that were started in the one before.
        for _ in range(KILL_ROUNDS):
            running = launch.descendants(self._popen.pid)
            for pid in running:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not running:
                return

    def _kill(self, hard: bool) -> None:
        """End the program: gently, or at once with all its descendants."""
        with contextlib.suppress(OSError):
            if self._control is None:
                self._popen.kill()
            elif hard:
                # Unlike `close`, this is seen even if a forked copy of this process holds the
                # socket open.
                self._control.shutdown(socket.SHUT_RDWR)
            else:
                self._control.send(b"T")


class KeptProgram:
    """The running program of an agent, if there is one; it ends with the agent."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._finalizer: weakref.finalize[[], KeptProgram] | None = None

    @property
    def program(self) -> Program | None:
        """The running program; None in a fork, which must start a program of its own."""
        is_ours = self._program is not None and self._program.owner == os.getpid()
        return self._program if is_ours else None

    def keep(self, program: Program) -> Program:
        """Keep a program in place of the one before, which is ended."""
        self.end()
        self._program = program
        # The finalizer also runs if this object is garbage collected and at interpreter exit.
        self._finalizer = weakref.finalize(self, program.close)
        return program

    def end(self) -> None:
        """End the program if there is one."""
        # Forgotten before it is ended: if ending is interrupted, it is not used again.
        finalizer = self._finalizer
        self._program = None
        self._finalizer = None
        if finalizer is not None:
            finalizer()

    @contextlib.contextmanager
    def ended_by_faults(self) -> Iterator[None]:
        """End the program if anything is raised."""
        try:
            yield
        except BaseException:  # KeyboardInterrupt too: nobody will read the pending answer
            self.end()
            raise


def environment(more: Sequence[str] = ()) -> dict[str, str]:
    """Return the variables that a program gets: those of ENVIRONMENT, and those named in `more`."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in more or any(fnmatch.fnmatchcase(name, pattern) for pattern in ENVIRONMENT)
    }


# --- differences between operating systems ------------------------------------------------------

if sys.platform == "win32":
    import _winapi
    import msvcrt

    def _start(
        cmd: str | Sequence[str], env: dict[str, str], limits: Sequence[int]
    ) -> "tuple[subprocess.Popen[bytes], socket.socket | None]":
        """Start a program; here it has no limits on memory, processes and processor time."""
        pipe = subprocess.PIPE
        return subprocess.Popen(cmd, 0, stdin=pipe, stdout=pipe, stderr=pipe, env=env), None

    def _readable(pipes: Sequence[int], seconds: float) -> list[int]:
        """Return the pipes that have data or have ended, polled: Windows cannot wait for pipes."""
        deadline = time.monotonic() + seconds
        while True:
            ready = [pipe for pipe in pipes if _is_ready(pipe)]
            if ready or time.monotonic() >= deadline:
                return ready
            time.sleep(0.002)

    def _is_ready(pipe: int) -> bool:
        try:
            return _winapi.PeekNamedPipe(msvcrt.get_osfhandle(pipe))[0] != 0
        except OSError:
            return True  # the pipe has ended

else:

    def _start(
        cmd: str | Sequence[str], env: dict[str, str], limits: Sequence[int]
    ) -> "tuple[subprocess.Popen[bytes], socket.socket | None]":
        """Start a program by its launcher; return the launcher and the socket that controls it.

        Raises OSError if the program cannot be started. `limits` are those of `launch.py`.
        """
        # Split as a shell would; on Windows programs split their own command line.
        arguments = shlex.split(cmd) if isinstance(cmd, str) else list(cmd)
        control, far_end = socket.socketpair()
        with far_end:
            launcher = [sys.executable, "-I", "-S", launch.__file__, str(far_end.fileno())]
            try:
                popen = subprocess.Popen(
                    [*launcher, str(os.getpid()), ",".join(map(str, limits)), *arguments],
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=env,
                    pass_fds=[far_end.fileno()],
                    start_new_session=True,  # Ctrl-C on the terminal is for Fourlab alone
                )
            except BaseException:
                control.close()
                raise
        try:
            _wait_for_start(popen, control)
        except BaseException:
            control.close()
            popen.kill()
            popen.communicate()
            raise
        return popen, control

    def _wait_for_start(popen: "subprocess.Popen[bytes]", control: socket.socket) -> None:
        """Wait for the launcher's report; raise OSError if the program could not be started."""
        control.settimeout(LAUNCH_SECONDS)
        try:
            word, _, number = control.recv(64).decode().partition(" ")
        except TimeoutError:
            raise OSError(errno.ETIMEDOUT, f"not started in {LAUNCH_SECONDS:g} s") from None
        if number:
            raise OSError(int(number), os.strerror(int(number)))
        if word != "started\n":  # the launcher itself cannot run
            assert popen.stderr
            last = popen.stderr.read(STDERR_BYTES).decode(errors="replace").rpartition("\n")[2]
            raise OSError(errno.ECHILD, f"its launcher has failed: {last[:STDERR_CHARACTERS]}")
        control.settimeout(None)

    def _readable(pipes: Sequence[int], seconds: float) -> list[int]:
        """Return the pipes that have data or have ended, waiting at most this long."""
        poll = select.poll()
        for pipe in pipes:
            poll.register(pipe, select.POLLIN)
        # Not `select`, which fails for descriptors above 1023. Milliseconds.
        return [pipe for pipe, _ in poll.poll(seconds * 1000)]
