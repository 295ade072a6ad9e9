"""Misbehaving agents for the arena's tests; importable by worker processes."""

import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourlab import Agent, Decision, Limit, Position
from fourlab import make as make_real
from fourlab.agent import UNLIMITED


@dataclass(frozen=True)
class Misbehaving:
    """Plays the leftmost column until the board has `after` discs, then misbehaves."""

    deed: str
    after: int = 0
    where: str = ""

    def decide(self, position: Position, limit: Limit, rng: Any) -> Decision:
        if position.ply >= self.after:
            match self.deed:
                case "crash":
                    raise RuntimeError("no idea\nwhat to do")
                case "illegal":
                    return Decision(99)
                case "nothing":
                    return None  # type: ignore[return-value]
                case "sleep":
                    time.sleep(0.3)
                case "hang":
                    time.sleep(1000)
                case "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "die-once" if not Path(self.where).exists():
                    Path(self.where).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
        return Decision(position.legal_columns()[0])


@dataclass(frozen=True)
class Diary:
    """Remembers all positions it was asked about, and plays by their number.

    In game number `deadly` of its life it kills its process.
    """

    deadly: int = 0
    pages: list[str] = field(default_factory=list)

    @property
    def remembers(self) -> bool:
        return True

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: Any = None) -> Decision:
        self.pages.append(position.write("moves"))
        if self.deadly and sum(len(page) < 2 for page in self.pages) == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        columns = position.legal_columns()
        return Decision(columns[(len(self.pages) + int(rng.integers(2))) % len(columns)])


def make(spec: str) -> Agent:
    """Make an agent of `bad/DEED/AFTER/WHERE`, of `diary` or `diary/N`, or of any real spec."""
    if spec.startswith("diary"):
        return Diary(int(spec.partition("/")[2] or 0))
    if not spec.startswith("bad"):
        return make_real(spec)
    _, deed, after, where = spec.split("/", 3)
    return Misbehaving(deed, int(after), where)


class Square:
    """Work for executors: square numbers, and fail as `deed` says."""

    def __init__(self, folder: str = "", deed: str = "") -> None:
        self.folder = folder
        self.deed = deed

    def prepare(self) -> None:
        if self.deed == "unprepared":
            os._exit(3)
        if self.deed == "endless":
            time.sleep(1000)

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__dict__ = state
        if self.deed == "stillborn":
            os._exit(3)

    def __call__(self, number: int, watch: Any) -> int:
        if self.deed == "slow":
            time.sleep(0.01)
        if number == 13 and self.deed == "die":
            watch.thinking(1, None)
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 13 and self.deed == "exit":
            os._exit(5)
        if number == 13 and self.deed == "hang":
            watch.thinking(0, -9.5)
            time.sleep(1000)
        if number % 7 == 0 and self.deed == "stumble":
            mark = Path(self.folder) / str(number)
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return number**2
