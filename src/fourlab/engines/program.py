"""Outside engines as agents: programs in any language that speak C4I over stdin and stdout.

docs/reference/engine-protocol.md documents the protocol, `protocol.py` reads and writes it,
and `process.py` runs the program. A program may misbehave in any way: a wrong, late or missing
answer becomes a `Forfeit` with its cause, and an answer is never taken for that of another
question.
"""

import contextlib
import re
import shlex
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Forfeit, Limit
from fourlab.agents.generators import generator
from fourlab.engines import protocol as c4i
from fourlab.engines.process import (
    CPU_SECONDS,
    POLL_SECONDS,
    STOP_POLL_SECONDS,
    KeptProgram,
    Program,
)
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.game.record import Cause
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

EXAMPLE = 'engine:cmd="./my-engine --fast"'


@dataclass(eq=False)
class Engine:
    """Plays the columns of an outside program: engine:cmd="./my-engine --fast"."""

    cmd: str = option("", "The program and its arguments; they are not passed to a shell.")
    start_seconds: float = option(
        10,
        "Time limit for the program to start, and to get ready before a move.",
        above=0,
        most=86_400,
        unit="s",
    )
    grace: float = option(
        0.5,
        "Time by which an answer may be late before the game is forfeited.",
        least=0,
        most=86_400,
        unit="s",
    )
    move_seconds: float = option(
        60, "Time limit per move if the limit does not set one.", above=0, most=86_400, unit="s"
    )
    memory_mb: float = option(
        1024,
        "Memory that the program and its children may use together (Linux only).",
        above=0,
        most=1_000_000,
        unit="MB",
        aliases=("megabytes",),
    )
    multipv: int = option(
        1,
        "Number of columns the program is asked to evaluate, for analyses.",
        least=1,
        most=62,
        unit="columns",
    )
    cpu_seconds: float = option(
        CPU_SECONDS,
        "Processor time that the program, and every process it starts, may use (not on Windows).",
        above=0,
        most=10_000_000,
        unit="s",
    )
    env: tuple[str, ...] = option(
        (),
        "Names of further environment variables that the program gets, such as LICENCE;HOST.",
        separator=";",
    )
    options: str = option("", 'Options to set in the program, such as "Threads=2;Style=wild".')

    overtime: float = field(default=0.0, init=False, repr=False)
    """Seconds to wait for an answer that is already forfeited, so that the message can say how late
    it was; `fourlab engine check` sets it."""
    _kept: KeptProgram = field(default_factory=KeptProgram, init=False, repr=False)
    _game: "tuple[np.random.Generator, Position] | None" = field(
        default=None, init=False, repr=False
    )
    """The current game: its generator and the position after the engine's own last move."""
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.cmd.strip():
            raise UserError(f"an engine needs the command that starts it: {EXAMPLE}")
        try:
            shlex.split(self.cmd)
        except ValueError as error:
            raise UserError(
                f"cannot read the command {self.cmd!r} ({error}); write it like {EXAMPLE}"
            ) from None
        check(self)
        self._settings()  # to refuse a malformed text now and not at the first move

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Return the program's move, starting the program if needed; a fault ends the program."""
        position = unfinished(position)
        rng = generator(rng)
        # The generator advances once per move, whether or not a game begins.
        seed = int(rng.integers(2**31))
        with self._lock, self._kept.ended_by_faults():
            program = self._started()
            self._make_ready(program, position, seed, rng)
            decision = self._think(program, position, limit)
            self._game = rng, position.play(decision.column)
            return decision

    def start(self) -> None:
        """Start the program if it is not running, so that its first move does not pay for it."""
        with self._lock, self._kept.ended_by_faults():
            self._started()

    @contextlib.contextmanager
    def talk(self) -> Iterator[Program]:
        """Give direct access to the running program; a fault ends it."""
        with self._lock, self._kept.ended_by_faults():
            yield self._started()

    def close(self) -> None:
        """End the program if it is running; the next question starts it again."""
        with self._lock:
            self._kept.end()

    def _started(self) -> Program:
        """Return the running program, or start one and exchange greetings with it."""
        if (running := self._kept.program) is not None:
            return running
        self._kept.end()
        self._game = None
        deadline = time.monotonic() + self.start_seconds
        program = Program(self.cmd, self.memory_mb, self.cpu_seconds, self.env)
        self._kept.keep(program)
        program.greeting = self._greet(program, "c4i", "c4iok", deadline)
        offered = [name for line in program.greeting if (name := c4i.read_option(line)) is not None]
        for name, value in self._settings():
            if name not in offered:
                raise Forfeit(
                    Cause.CRASH,
                    f"offers no option {name!r}; it offers {', '.join(offered)[:200] or 'none'}",
                )
            program.send(c4i.write_setoption(name, value))
        self._greet(program, "isready", "readyok", deadline)
        return program

    def _greet(self, program: Program, question: str, answer: str, deadline: float) -> list[str]:
        """Send a question of the greeting; return the lines before its answer."""
        program.send(question)
        lines = program.read_until(answer, deadline)
        if lines is None:
            raise Forfeit(
                Cause.TIMEOUT, f"did not start within {self.start_seconds:g} s (no {answer})"
            )
        return lines

    def _settings(self) -> list[tuple[str, str]]:
        """Return the names and values in `options`; raise UserError if it is malformed."""
        settings = []
        for setting in filter(None, (part.strip() for part in self.options.split(";"))):
            name, equals, value = (part.strip() for part in setting.partition("="))
            if not (name and equals and setting.isprintable()):
                raise UserError(
                    f"cannot read {setting!r} in option options of agent 'engine'; "
                    "write it like Threads=2;Style=wild"
                )
            settings.append((name, value))
        return settings

    def _make_ready(
        self, program: Program, position: Position, seed: int, rng: "np.random.Generator"
    ) -> None:
        """Announce a new game if one begins, and wait until the program is idle."""
        program.reset_counters()
        if not self._continues_game(position, rng):
            program.send(c4i.write_newgame(position.rules, seed))
        # Output that is still on its way, above all a second answer, arrives before the pong and
        # is discarded.
        if program.ping(self.start_seconds) is None:
            raise Forfeit(Cause.TIMEOUT, f"did not answer ping within {self.start_seconds:g} s")

    def _continues_game(self, position: Position, rng: "np.random.Generator") -> bool:
        """Return whether `position` is one move after our last one, with the same generator."""
        if self._game is None or self._game[0] is not rng:
            return False
        # The same generator alone is not enough: a caller may share one among many games.
        previous = self._game[1]
        return any(previous.play(column) == position for column in previous.legal_columns())

    def _think(self, program: Program, position: Position, limit: Limit) -> Decision:
        """Send the question and wait for the answer.

        At the deadline `stop` is sent. An answer within the grace after that counts; a later one is
        waited for only to say how late it is.
        """
        # A limit that is nothing but a stop flag means: think until it is set.
        endless = limit.stop is not None and limit == Limit(stop=limit.stop)
        program.send(c4i.write_position(position), c4i.Go(limit, endless, self.multipv).write())
        began = time.monotonic()
        deadline = began + (self.move_seconds if limit.seconds is None else limit.seconds)
        poll_seconds = POLL_SECONDS if limit.stop is None else STOP_POLL_SECONDS
        report = _Report()
        stopped = False
        while True:
            now = time.monotonic()
            # From the stop flag on, the deadline is the moment it was noticed; the grace follows.
            if not stopped and limit.stop is not None and limit.stop.is_set():
                deadline = min(deadline, now)
            if not stopped and now >= deadline:
                program.send("stop")
                stopped = True
            last = deadline + self.grace + self.overtime
            if now >= last:
                program.kill()  # it has been asked to stop, and does not
                raise Forfeit(
                    Cause.TIMEOUT, f"had not answered {now - deadline:.2f} s after its time"
                )
            line = program.read_line(min(now + poll_seconds, last if stopped else deadline))
            match c4i.words_of(line) if line else []:
                case ["info", *words]:
                    report.add(c4i.Info.read(words))
                case ["bestmove", *words]:
                    # Measured here, since reading the line may have taken POLL_SECONDS.
                    late = time.monotonic() - deadline
                    if late > self.grace:
                        raise Forfeit(
                            Cause.TIMEOUT,
                            f"answered {late:.2f} s late ({self.grace:g} s are allowed)",
                        )
                    column = _read_column(words, position)
                    return report.decision(column, position, time.monotonic() - began)


def _read_column(words: Sequence[str], position: Position) -> int:
    """Return the column of `bestmove`, from 0; raise Forfeit if it cannot be played."""
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
class _Report:
    """What the `info` lines reported, later lines overriding earlier ones.

    A program's claim to have proved something is treated as an estimate, never as a proof.
    """

    value: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """Nodes, simulations and depth, as far as the engine reports them."""
    line: tuple[int, ...] = ()
    columns: dict[int, float | None] = field(default_factory=dict)
    """Values of the columns reported with a `multipv` number."""

    def add(self, info: c4i.Info) -> None:
        """Add one line; only that of the best column describes the position as a whole."""
        if info.multipv is not None and info.line:
            self.columns[info.line[0]] = info.value
        if info.multipv in (None, 1):
            self.value = self.value if info.value is None else info.value
            self.line = info.line or self.line
            counts = {"nodes": info.nodes, "simulations": info.simulations, "depth": info.depth}
            self.counts |= {name: count for name, count in counts.items() if count is not None}

    def decision(self, column: int, position: Position, seconds: float) -> Decision:
        """Return the decision for a column; a line that cannot be played is left out."""
        starts_with_column = self.line[:1] == (column,)
        line = self.line if starts_with_column and _can_be_played(self.line, position) else ()
        columns = tuple(
            ColumnAnalysis(legal, value=self.columns.get(legal), estimate=self.columns.get(legal))
            for legal in (position.legal_columns() if self.columns else ())
        )
        analysis = Analysis(columns, seconds=seconds, **self.counts)  # type: ignore[arg-type]
        return Decision(column, value=self.value, analysis=analysis, line=line)


def _can_be_played(columns: Sequence[int], position: Position) -> bool:
    for column in columns:
        if column not in position.legal_columns():
            return False
        position = position.play(column)
    return True
