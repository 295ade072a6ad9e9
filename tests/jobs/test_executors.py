import os
import random
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fourlab import Limit
from fourlab.arena.play import play_tournament
from fourlab.arena.results import Results
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.tournament import Player, Tournament
from fourlab.errors import UserError
from fourlab.jobs.executors import Executor, Lost, Pace, make_executor
from fourlab.jobs.executors.local import Local
from tests.arena.players import Square, make

LEAGUE = Tournament(
    (Player("random"), Player("rules"), Player("mcts:simulations=10"), Player("minimax:depth=1")),
    rounds=42,
    seed=11,
)
"""504 games."""


def results(pool: Executor, work: Square, items: range) -> dict[int, object]:
    return {item: result for batch in pool.map(work, items) for item, result in batch}


def table(
    tournament: Tournament,
    pool: Executor,
    folder: Path,
    on_games: Callable[[Results, Sequence[StoredGame]], None] = lambda results, games: None,
) -> list[tuple[object, ...]]:
    """Return the exported columns of all games, without their times."""
    with Store(folder / "games.sqlite") as store:
        play_tournament(tournament, store, pool, make, on_games)
        return [game[:12] for game in store.games()]


@pytest.mark.parametrize("workers", [1, 3])
def test_every_item_is_done_once(workers: int) -> None:
    batches = list(Local(workers).map(Square(), range(1000)))
    items = [item for batch in batches for item, _ in batch]
    assert sorted(items) == list(range(1000))
    assert all(result == item**2 for batch in batches for item, result in batch)


def test_workers_that_are_kept_alive_do_the_next_work() -> None:
    pool = Local(2, keep_alive=True)
    squares = {item: item**2 for item in range(40)}
    assert results(pool, Square(), range(40)) == squares
    first = {worker.process.pid for worker in pool._workers}
    assert results(pool, Square(), range(40)) == squares
    assert {worker.process.pid for worker in pool._workers} == first
    # An idle worker is not watched: its death is noticed when it is needed.
    os.kill(next(iter(first)), signal.SIGKILL)
    assert results(pool, Square(), range(40)) == squares
    assert len({worker.process.pid for worker in pool._workers} & first) == 1
    assert isinstance(results(pool, Square(deed="exit"), range(20))[13], Lost)
    unfinished = pool.map(Square(), range(40))
    next(unfinished)
    unfinished.close()  # kills the workers that are still busy
    assert results(pool, Square(), range(40)) == squares
    pool.close()
    assert not pool._workers


def test_no_process_is_started_without_items() -> None:
    assert list(Local(2).map(Square(deed="unprepared"), [])) == []


def test_a_dead_worker_is_replaced_and_its_items_are_retried(tmp_path: Path) -> None:
    squares = results(Local(2), Square(str(tmp_path), "stumble"), range(40))
    assert squares == {item: item**2 for item in range(40)}
    assert len(list(tmp_path.iterdir())) == 6  # six processes died


def test_an_item_that_kills_every_worker_is_lost_and_nothing_else() -> None:
    squares = results(Local(2), Square(deed="die"), range(40))
    lost = squares.pop(13)
    assert isinstance(lost, Lost)
    assert (lost.side, lost.hung) == (1, False)
    assert lost.why == "the process died 10 times (SIGKILL)"
    assert squares == {item: item**2 for item in range(40) if item != 13}


def test_fewer_crashes_than_kills_lose_an_item() -> None:
    lost = results(Local(2), Square(deed="exit"), range(20))[13]
    assert isinstance(lost, Lost)
    assert lost.why == "the process died 3 times (exit code 5)"
    assert lost.side is None  # neither side had begun to think, so neither is at fault


def test_an_item_that_hangs_is_lost() -> None:
    squares = results(Local(2), Square(deed="hang"), range(40))
    lost = squares.pop(13)
    assert isinstance(lost, Lost)
    assert (lost.side, lost.hung) == (0, True)
    assert squares == {item: item**2 for item in range(40) if item != 13}


def test_workers_that_always_die_at_the_start_raise_an_error() -> None:
    with pytest.raises(ChildProcessError, match="exit code 3"):
        results(Local(2), Square(deed="stillborn"), range(10))


def test_a_preparation_that_kills_or_hangs_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourlab.jobs.executors.local.PREPARATION_SECONDS", 1.0)
    for deed in ("unprepared", "endless"):
        assert results(Local(2), Square(deed=deed), range(10)) == {
            item: item**2 for item in range(10)
        }


def test_stop_finishes_the_items_in_progress() -> None:
    pool = Local(2)
    done = []
    for batch in pool.map(Square(deed="slow"), range(10_000)):
        done += batch
        pool.stop()
    assert 0 < len(done) < 1000
    assert all(result == item**2 for item, result in done)


def test_closing_the_iterator_ends_the_workers() -> None:
    pool = Local(2)
    work = pool.map(Square(deed="slow"), range(10_000))
    next(work)
    pids = [worker.process.pid for worker in pool._workers]
    work.close()  # type: ignore[attr-defined]
    for pid in pids:
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_batches_grow_for_quick_items_and_shrink_towards_the_end() -> None:
    pace = Pace(2, 0.1, 200)
    assert pace.size(10_000) == 1
    for _ in range(40):
        pace.learn(0.001 * pace.size(10_000), pace.size(10_000))
    assert 80 <= pace.size(10_000) <= 100
    assert pace.size(80) == 10
    assert pace.size(3) == 1
    pace.learn(2.0, 1)
    assert pace.size(10_000) == 1


@pytest.mark.parametrize(
    ("name", "workers", "word"), [("cloud", 1, "local, threads, ray"), ("local", 0, "worker")]
)
def test_an_impossible_executor_is_refused(name: str, workers: int, word: str) -> None:
    with pytest.raises(UserError, match=word):
        make_executor(name, workers)


def test_a_missing_extra_is_refused_with_the_command_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fourlab.jobs.executors.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'fourlab\[ray\]'"):
        make_executor("ray", 1)


@pytest.fixture(scope="module")
def expected_table(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    return table(LEAGUE, Local(1), tmp_path_factory.mktemp("expected"))


def test_the_table_of_500_games_is_the_same_on_2_and_4_workers(
    expected_table: list[tuple[object, ...]], tmp_path: Path
) -> None:
    assert len(expected_table) == len(LEAGUE) >= 500
    for workers in (2, 4):
        (folder := tmp_path / str(workers)).mkdir()
        assert table(LEAGUE, Local(workers), folder) == expected_table


def test_the_table_is_the_same_when_workers_are_killed(
    expected_table: list[tuple[object, ...]],
    tmp_path: Path,
) -> None:
    """Kill a worker after every hundred games."""
    pool = Local(2)
    rng = random.Random(3)
    killed: list[int] = []

    def kill_a_worker(results: Results, games: Sequence[StoredGame]) -> None:
        if results.games >= 100 * (len(killed) + 1) and pool._workers:
            victim = rng.choice(pool._workers).process
            victim.kill()
            killed.append(victim.pid)

    assert table(LEAGUE, pool, tmp_path, kill_a_worker) == expected_table
    assert len(killed) >= 3


@pytest.mark.parametrize(("deed", "after"), [("die", 4), ("hang", 4), ("die", 0)])
def test_an_agent_that_kills_or_blocks_its_process_loses_its_games(
    deed: str, after: int, tmp_path: Path
) -> None:
    limit = Limit(seconds=0.1) if deed == "hang" else Limit()
    tournament = Tournament(
        (Player(f"bad/{deed}/{after}/", limit, "bad"), Player("rules")),
        openings="empty",
        rounds=1,
        grace=0.1,
    )
    with Store(tmp_path / "games.sqlite") as store:
        play_tournament(tournament, store, Local(2), make)
        games = list(store.games())
    assert [game.at_fault for game in games] == ["bad", "bad"]
    assert {game.cause for game in games} == {"timeout" if deed == "hang" else "crash"}
    assert [game.result for game in games] == [-1, 1]
