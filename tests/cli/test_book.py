import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from fourlab.solver import Book

COMMAND = [sys.executable, "-m", "fourlab"]


def test_a_build_that_is_interrupted_says_how_to_go_on_and_then_does(tmp_path: Path) -> None:
    asked = ["book", "build", "--plies", "10", "--board", "5x4x4", "--workers", "2"]
    building = subprocess.Popen(
        [*COMMAND, *asked, "--file", "b.npz"], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    journal = tmp_path / "b.npz.journal"
    while building.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 2):
        time.sleep(0.01)
    os.killpg(building.pid, signal.SIGINT)  # as a terminal does
    _, told = building.communicate(timeout=120)
    assert building.returncode == 130, told
    assert "Traceback" not in told
    assert journal.exists()
    resume = next(line for line in told.splitlines() if "go on with: " in line).partition("go on with: ")[2]
    done = subprocess.run([*COMMAND, *shlex.split(resume)[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not journal.exists()
    straight = subprocess.run([*COMMAND, *asked, "--file", "c.npz"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert straight.returncode == 0, straight.stderr
    assert Book.load(tmp_path / "b.npz").checksum == Book.load(tmp_path / "c.npz").checksum
