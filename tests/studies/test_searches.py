"""Many independent searches."""

from pathlib import Path

import numpy as np
import pytest

from fourlab.agent import Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.studies.searches import (
    Line,
    Searched,
    central_interval,
    resampled,
    resampled_means,
    search_all,
)
from fourlab.studies.workbench import Workbench


def test_sets_of_searches_are_those_of_the_agent_itself(tmp_path: Path) -> None:
    given = Position("vannucci-abril")
    empty = Position()
    lines = {
        "given": Line("vannucci-abril:simulations=50", given, 2, 3),
        "empty": Line("gao:simulations=30", empty, 1, 2),
    }
    searched = search_all(Workbench(tmp_path, "smoke", {}, 7, Threads(1)), "runs", lines)
    assert searched["given"].means.shape == (2, 3, 2)
    assert searched["empty"].visits.shape == (1, 2, 7)
    assert (searched["given"].visits.sum(axis=2) == 50).all()
    agent = make("gao:simulations=30,runs=2")
    assert isinstance(agent, MCTS)
    again = agent.search(empty, Limit(), np.random.default_rng([7, 2]))
    expected = [[column.value for column in tree.columns()] for tree in again.trees]
    assert searched["empty"].means[0] == pytest.approx(np.array(expected), abs=1e-6)


def test_the_best_column_of_runs_and_of_sets() -> None:
    means = np.array([[[0.5, 0.1], [0.2, 0.3]], [[0.0, 0.4], [0.1, 0.2]]])
    searched = Searched(means, np.ones_like(means))
    assert searched.share_first(0) == (1, 4)
    assert searched.sets_first(0) == (1, 2)


def test_means_of_many_runs_lie_closer_together() -> None:
    runs = np.random.default_rng(0).normal(0.5, 0.2, (400, 1))
    assert resampled(runs, 25, 0).shape[1:] == (25, 1)
    low, high = central_interval(resampled_means(runs, 25, 0))
    assert high - low == pytest.approx(2 * 1.96 * runs.std() / 5, rel=0.1)
    low, high = central_interval(resampled_means(runs, 25, 0)[:, 0], 0.99)
    assert low < 0.5 < high < 0.7
