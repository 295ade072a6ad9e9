"""What one server allows; nobody can ask for more."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

MOST_BODY_BYTES = 64 * 1024
CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Caps:
    """The most that one request gets. Requests that ask for more get this much."""

    move_seconds: float = 10.0
    analysis_seconds: float = 60.0
    review_seconds: float = 60.0
    simulations: int = 20_000_000
    tree_nodes: int = 1000
    """Nodes of a search tree that are shown."""
    megabytes: int = 32
    """Memory for one search: tree or table."""
    searches: int = 2 * CORES
    """Moves that are thought about at the same time; more than cores, because a move's time runs on the wall's clock."""
    waiting: int = 128
    """Requests that may wait for one of those places; further ones are refused."""
    patience: float = 1.5
    """Who would wait longer than so many seconds, by how long searches took of late, is refused; nobody waits twice as long."""
    streams: int = max(2, CORES)
    """Long analyses and reviews at the same time."""
    streams_waiting: int = 4
    streams_patience: float = 5.0


PRIVATE = Caps()
PUBLIC = Caps(move_seconds=3.0, analysis_seconds=5.0, review_seconds=10.0, simulations=1_000_000, tree_nodes=500, megabytes=16)
"""For strangers."""


@dataclass(frozen=True)
class Settings:
    """How the page is served."""

    home: Path = Path("runs")
    """Where runs are looked for."""
    public: bool = False
    hosts: frozenset[str] = field(default_factory=lambda: frozenset({"127.0.0.1", "localhost", "[::1]"}))
    """The names under which the page may be asked for, without port; none: any name."""
    caps: Caps = PRIVATE
    on_compiling: Callable[[float], None] = lambda seconds: None
    """Called once with the estimated seconds if agents have to wait for a compilation."""
