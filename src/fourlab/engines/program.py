"""Outside engines as players: a program of any language, asked over stdin and stdout, within bounds.

docs/engine-protocol.md documents the protocol, and `protocol.py` reads and writes it. Nothing that a
program does may hang us, fill our memory, outlive its game or answer a question it was not asked;
whatever goes wrong is a `Forfeit` with its cause.
"""

import contextlib
import itertools
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Forfeit, Limit
from fourlab.agents.generators import generator
from fourlab.engines import protocol as c4i
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.record import Cause
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

LINE_BYTES = 64 * 1024
MOVE_BYTES = 1024 * 1024
MOVE_LINES = 10_000
"""The most that an engine may say in one line and, with all its lines, for one move."""
STDERR_BYTES = 4096
"""How much of the end of stderr is kept, to quote its last line."""
OVERTIME = 1.0
"""How many seconds a forfeited answer is still waited for, to say how late it was."""
PATIENCE = 0.5
"""How many seconds an engine has to go after `quit`, and again after SIGTERM."""
MEMORY_SLACK = 4
"""The kernel refuses this many times the bound: reserved memory is more than used memory, and using is what we count."""
PAUSE = 0.05
"""How many seconds may pass until the clock, the stop flag and the memory are looked at again."""


@dataclass(eq=False)
class Engine:
    """Asks an outside program over stdin and stdout: engine:cmd="./my-engine --fast"."""

    cmd: str = option("", "The program and its arguments; no shell reads them.")
    start_seconds: float = option(
        10, "How long the program may take to start, and to get ready before a move.", above=0, unit="s"
    )
    grace: float = option(0.5, "How many seconds late an answer may be.", least=0, unit="s")
    move_seconds: float = option(60, "How long a move may take when the limit says no time.", above=0, unit="s")
    megabytes: float = option(
        1024, "How much memory the program and its children may use together (Linux only).", above=0, unit="MB"
    )
    multipv: int = option(1, "How many columns the program is asked to tell of, for analyses.", least=1, unit="columns")
    options: str = option("", 'What to set in the program, of what it offers: "Threads=2;Style=wild".')

    _running: "Program | None" = field(default=None, init=False, repr=False)
    _end: "weakref.finalize[[], Engine] | None" = field(default=None, init=False, repr=False)
    _game: "tuple[np.random.Generator, Position] | None" = field(default=None, init=False, repr=False)
    """The generator of the game in hand and the position after the engine's own last column."""
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        example = 'engine:cmd="./my-engine --fast"'
        if not self.cmd.strip():
            raise UserError(f"an engine needs the command that starts it: {example}")
        try:
            shlex.split(self.cmd)
        except ValueError as error:
            raise UserError(f"cannot read the command {self.cmd!r} ({error}); write it like {example}") from None
        check(self)
        self._settings()

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Ask the program, started if need be, for a column; after any fault it is ended."""
        rng = generator(rng)
        seed = int(rng.integers(2**31))  # drawn at every move, so that others who use the generator see no difference
        with self._lock, self._ended_by_a_fault():
            process = self._started()
            self._make_ready(process, position, seed, rng)
            decision = self._think(process, position, limit)
            self._game = rng, position.play(decision.column)
            return decision

    def start(self) -> None:
        """Start the program if it does not run, so that the first move need not; whoever runs a clock calls this before."""
        with self._lock, self._ended_by_a_fault():
            self._started()

    @contextlib.contextmanager
    def talk(self) -> "Iterator[Program]":
        """The program itself, having greeted, for whoever has something else to say; after any fault it is ended."""
        with self._lock, self._ended_by_a_fault():
            yield self._started()

    def close(self) -> None:
        """End the program, if it runs; asked again, it is started again."""
        with self._lock:
            self._stop_running()

    def _stop_running(self) -> None:
        end, self._running, self._end, self._game = self._end, None, None, None
        if end is not None:
            end()

    @contextlib.contextmanager
    def _ended_by_a_fault(self) -> Iterator[None]:
        try:
            yield
        except BaseException:  # Ctrl-C too: what the program would still say, nobody waits for
            self._stop_running()
            raise

    def _started(self) -> "Program":
        """The program that runs, or a new one that has said its greeting."""
        if self._running is not None and self._running.owner == os.getpid():  # the other side of a fork starts its own
            return self._running
        self._stop_running()
        until = time.monotonic() + self.start_seconds
        process = Program(self.cmd, self.megabytes)
        self._running, self._end = process, weakref.finalize(self, process.close)
        process.greeting = self._question(process, "c4i", "c4iok", until)
        offered = [name for line in process.greeting if (name := c4i.read_option(line)) is not None]
        for name, value in self._settings():
            if name not in offered:
                raise Forfeit(Cause.CRASH, f"offers no option {name!r}; it offers {', '.join(offered)[:200] or 'none'}")
            process.say(c4i.write_setoption(name, value))
        self._question(process, "isready", "readyok", until)
        return process

    def _question(self, process: "Program", question: str, answer: str, until: float) -> list[str]:
        """Ask something of the greeting; returns what was said before the answer."""
        process.say(question)
        if (said := process.hear(answer, until)) is None:
            raise Forfeit(Cause.TIMEOUT, f"did not start within {self.start_seconds:g} s (no {answer})")
        return said

    def _settings(self) -> list[tuple[str, str]]:
        """What is to be set in the program: names and values."""
        settings = []
        for each in filter(None, (part.strip() for part in self.options.split(";"))):
            name, equals, value = (part.strip() for part in each.partition("="))
            if not (name and equals and each.isprintable()):
                raise UserError(f"cannot read {each!r} in option options of agent 'engine'; write it like Threads=2;Style=wild")
            settings.append((name, value))
        return settings

    def _make_ready(self, process: "Program", position: Position, seed: int, rng: "np.random.Generator") -> None:
        """See to it that the program has nothing left to say and waits for a question."""
        process.begin_question()
        if not self._goes_on(position, rng):
            process.say(c4i.write_newgame(position.rules, seed))
        # Whatever was still on its way, a second answer above all, comes before the pong and is thrown away.
        number = next(process.pings)
        process.say(f"ping {number}")
        if process.hear(f"pong {number}", time.monotonic() + self.start_seconds) is None:
            raise Forfeit(Cause.TIMEOUT, f"did not answer ping within {self.start_seconds:g} s")

    def _goes_on(self, position: Position, rng: "np.random.Generator") -> bool:
        """Whether the position is the one we left, one reply later, in a game with the same generator."""
        if self._game is None or self._game[0] is not rng:
            return False
        left = self._game[1]
        return any(left.play(column) == position for column in left.legal_columns())

    def _think(self, process: "Program", position: Position, limit: Limit) -> Decision:
        """Put the question and wait: until the time is over, then (having said stop) a grace, then to see how late it is."""
        # Nothing but a stop flag means for every agent: until it is set.
        endless = limit.stop is not None and limit == Limit(stop=limit.stop)
        process.say(c4i.write_position(position), c4i.Go(limit, endless, self.multipv).write())
        asked = time.monotonic()
        due = asked + (self.move_seconds if limit.seconds is None else limit.seconds)
        told, stopped = _Told(), False
        while True:
            now = time.monotonic()
            if not stopped and limit.stop is not None and limit.stop.is_set():
                due = min(due, now)
            if not stopped and now >= due:
                process.say("stop")
                stopped = True
            if now >= due + self.grace + OVERTIME:
                raise Forfeit(Cause.TIMEOUT, f"had not answered {now - due:.2f} s after its time")
            line = process.listen(now + PAUSE)
            match c4i.words_of(line) if line else []:
                case ["info", *words]:
                    told.hear(c4i.Info.read(words))
                case ["bestmove", *words]:
                    late = time.monotonic() - due
                    if late > self.grace:
                        raise Forfeit(Cause.TIMEOUT, f"answered {late:.2f} s late ({self.grace:g} s are forgiven)")
                    column = _read_column(words, position)
                    return told.decision(column, position, time.monotonic() - asked)


# --- what comes back ---------------------------------------------------------------------------------------------------


def _read_column(words: Sequence[str], position: Position) -> int:
    """The column of `bestmove`, from 0."""
    word = words[0] if words else ""
    if not re.fullmatch(r"-?[0-9]{1,9}", word):
        raise Forfeit(Cause.CRASH, f"answered {word[:20]!r}, which is not a column")
    column = int(word) - 1
    if not 0 <= column < position.rules.columns:
        raise Forfeit(Cause.ILLEGAL, f"answered column {column + 1}, which does not exist")
    if column not in position.legal_columns():
        raise Forfeit(Cause.ILLEGAL, f"answered column {column + 1}, which is full")
    return column


@dataclass
class _Told:
    """What the `info` lines said; the last word counts. An outsider's claim is an opinion, never a proof."""

    value: float | None = None
    work: dict[str, int] = field(default_factory=dict)
    """Nodes, simulations and depth, as far as the engine counts them."""
    line: tuple[int, ...] = ()
    columns: dict[int, float | None] = field(default_factory=dict)
    """What each column is worth, of those that the engine numbered."""

    def hear(self, info: c4i.Info) -> None:
        """Take in one line; only the best column's tells of the position."""
        if info.multipv is not None and info.line:
            self.columns[info.line[0]] = info.value
        if info.multipv in (None, 1):
            self.value = self.value if info.value is None else info.value
            self.line = info.line or self.line
            numbers = {"nodes": info.nodes, "simulations": info.simulations, "depth": info.depth}
            self.work |= {name: number for name, number in numbers.items() if number is not None}

    def decision(self, column: int, position: Position, seconds: float) -> Decision:
        """The column with what was told about it; a line that cannot be played so is left out."""
        line = self.line if self.line[:1] == (column,) and _can_be_played(self.line, position) else ()
        columns = tuple(
            ColumnAnalysis(each, value=self.columns.get(each), estimate=self.columns.get(each))
            for each in (position.legal_columns() if self.columns else ())
        )
        analysis = Analysis(columns, seconds=seconds, **self.work)  # type: ignore[arg-type]
        return Decision(column, value=self.value, analysis=analysis, line=line)


def _can_be_played(columns: Sequence[int], position: Position) -> bool:
    for column in columns:
        if column not in position.legal_columns():
            return False
        position = position.play(column)
    return True


# --- the process -------------------------------------------------------------------------------------------------------


class Program:
    """A running program in a process group of its own, with its three pipes; output beyond its bounds is a forfeit."""

    def __init__(self, cmd: str, megabytes: float) -> None:
        self.owner = os.getpid()
        self.pings = itertools.count(1)
        self.greeting: list[str] = []
        arguments = cmd if sys.platform == "win32" else shlex.split(cmd)
        try:
            self._popen = subprocess.Popen(
                arguments,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise Forfeit(Cause.CRASH, f"cannot start {cmd}: {error.strerror}") from None
        except ValueError as error:
            raise Forfeit(Cause.CRASH, f"cannot start {cmd!r}: {error}") from None
        assert self._popen.stdin
        assert self._popen.stdout
        assert self._popen.stderr
        self._pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes)
        self._open = [self._out, self._err]
        if sys.platform != "win32":
            os.set_blocking(self._in, False)
        self._max_memory = int(megabytes * 1e6)
        self._memory_due = 0.0
        _limit_memory(self._popen.pid, MEMORY_SLACK * self._max_memory)
        self._lines: deque[bytes] = deque()
        self._rest = b""  # the beginning of a line whose end has not come yet
        self._complaints = b""  # the end of stderr
        self.begin_question()

    def begin_question(self) -> None:
        """Count what is said from here on."""
        self._bytes_said = self._lines_said = 0

    def say(self, *lines: str) -> None:
        """Write lines without ever waiting: a pipe holds hundreds of questions, so a full one has no reader."""
        text = "".join(f"{line}\n" for line in lines).encode()
        try:
            written = os.write(self._in, text)
        except BlockingIOError:
            written = 0
        except OSError:
            raise self._gone("closed its input") from None
        if written < len(text):
            raise Forfeit(Cause.CRASH, "does not read its input")

    def hear(self, answer: str, until: float) -> list[str] | None:
        """Wait for an answer; returns the lines that came before it, or None when the time is over."""
        before: list[str] = []
        while time.monotonic() < until:
            line = self.listen(until)
            if line is not None and line.split() == answer.split():
                return before
            if line is not None:
                before.append(line)
        return None

    def listen(self, until: float) -> str | None:
        """The next line, or None when the time is over."""
        while not self._lines:
            if self._out not in self._open:
                raise self._gone("closed its output")
            left = until - time.monotonic()
            self._take(self._read(min(left, PAUSE)))
            self._check_memory()
            if left <= 0 and not self._lines:
                return None
        return self._lines.popleft().decode(errors="replace")

    def _read(self, seconds: float) -> bytes:
        """What stdout has, within the given time; stderr is drained by the way."""
        said = b""
        for pipe in _readable(self._open, max(0.0, seconds)):
            chunk = os.read(pipe, 64 * 1024)
            if not chunk:
                self._open.remove(pipe)
            elif pipe == self._out:
                said = chunk
            else:
                self._complaints = (self._complaints + chunk)[-STDERR_BYTES:]
        return said

    def _take(self, chunk: bytes) -> None:
        """Cut output into lines, within the bounds."""
        self._bytes_said += len(chunk)
        self._lines_said += chunk.count(b"\n")
        if self._bytes_said > MOVE_BYTES:
            raise Forfeit(Cause.CRASH, f"said more than {MOVE_BYTES} bytes for one move")
        if self._lines_said > MOVE_LINES:
            raise Forfeit(Cause.CRASH, f"said more than {MOVE_LINES} lines for one move")
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if max(map(len, (self._rest, *lines))) > LINE_BYTES:
            raise Forfeit(Cause.CRASH, f"said a line of more than {LINE_BYTES} bytes")
        self._lines.extend(lines)

    def _check_memory(self) -> None:
        if (began := time.monotonic()) < self._memory_due:
            return
        used = _memory_of_group(self._popen.pid)
        spent = time.monotonic() - began
        self._memory_due = began + max(PAUSE, 20 * spent)  # on a machine with very many processes, look less often
        if used > self._max_memory:
            self._kill(hard=True)  # it must not go on eating while it is asked to leave
            raise Forfeit(Cause.CRASH, f"used {used / 1e6:.0f} MB of memory, more than its {self._max_memory / 1e6:g} MB")

    def _gone(self, otherwise: str) -> Forfeit:
        """Say how the program ended, or, if it did not, what else it did."""
        self._wait(PATIENCE)
        for _ in range(16):
            if not self._read(0) and self._err not in self._open:
                break
        code = self._popen.poll()
        if code is None:
            how = otherwise
        elif code < 0:
            how = f"was killed by signal {-code} ({signal.strsignal(-code)})"
        else:
            how = f"exited with code {code}"
        last = self._complaints.decode(errors="replace").strip().rpartition("\n")[2]
        last = "".join(letter for letter in last if letter.isprintable())[:200].strip()
        return Forfeit(Cause.CRASH, f"{how}: {last}" if last else how)

    def hang_up(self) -> None:
        """End its input."""
        self._pipes[0].close()
        self._in = -1  # the number may soon be somebody else's

    def ends_within(self, seconds: float) -> bool:
        """Whether the program ends by itself in that time."""
        self._wait(seconds)
        return self._popen.poll() is not None

    def _wait(self, seconds: float) -> None:
        """Wait for the end; output is drained meanwhile, since a program that cannot write cannot end."""
        until = time.monotonic() + seconds
        while self._popen.poll() is None and time.monotonic() < until:
            self._read(0.01)

    def close(self) -> None:
        """Ask the program to go, then make it, then make sure that it and its children are gone."""
        try:
            if self.owner == os.getpid():  # a forked copy must leave its parent's engine alone
                self._end()
        finally:
            for pipe in self._pipes:
                pipe.close()

    def _end(self) -> None:
        try:
            if self._popen.poll() is None:
                with contextlib.suppress(Forfeit):
                    self.say("quit")
                self._pipes[0].close()
                self._wait(PATIENCE)
            if self._popen.poll() is None:
                self._kill(hard=False)
                self._wait(PATIENCE)
        finally:  # also when Ctrl-C cuts the waiting short
            self._kill(hard=True)
            with contextlib.suppress(subprocess.TimeoutExpired):  # only a broken disc or driver can hold it now
                self._popen.wait(5)

    def _kill(self, hard: bool) -> None:
        """Signal the whole group; the leader may be gone and its children not."""
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self._popen.kill()
            else:
                os.killpg(self._popen.pid, signal.SIGKILL if hard else signal.SIGTERM)


# --- what differs between systems --------------------------------------------------------------------------------------

if sys.platform == "win32":
    import _winapi
    import msvcrt

    def _readable(pipes: Sequence[int], seconds: float) -> list[int]:
        """Which pipes have something or have ended; Windows cannot wait for a pipe, so we look again and again."""
        until = time.monotonic() + seconds
        while True:
            found = [pipe for pipe in pipes if _has_something(pipe)]
            if found or time.monotonic() >= until:
                return found
            time.sleep(0.002)

    def _has_something(pipe: int) -> bool:
        try:
            return _winapi.PeekNamedPipe(msvcrt.get_osfhandle(pipe))[0] != 0
        except OSError:
            return True  # its end

else:

    def _readable(pipes: Sequence[int], seconds: float) -> list[int]:
        """Which pipes have something or have ended, after at most the given time."""
        poll = select.poll()
        for pipe in pipes:
            poll.register(pipe, select.POLLIN)
        return [pipe for pipe, _ in poll.poll(seconds * 1000)]


def _memory_of_group(group: int) -> int:
    """The bytes in memory of all processes of a group; 0 where there is no /proc to ask."""
    if sys.platform != "linux":
        return 0
    total = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):  # no process, or gone meanwhile
            if os.getpgid(int(name)) == group:
                with open(f"/proc/{name}/statm", "rb") as file:
                    total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total


def _limit_memory(pid: int, size: int) -> None:
    """Have the kernel refuse each process more writable memory than that; it watches also while we do not."""
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (size, size))
