"""The limits of a server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fourlab.processors import usable_processors

CORES = usable_processors()

# --- requests and connections -------------------------------------------------------------------

MOST_BODY_BYTES = 64 * 1024
"""Bytes of a request's body; the longest valid one has about 2 kB."""
MOST_LINE_BYTES = 8 * 1024
"""Bytes of a request's path and query."""
MOST_HEADER_BYTES = 16 * 1024
"""Bytes of a request's first line and headers."""
MOST_HEADERS = 64
"""Number of a request's headers."""
MOST_REQUEST_BYTES = MOST_HEADER_BYTES + 8 * MOST_BODY_BYTES
"""Bytes of a whole request as sent: a body in chunks of one byte is six times as long."""
MOST_PIPELINED = 8
"""Requests that a connection may send before the answer to the first."""
HEAD_SECONDS = 10.0
"""Time to send a request's first line and headers, from the connection or its first byte on."""
BODY_SECONDS = 20.0
"""Time to send a request's body."""
IDLE_SECONDS = 15
"""Time that a connection may stay open without a request."""
READING_SECONDS = 20.0
"""Time that a client may leave an answer unread before the connection is cut."""
CLOSING_SECONDS = 5.0
"""Time that a closing connection gets to take what was written to it."""
PACED_REQUESTS_PER_SECOND = 100.0
"""Requests per second of one address that are answered at once while others ask, too."""
BURST_REQUESTS = 200.0
"""Requests that an address may send at once beyond that, to load a page for example."""
PEAK_REQUESTS_PER_SECOND = 250.0
"""Rate at which such a burst is worked on while others ask, too: their requests come in between."""
TOGETHER_REQUESTS = 8
"""Requests of a burst that need no gaps: a browser opens six connections."""
SHARED_SECONDS = 2.0
"""Time after its last request for which an address counts as present."""
MOST_PACED_ADDRESSES = 10_000
"""Addresses whose requests are counted; the one that has asked least recently is forgotten."""
MOST_CONNECTIONS = 2000
"""Open connections, less where the system allows fewer open files."""
MOST_CONNECTIONS_OF_ADDRESS = 250
"""Open connections of one address: 30 browsers behind one address open at most 180."""
MOST_REFUSED = 50
"""Connections beyond these limits that wait for their first request, to be answered with 503."""

# --- searches -----------------------------------------------------------------------------------

USUAL_SECONDS = 1.0
"""Time limit of an unlimited search if the request has none."""
SECONDS_BETWEEN_EVENTS = 0.1
"""Shortest time between two events of a stream: ten per second look continuous."""
GRACE_SECONDS = 10.0
"""Time after its time limit at which a search is killed; half of it later it is asked to stop."""
STOP_SECONDS = 2.0
"""Time that a search gets to end after its client has gone, before it is killed."""
DRAWING_SECONDS = 30.0
"""Additional time to load the drawing library and draw the page of a review."""
READ_SECONDS = 20.0
"""Time to read a run folder."""
LOAD_SECONDS = 120.0
"""Time to load a group of kernels, and to compile it if there is no cache."""
START_SECONDS = 20.0
"""Time for a worker to start, without what it loads; then it is killed and another one started."""
START_ATTEMPTS = 2
"""Workers that are started for one request before it is refused."""
WORKER_MEGABYTES = 512
"""Memory that a worker may take in addition to what it has at its start."""
WORKER_SEARCHES = 1000
"""Searches after which a worker is replaced, so that no leak grows."""
WORKER_NICENESS = 3
"""Workers have a lower priority than the event loop, which answers meanwhile."""
SPARE_WORKERS = 4
"""Workers that are started in advance; others start with the first search that needs them."""
MOST_ANSWER_BYTES = 32 * 1024 * 1024
"""Bytes of an answer of a worker."""
MOST_EVENTS = 8
"""Events of a stream kept for a client that reads slowly; older ones are dropped."""
HALF_LIFE_SECONDS = 10.0
"""Time after which the search time that an address has used counts half."""

# --- agents of the owner --------------------------------------------------------------------------

MOST_OWN = 50
"""Agents of the server's owner."""
MOST_UPLOAD_BYTES = 16 * 1000 * 1000
"""Bytes of a file that is dropped on the page, in pieces of at most MOST_BODY_BYTES."""


@dataclass(frozen=True)
class OwnAgent:
    """An agent of the server's owner."""

    spec: str
    about: str = ""
    xray: bool = False
    """Whether its search can be watched (`fourlab.agent.Searcher`)."""


# --- runs ---------------------------------------------------------------------------------------

MOST_FIGURE_BYTES = 16 * 1024 * 1024
"""Bytes of a figure of a run."""
LIST_SECONDS = 1.0
"""Age up to which a list of runs is sent again as it is."""


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
    searches: int = 2 * CORES + 1
    """Concurrent searches for moves; more than cores, because time limits are wall-clock time."""
    waiting: int = 128
    """Requests that may wait for a place; further ones are refused."""
    patience: float = 1.5
    """Seconds: a request that is expected to wait longer is refused; none waits twice as long."""
    streams: int = max(2, CORES) + 1
    """Concurrent analyses and reviews."""
    # Analyses are long, so that only a few can expect a place within their patience.
    streams_waiting: int = 4
    streams_patience: float = 5.0
    reads: int = 2
    """Concurrent readers of run folders."""
    reads_waiting: int = 32
    reads_patience: float = 5.0
    reserved: int = 1
    """Places, of each of the three kinds, that only an address gets which has none at the time."""


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
    token: str | None = None
    """The secret that every request needs; None: no request needs one."""
    proxies: frozenset[str] = frozenset()
    """Addresses of proxies whose X-Forwarded-For header names the client."""
    allow_programs: bool = False
    """Whether files may be dropped on the page; only on the owner's machine and with a token."""
    own: tuple[OwnAgent, ...] = ()
    """Agents that the owner has named."""
    on_compiling: Callable[[float], None] = lambda seconds: None
    """Called once with the estimated seconds if agents have to wait for a compilation."""
