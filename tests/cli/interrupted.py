"""A training that is stopped by Ctrl-C and goes on."""

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Result


def ends_the_same(fourlab: Callable[..., Result], folder: Path, command: list[str], total: str, product: str) -> None:
    """Stop a training after two pieces, go on with what it says, and compare its product with that of one never stopped."""
    started = subprocess.Popen(
        [sys.executable, "-m", "fourlab", *command, "--run", "stopped"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    metrics = folder / "stopped" / "metrics.jsonl"
    while started.poll() is None and not (metrics.exists() and metrics.read_bytes().count(b"\n") >= 2):
        time.sleep(0.01)
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=120)
    assert started.returncode == 130, told
    assert f"of {total}; go on with:" in told
    assert fourlab(*shlex.split(told.splitlines()[-1])[1:], "--quiet").returncode == 0
    assert fourlab(*command, "--run", "whole").returncode == 0
    one, other = (folder / name / product for name in ("stopped", "whole"))
    assert one.read_bytes() == other.read_bytes()
