"""Searches that Ctrl-C ends early with what they know: they run in a thread with a stop flag."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from fourlab.agent import Stop
from fourlab.reporting.progress import terminal

if TYPE_CHECKING:
    import rich.live

T = TypeVar("T")

LOOK_SECONDS = 0.2
"""How often the progress is shown; also how soon Ctrl-C is noticed."""
QUIET_SECONDS = 0.5
"""Shorter searches show no progress."""


class Stoppable:
    """Runs searches one after another; Ctrl-C sets their stop flag, once."""

    def __init__(self) -> None:
        self.is_interrupted = False
        # Compiled code runs in another thread: Python handles signals in the main thread only, and
        # not before a compiled function returns.
        self._pool = ThreadPoolExecutor(1)

    def run(self, search: Callable[[Stop], T], describe: Callable[[float], str]) -> T:
        """Return the result of a search, which is incomplete if Ctrl-C was pressed.

        On a terminal, `describe` gives the line of progress after some seconds.
        """
        stop = Stop()
        future = self._pool.submit(search, stop)
        try:
            self._watch(future, describe)
        except KeyboardInterrupt:
            self.is_interrupted = True
            stop.set()
        return future.result()

    def _watch(self, future: "Future[T]", describe: Callable[[float], str]) -> None:
        """Wait for the end of a search, and show how it gets on."""
        began = perf_counter()
        live: rich.live.Live | None = None
        with ExitStack() as stack:
            while wait([future], timeout=LOOK_SECONDS).not_done:
                seconds = perf_counter() - began
                if live is None and seconds >= QUIET_SECONDS:
                    if (screen := terminal()) is None:
                        wait([future])
                        return
                    from rich.live import Live

                    live = stack.enter_context(Live(console=screen, transient=True))
                if live is not None:
                    from rich.text import Text

                    live.update(Text(describe(seconds), overflow="ellipsis", no_wrap=True))
