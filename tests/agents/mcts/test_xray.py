"""Excerpts of search trees, and snapshots of searches."""

import itertools

import numpy as np
import pytest

from fourlab import Limit, Position, make
from fourlab.agent import ColumnAnalysis, Snapshot
from fourlab.agents.alphazero.agent import AlphaZero
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.mcts.xray import Node, excerpt, marks


def count(nodes: list[Node]) -> int:
    return sum(1 + count(node.children) for node in nodes)


def look(path: tuple[int, ...]) -> list[ColumnAnalysis]:
    """Return the columns of a tree whose first column has 90 % of the visits, the second 10 %."""
    visits = 1000
    for column in path:
        visits = visits // 10 * (9 if column == 0 else 1)
    return [
        ColumnAnalysis(0, visits * 9 // 10, 0.5),
        ColumnAnalysis(1, visits // 10, -0.5),
        ColumnAnalysis(2),
    ]


def test_the_most_visited_nodes_are_shown_first() -> None:
    (often, seldom) = excerpt(look, 6)
    assert [node.stats.column for node in (often, seldom)] == [0, 1]
    assert [len(often.children), len(seldom.children)] == [2, 0]
    assert len(often.children[0].children) == 2
    assert count([often, seldom]) == 6


@pytest.mark.parametrize("most", [0, 1, 5, 100])
def test_at_most_this_many_nodes_are_shown(most: int) -> None:
    assert count(excerpt(look, most)) == most


def test_columns_that_were_never_tried_are_left_out() -> None:
    assert all(node.stats.column != 2 for node in excerpt(look, 50))


def test_snapshots_are_taken_ten_times_a_power_of_ten() -> None:
    counts = list(itertools.islice(marks(), 26))
    assert counts[:7] == [1, 2, 3, 5, 7, 10, 12]
    assert counts[-1] == 1000


@pytest.mark.parametrize(
    "spec",
    ["mcts:simulations=700", "alphazero:simulations=700", "alphazero:simulations=64,batch=1"],
)
def test_a_search_can_be_watched_and_its_tree_read(spec: str) -> None:
    agent = make(spec)
    assert isinstance(agent, MCTS | AlphaZero)
    seen: list[Snapshot] = []
    result = agent.search(Position("4453"), Limit(), np.random.default_rng(1), seen.append)
    assert tuple(seen) == result.trace
    last = result.trace[-1]
    assert last.simulations == sum(last.visits) == result.decision.analysis.simulations
    assert last.columns == result.decision.analysis.columns
    counts = [snapshot.simulations for snapshot in seen]
    assert counts == sorted(set(counts))
    assert result.look(()) == list(last.columns)
    best = result.decision.column
    below = result.look((best,))
    assert 0 < sum(column.visits for column in below) <= last.visits[best]
    assert result.look((best,) * 6) == []  # the column would be full


def test_watching_changes_nothing() -> None:
    agent = make("alphazero:simulations=300")
    assert isinstance(agent, AlphaZero)
    watched = agent.search(Position("4453"), Limit(), np.random.default_rng(2)).decision
    alone = agent.decide(Position("4453"), Limit(), np.random.default_rng(2))
    assert (watched.column, watched.value, watched.policy, watched.line) == (
        alone.column,
        alone.value,
        alone.policy,
        alone.line,
    )
