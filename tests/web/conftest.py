"""A real server in a thread of this process, and an HTTP client for it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from fourlab.web.readiness import Readiness
from fourlab.web.serve import address_of, listen, server_of
from fourlab.web.settings import Settings


@contextmanager
def serving(settings: Settings, readiness: Readiness | None = None) -> Iterator[httpx.Client]:
    """Run a server for the duration of the block and yield a client for it."""
    listening = listen("127.0.0.1", 0)
    server = server_of(settings, readiness)
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
