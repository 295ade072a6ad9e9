"""Helpers for tests of commands that are stopped by a signal and resumed."""

import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Result

SCRIPT = Path(__file__).with_name("interrupting.py")


def interrupted(
    folder: Path,
    command: list[str],
    point: str,
    count: int = 1,
    number: signal.Signals = signal.SIGINT,
) -> subprocess.Popen[str]:
    """Start a command that receives a signal at a point of its work (see interrupting.py)."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), point, str(count), number.name, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def stopped_by_ctrl_c(folder: Path, command: list[str], point: str, count: int = 1) -> str:
    """Send Ctrl-C to a command at a point, check that it stops cleanly, and return its stderr."""
    process = interrupted(folder, command, point, count)
    _, printed = process.communicate()
    assert process.returncode == 130, printed
    assert "Traceback" not in printed
    return printed


def resume_arguments(printed: str) -> list[str]:
    """Return the arguments of the resume command that a stopped command prints last."""
    before, last = printed.splitlines()[-2:]
    assert before.endswith("resume with:")
    program, *arguments = shlex.split(last)
    assert program == "fourlab"
    return arguments


def ends_the_same(
    fourlab: Callable[..., Result],
    folder: Path,
    command: list[str],
    total: str,
    product: str,
) -> None:
    """Check that a training stopped after two pieces and resumed gives the same `product`."""
    printed = stopped_by_ctrl_c(folder, [*command, "--run", "stopped"], "piece", 2)
    assert f"of {total}; resume with:" in printed
    assert fourlab(*shlex.split(printed.splitlines()[-1])[1:], "--quiet").returncode == 0
    assert fourlab(*command, "--run", "whole").returncode == 0
    one, other = (folder / name / product for name in ("stopped", "whole"))
    assert one.read_bytes() == other.read_bytes()
