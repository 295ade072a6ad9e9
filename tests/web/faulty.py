"""Agents that do what no agent should do, to be searched with by worker processes."""

import ctypes
import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourlab.agent import UNLIMITED, Decision, Limit
from fourlab.agents import registry
from fourlab.agents.registry import Entry
from fourlab.game.position import Position

MARKS = "FOURLAB_TEST_MARKS"
"""The environment variable with the folder in which agents mark what they do."""


def mark(word: str) -> None:
    """Leave a file, for the test to count."""
    Path(os.environ[MARKS], f"{word}-{uuid.uuid4()}").touch()


@dataclass(frozen=True)
class Crash:
    """Reads from address 0: a segmentation fault."""

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: Any = None) -> Decision:
        ctypes.string_at(0)
        raise AssertionError


@dataclass(frozen=True)
class Exit:
    """Ends its process."""

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: Any = None) -> Decision:
        os._exit(0)


@dataclass(frozen=True)
class Spin:
    """Computes without end, deaf to its limit."""

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: Any = None) -> Decision:
        mark("begun")
        while True:
            pass


@dataclass(frozen=True)
class Hold:
    """Never releases the interpreter's lock, so that no other thread of its process runs."""

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: Any = None) -> Decision:
        mark("begun")
        ctypes.PyDLL(None).sleep(10**6)
        raise AssertionError


@dataclass(frozen=True)
class Hog:
    """Allocates without end."""

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: Any = None) -> Decision:
        hoard = []
        while True:
            hoard.append(bytearray(2**24))


@dataclass(frozen=True)
class Broken:
    """Raises an exception."""

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: Any = None) -> Decision:
        raise RuntimeError("secret detail")


@dataclass(frozen=True)
class Endless:
    """Ends only when it is stopped."""

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: Any = None) -> Decision:
        assert limit.stop is not None
        mark("begun")
        while not limit.stop.is_set():
            time.sleep(0.01)
        mark("stopped")
        return Decision(position.legal_columns()[0])


AGENTS = {
    kind.__name__.lower(): Entry(f"{__name__}:{kind.__name__}", public=True)
    for kind in (Crash, Exit, Spin, Hold, Hog, Broken, Endless)
}


def register() -> None:
    """Make the agents known in this process, a worker."""
    registry.AGENTS.update(AGENTS)
