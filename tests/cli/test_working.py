"""What is shown while a job is worked on, the same for every kind."""

from typing import Any

import pytest
import rich.progress

from fourlab.cli import working
from fourlab.jobs.job import Note, Progress, Session


def hear(session: Session, clock: list[float], steps: list[tuple[float, int]], **more: Any) -> None:
    """Tell of steps: when each ended, and how much was done then."""
    for now, done in steps:
        clock[0] = now
        session.tell(Progress(done, 20, "numbers", text="sum 1", **more))


def test_lines_tell_how_long_it_will_take(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """14 numbers were there before a resume; then one came every 10 minutes."""
    clock = [1000.0]
    monkeypatch.setattr(working.time, "monotonic", lambda: clock[0])
    session = Session()
    with working._shown(session, quiet=False):
        hear(session, clock, [(1001, 14), (1601, 15), (3401, 18), (4601, 20)])
    lines = [line.split("  ") for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        ["14/20 numbers", "sum 1"],
        ["15/20 numbers", "600 s each", "50 min left", "sum 1"],
        ["18/20 numbers", "600 s each", "20 min left", "sum 1"],
        ["20/20 numbers", "600 s each", "sum 1"],
    ]


def test_work_that_is_done_already_needs_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    session = Session()
    with working._shown(session, quiet=False):
        session.tell(Progress(20, 20, "numbers"))
    assert capsys.readouterr().err == ""


def test_stages_have_lines_and_speeds_of_their_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = [0.0]
    monkeypatch.setattr(working.time, "monotonic", lambda: clock[0])
    session = Session()
    with working._shown(session, quiet=False):
        hear(session, clock, [(0, 0), (10, 20)], stage="solving")
        hear(session, clock, [(11, 0)], stage="drawing")
    assert [line.split("  ")[:3] for line in capsys.readouterr().err.splitlines()] == [
        ["solving", "0/20 numbers", "sum 1"],
        ["solving", "20/20 numbers", "2.0 numbers/s"],
        ["drawing", "0/20 numbers", "sum 1"],
    ]


def test_notes_are_shown_though_progress_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    session = Session()
    with working._shown(session, quiet=True):
        session.tell(Progress(1, 20, "numbers"))
        session.tell(Note("a checkpoint is damaged"))
    assert capsys.readouterr().err == "note: a checkpoint is damaged\n"


def test_the_bar_tells_how_long_it_will_take_though_steps_take_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, bars = [0.0], []

    class Watched(rich.progress.Progress):
        def __init__(self, *columns: Any, **options: Any) -> None:
            super().__init__(*columns, get_time=lambda: clock[0], **options)
            bars.append(self)

    monkeypatch.setattr(rich.progress, "Progress", Watched)
    monkeypatch.setenv("FORCE_COLOR", "1")
    session = Session()
    with working._shown(session, quiet=False):
        hear(session, clock, [(1, 14), (601, 15), (1201, 16)])
        assert bars[0].tasks[0].time_remaining == 4 * 600
