"""Workers: the server survives every search, and no worker survives the server."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from httpx import Client

from fourlab.web.pool import Pool
from fourlab.web.settings import SPARE_WORKERS, Caps, Settings
from tests.processes import children, runs, wait_until
from tests.web.conftest import Marks, begin, nothing_to_compile, serving, serving_faulty

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
SHORT = 0.3
"""Grace in seconds after which a deaf search is killed."""


def move(client: httpx.Client, agent: str) -> httpx.Response:
    return client.post("/api/v1/move", json={"agent": agent, "seconds": 0.1})


def plays(client: httpx.Client) -> bool:
    return move(client, "rules").json().get("column") == 4


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.usefixtures("marks")
@pytest.mark.parametrize(
    ("agent", "status"), [("crash", 500), ("exit", 500), ("broken", 500), ("hog", 503)]
)
def test_the_server_survives_a_search_that_crashes_or_takes_all_memory(
    agent: str, status: int
) -> None:
    with serving_faulty() as (client, _):
        answers = [move(client, agent) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [status] * 3
        assert all("Traceback" not in answer.text for answer in answers)
        assert all(("retry-after" in answer.headers) == (status == 503) for answer in answers)
        events = client.get("/api/v1/analysis/stream", params={"agent": agent}).text
        assert events.startswith("event: error")
        assert f'"status": {status}' in events
        assert plays(client)


@pytest.mark.parametrize("agent", ["spin", "hold"])
@pytest.mark.usefixtures("marks")
def test_a_search_that_ignores_its_limit_is_killed(agent: str) -> None:
    with serving_faulty(grace=SHORT) as (client, pool):
        answer = move(client, agent)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert "did not end in time" in answer.json()["error"]["message"]
        events = client.get("/api/v1/analysis/stream", params={"agent": agent, "seconds": 0.1}).text
        assert events.startswith("event: error")
        wait_until(lambda: pool.busy() == 0)
        wait_until(lambda: plays(client))
        wait_until(lambda: len(pool.processes()) >= SPARE_WORKERS)


@pytest.mark.parametrize("agent", ["spin", "hold"])
def test_deaf_searches_free_their_places_when_their_clients_have_gone(
    marks: Marks, agent: str
) -> None:
    caps = Caps(searches=2, reserved=0, move_seconds=600)
    with serving_faulty(caps, grace=SHORT) as (client, pool):
        body = {"agent": agent, "seconds": 600}
        asked = [begin(client, "POST /api/v1/move", body) for _ in range(2)]
        wait_until(lambda: marks.count("begun") == 2)
        for connection in asked:
            connection.close()
        wait_until(lambda: plays(client))
        wait_until(lambda: pool.busy() == 0)


@pytest.mark.usefixtures("marks")
def test_an_invalid_request_to_a_worker_is_answered_with_its_message() -> None:
    with serving_faulty() as (client, _):
        answer = client.post("/api/v1/move", json={"agent": "rules", "moves": "4141414"})
        assert answer.status_code == 400
        assert "the game is over" in answer.json()["error"]["message"]


@on_linux
@pytest.mark.usefixtures("marks")
def test_the_server_survives_the_end_of_the_process_that_forks_workers() -> None:
    with serving_faulty() as (client, pool):
        assert plays(client)
        (worker, *_) = pool.processes()
        nursery = parent_of(worker)
        os.kill(nursery, signal.SIGKILL)
        wait_until(lambda: not runs(worker))
        wait_until(lambda: move(client, "rules").status_code == 200)


@pytest.mark.usefixtures("marks")
def test_workers_are_spawned_where_they_cannot_be_forked() -> None:
    with serving_faulty(Caps(searches=1), grace=SHORT, fork=False) as (client, pool):
        # On a busy machine a search may be killed before it has begun, and is tried again.
        wait_until(lambda: plays(client))
        wait_until(lambda: move(client, "crash").status_code == 500)
        assert move(client, "spin").status_code == 503
        wait_until(lambda: plays(client))
        wait_until(lambda: pool.busy() == 0)


def test_a_worker_is_replaced_after_a_number_of_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourlab.web.pool.WORKER_SEARCHES", 3)
    pool = Pool(Caps(searches=1))
    with serving(Settings(), nothing_to_compile(), pool) as client:
        seen = set()
        for _ in range(12):
            assert plays(client)
            seen.update(pool.processes())
        wait_until(lambda: len(seen) >= 3 or seen.update(pool.processes()))


SERVER = """
import sys
from tests.web import faulty
from tests.web.conftest import nothing_to_compile
from fourlab.web.pool import Pool
from fourlab.web.serve import address_of, listen, server_of
from fourlab.web.settings import SPARE_WORKERS, Caps, Settings
faulty.register()
pool = Pool(Caps(move_seconds=600), ["tests.web.faulty_workers"])
listening = listen("127.0.0.1", 0)
server = server_of(Settings(caps=Caps(move_seconds=600)), nothing_to_compile(), pool)
print(address_of(listening), flush=True)
server.run(sockets=[listening])
"""


@on_linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("agent", ["spin", "hold"])
def test_no_worker_outlives_the_server(marks: Marks, agent: str, number: int) -> None:
    command = [sys.executable, "-c", SERVER]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        ThreadPoolExecutor() as threads,
    ):
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        client = httpx.Client(base_url=address, timeout=None, trust_env=False)
        body = {"agent": agent, "seconds": 600}
        asked = threads.submit(client.post, "/api/v1/move", json=body)
        wait_until(lambda: marks.count("begun") == 1)
        (nursery,) = children(server.pid)
        processes = [nursery, *children(nursery)]
        server.send_signal(number)
        server.wait()
        wait_until(lambda: not any(map(runs, processes)))
        asked.exception()
        client.close()


@contextmanager
def hanging(marks: Marks, what: str, fork: bool | None = None) -> Iterator[tuple[Client, Pool]]:
    """Run a server in which the first worker, nursery or load of kernels hangs."""
    (marks.folder / "hangs").write_text(what)
    pool = Pool(Caps(searches=1), ["tests.web.hanging_workers"], fork)
    with serving(Settings(), nothing_to_compile(), pool) as client:
        yield client, pool


@pytest.mark.parametrize("fork", [None, False], ids=["forked", "spawned"])
def test_a_worker_that_hangs_at_its_start_is_killed_and_replaced(
    marks: Marks, monkeypatch: pytest.MonkeyPatch, fork: bool | None
) -> None:
    monkeypatch.setattr("fourlab.web.pool.START_SECONDS", 3.0)
    with hanging(marks, "worker", fork) as (client, pool):
        wait_until(lambda: marks.count("hung") == 1)
        wait_until(lambda: not runs(int((marks.folder / "process").read_text())))
        wait_until(lambda: plays(client))
        wait_until(lambda: pool.busy() == 0)


@on_linux
def test_a_process_that_forks_workers_and_hangs_is_replaced(
    marks: Marks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourlab.web.pool.LOAD_SECONDS", 2.0)
    monkeypatch.setattr("fourlab.web.pool.START_SECONDS", 3.0)
    with hanging(marks, "nursery") as (client, _):
        wait_until(lambda: marks.count("hung") == 1)
        wait_until(lambda: plays(client))


@on_linux
def test_loading_kernels_anew_has_a_time_limit(
    marks: Marks, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hanging(marks, "nothing") as (client, pool):
        wait_until(lambda: plays(client))
        monkeypatch.setattr("fourlab.web.pool.LOAD_SECONDS", 3.0)
        pool._groups.append("rollouts")
        (marks.folder / "hangs").write_text("load")
        nursery = parent_of(pool.processes()[0])
        os.kill(nursery, signal.SIGKILL)
        wait_until(lambda: not runs(nursery))
        wait_until(lambda: plays(client))
        assert marks.count("hung") == 1
        assert pool._groups == []
