"""Kaggle submissions, and the agents of Kaggle's environment, as Fourlab agents.

A submission is somebody else's code: it is loaded and asked in a process of its own (`host.py`),
with bounds on time, memory and output. Kaggle's own agents run in this process.
"""

import contextlib
import importlib
import io
import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.agent import UNLIMITED, Decision, Forfeit, Limit, Stop
from fourlab.agents.generators import generator
from fourlab.bridges.kaggle.submission import BANK, USUAL, Struct, Submission, call, cells_of
from fourlab.engines.process import CPU_SECONDS, STOP_POLL_SECONDS, KeptProgram, Program
from fourlab.errors import UserError
from fourlab.files import read_bounded
from fourlab.game.position import Position
from fourlab.game.record import Cause
from fourlab.options import check, option

INSTALL = "pip install jsonschema requests && pip install --no-deps kaggle-environments==1.33.2"
"""All that ConnectX needs, in the tested version; all declared requirements take gigabytes."""


HOST = "import sys; sys.path.append(sys.argv[1]); from {} import main; main(sys.argv[2])"
SOURCES = Path(__file__).parents[3]
"""The folder of the package `fourlab`, which the host must find."""


@dataclass(frozen=True)
class Kaggle:
    """Plays a submission (kaggle:file=main.py) or an agent of Kaggle's (kaggle:agent=negamax)."""

    agent: str = option(
        "negamax",
        "Agent that comes with kaggle-environments (negamax or random), or a submission's path.",
    )
    file: str | None = option(
        None,
        "Path of a submission; needs no package of Kaggle's. The file runs with your rights.",
    )
    start_seconds: float = option(
        60, "Time limit for loading a submission.", above=0, most=86_400, unit="s"
    )
    grace: float = option(
        0.5,
        "Time by which an answer may be late before the game is forfeited.",
        least=0,
        most=86_400,
        unit="s",
    )
    memory_mb: float = option(
        4096,
        "Memory that a submission may use (Linux only).",
        above=0,
        most=1_000_000,
        unit="MB",
        aliases=("megabytes",),
    )
    _player: "_Host | _BuiltIn" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        path = self.agent if self.file is None and _is_path(self.agent) else self.file
        player: _Host | _BuiltIn
        if path is None:
            player = _BuiltIn(_builtin(self.agent))
        else:
            player = _Host(path, self.start_seconds, self.memory_mb)
        # The agent is frozen, like every other; the loaded code is not one of its options.
        object.__setattr__(self, "_player", player)

    def decide(
        self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None
    ) -> Decision:
        """Ask for a column.

        A limit of seconds allows no overtime; without one, Kaggle's limits hold. If the stop flag
        is set before there is an answer, the submission is ended, and the column is a random one.
        """
        rng = generator(rng)
        seconds = limit.seconds or USUAL["actTimeout"]
        bank = BANK if limit.seconds is None else 0
        rules = position.rules
        observation = (cells_of(position), 1 + position.to_move, position.ply, bank)
        board = {"columns": rules.columns, "rows": rules.rows, "inarow": rules.in_a_row}
        question = _Question(
            observation,
            {**board, "actTimeout": seconds},
            seed=int(rng.integers(2**32)),
            seconds=seconds + (bank or self.grace),
            stop=limit.stop,
        )
        try:
            answer = self._player.ask(question)
        except _StoppedError:
            return Decision(int(rng.choice(position.legal_columns())))
        if answer not in position.legal_columns():
            raise Forfeit(Cause.ILLEGAL, f"answered column {answer + 1}, which is not open")
        return Decision(answer)

    def start(self) -> None:
        """Start the submission's process if it has ended, so that no move pays for it."""
        self._player.start()

    def close(self) -> None:
        """End the submission's process; the next question starts it again."""
        self._player.close()


@dataclass(frozen=True)
class _Question:
    """What an agent is asked, and how long its answer is waited for."""

    observation: tuple[list[int], int, int, float]
    """Cells, mark, step and overage time: arguments of `submission.call`."""
    configuration: dict[str, Any]
    seed: int
    seconds: float
    stop: Stop | None

    def is_stopped(self) -> bool:
        """Return whether the stop flag is set."""
        return self.stop is not None and self.stop.is_set()

    def too_late(self) -> Forfeit:
        """Return the forfeit of an agent that has not answered."""
        return Forfeit(Cause.TIMEOUT, f"had not answered after {self.seconds:g} s")


class _StoppedError(Exception):
    """The stop flag was set before there was an answer."""


class _Watched(Struct):
    """A configuration that looks at the clock and the stop flag whenever `inarow` is read.

    Kaggle's negamax reads that for every column of every position that it searches.
    """

    def __init__(self, look: Callable[[], None], **values: Any) -> None:
        super().__init__(**values)
        self.__dict__["_look"] = look

    @property
    def inarow(self) -> Any:
        """The length of a line."""
        self.__dict__["_look"]()
        return self["inarow"]


class _BuiltIn:
    """An agent of Kaggle's package, in this process."""

    def __init__(self, agent: Submission) -> None:
        self._agent = agent

    def ask(self, question: _Question) -> int:
        """Return the column that the agent answers, from 0."""
        deadline = time.perf_counter() + question.seconds

        def look() -> None:
            if question.is_stopped():
                raise _StoppedError
            if time.perf_counter() >= deadline:
                raise question.too_late()

        look()
        configuration = _Watched(look, **{**USUAL, **question.configuration})
        # What an agent prints must not get into our own output, which may be a protocol.
        with _seeded(question.seed), contextlib.redirect_stdout(io.StringIO()):
            try:
                answer = call(self._agent, *question.observation, configuration)
            except (_StoppedError, Forfeit):
                raise
            except (Exception, SystemExit) as error:
                raise Forfeit(Cause.CRASH, f"raised {type(error).__name__}: {error}") from None
        # In Python, True is an int and would pass as a column.
        if isinstance(answer, bool) or not isinstance(answer, int | np.integer):
            raise Forfeit(Cause.ILLEGAL, f"answered {answer!r}, which is not a column")
        return int(answer)

    def start(self) -> None:
        """Do nothing: there is no process."""

    def close(self) -> None:
        """Do nothing: there is no process."""


MOST_BYTES = 100 * 1024 * 1024
"""The largest submission that Kaggle accepts."""


class _Host:
    """A submission in a process of its own, which keeps the file's state between moves."""

    def __init__(self, path: str, start_seconds: float, megabytes: float) -> None:
        try:
            # Refuses pipes and devices, for which the process would wait or run out of memory.
            read_bounded(Path(path), MOST_BYTES).decode()
        except (OSError, UnicodeDecodeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"cannot read {path}: {reason}") from None
        self._path = path
        self._start_seconds = start_seconds
        self._megabytes = megabytes
        self._kept = KeptProgram()
        try:
            self._started()  # a file that cannot be loaded is refused before any game
        except Forfeit as fault:
            raise UserError(f"{path} is not a submission: {fault}") from None

    def ask(self, question: _Question) -> int:
        """Return the column that the submission answers, from 0; a fault ends its process."""
        words = {
            "observation": question.observation,
            "configuration": question.configuration,
            "seed": question.seed,
        }
        with self._kept.ended_by_faults():
            program = self._started(question.is_stopped)
            program.reset_counters()
            program.send(json.dumps(words))
            answer = self._read(program, question.seconds, question.too_late(), question.is_stopped)
            if "error" in answer:
                raise Forfeit(Cause.CRASH, f"raised {answer['error']}")
            column = answer.get("column")
            if not isinstance(column, int):
                raise Forfeit(
                    Cause.ILLEGAL, f"answered {answer.get('answer')}, which is not a column"
                )
            return column

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
        code = HOST.format("fourlab.bridges.kaggle.host")
        # -P keeps modules in the current folder from being imported instead of Python's own.
        command = [sys.executable, "-P", "-c", code, str(SOURCES), self._path]
        program = self._kept.keep(Program(command, self._megabytes, CPU_SECONDS))
        with self._kept.ended_by_faults():
            seconds = self._start_seconds
            too_late = Forfeit(Cause.TIMEOUT, f"it was not loaded within {seconds:g} s")
            answer = self._read(program, seconds, too_late, is_stopped)
            if "error" in answer:
                raise Forfeit(Cause.CRASH, answer["error"])
        return program

    def _read(
        self,
        program: Program,
        seconds: float,
        too_late: Forfeit,
        is_stopped: Callable[[], bool] = lambda: False,
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
                    raise _StoppedError
                raise too_late
        try:
            answer = json.loads(line)
            if isinstance(answer, dict):
                return answer
        except (ValueError, RecursionError):
            pass
        raise Forfeit(Cause.CRASH, f"wrote {line[:40]!r} in place of an answer")


def _is_path(text: str) -> bool:
    return text.endswith(".py") or "/" in text or "\\" in text


def _builtin(name: str) -> Submission:
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
        ):  # the package prints every game that it cannot load
            warnings.simplefilter("ignore")
            agents = importlib.import_module("kaggle_environments.envs.connectx.connectx").agents
    except ImportError as error:
        raise UserError(
            f"kaggle:agent={name} needs Kaggle's package ({error}): {INSTALL}"
        ) from None
    if name not in agents:
        raise UserError(
            f"Kaggle has no agent {name!r}; it has {', '.join(agents)},"
            " and a submission is kaggle:file=main.py"
        )
    return agents[name]  # type: ignore[no-any-return]


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed Python's and NumPy's global generators, and restore their states afterwards."""
    # Submissions have no generator of their own; with these, a seeded game can be repeated.
    python_state = random.getstate()
    numpy_state = np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)
