"""The limits of a server."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# The longest valid request has about 2 kB.
MOST_BODY_BYTES = 64 * 1024
CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Caps:
    """The limits of one request; a request for more gets this much."""

    move_seconds: float = 10.0
    analysis_seconds: float = 60.0
    review_seconds: float = 60.0
    simulations: int = 20_000_000
    tree_nodes: int = 1000
    """Nodes of a search tree in an answer."""
    megabytes: int = 32
    """Memory for one search: tree or table."""
    searches: int = 2 * CORES
    """Concurrent searches for moves; more than cores, because time limits are wall-clock time."""
    waiting: int = 128
    """Requests that may wait for a place; further ones are refused."""
    patience: float = 1.5
    """Seconds: a request that is expected to wait longer is refused; none waits twice as long."""
    streams: int = max(2, CORES)
    """Concurrent analyses and reviews."""
    # Analyses are long, so that only a few can expect a place within their patience.
    streams_waiting: int = 4
    streams_patience: float = 5.0


PRIVATE = Caps()
PUBLIC = Caps(
    move_seconds=3.0,
    analysis_seconds=5.0,
    review_seconds=10.0,
    simulations=1_000_000,
    tree_nodes=500,
    megabytes=16,
)
"""For servers on the internet."""


@dataclass(frozen=True)
class Settings:
    """The settings of a server."""

    home: Path = Path("runs")
    """The folder of runs."""
    public: bool = False
    hosts: frozenset[str] = field(
        default_factory=lambda: frozenset({"127.0.0.1", "localhost", "[::1]"})
    )
    """The host names that requests may use, without port; if empty, any name."""
    caps: Caps = PRIVATE
    on_compiling: Callable[[float], None] = lambda seconds: None
    """Called once with the estimated seconds if agents have to wait for a compilation."""
