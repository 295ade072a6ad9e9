"""Opinions of the solver and of agents, column by column."""

import numpy as np
import pytest

from fourlab import Limit, Position, make
from fourlab.agent import Stop
from fourlab.analysis.opinion import Opinion, ask, solve
from fourlab.solver import Solver

MIDDLE = Position("32751571231557")


def test_the_solver_proves_every_column_and_reports_interim_opinions() -> None:
    reported: list[Opinion] = []
    opinion = solve(MIDDLE, Limit(), reported.append)
    truth = Solver().columns(MIDDLE)
    assert [column.says for column in opinion.columns] == [str(truth[i]) for i in range(7)]
    assert opinion.finished
    assert opinion.best in [column for column, solution in truth.items() if solution.score == -3]
    assert opinion.proven is not None
    assert len(opinion.line) == opinion.proven.plies == 24
    assert all(not interim.finished for interim in reported)


def test_without_time_the_solver_reports_immediate_wins() -> None:
    stop = Stop()
    stop.set()
    opinion = solve(Position("44772157"), Limit(stop=stop))
    assert [column.says for column in opinion.columns if column.column in (2, 5)] == [
        "wins in 1",
        "wins in 1",
    ]
    assert opinion.best in (2, 5)
    assert opinion.proven is not None
    assert not opinion.finished


def test_a_full_column_is_reported_as_full() -> None:
    stop = Stop()
    stop.set()
    opinion = solve(Position("444444"), Limit(stop=stop))
    assert (opinion.columns[3].open, opinion.columns[3].says) == (False, "full")


@pytest.mark.parametrize(
    ("spec", "reported"),
    [
        ("mcts:simulations=300", {"value", "visits", "policy"}),
        ("alphazero:simulations=100", {"value", "visits", "policy", "prior"}),
        ("dqn", {"value", "policy"}),
        ("perfect", set()),
        ("rules", set()),
    ],
)
def test_agents_report_what_they_compute(spec: str, reported: set[str]) -> None:
    opinion = ask(make(spec), Position("44"), Limit(), np.random.default_rng(0))
    middle = opinion.columns[opinion.best or 0]
    assert {
        name for name in ("value", "visits", "policy", "prior") if getattr(middle, name) is not None
    } >= reported
    assert opinion.finished
    assert opinion.tree is None


def test_a_proven_column_says_so_and_an_estimated_one_is_a_percentage() -> None:
    opinion = ask(
        make("mcts:simulations=200"), Position("4455"), Limit(), np.random.default_rng(0), nodes=50
    )
    assert opinion.proven is not None  # three in a row with both ends open
    assert {column.says for column in opinion.columns if column.proven is not None} <= {
        "wins",
        "draw",
        "loses",
    }
    assert all(
        column.says.endswith("%")
        for column in opinion.columns
        if column.proven is None and column.visits
    )
    assert opinion.tree is not None


def test_a_search_that_reached_its_time_limit_is_not_finished() -> None:
    opinion = ask(make("mcts"), Position(), Limit(seconds=0.05), np.random.default_rng(0))
    assert not opinion.finished
