"""Kaggle submissions, and the agents of Kaggle's environment, as Fourlab agents.

A submission is somebody else's code: it is loaded and asked in a process of its own (`host.py`),
with bounds on time, memory and output. Kaggle's own agents run in this process.
"""

import contextlib
import importlib
import io
import random
import shutil
import tarfile
import time
import warnings
import weakref
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from fourlab.agent import UNLIMITED, Decision, Forfeit, Limit
from fourlab.agents.generators import generator
from fourlab.bridges.hosted import Hosted, Patience, StoppedError, check_file
from fourlab.bridges.kaggle.submission import BANK, USUAL, Struct, Submission, call, cells_of
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, unfinished
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
        "Path of a submission, main.py or an archive with it (.tar.gz); needs no package of "
        "Kaggle's. It runs with your rights.",
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
    _overtime: "_Overtime" = field(init=False, repr=False, compare=False)

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
        object.__setattr__(self, "_overtime", _Overtime())

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Ask for a column.

        A limit of seconds allows no overtime; without one, Kaggle's limits hold, with one bank of
        overtime for positions that follow each other, as in a game. If the stop flag
        is set before there is an answer, the submission is ended, and the column is a random one.
        """
        position = unfinished(position)
        rng = generator(rng)
        seconds = limit.seconds or USUAL["actTimeout"]
        bank = self._overtime.bank(position) if limit.seconds is None else 0
        rules = position.rules
        observation = (cells_of(position), 1 + position.to_move, position.ply, bank)
        board = {"columns": rules.columns, "rows": rules.rows, "inarow": rules.in_a_row}
        question = _Question(
            observation,
            {**board, "actTimeout": seconds},
            seed=int(rng.integers(2**32)),
            patience=Patience(seconds + (bank or self.grace), limit.stop),
        )
        started = time.perf_counter()
        try:
            answer = self._player.ask(question)
        except StoppedError:
            return Decision(int(rng.choice(position.legal_columns())))
        if limit.seconds is None:
            self._overtime.spend(time.perf_counter() - started - seconds)
        if answer not in position.legal_columns():
            raise Forfeit(Cause.ILLEGAL, f"answered column {answer + 1}, which is not open")
        return Decision(answer)

    def start(self) -> None:
        """Start the submission's process if it has ended, so that no move pays for it."""
        self._player.start()

    def close(self) -> None:
        """End the submission's process; the next question starts it again."""
        self._player.close()


class _Overtime:
    """The overtime that is left in a game."""

    def __init__(self) -> None:
        self._seconds: float = BANK
        self._last = Position()

    def bank(self, position: Position) -> float:
        """Return the seconds that are left for this move: all, if it is of another game."""
        if not _follows(position, self._last):
            self._seconds = BANK
        self._last = position
        return self._seconds

    def spend(self, seconds: float) -> None:
        """Take the time by which a move was late."""
        self._seconds -= max(seconds, 0)


def _follows(position: Position, earlier: Position) -> bool:
    """Return whether the discs of an earlier position lie in this one, and others, too."""
    sides = [
        [p.own if p.to_move == side else p.own ^ p.mask for side in (0, 1)]
        for p in (earlier, position)
    ]
    has_all = all(before & now == before for before, now in zip(*sides, strict=True))
    return has_all and position.ply > earlier.ply and position.rules == earlier.rules


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
ARCHIVES = (".tar.gz", ".tgz")
MAIN = "main.py"
"""The submission in an archive; other files of it may lie in folders."""
MOST_UNPACKED_BYTES = 1 << 30
MOST_UNPACKED_FILES = 10_000


def unpack(data: bytes, folder: Path) -> None:
    """Unpack an archive into an empty folder; raise ValueError for one that is not plain files."""
    left = MOST_UNPACKED_BYTES
    files = 0
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        # Member by member, so that nothing is read beyond the limits.
        for member in archive:
            target = folder / member.name
            left -= member.size
            files += 1
            if left < 0 or files > MOST_UNPACKED_FILES:
                raise ValueError(
                    f"it has more than {MOST_UNPACKED_FILES:,} files"
                    f" or {MOST_UNPACKED_BYTES:,} bytes"
                )
            if not target.resolve().is_relative_to(folder.resolve()):
                raise ValueError(f"{member.name:.80} would lie outside its folder")
            if member.isdir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            content = archive.extractfile(member) if member.isfile() else None
            if content is None:
                raise ValueError(f"{member.name:.80} is neither a file nor a folder")
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(content, file)
    if not (folder / MAIN).is_file():
        raise ValueError(f"it has no {MAIN} at its top")


class _Host:
    """A submission in a process of its own, which keeps the file's state between moves."""

    def __init__(self, path: str, start_seconds: float, megabytes: float) -> None:
        data = check_file(path, MOST_BYTES)
        main, folder = Path(path).resolve(), Path.cwd()
        if path.endswith(ARCHIVES):
            folder = Path(mkdtemp(prefix="fourlab-kaggle-"))
            # Deleted together with this object, which may start the process again until then.
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            main = folder / MAIN
            try:
                unpack(data, folder)
                data = main.read_bytes()
            except (OSError, EOFError, ValueError, tarfile.TarError, zlib.error) as error:
                raise UserError(f"cannot unpack {path}: {error}") from None
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise UserError(f"cannot read {path}: {error}") from None
        arguments = [str(main), str(folder)]
        try:
            self._hosted = Hosted(
                "fourlab.bridges.kaggle.host", arguments, start_seconds, megabytes
            )
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
    return text.endswith((".py", *ARCHIVES)) or "/" in text or "\\" in text


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
