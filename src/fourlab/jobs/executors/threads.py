"""Work in threads of this process: for work that spends its time in compiled code, which lets other threads run."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from fourlab.jobs.executors.work import Work


class Threads:
    """Threads of this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._stopped = self._aborted = False

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        """Yield results as they come."""
        work.prepare()
        waiting, running = iter(items), dict[Future[Any], int]()
        with ThreadPoolExecutor(self.workers) as pool:
            while not self._aborted:
                if not self._stopped:
                    for item in islice(waiting, self.workers - len(running)):
                        running[pool.submit(work, item, None)] = item
                if not running:
                    return
                done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    yield [(running.pop(future), future.result())]

    def stop(self) -> None:
        """Begin nothing new."""
        self._stopped = True

    def abort(self) -> None:
        """Give up what is in hand, too."""
        self._stopped = self._aborted = True

    def close(self) -> None:
        """Nobody waits here."""
