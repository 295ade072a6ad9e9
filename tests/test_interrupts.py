"""Ctrl-C while processes are started waits, and is neither lost nor heard by them."""

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from fourlab.interrupts import interrupts_held

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


def test_ctrl_c_waits_until_all_are_started() -> None:
    heard: list[str] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append("Ctrl-C"))
    try:
        with interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            started: Any = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True)
            heard.append("started")
        assert heard == ["started", "Ctrl-C"]
        assert started.stdout == "True\n"
        os.kill(os.getpid(), signal.SIGINT)
        assert heard == ["started", "Ctrl-C", "Ctrl-C"]
    finally:
        signal.signal(signal.SIGINT, before)


def test_whoever_was_not_interrupted_goes_on_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_held():
        pass
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
