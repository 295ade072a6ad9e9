"""Several independent searches of one position, and their average (Vannucci & Abril)."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from fourlab.agent import ColumnAnalysis
from fourlab.agents.mcts.budget import Budget
from fourlab.agents.mcts.tree import SearchTree
from fourlab.compiled.random import seed_states


@dataclass(frozen=True)
class Run:
    """One of several independent searches."""

    tree: SearchTree
    budget: Budget
    columns: list[ColumnAnalysis]


def search_runs(
    new_tree: Callable[[], SearchTree],
    budget: Budget,
    runs: int,
    threads: int,
    seed: int,
    pool: Callable[[], ThreadPoolExecutor],
) -> list[Run]:
    """Search new trees, each with all the simulations, until there are `runs` or the time is up.

    The thread that calls searches, too; the others, if any, are those of the pool.
    """
    # A random state per run, not per thread, so that the results do not depend on scheduling.
    states = enumerate(seed_states(seed, runs))
    lock = threading.Lock()
    begun: list[Budget] = []
    done: dict[int, Run] = {}

    def search() -> None:
        while True:
            with lock:
                number, state = next(states, (None, 0))
                # At least one run; the others only while there is time.
                if number is None or (begun and budget.is_over()):
                    return
                share = budget.share(runs, threads)
                begun.append(share)
            tree = new_tree()
            share.spend(tree, state, None)
            done[number] = Run(tree, share, tree.columns())

    # This thread searches, too.
    helpers = list[Future[None]]()
    try:
        for _ in range(min(threads, runs) - 1):
            helpers.append(pool().submit(search))
        search()
    except BaseException:
        budget.stop = np.ones(1, np.uint8)  # no run begins any more
        for share in begun:
            share.finished = True
        raise
    finally:
        # A helper that has not begun by now has nothing left to do.
        wait([helper for helper in helpers if not helper.cancel()])
    for helper in helpers:
        if not helper.cancelled():
            helper.result()  # raises what the helper raised
    budget.done = sum(run.budget.done for run in done.values())
    return [done[number] for number in sorted(done)]


def averaged(searches: list[list[ColumnAnalysis]]) -> tuple[ColumnAnalysis, ...]:
    """Return the columns of all runs: visits added, means averaged over the runs that have one."""
    # Every run lists the same columns, those that are open at the root.
    averages = []
    for runs in zip(*searches, strict=True):
        proofs = (run.proven for run in runs if run.proven is not None)
        # A proof is exact, so that of any run holds for all of them.
        averages.append(
            ColumnAnalysis(
                runs[0].column,
                sum(run.visits for run in runs),
                _mean([run.value for run in runs if run.value is not None]),
                _mean([run.bound for run in runs if run.bound is not None]),
                proven=next(proofs, None),
            )
        )
    return tuple(averages)


def _mean(numbers: list[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
