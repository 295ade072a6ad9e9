"""A real server in a thread of this process, and an HTTP client for it."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from fourlab.agents import registry
from fourlab.compiled.background import Background
from fourlab.web.pool import Pool
from fourlab.web.readiness import Readiness
from fourlab.web.serve import address_of, listen, server_of
from fourlab.web.settings import GRACE_SECONDS, Caps, Settings
from tests.web import faulty


@contextmanager
def serving(
    settings: Settings, readiness: Readiness | None = None, pool: Pool | None = None
) -> Iterator[httpx.Client]:
    """Run a server for the duration of the block and yield a client for it."""
    listening = listen("127.0.0.1", 0)
    server = server_of(settings, readiness, pool)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        with httpx.Client(base_url=address_of(listening), timeout=None, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the server looks for runs."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def client(home: Path) -> Iterator[httpx.Client]:
    with serving(Settings(home=home)) as client:
        yield client


def nothing_to_compile() -> Readiness:
    """Return the state of a server that neither compiles nor loads kernels."""
    return Readiness(lambda load: Background([], [], {}))


class Held:
    """A compile worker that finishes only when the test releases it."""

    startup_seconds = 0.0

    def __init__(self) -> None:
        self.released = threading.Event()

    def run(self, name: str) -> float:
        self.released.wait()
        return 0.0

    def close(self) -> None:
        self.released.set()


@dataclass(frozen=True)
class Marks:
    """What agents in workers have done (`tests/web/faulty.py`)."""

    folder: Path

    def count(self, word: str) -> int:
        """Return how often an agent has left a mark."""
        return len(list(self.folder.glob(f"{word}-*")))


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Marks:
    """Let this process, and workers started after this, know the agents that misbehave."""
    folder = tmp_path / "marks"
    folder.mkdir()
    monkeypatch.setenv(faulty.MARKS, str(folder))
    for name, entry in faulty.AGENTS.items():
        monkeypatch.setitem(registry.AGENTS, name, entry)
    return Marks(folder)


@contextmanager
def serving_faulty(
    caps: Caps | None = None, grace: float = GRACE_SECONDS, fork: bool | None = None
) -> Iterator[tuple[httpx.Client, Pool]]:
    """Run a server whose workers know the agents that misbehave."""
    caps = caps or Caps()
    pool = Pool(caps, ["tests.web.faulty_workers"], fork, grace, stop_seconds=grace)
    with serving(Settings(caps=caps), nothing_to_compile(), pool) as client:
        yield client, pool


def begin(client: httpx.Client, line: str, body: dict[str, Any] | None = None) -> socket.socket:
    """Send a request and return its connection without waiting for an answer."""
    content = b"" if body is None else json.dumps(body).encode()
    host, port = client.base_url.host, client.base_url.port
    head = [
        f"{line} HTTP/1.1",
        f"Host: {host}:{port}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    ]
    connection = socket.create_connection((host, port or 80))
    connection.sendall("\r\n".join([*head, "", ""]).encode() + content)
    return connection
