"""Many independent searches."""

from pathlib import Path

import numpy as np
import pytest

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.studies.searches import Line, Searched, drawn, means_of_so_many, middle, search_all, within
from fourlab.studies.workbench import Workbench


def test_sets_of_searches_are_those_of_the_agent_itself(tmp_path: Path) -> None:
    given, empty = Position("vannucci-abril"), Position()
    lines = {"given": Line("vannucci-abril:simulations=50", given, 2, 3), "empty": Line("gao:simulations=30", empty, 1, 2)}
    found = search_all(Workbench(tmp_path, "smoke", {}, 7, Threads(1)), "runs", lines)
    assert found["given"].means.shape == (2, 3, 2)
    assert found["empty"].visits.shape == (1, 2, 7)
    assert (found["given"].visits.sum(axis=2) == 50).all()
    again = make("gao:simulations=30,runs=2").search(empty, Limit(), np.random.default_rng([7, 2]))  # type: ignore[attr-defined]
    expected = [[each.value for each in tree.columns()] for tree in again.trees]
    assert found["empty"].means[0] == pytest.approx(np.array(expected), abs=1e-6)


def test_the_best_column_of_runs_and_of_sets() -> None:
    means = np.array([[[0.5, 0.1], [0.2, 0.3]], [[0.0, 0.4], [0.1, 0.2]]])
    found = Searched(means, np.ones_like(means))
    assert found.share_first(0) == (1, 4)
    assert found.sets_first(0) == (1, 2)


def test_means_of_many_are_nearer_together() -> None:
    runs = np.random.default_rng(0).normal(0.5, 0.2, (400, 1))
    assert drawn(runs, 25, 0).shape[1:] == (25, 1)
    low, high = middle(means_of_so_many(runs, 25, 0))
    assert high - low == pytest.approx(2 * 1.96 * runs.std() / 5, rel=0.1)
    assert within(0.5, means_of_so_many(runs, 25, 0))
    assert not within(0.7, means_of_so_many(runs, 25, 0))
