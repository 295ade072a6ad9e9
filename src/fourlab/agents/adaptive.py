"""The adaptive level: after every game the next opponent is a little stronger or weaker.

One level up after a win, one down after a loss, the same after a draw. Between the easiest and the
hardest level a person then wins about as many games as they lose, whatever their strength, since
every step up must be followed by a step down: a score of about 50 %.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

from fourlab.agents.levels import LEVELS
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.outcome import Result
from fourlab.parsing import read_json

FIRST = 3
"""The level of the first game."""


def next_level(level: int, result: Result) -> int:
    """Return the level after a game with this result for the person."""
    return min(max(level + int(result), 1), len(LEVELS))


def remembered() -> int:
    """Return the level of the user's next game; FIRST if none is stored."""
    file = _file()
    with suppress(UserError):
        content = None if file is None or not file.exists() else read_json(file)
        level = content.get("level") if isinstance(content, dict) else None
        if type(level) is int and 1 <= level <= len(LEVELS):
            return level
    return FIRST


def remember(level: int) -> None:
    """Store the level of the user's next game, if there is a place for it."""
    file = _file()
    with suppress(OSError, UserError):  # without one, it is remembered until the program ends
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, (json.dumps({"level": level}) + "\n").encode())


def _file() -> Path | None:
    """Return the user's file; None if the user has no home folder."""
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError:
        return None
    return state / "fourlab" / "adaptive.json"
