"""Compiling groups of kernels in the background, in order of priority."""

import threading
import time
from concurrent.futures import Future

import pytest

from fourlab.compiled.background import Background, Child, Closed, CompilationFailed, Here
from fourlab.compiled.warmup import GROUPS, check_names
from tests.processes import wait_until


class Steps:
    """A worker that compiles one group whenever the test releases a step."""

    startup_seconds = 0.0

    def __init__(self, failing: str | None = None) -> None:
        self.failing = failing
        self.started: list[str] = []
        self.step = threading.Semaphore(0)
        self.closed = False

    def run(self, name: str) -> float:
        self.started.append(name)
        self.step.acquire()
        if self.closed or name == self.failing:
            raise CompilationFailed(f"cannot compile {name}")
        return 1.5

    def close(self) -> None:
        self.closed = True
        self.step.release()


def running(worker: Steps, *names: str, **more: object) -> Background:
    typical = dict.fromkeys(names, 10.0)
    background = Background(names, [worker], typical, **more)  # type: ignore[arg-type]
    background.start()
    wait_until(lambda: worker.started)
    return background


def test_a_group_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        ValueError, match="there is no group of kernels 'minimx'; groups are perft, "
    ):
        check_names(["minimax", "minimx"])


def test_a_preferred_group_comes_next() -> None:
    worker = Steps()
    background = running(worker, "a", "b", "c", "d")
    assert [background.state(name) for name in "ab"] == ["compiling", "queued"]
    waiting = background.prefer(["d", "a"])
    assert len(waiting) == 2
    for _ in range(4):
        worker.step.release()
    wait_until(background.is_ready)
    assert worker.started == ["a", "d", "b", "c"]
    assert all(future.done() for future in waiting)
    assert background.prefer(["a", "d"]) == []


def test_groups_that_are_compiled_already_are_ready() -> None:
    worker = Steps()
    background = running(worker, "a", "b", compiled=["a"])
    assert worker.started == ["b"]
    assert [background.state(name) for name in "ab"] == ["ready", "compiling"]
    assert background.seconds_left()["a"] == 0
    background.close()


def test_a_group_that_is_compiled_already_is_loaded_before_it_is_ready() -> None:
    loading = threading.Event()
    background = Background(["a"], [], {}, compiled=["a"], load=lambda name: loading.wait())
    background.start()
    assert not background.is_ready()
    loading.set()
    wait_until(background.is_ready)


def test_a_group_is_loaded_before_it_is_ready() -> None:
    worker = Steps()
    loading: list[str] = []
    loaded = threading.Event()

    def load(name: str) -> None:
        loading.append(name)
        loaded.wait()

    background = running(worker, "a", load=load)
    worker.step.release()
    wait_until(lambda: loading)
    assert not background.is_ready()
    loaded.set()
    wait_until(background.is_ready)


def test_estimates_follow_the_queue_and_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    worker = Steps()
    background = Background("abc", [worker], dict.fromkeys("abc", 10.0))
    assert background.seconds_left() == {"a": 10, "b": 20, "c": 30}
    background.start()
    while not worker.started:
        pass
    now = 104.0
    assert background.seconds_left() == {"a": 6, "b": 16, "c": 26}
    now = 130.0  # three times the typical time, so the others are expected to take as long
    left = background.seconds_left()
    assert 0 < left["a"] < 10
    assert 20 < left["b"] - left["a"] < 30
    assert left["c"] - left["b"] == pytest.approx(left["b"] - left["a"])
    background.close()


def test_a_failure_is_raised_or_left_to_the_loader() -> None:
    worker = Steps(failing="a")
    worker.step.release()
    with pytest.raises(CompilationFailed, match="cannot compile a"):
        Background("ab", [worker], {}).run()
    worker = Steps(failing="a")
    loading: list[str] = []
    background = running(worker, "a", load=loading.append)
    worker.step.release()
    wait_until(background.is_ready)
    assert loading == ["a"]
    assert background.prefer("a") == []


def test_closing_ends_all_waiting_futures() -> None:
    worker = Steps()
    background = running(worker, "a", "b")
    waiting: list[Future[None]] = background.prefer("ab")
    background.close()
    assert all(isinstance(future.exception(), Closed) for future in waiting)
    wait_until(lambda: worker.closed)
    assert worker.started == ["a"]


def test_a_child_reports_why_it_cannot_compile_and_is_replaced_when_it_dies() -> None:
    child = Child()
    with pytest.raises(CompilationFailed, match="cannot compile no such group: KeyError"):
        child.run("no such group")
    assert child._process is not None
    child._process.kill()
    child._process.wait()
    assert child.run("planes") >= 0
    child.close()
    with pytest.raises(CompilationFailed):
        child.run("planes")


def test_a_worker_in_this_process() -> None:
    compiled: list[str] = []
    seconds = {"planes": GROUPS["planes"].seconds}
    background = Background(
        ["planes"], [Here()], seconds, on_compiled=lambda name, *_: compiled.append(name)
    )
    background.run()
    assert compiled == ["planes"]


def test_a_callback_that_fails_ends_the_run() -> None:
    """For example, because it prints to a closed pipe."""

    def fail(*arguments: object) -> None:
        raise BrokenPipeError

    worker = Steps()
    worker.step.release()
    background = Background(["a"], [worker], {}, on_compiled=fail)
    with pytest.raises(BrokenPipeError):
        background.run()
    background.close()


def test_a_worker_that_cannot_start_fails_its_group() -> None:
    class Broken(Steps):
        def run(self, name: str) -> float:
            raise OSError("no more processes")

    background = Background(["a"], [Broken()], {})
    with pytest.raises(CompilationFailed, match="cannot compile a: OSError: no more processes"):
        background.run()
    background.close()
