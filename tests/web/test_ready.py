"""A server's first minute: ready agents reply at once while the others are being compiled."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from httpx import Client

from fourlab.compiled import _cache, warmup
from fourlab.compiled.background import Background
from fourlab.web.readiness import NICENESS, Readiness, compile_in_background
from fourlab.web.settings import Caps, Settings
from tests.processes import children, runs, wait_until
from tests.web.conftest import Held, serving

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")


@contextmanager
def cold_server(cache: Path, *groups: str) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    """Run a server in its own process with its own kernel cache; yield it and a client."""
    command = [sys.executable, "-m", "tests.web.cold_server", *groups]
    environment = {**os.environ, "FOURLAB_CACHE_DIR": str(cache)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        try:
            with Client(
                base_url=server.stdout.readline().strip(), timeout=None, trust_env=False
            ) as client:
                yield server, client
        finally:
            server.kill()


def compilers(server: int) -> list[int]:
    """Return the processes of a server that compile; another one starts its workers."""
    running = []
    for process in children(server):
        with suppress(OSError):  # it has ended meanwhile
            if b"background" in Path("/proc", str(process), "cmdline").read_bytes():
                running.append(process)
    return running


def move(client: Client, agent: str) -> Any:
    answer = client.post("/api/v1/move", json={"agent": agent})
    assert answer.status_code == 200, answer.text
    return answer.json()


def readiness_of(client: Client, agent: str) -> Any:
    answer = client.get("/api/v1/ready").json()
    entries = (*answer["levels"], *answer["agents"])
    return next(entry for entry in entries if entry["agent"] == agent)


@on_linux
def test_the_first_start_compiles_in_a_child_and_the_second_loads_the_cache(tmp_path: Path) -> None:
    with cold_server(tmp_path, "pattern search") as (server, client):
        wait_until(lambda: compilers(server.pid))
        (child,) = compilers(server.pid)
        os.kill(child, signal.SIGSTOP)  # keep it from finishing too soon
        assert move(client, "rules")["column"] in range(1, 8)
        first = readiness_of(client, "level:5")
        assert not first["ready"]
        assert (first["name"], first["seconds"] > 0) == ("Club", True)
        assert readiness_of(client, "rules") == {
            "agent": "rules",
            "name": "rules",
            "ready": True,
            "seconds": 0,
        }
        os.kill(child, signal.SIGCONT)
        lower = min(os.getpriority(os.PRIO_PROCESS, server.pid) + NICENESS, 19)
        wait_until(lambda: not runs(child) or os.getpriority(os.PRIO_PROCESS, child) == lower)
        best = move(client, "level:8")["column"]  # the request waits for the kernels
        assert best in range(1, 8)
        assert readiness_of(client, "level:5")["ready"]
        assert client.get("/api/v1/ready").json()["ready"]
        wait_until(lambda: not compilers(server.pid))
    with cold_server(tmp_path, "pattern search") as (server, client):
        # The request waits until they are loaded.
        assert move(client, "level:8")["column"] == best
        answer = client.get("/api/v1/ready").json()
        assert answer["ready"]
        assert answer["groups"] == [{"name": "pattern search", "state": "ready", "seconds": 0}]
        assert compilers(server.pid) == []


@on_linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_server_leaves_no_child(tmp_path: Path, number: int) -> None:
    with (
        cold_server(tmp_path, "tree search", "network search", "solver") as (server, client),
        ThreadPoolExecutor() as pool,
    ):
        answer = pool.submit(client.post, "/api/v1/move", json={"agent": "perfect"})
        wait_until(lambda: len(compilers(server.pid)) == 2)
        (nursery,) = set(children(server.pid)) - set(compilers(server.pid))
        wait_until(lambda: children(nursery))
        started = [*children(server.pid), *children(nursery)]
        wait_until(lambda: client.get("/api/v1/ready").json()["groups"])
        assert len(compilers(server.pid)) == 2, "at most two at a time"
        server.send_signal(number)
        server.wait()
        wait_until(lambda: not any(map(runs, started)))
        if number == signal.SIGINT:
            assert answer.result().status_code == 503
        else:
            assert answer.exception() is not None


GROUPS = {"minimax": 50.0, "negamax": 10.0, "tree search": 10.0, "solver": 10.0}


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def slow(held: Held) -> Iterator[Client]:
    """A server with one search slot whose groups become ready when the test says so."""
    caps = Caps(searches=1, waiting=20, patience=60, streams=1)
    readiness = Readiness(lambda load: Background(GROUPS, [held], GROUPS, load=load))
    with serving(Settings(caps=caps), readiness) as client:
        yield client


def test_requests_waiting_for_a_compilation_take_no_search_slot(slow: Client, held: Held) -> None:
    requests = {
        "/api/v1/move": {"agent": "minimax"},
        "/api/v1/kaggle?agent=minimax": {"observation": {"board": [0] * 42, "mark": 1}},
        "/api/v1/analysis": {"agent": "perfect", "moves": "32751571231557", "seconds": 1},
        "/api/v1/review": {"moves": "44", "seconds": 1},
    }
    with ThreadPoolExecutor(10) as pool:
        waiting = [pool.submit(slow.post, path, json=body) for path, body in requests.items()]
        stream = {"agent": "mcts", "simulations": 10, "moves": "44"}
        waiting.append(pool.submit(slow.get, "/api/v1/analysis/stream", params=stream))
        wait_until(lambda: slow.get("/api/v1/ready").json()["groups"][0]["state"] == "compiling")
        for agent in ("random", "rules", "textbook:simulations=10"):
            assert move(slow, agent)["column"] in range(1, 8)
        assert not any(future.done() for future in waiting)
        held.close()
        assert [future.result().status_code for future in waiting] == [200] * len(waiting)


def test_an_agent_can_be_compiled_before_the_others(slow: Client) -> None:
    groups = slow.get("/api/v1/ready").json()["groups"]
    before = {group["name"]: group["seconds"] for group in groups}
    assert before["negamax"] < before["tree search"] < before["solver"]
    answer = slow.post("/api/v1/ready", json={"agent": "level:10"}).json()
    after = {group["name"]: group["seconds"] for group in answer["groups"]}
    assert after["solver"] < after["negamax"] < after["tree search"]
    level = next(level for level in answer["levels"] if level["agent"] == "level:10")
    assert level["seconds"] == after["solver"]
    assert slow.post("/api/v1/ready", json={"agent": "nobody"}).status_code == 400


def test_a_level_is_as_ready_as_the_agent_that_plays_it_on_the_board(slow: Client) -> None:
    def ready(**query: str) -> Any:
        return slow.get("/api/v1/ready", params=query).json()["levels"][6]["ready"]

    assert ready(), "this server compiles no pattern search"
    assert not ready(board="5x4x3"), "mcts plays Expert there"
    assert slow.get("/api/v1/ready", params={"board": "5"}).status_code == 400


def test_an_invalid_request_does_not_wait(slow: Client) -> None:
    for body in (
        {"agent": "minimax", "moves": "9"},
        {"agent": "minimax:depth=99"},
        {"agent": "nobody"},
    ):
        assert slow.post("/api/v1/move", json=body).status_code == 400
    assert slow.get("/api/v1/analysis/stream", params={"agent": "nobody"}).status_code == 400


def test_without_a_cache_folder_the_workers_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_cache, warmup):
        monkeypatch.setattr(module, "CACHE_FOLDER", None)
    readiness = Readiness(lambda load: compile_in_background(load, ["minimax"]))
    with serving(Settings(), readiness) as client:
        assert move(client, "minimax:depth=6")["column"] == 4
        assert client.get("/api/v1/ready").json()["groups"] == [
            {"name": "minimax", "state": "ready", "seconds": 0}
        ]
