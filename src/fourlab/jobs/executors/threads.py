"""Work in threads of this process, for compiled code, which releases the interpreter lock."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from fourlab.jobs.executors.work import StopFlags, Work, is_ordered


class Threads(StopFlags):
    """An executor whose workers are threads of this process; they end with `map`."""

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        """Yield results as they arrive."""
        work.prepare()
        waiting = iter(items)
        workers = 1 if is_ordered(work) else self.workers
        running: dict[Future[Any], int] = {}
        with ThreadPoolExecutor(self.workers) as pool:
            while not self._aborted:
                if not self._stopped:
                    for item in islice(waiting, workers - len(running)):
                        # No watch: a thread can neither die alone nor be ended if it hangs.
                        running[pool.submit(work, item, None)] = item
                if not running:
                    return
                done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    yield [(running.pop(future), future.result())]
