"""Worker processes: how they are started, and that they can be ended."""

import os
import signal
import sys
from typing import Any

import pytest

from fourlab.jobs.processes import worker_context


def wait_for_ever(pipe: Any) -> None:
    pipe.send(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
    signal.pause()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_a_worker_can_be_terminated() -> None:
    context: Any = worker_context()
    ours, theirs = context.Pipe()
    process = context.Process(target=wait_for_ever, args=(theirs,), daemon=True)
    process.start()
    assert ours.recv() is True
    process.terminate()
    process.join()
    assert process.exitcode == -signal.SIGTERM


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no fork server")
def test_the_fork_server_outlives_a_signal_to_the_group() -> None:
    context: Any = worker_context()
    ours, theirs = context.Pipe()
    process = context.Process(target=send_parent, args=(theirs,), daemon=True)
    process.start()
    server = ours.recv()
    process.join()
    assert server != os.getpid()
    os.kill(server, signal.SIGTERM)
    again = context.Process(target=send_parent, args=(theirs,), daemon=True)
    again.start()
    assert ours.recv() == server
    again.join()


def send_parent(pipe: Any) -> None:
    pipe.send(os.getppid())
