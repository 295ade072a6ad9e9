"""Opinions of the solver and of agents, column by column."""

import numpy as np
import pytest

from fourlab import Limit, Position, make
from fourlab.agent import Stop
from fourlab.analysis.opinion import Opinion, ask, solve
from fourlab.solver import Solver

MIDDLE = Position("32751571231557")


def test_the_solver_proves_every_column_and_tells_on_the_way() -> None:
    heard: list[Opinion] = []
    found = solve(MIDDLE, Limit(), heard.append)
    truth = Solver().columns(MIDDLE)
    assert [each.says for each in found.columns] == [str(truth[column]) for column in range(7)]
    assert found.finished
    assert found.best in [column for column, each in truth.items() if each.score == -3]
    assert found.proven is not None
    assert len(found.line) == found.proven.plies == 24
    assert all(not each.finished for each in heard)


def test_without_time_the_solver_tells_what_a_glance_shows() -> None:
    stop = Stop()
    stop.set()
    found = solve(Position("445566"), Limit(stop=stop))
    assert [each.says for each in found.columns if each.column in (2, 6)] == ["wins in 1", "wins in 1"]
    assert found.best in (2, 6)
    assert found.proven is not None
    assert not found.finished


def test_a_full_column_is_told_as_full() -> None:
    stop = Stop()
    stop.set()
    found = solve(Position("444444"), Limit(stop=stop))
    assert (found.columns[3].open, found.columns[3].says) == (False, "full")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("mcts:simulations=300", {"value", "visits", "policy"}),
        ("alphazero:simulations=100", {"value", "visits", "policy", "prior"}),
        ("dqn", {"value", "policy"}),
        ("perfect", set()),
        ("rules", set()),
    ],
)
def test_agents_tell_what_they_know(spec: str, told: set[str]) -> None:
    found = ask(make(spec), Position("44"), Limit(), np.random.default_rng(0))
    middle = found.columns[found.best or 0]
    assert {name for name in ("value", "visits", "policy", "prior") if getattr(middle, name) is not None} >= told
    assert found.finished
    assert found.tree is None


def test_a_proven_column_says_so_and_an_estimated_one_is_a_percentage() -> None:
    found = ask(make("mcts:simulations=200"), Position("4455"), Limit(), np.random.default_rng(0), nodes=50)
    assert found.proven is not None  # three in a row with both ends open
    assert {each.says for each in found.columns if each.proven is not None} <= {"wins", "draw", "loses"}
    assert all(each.says.endswith("%") for each in found.columns if each.proven is None and each.visits)
    assert found.tree is not None


def test_a_search_that_was_cut_short_is_not_finished() -> None:
    found = ask(make("mcts"), Position(), Limit(seconds=0.05), np.random.default_rng(0))
    assert not found.finished
