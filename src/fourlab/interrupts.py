"""Ctrl-C while processes are started: nobody who starts must hear it, and it must not be lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait: here, where another thread may have heard it, and in processes that are started meanwhile."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker  # there is none on Windows

    resource_tracker.ensure_running()  # which would let Ctrl-C through again when it starts
    heard: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if heard:
            signal.raise_signal(signal.SIGINT)


def hear_interrupts() -> None:
    """Let a process that was started meanwhile hear Ctrl-C again."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
