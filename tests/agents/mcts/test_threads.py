"""The threads of the agent mcts, which wait between moves."""

import threading
from typing import Any

import numpy as np
import pytest

from fourlab import Limit, Position, make
from fourlab.agent import close
from fourlab.agents.mcts import nodes, verbs
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.mcts.guided_kernel import WON
from fourlab.agents.mcts.tree import SearchTree, decision
from fourlab.compiled._jit import kernel


def search_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("search")]


@pytest.mark.parametrize("options", ["threads=3", "runs=3,threads=2"])
def test_threads_wait_for_the_next_move_and_end_with_the_agent(options: str) -> None:
    before = set(search_threads())
    agent = make(f"mcts:simulations=9000,{options}")
    agent.decide(Position(), Limit(), np.random.default_rng(0))
    waiting = set(search_threads()) - before
    assert waiting
    for seed in range(5):
        agent.decide(Position("44"), Limit(), np.random.default_rng(seed))
    # Further threads start only while all others are busy.
    assert waiting <= set(search_threads()) - before
    assert len(set(search_threads()) - before) <= 2
    close(agent)
    assert set(search_threads()) <= before
    # A closed agent starts new threads; they end when nobody uses the agent any longer.
    assert agent.decide(Position(), Limit(), np.random.default_rng(0)).column in range(7)
    started = set(search_threads()) - before
    assert started
    del agent
    for thread in started:
        thread.join(60)
        assert not thread.is_alive()


def test_an_error_in_a_thread_of_the_pool_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    original = SearchTree.search
    helps = threading.Event()

    def fail_elsewhere(tree: SearchTree, *arguments: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            helps.set()
            raise RuntimeError("no luck")
        helps.wait(60)
        return original(tree, *arguments)

    monkeypatch.setattr(SearchTree, "search", fail_elsewhere)
    agent = make("mcts:threads=2,simulations=9000")
    with pytest.raises(RuntimeError, match="no luck"):
        agent.decide(Position(), Limit(), np.random.default_rng(0))


@pytest.mark.parametrize("ucb", ["standard", "log-ratio"])
@pytest.mark.parametrize(
    ("visits", "wins", "expected"),
    [
        (400, 401, 1.0),  # a visit was lost
        (400, -401, -1.0),
        (400, 399, 399 / 400),
        (0, 1, None),
        (-2, 1, None),  # a batch of visits was lost, and then taken back
        (nodes.LOST + 400, 401, 1.0),
        (nodes.LOST - 1, 0, None),
        (nodes.DRAWN - 1, 0, None),
    ],
)
def test_lost_updates_do_not_take_a_mean_off_its_scale(
    visits: int, wins: int, expected: float | None, ucb: str
) -> None:
    agent = make(f"mcts:threads=3,ucb={ucb}")
    assert isinstance(agent, MCTS)
    for won in (verbs.POINTS, verbs.WON, WON):
        tree = SearchTree(Position(), agent.switches()._replace(won=won), 10)
        edge = tree.tree.nodes.size * tree.root + 3
        tree.tree.nodes.words[edge] = visits
        tree.tree.nodes.words[edge + 7] = won * wins
        tree.tree.counts[0] = 500
        column = tree.columns()[3]
        assert column.value == expected
        assert column.visits == (0 if expected is None else 400)
        assert tree.snapshot(500).means[3] == expected
        decided = decision(column, tuple(tree.columns()), [tree], 500, 0.0)
        assert decided.value == expected
        assert decided.policy is not None
        assert min(decided.policy) >= 0


@kernel
def choose_once(nodes_: nodes.Nodes, n: int, s: verbs.Switches) -> int:
    return verbs.choose(nodes_, 1, n, s, 1)[0]


@pytest.mark.parametrize("ucb", ["standard", "log-ratio"])
def test_a_node_that_another_thread_proves_meanwhile_can_be_searched(ucb: str) -> None:
    # The visits of the edge to a node are marked after it was selected and before they are read.
    agent = make(f"mcts:threads=3,ucb={ucb}")
    assert isinstance(agent, MCTS)
    tree = SearchTree(Position(), agent.switches(), 10)
    first = tree.tree.nodes.size * tree.root
    tree.tree.nodes.words[first : first + 7] = 100
    tree.tree.nodes.words[first + 7 + 5] = 100 * verbs.POINTS
    for n in (700, -1, nodes.LOST + 700, nodes.DRAWN + 700):
        assert choose_once(tree.tree.nodes, n, agent.switches()) == 5


def test_threads_add_their_results_once_to_the_column_that_leads_to_a_kept_position() -> None:
    agent = make("mcts:threads=3,reuse=games,proofs=0,simulations=20000")
    assert isinstance(agent, MCTS)
    decided = agent.decide(Position("4"), Limit(), np.random.default_rng(0))
    (tree,) = agent._kept.values()
    leading = tree.columns()[3]
    assert leading.value is not None
    below = tree.columns((3,))
    assert leading.visits == decided.analysis.simulations
    # Threads that meet can lose a few updates below, but not those of the column that leads here.
    assert sum(column.visits for column in below) == pytest.approx(leading.visits, rel=0.01)
    total = sum(column.visits * (column.value or 0.0) for column in below)
    assert leading.value == pytest.approx(-total / leading.visits, abs=0.01)
    assert leading.value > 0.1  # red has the better game
    close(agent)
