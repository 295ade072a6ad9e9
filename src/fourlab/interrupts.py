"""Delay Ctrl-C while processes start: it must neither hit a starting process nor be lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold back Ctrl-C in this process, and block it in processes that are started meanwhile.

    Blocking alone is not enough here, since another thread may receive the signal: a handler keeps
    it until the end. Does nothing outside the main thread and on Windows.
    """
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker  # does not exist on Windows

    resource_tracker.ensure_running()  # starting it later would unblock the signal
    received: list[int] = []
    # The mask is inherited by the processes started here; the handler is for other threads.
    handler = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        # The old handler first: a signal that is pending arrives when the mask is lifted.
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if received:
            signal.raise_signal(signal.SIGINT)


def allow_interrupts() -> None:
    """Unblock Ctrl-C in a process that was started while it was held back."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
