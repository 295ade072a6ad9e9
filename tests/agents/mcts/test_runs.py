"""Several independent searches."""

import itertools
import time

import numpy as np
import pytest

from fourlab import Limit, Position, Stop, make
from fourlab.agents.mcts.budget import Budget
from fourlab.agents.mcts.tree import SearchTree


def test_threads_do_not_change_the_average() -> None:
    decisions = [
        make(f"mcts:runs=5,simulations=200,threads={threads}").decide(
            Position("4453"), Limit(), np.random.default_rng(1)
        )
        for threads in (1, 3)
    ]
    assert decisions[0].analysis.columns == decisions[1].analysis.columns
    assert decisions[0].analysis.simulations == 1000


def test_no_run_begins_after_the_stop_flag_is_set() -> None:
    stop = Stop()
    stop.set()
    decision = make("mcts:runs=10000").decide(Position(), Limit(stop=stop))
    assert decision.column in range(7)
    assert decision.analysis.nodes == 1  # the root of the one tree that is always made


def test_no_run_begins_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = make("mcts:runs=10000")
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    decision = agent.decide(Position(), Limit(seconds=100))
    assert decision.column in range(7)
    assert next(clock) < 150


def test_an_exception_in_one_run_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def spend(self: Budget, tree: SearchTree, state: int, snap: None) -> None:
        begun.append(state)
        raise RuntimeError("boom")

    monkeypatch.setattr(Budget, "spend", spend)
    with pytest.raises(RuntimeError, match="boom"):
        make("mcts:runs=1000,threads=2,simulations=10").decide(Position())
    assert len(begun) <= 2
