"""Kaggle submissions, and the agents of Kaggle's environment, as Fourlab agents.

A submission is somebody else's code: it is loaded and asked in a process of its own (`host.py`),
with bounds on time, memory and output. Kaggle's own agents run in this process.
"""

import contextlib
import importlib
import io
import random
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fourlab.agent import UNLIMITED, Decision, Forfeit, Limit
from fourlab.agents.generators import generator
from fourlab.bridges.hosted import Hosted, Patience, StoppedError, check_file
from fourlab.bridges.kaggle.submission import BANK, USUAL, Struct, Submission, call, cells_of
from fourlab.errors import UserError
from fourlab.game.position import PositionLike, unfinished
from fourlab.game.record import Cause
from fourlab.options import check, option

INSTALL = "pip install jsonschema requests && pip install --no-deps kaggle-environments==1.33.2"
"""All that ConnectX needs, in the tested version; all declared requirements take gigabytes."""


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
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Ask for a column.

        A limit of seconds allows no overtime; without one, Kaggle's limits hold. If the stop flag
        is set before there is an answer, the submission is ended, and the column is a random one.
        """
        position = unfinished(position)
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
            patience=Patience(seconds + (bank or self.grace), limit.stop),
        )
        try:
            answer = self._player.ask(question)
        except StoppedError:
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
    patience: Patience


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
        patience = question.patience
        deadline = time.perf_counter() + patience.seconds

        def look() -> None:
            if patience.is_stopped():
                raise StoppedError
            if time.perf_counter() >= deadline:
                raise patience.too_late()

        look()
        configuration = _Watched(look, **{**USUAL, **question.configuration})
        # What an agent prints must not get into our own output, which may be a protocol.
        with _seeded(question.seed), contextlib.redirect_stdout(io.StringIO()):
            try:
                answer = call(self._agent, *question.observation, configuration)
            except (StoppedError, Forfeit):
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
            check_file(path, MOST_BYTES).decode()
        except UnicodeDecodeError as error:
            raise UserError(f"cannot read {path}: {error}") from None
        try:
            self._hosted = Hosted("fourlab.bridges.kaggle.host", [path], start_seconds, megabytes)
        except UserError as error:
            raise UserError(f"{path} is not a submission: {error}") from None

    def ask(self, question: _Question) -> int:
        """Return the column that the submission answers, from 0; a fault ends its process."""
        words = {
            "observation": question.observation,
            "configuration": question.configuration,
            "seed": question.seed,
        }
        answer = self._hosted.ask(words, question.patience)
        column = answer.get("column")
        if not isinstance(column, int):
            self._hosted.close()
            raise Forfeit(Cause.ILLEGAL, f"answered {answer.get('answer')}, which is not a column")
        return column

    def start(self) -> None:
        """Start the process if it is not running."""
        self._hosted.start()

    def close(self) -> None:
        """End the process if it is running."""
        self._hosted.close()


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
