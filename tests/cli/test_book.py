from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab.solver import Book
from tests.cli.interrupted import resume_arguments, stopped_by_ctrl_c
from tests.conftest import Result

COMMON = ["book", "build", "--plies", "6", "--board", "5x4x4", "--workers", "2"]
BUILD = [*COMMON, "--file", "b.npz"]


@pytest.mark.parametrize(
    ("point", "count"),
    [("journal_line", 1), ("worker_start", 1), ("worker_start", 2)],
)
def test_an_interrupt_while_workers_start_stops_cleanly(
    point: str,
    count: int,
    tmp_path: Path,
) -> None:
    assert resume_arguments(stopped_by_ctrl_c(tmp_path, BUILD, point, count))[0] == "resume"
    assert len(list(tmp_path.glob("runs/*/journal"))) == 1


def test_an_interrupted_build_can_be_resumed(
    fourlab: Callable[..., Result],
    tmp_path: Path,
) -> None:
    printed = stopped_by_ctrl_c(tmp_path, BUILD, "journal_line", 3)
    (journal,) = tmp_path.glob("runs/*/journal")
    done = fourlab(*resume_arguments(printed))
    assert done.returncode == 0, done.stderr
    assert not journal.exists()
    straight = fourlab(*COMMON, "--file", "c.npz", "--runs", "others")
    assert straight.returncode == 0, straight.stderr
    assert Book.load(tmp_path / "b.npz").checksum == Book.load(tmp_path / "c.npz").checksum
