"""A training that is stopped, killed or damaged ends like an uninterrupted one."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fourlab.errors import UserError
from fourlab.files import digest
from fourlab.jobs.run import Run, open_run
from fourlab.reporting.curves import Curve, number
from fourlab.training.loop import (
    CHECKPOINT_SECONDS,
    CHECKPOINTS_KEPT,
    last_metrics,
    read_metrics,
    train,
)
from fourlab.training.report import write_training_report


@dataclass
class Sum:
    """Learns the sum of the first numbers, two at a time."""

    total: int = 20
    done: int = 0
    sum: int = 0
    unit: str = "numbers"
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    curves: tuple[Curve, ...] = field(
        default=(Curve("the sum so far", ("sum", "half.sum")), Curve("nothing", ("none",)))
    )

    @property
    def finished(self) -> bool:
        return self.done >= self.total

    def advance(self) -> dict[str, Any]:
        for _ in range(2):
            self.done += 1
            self.sum += self.done
        return {"numbers": self.done, "sum": self.sum, "half": {"sum": self.sum / 2}}

    def save(self, folder: Path) -> None:
        (folder / "sum.json").write_text(json.dumps([self.done, self.sum]))

    def load(self, folder: Path) -> None:
        self.done, self.sum = json.loads((folder / "sum.json").read_text())

    def finish(self, run: Run) -> dict[str, Any]:
        run.write("sum.txt", str(self.sum))
        return {"headline": f"the sum is {self.sum}", "sum": self.sum}


def sum_run(tmp_path: Path) -> Run:
    return open_run(tmp_path, "sum", {"kind": "train-sum", "total": 20})


def metrics_of(run: Run) -> list[dict[str, Any]]:
    """Return the metrics without their times."""
    return [
        {name: value for name, value in row.items() if name != "seconds"}
        for row in read_metrics(run)
    ]


def uninterrupted(tmp_path: Path) -> list[dict[str, Any]]:
    """Return the metrics of a training that is never stopped."""
    run = sum_run(tmp_path / "uninterrupted")
    assert train(run, Sum()) is not None
    return metrics_of(run)


def stop_after(pieces: int) -> Any:
    """Return a stop function that becomes true after `pieces` pieces of work."""
    remaining = iter(range(pieces))
    return lambda: next(remaining, None) is None


def test_a_training_writes_metrics_results_and_products(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    rows: list[dict[str, Any]] = []
    results = train(run, Sum(), on_row=rows.append)
    assert results is not None
    assert results["sum"] == 210
    assert results["numbers"] == 20
    assert run.results == results
    assert (run.folder / "sum.txt").read_text() == "210"
    assert metrics_of(run)[0] == {"piece": 1, "numbers": 2, "sum": 3, "half": {"sum": 1.5}}
    assert [row["piece"] for row in rows] == list(range(1, 11))


def test_a_training_stopped_after_every_piece_ends_the_same(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    for piece in range(1, 10):
        assert train(run, Sum(), stop_after(1)) is None
        assert len(metrics_of(run)) == piece
        assert run.results is None
    assert train(run, Sum(), stop_after(1)) is not None
    assert metrics_of(run) == uninterrupted(tmp_path)
    assert len(list((run.folder / "checkpoints").iterdir())) == CHECKPOINTS_KEPT


def test_a_finished_training_is_not_done_again(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    results = train(run, Sum())
    (run.folder / "sum.txt").unlink()
    assert train(run, Sum()) == results
    assert not (run.folder / "sum.txt").exists()


def test_metrics_after_the_checkpoint_are_dropped(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    train(run, Sum(), stop_after(3))
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"piece": 4, "numbers": 8, "sum": -1}\n{"piece": 5, "numb')
    assert train(run, Sum()) is not None
    assert metrics_of(run) == uninterrupted(tmp_path)


def test_no_checkpoint_reaches_the_disk_before_its_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = sum_run(tmp_path)
    sizes: dict[int, int] = {}
    fsync = os.fsync

    def recording_fsync(handle: int) -> None:
        fsync(handle)
        sizes[os.fstat(handle).st_ino] = os.fstat(handle).st_size

    class Checked(Sum):
        def save(self, folder: Path) -> None:
            metrics = (run.folder / "metrics.jsonl").stat()
            assert sizes[metrics.st_ino] == metrics.st_size
            super().save(folder)

    monkeypatch.setattr(os, "fsync", recording_fsync)
    assert train(run, Checked(), checkpoint_seconds=0) is not None


def test_a_damaged_checkpoint_is_noted_and_the_one_before_is_used(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    notes: list[str] = []
    train(run, Sum(), stop_after(3))
    train(run, Sum(), stop_after(2))
    (run.folder / "checkpoints" / "000005" / "sum.json").write_text("[10, 99]")
    assert train(run, Sum(), on_note=notes.append) is not None
    assert "000005 is damaged (sum.json)" in notes[0]
    assert metrics_of(run) == uninterrupted(tmp_path)


def test_a_checkpoint_with_links_or_other_files_is_not_used(tmp_path: Path) -> None:
    """A checkpoint may come from somebody else; /dev/zero would be read without an end."""
    run = sum_run(tmp_path)
    train(run, Sum(), checkpoint_seconds=0)
    home = run.folder / "checkpoints"
    newest = max(home.iterdir())
    about = json.loads((newest / "checkpoint.json").read_text())
    notes: list[str] = []
    (newest / "sum.json").unlink()
    (newest / "sum.json").symlink_to("/dev/zero")
    train(run, Sum(), on_note=notes.append)
    assert f"{newest.name} is damaged (sum.json)" in notes[0]
    (newest / "sum.json").unlink(missing_ok=True)
    about["sha256"] = {"/dev/zero": "0"}
    (newest / "checkpoint.json").write_text(json.dumps(about))
    train(run, Sum(), on_note=notes.append)
    assert f"{newest.name} is damaged" in notes[1]
    elsewhere = tmp_path / "elsewhere"
    home.rename(elsewhere)
    home.symlink_to(elsewhere)
    with pytest.raises(UserError, match="is a link"):
        train(run, Sum())


def test_a_checkpoint_of_another_training_is_refused_in_one_line(tmp_path: Path) -> None:
    class Other(Sum):
        def load(self, folder: Path) -> None:
            raise RuntimeError("size mismatch\nfor weight")

    run = sum_run(tmp_path)
    train(run, Sum(), checkpoint_seconds=0)
    with pytest.raises(UserError, match=r"no checkpoint of this training: size mismatch$"):
        train(run, Other())


def test_a_training_does_not_start_again_over_damaged_checkpoints(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    train(run, Sum(), stop_after(3))
    (run.folder / "checkpoints" / "000003" / "checkpoint.json").write_text("{")
    with pytest.raises(UserError, match="every checkpoint"):
        train(run, Sum())


def test_a_training_killed_at_any_moment_ends_the_same(tmp_path: Path) -> None:
    """Send SIGKILL twenty times, at growing intervals, while checkpoints are written."""
    script = (
        "import sys, time; from pathlib import Path; from fourlab.training.loop import train\n"
        "from tests.training.test_loop import Sum, sum_run\n"
        "class Slow(Sum):\n"
        "    def advance(self):\n"
        "        time.sleep(0.002); return super().advance()\n"
        "train(sum_run(Path(sys.argv[1])), Slow(400), checkpoint_seconds=0)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    root = Path(__file__).parents[2]
    for attempt in range(20):
        process = subprocess.Popen(command, cwd=root)
        while not list(tmp_path.glob("*/checkpoints/*")):
            time.sleep(0.01)
        time.sleep(0.005 * attempt)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run(command, cwd=root, check=True)
    run = sum_run(tmp_path)
    assert run.results is not None
    assert run.results["sum"] == 400 * 401 // 2
    assert [row["piece"] for row in read_metrics(run)] == list(range(1, 201))
    assert not list((run.folder / "checkpoints").glob(".*"))


def test_the_folder_records_the_unit_the_total_and_the_curves(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    train(run, Sum(), stop_after(1))
    about = json.loads((run.folder / "training.json").read_text())
    assert (about["unit"], about["total"]) == ("numbers", 20)
    assert about["curves"][0] == {
        "label": "the sum so far",
        "names": ["sum", "half.sum"],
        "logarithmic": False,
    }


def test_the_last_row_is_read_without_the_others(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    assert last_metrics(run) is None
    train(run, Sum(), stop_after(3))
    assert last_metrics(run) == read_metrics(run)[-1]
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"piece": 4, "numb')
    assert last_metrics(run) == read_metrics(run)[-1]
    (run.folder / "metrics.jsonl").write_text("{\n")
    with pytest.raises(UserError, match="damaged"):
        last_metrics(run)


def test_numbers_in_nested_tables_are_named_with_a_dot() -> None:
    row = {"a": 1, "b": {"c": 2.5, "d": "x"}}
    numbers = [number(row, name) for name in ("a", "b.c", "b.d", "b", "e.f")]
    assert numbers == [1.0, 2.5, None, None, None]


def test_the_report_has_the_results_the_curves_and_the_configuration(tmp_path: Path) -> None:
    run = sum_run(tmp_path)
    trainee = Sum()
    results = train(run, trainee, stop_after(4))
    write_training_report(run, trainee, results)
    assert "Stopped after 8 of 20 numbers" in run.report_file.read_text()
    results = train(run, trainee := Sum())
    write_training_report(run, trainee, results)
    page = run.report_file.read_text()
    assert "the sum is 210" in page
    assert "the sum so far" in page
    assert "train-sum" in page
    assert "nothing" not in page  # a curve without numbers is not drawn
    assert (run.folder / "figures" / "training.svg").exists()


@pytest.mark.parametrize(
    "change",
    [
        '"piece": 1e999',
        '"piece": NaN',
        '"piece": "10"',
        '"piece": true',
        '"piece": -1',
        '"piece": [[]]',
        '"seconds": 1e999',
        '"seconds": NaN',
        '"seconds": {}',
        '"sha256": []',
    ],
)
def test_a_checkpoint_with_odd_values_is_damaged(tmp_path: Path, change: str) -> None:
    run = sum_run(tmp_path)
    results = train(run, Sum(), checkpoint_seconds=0)
    assert results is not None
    newest = run.folder / "checkpoints" / "000010" / "checkpoint.json"
    # Of two equal keys JSON takes the last.
    newest.write_text(newest.read_text().rstrip().removesuffix("}") + f", {change}}}")
    notes: list[str] = []
    again = train(run, Sum(), on_note=notes.append)
    assert again is not None
    assert again["sum"] == 210
    assert any("is damaged (checkpoint.json)" in note for note in notes)


@pytest.mark.parametrize(
    "content",
    [
        *("", "{}", "[]", "null", "7", "[" * 99_999, '{"headline": 7}', '{"headline": ["x"]}'),
        '{"headline": "x", "lines": 7}',
        '{"headline": "x", "lines": [7]}',
    ],
)
def test_results_that_cannot_be_shown_are_written_again(tmp_path: Path, content: str) -> None:
    run = sum_run(tmp_path)
    before = train(run, Sum())
    (run.folder / "results.json").write_text(content)
    results = train(run, Sum())
    assert results is not None
    assert before is not None
    assert results["headline"] == before["headline"]
    assert run.results == results


@pytest.mark.parametrize(
    "row",
    [
        *("null", "7", "[]", "{}", "[" * 99_999, "9" * 5_000, '{"piece": "2"}', "\xff"),
        *('{"piece": 1e999}', '{"piece": NaN}', '{"piece": true}', '{"piece": 1}', '{"piece": 3}'),
    ],
)
def test_metrics_that_no_training_writes_are_refused(tmp_path: Path, row: str) -> None:
    run = sum_run(tmp_path)
    assert train(run, Sum(), stop_after(3)) is None
    file = run.folder / "metrics.jsonl"
    lines = file.read_text().splitlines()
    lines[1] = row
    content = "".join(f"{line}\n" for line in lines).encode("latin-1")
    file.write_bytes(content)
    with pytest.raises(UserError, match=r"metrics\.jsonl is damaged"):
        train(run, Sum())
    assert file.read_bytes() == content


def test_a_state_that_work_cannot_use_is_one_line_and_a_fault_of_the_training_is_not(
    tmp_path: Path,
) -> None:
    class Faulty(Sum):
        def advance(self) -> dict[str, Any]:
            if self.sum > 20:
                raise TypeError("no number")
            return super().advance()

    with pytest.raises(TypeError):
        train(sum_run(tmp_path / "faulty"), Faulty(), checkpoint_seconds=0)
    run = sum_run(tmp_path)
    assert train(run, Sum(), stop_after(2)) is None
    folder = run.folder / "checkpoints" / "000002"
    (folder / "sum.json").write_text('[4, "ten"]')
    about = json.loads((folder / "checkpoint.json").read_text())
    about["sha256"]["sum.json"] = digest(folder / "sum.json")
    (folder / "checkpoint.json").write_text(json.dumps(about))
    with pytest.raises(UserError, match="cannot be resumed from checkpoint 2, or") as caught:
        train(run, Sum())
    assert isinstance(caught.value.__cause__, TypeError)
