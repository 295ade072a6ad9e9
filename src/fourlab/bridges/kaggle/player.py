"""Kaggle submissions, and the agents of Kaggle's environment, as Fourlab agents."""

import contextlib
import importlib
import io
import random
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fourlab.agent import UNLIMITED, Decision, Forfeit, Limit
from fourlab.agents.generators import generator
from fourlab.bridges.kaggle.submission import BANK, USUAL, Submission, ask_about, load
from fourlab.errors import UserError
from fourlab.game.position import Position
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
    _submission: Submission = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        path = self.agent if self.file is None and _is_path(self.agent) else self.file
        submission = _builtin(self.agent) if path is None else _read_submission(path)
        # The agent is frozen, like every other; the loaded code is not one of its options.
        object.__setattr__(self, "_submission", submission)

    def decide(
        self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None
    ) -> Decision:
        """Ask for a column.

        A limit of seconds allows no overtime; without one, Kaggle's limits hold.
        """
        rng = generator(rng)
        seconds = limit.seconds or USUAL["actTimeout"]
        bank = BANK if limit.seconds is None else 0
        # What a submission prints must not get into our own output, which may be a protocol.
        with _seeded(int(rng.integers(2**32))), contextlib.redirect_stdout(io.StringIO()):
            try:
                answer = ask_about(self._submission, position, bank, actTimeout=seconds)
            except (Exception, SystemExit) as error:
                raise Forfeit(Cause.CRASH, f"raised {type(error).__name__}: {error}") from None
        # In Python, True is an int and would pass as a column.
        if isinstance(answer, bool) or not isinstance(answer, int | np.integer):
            raise Forfeit(Cause.ILLEGAL, f"answered {answer!r}, which is not a column")
        if int(answer) not in position.legal_columns():
            raise Forfeit(Cause.ILLEGAL, f"answered column {int(answer) + 1}, which is not open")
        return Decision(int(answer))


def _is_path(text: str) -> bool:
    return text.endswith(".py") or "/" in text or "\\" in text


def _read_submission(path: str) -> Submission:
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return load(source)
    except (Exception, SystemExit) as error:  # it is somebody's code
        raise UserError(f"{path} is not a submission: {type(error).__name__}: {error}") from None


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
