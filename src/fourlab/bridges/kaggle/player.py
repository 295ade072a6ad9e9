"""Submissions, and the agents that come with Kaggle's environment, as players of ours."""

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
from fourlab.bridges.kaggle.submission import BANK, USUAL, Submission, ask, load
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.record import Cause
from fourlab.options import check, option

INSTALL = "pip install jsonschema requests && pip install --no-deps kaggle-environments==1.33.2"
"""All that its ConnectX needs, in the version that is tested; with everything that it says it needs, it takes gigabytes."""


@dataclass(frozen=True)
class Kaggle:
    """Plays as Kaggle would let it: a submission, kaggle:file=main.py, or an agent of its ConnectX, kaggle:agent=negamax."""

    agent: str = option(
        "negamax",
        "Whose columns are played: negamax or random, which come with kaggle-environments, or the path of a submission.",
    )
    file: str | None = option(
        None, "The path of a submission, which needs no package of Kaggle's; it is executed with your rights."
    )
    _asked: Submission = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        path = self.file if self.file is not None else self.agent if _is_path(self.agent) else None
        object.__setattr__(self, "_asked", _builtin(self.agent) if path is None else _submission(path))

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Ask for a column. A limit of seconds is its time for the move, and then it has no bank; otherwise Kaggle's own hold."""
        rng = generator(rng)
        rules = position.rules
        seconds, bank = (USUAL["actTimeout"], BANK) if limit.seconds is None else (limit.seconds, 0)
        cells = [cell for row in position.grid() for cell in row]
        board = {"columns": rules.columns, "rows": rules.rows, "inarow": rules.in_a_row}
        with _seeded(int(rng.integers(2**32))), contextlib.redirect_stdout(io.StringIO()):
            try:
                answer = ask(self._asked, cells, 1 + position.to_move, position.ply, bank, actTimeout=seconds, **board)
            except (Exception, SystemExit) as error:
                raise Forfeit(Cause.CRASH, f"raised {type(error).__name__}: {error}") from None
        if isinstance(answer, bool) or not isinstance(answer, int | np.integer):
            raise Forfeit(Cause.ILLEGAL, f"answered {answer!r}, which is not a column")
        if int(answer) not in position.legal_columns():
            raise Forfeit(Cause.ILLEGAL, f"answered column {int(answer) + 1}, which is not open")
        return Decision(int(answer))


def _is_path(text: str) -> bool:
    return text.endswith(".py") or "/" in text or "\\" in text


def _submission(path: str) -> Submission:
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return load(source)
    except (Exception, SystemExit) as error:  # it is somebody's code
        raise UserError(f"{path} is not a submission: {type(error).__name__}: {error}") from None


def _builtin(name: str) -> Submission:
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):  # it tells of all games that it cannot load
            warnings.simplefilter("ignore")
            agents = importlib.import_module("kaggle_environments.envs.connectx.connectx").agents
    except ImportError as error:
        raise UserError(f"kaggle:agent={name} needs Kaggle's package ({error}): {INSTALL}") from None
    if name not in agents:
        raise UserError(f"Kaggle has no agent {name!r}; it has {', '.join(agents)}, and a submission is kaggle:file=main.py")
    return agents[name]  # type: ignore[no-any-return]


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Let code that draws from Python's and NumPy's common generators depend on the seed, and nobody else on that code."""
    before, numpys = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpys)
