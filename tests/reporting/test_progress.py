"""How the progress of a job is shown."""

from typing import Any

import pytest
import rich.progress

from fourlab.jobs.job import Note, Progress, Session
from fourlab.reporting import progress


def emit(session: Session, clock: list[float], steps: list[tuple[float, int]], **more: Any) -> None:
    """Emit progress events at the given steps, which are pairs of time and work done."""
    for now, done in steps:
        clock[0] = now
        session.emit(Progress(done, 20, "numbers", text="sum 1", **more))


def test_lines_show_the_remaining_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """14 numbers were done before a resume; then one is done every 10 minutes."""
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    session = Session()
    with progress.shown(session, quiet=False):
        emit(session, clock, [(1001, 14), (1601, 15), (3401, 18), (4601, 20)])
    lines = [line.split("  ") for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        ["14/20 numbers", "sum 1"],
        ["15/20 numbers", "600 s each", "50 min left", "sum 1"],
        ["18/20 numbers", "600 s each", "20 min left", "sum 1"],
        ["20/20 numbers", "600 s each", "sum 1"],
    ]


def test_complete_work_prints_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    session = Session()
    with progress.shown(session, quiet=False):
        session.emit(Progress(20, 20, "numbers"))
    assert capsys.readouterr().err == ""


def test_every_stage_has_its_own_lines_and_speed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    session = Session()
    with progress.shown(session, quiet=False):
        emit(session, clock, [(0, 0), (10, 20)], stage="solving")
        emit(session, clock, [(11, 0)], stage="drawing")
    assert [line.split("  ")[:3] for line in capsys.readouterr().err.splitlines()] == [
        ["solving", "0/20 numbers", "sum 1"],
        ["solving", "20/20 numbers", "2.0 numbers/s"],
        ["drawing", "0/20 numbers", "sum 1"],
    ]


def test_quiet_hides_progress_but_not_notes(capsys: pytest.CaptureFixture[str]) -> None:
    session = Session()
    with progress.shown(session, quiet=True):
        session.emit(Progress(1, 20, "numbers"))
        session.emit(Note("a checkpoint is damaged"))
    assert capsys.readouterr().err == "note: a checkpoint is damaged\n"


def test_the_bar_estimates_the_remaining_time_even_if_steps_take_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, bars = [0.0], []

    class Watched(rich.progress.Progress):
        def __init__(self, *columns: Any, **options: Any) -> None:
            super().__init__(*columns, get_time=lambda: clock[0], **options)
            bars.append(self)

    monkeypatch.setattr(rich.progress, "Progress", Watched)
    monkeypatch.setenv("FORCE_COLOR", "1")
    session = Session()
    with progress.shown(session, quiet=False):
        emit(session, clock, [(1, 14), (601, 15), (1201, 16)])
        assert bars[0].tasks[0].time_remaining == 4 * 600
