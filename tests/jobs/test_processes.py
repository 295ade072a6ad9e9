"""Starting and ending worker processes."""

import os
import signal
import sys
from typing import Any

import pytest

from fourlab.jobs.processes import worker_context


def wait_for_a_signal(pipe: Any) -> None:
    pipe.send(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
    signal.pause()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_worker_can_be_terminated() -> None:
    context: Any = worker_context()
    our_end, worker_end = context.Pipe()
    process = context.Process(target=wait_for_a_signal, args=(worker_end,), daemon=True)
    process.start()
    assert our_end.recv() is True
    process.terminate()
    process.join()
    assert process.exitcode == -signal.SIGTERM


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the fork server")
def test_the_fork_server_survives_a_signal_to_its_process_group() -> None:
    context: Any = worker_context()
    our_end, worker_end = context.Pipe()
    process = context.Process(target=send_parent, args=(worker_end,), daemon=True)
    process.start()
    server = our_end.recv()
    process.join()
    assert server != os.getpid()
    os.kill(server, signal.SIGTERM)
    second = context.Process(target=send_parent, args=(worker_end,), daemon=True)
    second.start()
    assert our_end.recv() == server
    second.join()


def send_parent(pipe: Any) -> None:
    pipe.send(os.getppid())
