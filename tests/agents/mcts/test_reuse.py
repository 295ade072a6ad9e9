"""The agent mcts: reuse of trees, full memory and transpositions."""

import itertools

import numpy as np
import pytest

from fourlab import Agent, Decision, Exact, Limit, Position, make
from fourlab.agents.mcts import kernel
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.mcts.tree import SearchTree
from fourlab.compiled.negamax import kaggle_negamax
from tests.agents.mcts.test_agent import VANNUCCI_ABRIL, search, truth


def contents(tree: SearchTree, path: tuple[int, ...], depth: int = 4) -> list[object]:
    """Return the statistics of all columns below a path, without bounds."""
    columns = tree.columns(path)
    result: list[object] = [
        (column.column, column.visits, column.value, column.proven) for column in columns
    ]
    if depth:
        result += [contents(tree, (*path, column.column), depth - 1) for column in columns]
    return result


def kept_tree(agent: Agent) -> SearchTree:
    assert isinstance(agent, MCTS)
    (tree,) = agent._kept.values()
    return tree


def total_visits(decision: Decision) -> int:
    return sum(column.visits for column in decision.analysis.columns)


def test_a_moved_root_keeps_exactly_the_tree_below_it() -> None:
    start = Position("44")
    (tree,) = search("mcts:simulations=20000", start).trees
    before = contents(tree, (2, 4))
    assert tree.move_root(start.play(2).play(4))
    assert contents(tree, ()) == before
    nodes = tree.nodes
    tree.prune()
    assert contents(tree, ()) == before
    assert tree.nodes < nodes
    assert not tree.move_root(Position("77"))


def test_pruning_moves_the_tree_in_place_and_again_and_again() -> None:
    position = Position("44")
    (tree,) = search("mcts:simulations=30000", position).trees
    words = tree.tree.nodes.words
    for column in (3, 2, 4):
        before = contents(tree, (column,))
        position = position.play(column)
        assert tree.move_root(position)
        assert tree.prune()
        assert tree.tree.nodes.words is words
        assert contents(tree, ()) == before
        # Parents come before their children, which the next pruning relies on.
        for block in range(1, tree.nodes + 1):
            leads = [tree._leads(block, column) for column in range(7)]
            assert all(child == 0 or child > block for child in leads)


def test_pruning_stops_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourlab.agents.mcts.tree.PRUNED_BLOCKS", 100)
    start = Position("44")
    for looks, usable in ((0, True), (3, True), (60, False), (10_000, True)):
        (tree,) = search("mcts:simulations=20000", start).trees
        before = contents(tree, (2, 4))
        assert tree.move_root(start.play(2).play(4))
        nodes = tree.nodes
        clock = itertools.count()
        assert tree.prune(lambda looks=looks, clock=clock: next(clock) >= looks) == usable
        assert next(clock) <= looks + 2
        if usable:
            assert contents(tree, ()) == before
            assert (tree.nodes < nodes) == (looks == 10_000)


def test_a_tree_that_could_not_be_pruned_in_time_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = make("mcts:simulations=5000,reuse=moves")
    position = Position("44")
    first = agent.decide(position, Limit(), np.random.default_rng(0))
    monkeypatch.setattr(SearchTree, "prune", lambda self, is_over: False)
    position = position.play(first.column).play(first.line[1])
    second = agent.decide(position, Limit(), np.random.default_rng(0))
    assert total_visits(second) == 5000


@pytest.mark.parametrize("reuse", ["moves", "games"])
def test_kept_trees_stay_within_their_memory(reuse: str) -> None:
    agent = make(f"mcts:simulations=30000,reuse={reuse},memory=1")
    rng = np.random.default_rng(0)
    for _ in range(2):
        position = Position()
        while position.outcome() is None:
            decision = agent.decide(position, Limit(), rng)
            assert decision.analysis.memory_bytes is not None
            assert decision.analysis.memory_bytes <= 2**20
            assert kept_tree(agent).tree.nodes.words.nbytes <= 2**20
            position = position.play(decision.column)


def test_a_tree_has_no_more_blocks_than_its_numbers_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourlab.agents.mcts.verbs.MAX_BLOCKS", 50)
    result = search("mcts:simulations=2000,memory=1000", Position())
    assert result.trees[0].nodes < 50
    assert result.decision.analysis.simulations == 2000


def test_a_full_count_of_visits_ends_the_use_of_a_tree_for_all_games(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = make("mcts:simulations=400,reuse=games")
    rng = np.random.default_rng(0)
    agent.decide(Position("4"), Limit(), rng)
    monkeypatch.setattr("fourlab.agents.mcts.verbs.MAX_VISITS", 300)
    before = kept_tree(agent).columns((3,))
    decision = agent.decide(Position("4"), Limit(), rng)
    assert kept_tree(agent).columns((3,)) == before  # a tree of its own was searched
    assert decision.column in range(7)


def test_a_kept_tree_continues_to_grow() -> None:
    agent = make("mcts:simulations=5000,reuse=moves")
    position = Position("44")
    rng = np.random.default_rng(0)
    first = agent.decide(position, Limit(), rng)
    position = position.play(first.column).play(first.line[1])
    second = agent.decide(position, Limit(), rng)
    assert total_visits(second) > 5000
    fresh = make("mcts:simulations=5000").decide(position, Limit(), rng)
    assert total_visits(fresh) == 5000


def test_one_tree_serves_many_games() -> None:
    agent = make("mcts:simulations=50,reuse=games,rollouts=uniform,proofs=0")
    rng = np.random.default_rng(0)
    for game in range(1, 4):
        assert total_visits(agent.decide(Position("4"), Limit(), rng)) >= 50 * game
        assert total_visits(agent.decide(Position("444"), Limit(), rng)) >= 50 * game


@pytest.mark.parametrize("solver", [0, 1])
def test_a_search_of_a_subtree_is_backed_up_to_the_column_that_leads_there(solver: int) -> None:
    agent = make(f"mcts:simulations=400,reuse=games,proofs={solver}")
    rng = np.random.default_rng(0)
    for moves in ("44", "443", "44", "443", "44"):
        for column in agent.decide(Position(moves), Limit(), rng).analysis.columns:
            assert column.value is None or -1 <= column.value <= 1
    tree = kept_tree(agent)
    parent = {column.column: column for column in tree.columns((3, 3))}[2]
    children = tree.columns((3, 3, 2))
    visits = sum(child.visits for child in children)
    assert parent.visits >= visits >= 800
    total = sum(child.visits * child.value for child in children if child.value is not None)
    assert parent.value == pytest.approx(-total / visits, abs=0.05)


@pytest.mark.parametrize("spec", ["sewell:simulations=60", "sewell:faithful=1,simulations=60"])
def test_a_search_after_a_reply_is_backed_up_to_our_own_column_too(spec: str) -> None:
    """SeWell's nodes are positions after the reply; our choice must use their statistics."""
    agent = make(spec)
    rng = np.random.default_rng(0)
    first = agent.decide(Position(), Limit(), rng)
    column, reply = first.line[:2]
    for _ in range(5):
        agent.decide(Position().play(column).play(reply), Limit(), rng)
    tree = kept_tree(agent)
    before = {stats.column: stats.visits for stats in first.analysis.columns}[column]
    ours = {stats.column: stats for stats in tree.columns()}[column]
    assert ours.visits == before + 300
    replies = tree.columns((column,))
    total = sum(stats.visits * stats.value for stats in replies if stats.value is not None)
    assert ours.value == pytest.approx(-total / ours.visits, abs=0.05)


def test_a_kept_tree_distinguishes_our_nodes_from_the_opponents() -> None:
    """An opponent in the transition has nodes with one frozen reply, where we never choose."""
    agent = make("sewell:faithful=1,simulations=60")
    rng = np.random.default_rng(0)
    agent.decide(Position(), Limit(), rng)
    for moves in ("4", "1", "44", "441"):
        assert len(agent.decide(Position(moves), Limit(), rng).analysis.columns) == 7
    agent = make("mcts:opponent=random-frozen,proofs=0,rollouts=uniform,reuse=moves,simulations=60")
    for moves in ("4", "44", "444"):
        assert len(agent.decide(Position(moves), Limit(), rng).analysis.columns) == 7


def test_a_position_set_up_as_a_board_is_found_again_after_a_move_of_each_side() -> None:
    agent = make("mcts:simulations=300,proofs=0,reuse=moves")
    rng = np.random.default_rng(0)
    first = agent.decide(VANNUCCI_ABRIL, Limit(), rng)
    after = VANNUCCI_ABRIL.play(first.column).play(first.line[1])
    assert total_visits(agent.decide(after, Limit(), rng)) > 300


def test_sewells_agent_learns_to_beat_the_negamax_in_its_tree() -> None:
    agent = make("sewell:faithful=1")
    rng = np.random.default_rng(2)
    results = []
    for _ in range(150):
        position = Position()
        while position.outcome() is None:
            if position.to_move == 0:
                column = agent.decide(position, Limit(), rng).column
            else:
                _, column, _ = kaggle_negamax(
                    position.own, position.mask, position.rules.geometry, 4, False, 1
                )
            position = position.play(column)
        results.append(position.outcome().value)  # type: ignore[union-attr]
    assert np.mean(results[-30:]) > np.mean(results[:30])


def test_a_full_tree_stops_growing_but_not_searching() -> None:
    decision = make("mcts:simulations=60000,memory_mb=1").decide(
        Position(), Limit(), np.random.default_rng(0)
    )
    assert decision.analysis.memory_bytes <= 2**20
    assert decision.analysis.simulations == 60000
    assert total_visits(decision) == 60000


def test_searches_with_and_without_transpositions_agree() -> None:
    position = Position("132231", board="4x4x4")
    spec = "mcts:simulations=60000,proofs=0,rollouts=uniform"
    tree = search(spec, position, 3)
    graph = search(f"{spec},transpositions=1", position, 3)
    assert tree.decision.value == pytest.approx(graph.decision.value, abs=0.03)
    for merged in (0, 1):
        result = search(f"mcts:transpositions={merged},simulations=200000", position)
        assert result.decision.proven == Exact(truth(position))
    tree = search("mcts:simulations=20000", Position())
    graph = search("mcts:simulations=20000,transpositions=1", Position())
    assert graph.trees[0].nodes < tree.trees[0].nodes


def test_a_tree_that_was_full_can_grow_below_its_leaves() -> None:
    tree = SearchTree(Position(), MCTS(proofs=False).switches(), blocks=40)
    tree.search(5000, 1, np.zeros(1, np.uint8))
    line = tree.line()
    assert tree.nodes == 39
    blocks = tree.tree.nodes
    words = np.concatenate([blocks.words, np.zeros(21 * 4000, np.int32)])  # free blocks again
    tree.tree = tree.tree._replace(nodes=blocks._replace(words=words))
    position = Position()
    for column in line:
        position = position.play(column)
    below = tree.descend(position)
    assert below is not None
    done, reason, _ = below.search(1000, 1, np.zeros(1, np.uint8))
    assert (done, reason) == (1000, kernel.RUNNING)
    assert all(column.visits > 0 for column in below.columns())
