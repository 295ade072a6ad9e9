"""The runner: one run per identity, extending runs, and progress events."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from fourlab.errors import UserError
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.job import Conduct, Event, Note, Progress, Session
from fourlab.jobs.kinds import job_of
from fourlab.jobs.run import Run, open_run
from fourlab.jobs.runner import PROGRESS_FILE, begin, work


@dataclass(frozen=True)
class Squares:
    """Write the squares of numbers, one line each."""

    extent: ClassVar[frozenset[str]] = frozenset({"numbers"})

    numbers: int
    base: int = 0
    stop_at: int | None = None

    @property
    def name(self) -> str:
        return "squares"

    @property
    def config(self) -> dict[str, Any]:
        return {"kind": "squares", "base": self.base, "numbers": self.numbers}

    @property
    def games(self) -> int:
        """Every number is a game to the runner."""
        return self.numbers

    def with_games(self, games: int) -> "Squares":
        return replace(self, numbers=games)

    def check(self) -> None:
        if self.numbers < 1:
            raise UserError("there must be a number")

    def extended(self, config: dict[str, Any]) -> "Squares":
        return replace(self, numbers=max(self.numbers, config["numbers"]))

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        file = run.folder / "squares.txt"
        squares = file.read_text().splitlines() if file.exists() else []
        for number in range(len(squares), self.numbers):
            if session.stopped:
                return None
            squares.append(str((self.base + number) ** 2))
            run.write("squares.txt", "\n".join(squares))
            session.emit(Progress(len(squares), self.numbers, "numbers"))
            if len(squares) == self.stop_at:
                session.stop()
        return {"squares": squares}


def test_the_same_job_finds_its_run_and_does_only_what_is_missing(tmp_path: Path) -> None:
    events: list[Event] = []
    job = Squares(5)
    run = begin(job, tmp_path)
    assert work(replace(job, stop_at=2), run) is None
    assert begin(job, tmp_path) == run
    assert work(job, run, Session(on_event=events.append)) == {
        "squares": ["0", "1", "4", "9", "16"]
    }
    assert [event.done for event in events if isinstance(event, Progress)] == [3, 4, 5]


def test_a_larger_extent_extends_a_run_and_a_smaller_one_loses_nothing(tmp_path: Path) -> None:
    run = begin(Squares(2), tmp_path)
    work(Squares(2), run)
    assert begin(Squares(4), tmp_path) == run
    assert work(Squares(4), run) == {"squares": ["0", "1", "4", "9"]}
    assert run.config["numbers"] == 4
    assert "numbers = 4" in (run.folder / "config.toml").read_text()
    run.check()
    assert work(Squares(1), begin(Squares(1), tmp_path)) == {"squares": ["0", "1", "4", "9"]}
    other = begin(Squares(2, base=10), tmp_path)
    assert other != run
    with pytest.raises(UserError, match="was begun with base = 0, not 10"):
        begin(Squares(2, base=10), tmp_path, run.folder)


def test_a_folder_whose_name_has_another_hash_is_found_by_its_manifest(tmp_path: Path) -> None:
    """Older versions hashed all settings, including the number of games."""
    old = open_run(tmp_path, "squares", Squares(3).config)
    renamed = old.folder.rename(tmp_path / "2026-01-01_squares_01234567")
    assert begin(Squares(9), tmp_path).folder == renamed


def test_a_damaged_run_of_the_same_name_is_ignored(tmp_path: Path) -> None:
    damaged = tmp_path / "2026-01-01_squares_01234567"
    damaged.mkdir()
    (damaged / "manifest.json").write_text("{")
    assert begin(Squares(1), tmp_path).folder != damaged


def test_a_refused_job_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there must be a number"):
        begin(Squares(0), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_written_for_other_processes(tmp_path: Path) -> None:
    run = begin(Squares(3), tmp_path)
    work(Squares(3), run)
    progress = json.loads((run.folder / PROGRESS_FILE).read_text())
    assert progress == {"done": 3, "total": 3, "unit": "numbers", "stage": "", "text": ""}


def test_a_run_is_locked_while_it_is_worked_on(tmp_path: Path) -> None:
    run = begin(Squares(1), tmp_path)

    def on_event(event: Event) -> None:
        assert run.is_locked
        with pytest.raises(UserError, match="another process is working on"):
            work(Squares(1), run)

    assert work(Squares(1), run, Session(on_event=on_event)) is not None
    assert not run.is_locked


def test_a_stopped_session_stops_its_executors_and_later_ones() -> None:
    session = Session(Conduct(workers=1))
    first = Threads(1)
    session.use(first)
    session.stop()
    later = Threads(1)
    session.use(later)
    assert session.stopped
    assert first._stopped
    assert later._stopped
    session.abort()
    assert first._aborted


def test_all_subscribers_get_events_and_the_last_progress_is_kept() -> None:
    events: list[Event] = []
    session = Session(on_event=events.append)
    session.subscribe(events.append)
    session.note("hello")
    session.emit(Progress(1, None, "games"))
    assert events == [Note("hello")] * 2 + [Progress(1, None, "games")] * 2
    assert session.last == Progress(1, None, "games")


def test_a_run_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    run = begin(Squares(1), tmp_path)
    with pytest.raises(
        UserError, match="is a run of kind 'squares', which this version does not know"
    ):
        job_of(run)


def test_executor_and_workers_are_checked_at_once() -> None:
    with pytest.raises(UserError, match="there is no executor 'cloud'"):
        Conduct(executor="cloud")
    with pytest.raises(UserError, match="at least one worker"):
        Conduct(workers=0)


def test_a_session_may_work_on_several_runs(tmp_path: Path) -> None:
    """Every run records its own progress only."""
    session = Session()
    runs = [begin(Squares(2 + base, base), tmp_path) for base in (0, 1)]
    for base, run in enumerate(runs):
        work(Squares(2 + base, base), run, session)
    assert [json.loads((run.folder / PROGRESS_FILE).read_text())["total"] for run in runs] == [2, 3]


def test_a_run_survives_a_kill_while_it_is_extended(tmp_path: Path) -> None:
    run = begin(Squares(2), tmp_path)
    work(Squares(2), run)
    before = (run.folder / "config.toml").read_text()
    work(Squares(3), run)
    (run.folder / "config.toml").write_text(before)  # as if the kill came before it was written
    run.check(Squares.extent)
    with pytest.raises(UserError, match="was begun with numbers = 3, not 2"):
        run.check()


def test_a_smaller_extent_than_the_run_has_is_noted(tmp_path: Path) -> None:
    events: list[Event] = []
    run = begin(Squares(4), tmp_path)
    work(Squares(4), run)
    work(Squares(2), run, Session(on_event=events.append))
    assert events == [Note("the run has 4 games already, more than the 2 asked for")]
