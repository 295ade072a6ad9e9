"""Ctrl-C while a job is worked on: first stop, then abandon, then give up."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from fourlab.jobs.job import Session


@contextmanager
def interruptible(
    session: Session,
    give_up: Callable[[], None],
    signals: Sequence[int] = (signal.SIGINT,),
    is_ending: bool = False,
) -> Iterator[None]:
    """Handle signals while a job is worked on.

    The first one finishes the items in progress, the second abandons them, the third calls
    `give_up`. Stored results are kept in any case, and workers end with this process. `is_ending`
    says that the process ends after an interruption, which further signals must not disturb. Does
    nothing outside the main thread, which signals do not reach.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    presses = 0

    # Signal handlers run in the main thread between two instructions, in the middle of anything.
    def show(text: str) -> None:
        os.write(2, f"\n{text}\n".encode())  # print is not reentrant in a signal handler

    def on_signal(number: int, frame: object) -> None:
        nonlocal presses
        presses += 1
        if presses == 1:
            session.stop()
            show("finishing the work in progress; press Ctrl-C again to abandon it")
        elif presses == 2 and session.can_abort:
            session.abort()
            show("abandoning the work in progress; press Ctrl-C again to exit immediately")
        else:
            give_up()

    handlers = {number: signal.signal(number, on_signal) for number in signals}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            ignored = is_ending and presses > 0
            signal.signal(number, signal.SIG_IGN if ignored else handler)
