import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fourlab.solver import Book

COMMAND = [sys.executable, "-m", "fourlab"]


ASKED = ["book", "build", "--plies", "10", "--board", "5x4x4", "--workers", "2"]


def interrupted(folder: Path, lines: int, later: float = 0.0) -> str:
    """What a build says that is interrupted when its journal has so many lines, or a little later."""
    building = subprocess.Popen(
        [*COMMAND, *ASKED, "--file", "b.npz"], cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    journal = folder / "b.npz.journal"
    while building.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= lines):
        time.sleep(0.01)
    time.sleep(later)
    os.killpg(building.pid, signal.SIGINT)  # as a terminal does
    _, told = building.communicate(timeout=120)
    assert building.returncode == 130, told
    assert "Traceback" not in told
    assert journal.exists()
    return told


@pytest.mark.parametrize("later", [0.0, 0.3])
def test_an_interrupt_while_workers_start_is_no_trouble(later: float, tmp_path: Path) -> None:
    assert "go on with: " in interrupted(tmp_path, 1, later)


def test_a_build_that_is_interrupted_says_how_to_go_on_and_then_does(tmp_path: Path) -> None:
    told, journal = interrupted(tmp_path, 3), tmp_path / "b.npz.journal"
    resume = next(line for line in told.splitlines() if "go on with: " in line).partition("go on with: ")[2]
    done = subprocess.run([*COMMAND, *shlex.split(resume)[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not journal.exists()
    straight = subprocess.run([*COMMAND, *ASKED, "--file", "c.npz"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert straight.returncode == 0, straight.stderr
    assert Book.load(tmp_path / "b.npz").checksum == Book.load(tmp_path / "c.npz").checksum
