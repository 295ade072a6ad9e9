"""Foreign files as agents: somebody else's code or network, in a bounded process of its own.

The process runs `main(ARGUMENT...)` of a module built on `host.py` and exchanges lines of JSON with
this one. Its time, memory, output and environment are bounded as those of engines.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourlab.agent import Forfeit, Stop
from fourlab.engines.process import CPU_SECONDS, STOP_POLL_SECONDS, KeptProgram, Program
from fourlab.errors import UserError
from fourlab.files import read_bounded
from fourlab.game.record import Cause

CODE = """
import sys
packages = [i for i, path in enumerate(sys.path) if path.endswith("-packages")]
sys.path.insert(min(packages, default=len(sys.path)), sys.argv[1])
from {} import main
main(*sys.argv[2:])
"""
"""Runs the process. Our folder comes before installed packages, among which may be another Fourlab,
and after Python's own modules."""
SOURCES = Path(__file__).parents[2]
"""The folder of the package `fourlab`, which the process must find."""


class StoppedError(Exception):
    """The stop flag was set before there was an answer."""


@dataclass(frozen=True)
class Patience:
    """How long an answer is waited for."""

    seconds: float
    stop: Stop | None = None

    def is_stopped(self) -> bool:
        """Return whether the stop flag is set."""
        return self.stop is not None and self.stop.is_set()

    def too_late(self) -> Forfeit:
        """Return the forfeit of an agent that has not answered."""
        return Forfeit(Cause.TIMEOUT, f"had not answered after {self.seconds:g} s")


def check_file(path: str, most_bytes: int) -> bytes:
    """Return the contents of a file; raise UserError if that is not possible.

    Pipes and devices, for which the process would wait or run out of memory, are refused.
    """
    try:
        return read_bounded(Path(path), most_bytes)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None


class Hosted:
    """A process that answers questions, and keeps its state between them."""

    def __init__(
        self, module: str, arguments: Sequence[str], start_seconds: float, megabytes: float
    ) -> None:
        """Start the process, which loads its file; raises UserError if that fails.

        `module` has the process's `main`, which is called with `arguments`.
        """
        # -P keeps modules in the current folder from being imported instead of Python's own.
        self._command = [sys.executable, "-P", "-c", CODE.format(module), str(SOURCES), *arguments]
        self._start_seconds = start_seconds
        self._megabytes = megabytes
        self._kept = KeptProgram()
        self.facts: dict[str, Any] = {}
        """What the process has said about its file."""
        try:
            self._started()  # a file that cannot be loaded is refused before any game
        except Forfeit as fault:
            raise UserError(str(fault)) from None

    def ask(self, question: dict[str, Any], patience: Patience) -> dict[str, Any]:
        """Return the answer to a question; a fault ends the process.

        Raises StoppedError if the stop flag is set before there is an answer.
        """
        with self._kept.ended_by_faults():
            program = self._started(patience.is_stopped)
            program.reset_counters()
            program.send(json.dumps(question))
            too_late = patience.too_late()
            answer = self._read(program, patience.seconds, too_late, patience.is_stopped)
            if "error" in answer:
                raise Forfeit(Cause.CRASH, f"raised {answer['error']}")
            return answer

    def start(self) -> None:
        """Start the process if it is not running."""
        self._started()

    def close(self) -> None:
        """End the process if it is running."""
        self._kept.end()

    def _started(self, is_stopped: Callable[[], bool] = lambda: False) -> Program:
        """Return the running process, or start one and let it load the file."""
        if (running := self._kept.program) is not None:
            return running
        self._kept.end()
        program = self._kept.keep(Program(self._command, self._megabytes, CPU_SECONDS))
        with self._kept.ended_by_faults():
            seconds = self._start_seconds
            too_late = Forfeit(Cause.TIMEOUT, f"it was not loaded within {seconds:g} s")
            answer = self._read(program, seconds, too_late, is_stopped)
            if "error" in answer:
                raise Forfeit(Cause.CRASH, answer["error"])
        self.facts = answer
        return program

    def _read(
        self, program: Program, seconds: float, too_late: Forfeit, is_stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        """Return the next answer; raise `too_late` if there is none, and end the process."""
        deadline = time.monotonic() + seconds
        line = None
        while line is None:
            now = time.monotonic()
            line = program.read_line(min(deadline, now + STOP_POLL_SECONDS))
            if line is None and (is_stopped() or now >= deadline):
                program.kill()  # it computes, and would not read `quit`
                if is_stopped():
                    raise StoppedError
                raise too_late
        try:
            answer = json.loads(line)
            if isinstance(answer, dict):
                return answer
        except (ValueError, RecursionError):
            pass
        raise Forfeit(Cause.CRASH, f"wrote {line[:40]!r} in place of an answer")
