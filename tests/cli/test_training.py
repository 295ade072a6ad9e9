"""What is told while a training goes on."""

from pathlib import Path
from typing import Any

import pytest
import rich.progress

from fourlab.cli import training
from fourlab.errors import UserError
from fourlab.jobs.run import open_run
from tests.training.test_loop import Sum


def hear(trainee: Sum, told: Any, clock: list[float], pieces: list[tuple[float, int]]) -> None:
    """Tell of pieces: when each ended, and how much was done then."""
    for now, done in pieces:
        clock[0], trainee.done = now, done
        told({"sum": 1})


def test_lines_tell_how_long_it_will_take(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """14 numbers were there before a resume; then one came every 10 minutes."""
    clock, trainee = [1000.0], Sum()
    monkeypatch.setattr(training.time, "monotonic", lambda: clock[0])
    with training._progress(trainee, quiet=False) as told:
        hear(trainee, told, clock, [(1001, 14), (1601, 15), (3401, 18), (4601, 20)])
    assert [line.split("  ")[:2] for line in capsys.readouterr().err.splitlines()] == [
        ["14/20 numbers", "sum 1"],
        ["15/20 numbers", "0:50:00 left"],
        ["18/20 numbers", "0:20:00 left"],
        ["20/20 numbers", "sum 1"],
    ]


def test_the_bar_tells_how_long_it_will_take_though_pieces_take_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, trainee, bars = [0.0], Sum(), []

    class Watched(rich.progress.Progress):
        def __init__(self, *columns: Any, **options: Any) -> None:
            super().__init__(*columns, get_time=lambda: clock[0], **options)
            bars.append(self)

    monkeypatch.setattr(rich.progress, "Progress", Watched)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with training._progress(trainee, quiet=False) as told:
        hear(trainee, told, clock, [(1, 14), (601, 15), (1201, 16)])
        assert bars[0].tasks[0].time_remaining == 4 * 600


def test_a_folder_of_another_configuration_is_refused(tmp_path: Path) -> None:
    open_run(tmp_path, "sum", {"kind": "train-sum", "total": 20}, tmp_path / "here")
    training.refuse_another(None, {})
    training.refuse_another(tmp_path / "new", {"total": 3})
    training.refuse_another(tmp_path / "here", {"kind": "train-sum", "total": 20})
    with pytest.raises(UserError, match="was begun with total = 20, not 3"):
        training.refuse_another(tmp_path / "here", {"kind": "train-sum", "total": 3})
    assert not (tmp_path / "new").exists()
