"""Ctrl-C while processes start: it is delayed, not lost, and does not reach them."""

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from fourlab.interrupts import interrupts_held

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C differently")
BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


def test_ctrl_c_is_delayed_until_all_processes_have_started() -> None:
    events: list[str] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: events.append("Ctrl-C"))
    try:
        with interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            started: Any = subprocess.run(
                [sys.executable, "-c", BLOCKED], capture_output=True, text=True
            )
            events.append("started")
        assert events == ["started", "Ctrl-C"]
        assert started.stdout == "True\n"
        os.kill(os.getpid(), signal.SIGINT)
        assert events == ["started", "Ctrl-C", "Ctrl-C"]
    finally:
        signal.signal(signal.SIGINT, before)


def test_without_ctrl_c_the_handler_and_the_mask_are_restored() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_held():
        pass
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
