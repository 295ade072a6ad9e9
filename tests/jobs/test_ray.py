"""Work on a Ray cluster; all tests share one cluster on this machine."""

import contextlib
import os
import random
import re
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import ray

from fourlab import Limit
from fourlab.agents.alphazero.training import AlphaZeroTrainee
from fourlab.arena.play import play_tournament
from fourlab.arena.store import Store
from fourlab.arena.tournament import Player, Tournament
from fourlab.jobs.executors import Executor, Lost
from fourlab.jobs.executors.local import Local
from fourlab.jobs.executors.ray import Ray
from fourlab.jobs.executors.threads import Threads
from tests.agents.alphazero.test_training import TINY
from tests.arena.players import Square, make
from tests.jobs.test_executors import LEAGUE, results, table


@contextlib.contextmanager
def killing(times: int, pause: float, victims: str) -> Iterator[list[int]]:
    """Kill random child processes whose command line matches `victims` while the block runs."""
    killed: list[int] = []
    enough = threading.Event()

    def kill() -> None:
        rng = random.Random(3)
        while len(killed) < times and not enough.wait(pause * rng.uniform(0.5, 1.5)):
            if pids := processes(victims):
                victim = rng.choice(pids)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        enough.set()
        thread.join()


def processes(pattern: str) -> list[int]:
    """Return the descendants of this process whose command line matches a pattern."""
    parents = {}
    matches = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            # The name in parentheses may contain spaces; the fields after it are state and parent.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            if re.search(pattern, (folder / "cmdline").read_text()):
                matches.append(int(folder.name))

    def is_ours(pid: int) -> bool:
        while pid > 1:
            if pid == os.getpid():
                return True
            pid = parents.get(pid, 0)
        return False

    return [pid for pid in matches if is_ours(pid)]


@pytest.fixture(scope="module")
def ray_pool() -> Iterator[Executor]:
    ray.shutdown()
    # By default Ray's workers have the lowest priority and starve on a busy machine.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
    yield Ray(2)
    ray.shutdown()


def test_the_table_on_ray_is_the_same(ray_pool: Executor, tmp_path: Path) -> None:
    league = replace(LEAGUE, rounds=14)
    (tmp_path / "local").mkdir()
    expected = table(league, Local(1), tmp_path / "local")
    assert len(expected) == 168
    assert table(league, ray_pool, tmp_path) == expected


@pytest.mark.soak
def test_the_table_is_the_same_when_20_ray_workers_are_killed(
    ray_pool: Executor, tmp_path: Path
) -> None:
    tournament = Tournament(
        (Player("mcts:simulations=3000"), Player("mcts:simulations=2500")), rounds=150, seed=4
    )
    (tmp_path / "local").mkdir()
    with killing(20, 0.6, "^ray::(_run|IDLE)") as killed:
        games = table(tournament, ray_pool, tmp_path)
    assert len(killed) == 20
    assert games == table(tournament, Local(2), tmp_path / "local")


def test_ray_loses_only_the_item_that_kills_its_task(
    ray_pool: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every failure costs a new process, so allow few.
    monkeypatch.setattr("fourlab.jobs.executors.ray.FAILURES_ALLOWED", 2)
    squares = results(ray_pool, Square(deed="die"), range(20))
    assert isinstance(squares.pop(13), Lost)
    assert squares == {item: item**2 for item in range(20) if item != 13}


@pytest.mark.parametrize("deed", ["die", pytest.param("hang", marks=pytest.mark.soak)])
def test_ray_finds_the_agent_at_fault(deed: str, ray_pool: Executor, tmp_path: Path) -> None:
    limit = Limit(seconds=0.1) if deed == "hang" else Limit()
    tournament = Tournament(
        (Player(f"bad/{deed}/4/", limit, "bad"), Player("rules")),
        openings="empty",
        rounds=1,
        grace=0.1,
    )
    with Store(tmp_path / "games.sqlite") as store:
        play_tournament(tournament, store, ray_pool, make)
        games = list(store.games())
    assert [(game.at_fault, game.result) for game in games] == [("bad", -1), ("bad", 1)]


def test_ray_stops(ray_pool: Executor) -> None:
    pool = Ray(2)  # on the running cluster
    done = []
    for batch in pool.map(Square(deed="slow"), range(100_000)):
        done += batch
        pool.stop()
    assert 0 < len(done) < 50_000


def test_self_play_on_ray_is_the_same_as_in_threads(ray_pool: Executor) -> None:
    rows = []
    for executor in (Threads(1), ray_pool):
        trainee = AlphaZeroTrainee(replace(TINY, games=20), executor)
        rows.append((trainee.advance(), trainee.window.samples.own.tolist()))
    assert rows[0] == rows[1]
