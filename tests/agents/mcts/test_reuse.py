"""The agent mcts: trees that are kept, memory that is full, transpositions that are merged."""

import numpy as np
import pytest

from fourlab import Exact, Limit, Position, make
from fourlab.agents.mcts import kernel
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.mcts.tree import SearchTree
from tests.agents.mcts.test_agent import DOCUMENT_000, search, truth


def whole(tree: object, path: tuple[int, ...], depth: int = 4) -> list[object]:
    """All that is known below a path, `bound` aside."""
    columns = tree.columns(path)  # type: ignore[attr-defined]
    known: list[object] = [(each.column, each.visits, each.value, each.proven) for each in columns]
    if depth:
        known += [whole(tree, (*path, each.column), depth - 1) for each in columns]
    return known


def test_a_moved_root_keeps_exactly_what_was_known_below_it() -> None:
    start = Position("44")
    (tree,) = search("mcts:simulations=20000", start).trees  # type: ignore[attr-defined]
    before = whole(tree, (2, 4))
    assert tree.move_root(start.play(2).play(4))
    assert whole(tree, ()) == before
    nodes = tree.nodes
    tree.forget_the_rest()
    assert whole(tree, ()) == before
    assert tree.nodes < nodes
    assert not tree.move_root(Position("77"))


def test_a_kept_tree_goes_on_growing() -> None:
    agent, position, rng = make("mcts:simulations=5000,reuse=moves"), Position("44"), np.random.default_rng(0)
    first = agent.decide(position, Limit(), rng)
    position = position.play(first.column).play(first.line[1])
    second = agent.decide(position, Limit(), rng)
    assert sum(each.visits for each in second.analysis.columns) > 5000
    fresh = make("mcts:simulations=5000").decide(position, Limit(), rng)
    assert sum(each.visits for each in fresh.analysis.columns) == 5000


def test_one_tree_serves_many_games() -> None:
    agent, rng = make("mcts:simulations=50,reuse=games,rollouts=uniform,solver=0"), np.random.default_rng(0)
    for game in range(1, 4):
        decision = agent.decide(Position("4"), Limit(), rng)
        assert sum(each.visits for each in decision.analysis.columns) >= 50 * game
        below = agent.decide(Position("444"), Limit(), rng)
        assert sum(each.visits for each in below.analysis.columns) >= 50 * game


@pytest.mark.parametrize("solver", [0, 1])
def test_searching_below_credits_the_column_that_leads_there(solver: int) -> None:
    agent, rng = make(f"mcts:simulations=400,reuse=games,solver={solver}"), np.random.default_rng(0)
    for moves in ("44", "443", "44", "443", "44"):
        for each in agent.decide(Position(moves), Limit(), rng).analysis.columns:
            assert each.value is None or -1 <= each.value <= 1
    tree = agent._kept["tree"]  # type: ignore[attr-defined]
    leading = {each.column: each for each in tree.columns((3, 3))}[2]
    below = tree.columns((3, 3, 2))
    assert leading.visits >= sum(each.visits for each in below) >= 800
    mean_below = sum(each.visits * each.value for each in below if each.value is not None) / sum(each.visits for each in below)
    assert leading.value == pytest.approx(-mean_below, abs=0.05)


@pytest.mark.parametrize("spec", ["sewell:simulations=60", "sewell:faithful=1,simulations=60"])
def test_searching_below_a_reply_credits_our_own_column_too(spec: str) -> None:
    """Document 003's nodes are positions after the reply: what its searches find there, choosing the column must know."""
    agent, rng = make(spec), np.random.default_rng(0)
    first = agent.decide(Position(), Limit(), rng)
    column, reply = first.line[:2]
    for _ in range(5):
        agent.decide(Position().play(column).play(reply), Limit(), rng)
    tree = agent._kept["tree"]  # type: ignore[attr-defined]
    before = {each.column: each.visits for each in first.analysis.columns}[column]
    ours = {each.column: each for each in tree.columns()}[column]
    replies = [each for each in tree.columns((column,)) if each.value is not None]
    assert ours.visits == before + 300
    lost = sum(each.visits * each.value for each in replies)  # type: ignore[operator]
    assert ours.value == pytest.approx(-lost / ours.visits, abs=0.05)


def test_a_kept_tree_knows_whose_turn_it_is() -> None:
    """With the opponent in the transition its nodes hold one frozen reply; we must never be asked to choose there."""
    agent, rng = make("sewell:faithful=1,simulations=60"), np.random.default_rng(0)
    agent.decide(Position(), Limit(), rng)
    for moves in ("4", "1", "44", "441"):
        assert len(agent.decide(Position(moves), Limit(), rng).analysis.columns) == 7
    agent = make("mcts:opponent=random-frozen,solver=0,rollouts=uniform,reuse=moves,simulations=60")
    for moves in ("4", "44", "444"):
        assert len(agent.decide(Position(moves), Limit(), rng).analysis.columns) == 7


def test_a_position_given_as_a_board_is_found_again_after_a_move_of_each_side() -> None:
    agent, rng = make("mcts:simulations=300,solver=0,reuse=moves"), np.random.default_rng(0)
    first = agent.decide(DOCUMENT_000, Limit(), rng)
    after = DOCUMENT_000.play(first.column).play(first.line[1])
    assert sum(each.visits for each in agent.decide(after, Limit(), rng).analysis.columns) > 300


def test_document_003_learns_to_beat_the_negamax_it_knows() -> None:
    agent, rng = make("sewell:faithful=1"), np.random.default_rng(2)
    from fourlab.compiled.negamax import kaggle_negamax

    results = []
    for _ in range(150):
        position = Position()
        while position.outcome() is None:
            if position.to_move == 0:
                column = agent.decide(position, Limit(), rng).column
            else:
                _, column, _ = kaggle_negamax(position.own, position.mask, position.rules.geometry, 4, False, 1)
            position = position.play(column)
        results.append(position.outcome().value)  # type: ignore[union-attr]
    assert np.mean(results[-30:]) > np.mean(results[:30])


def test_a_full_tree_stops_growing_but_not_searching() -> None:
    decision = make("mcts:simulations=60000,memory=1").decide(Position(), Limit(), np.random.default_rng(0))
    assert decision.analysis.memory_bytes <= 2**20
    assert decision.analysis.simulations == 60000
    assert sum(each.visits for each in decision.analysis.columns) == 60000


def test_merged_and_separate_positions_agree_in_the_end() -> None:
    position = Position("132231", board="4x4x4")
    tree, dag = (
        search(f"mcts:simulations=60000,solver=0,rollouts=uniform,transpositions={merged}", position, 3) for merged in (0, 1)
    )
    assert tree.decision.value == pytest.approx(dag.decision.value, abs=0.03)  # type: ignore[attr-defined]
    proofs = [search(f"mcts:transpositions={merged},simulations=200000", position).decision.proven for merged in (0, 1)]  # type: ignore[attr-defined]
    assert proofs[0] == proofs[1] == Exact(truth(position))
    merged, apart = (search(f"mcts:simulations=20000,transpositions={merged}", Position()) for merged in (1, 0))
    assert merged.decision.analysis.nodes < apart.decision.analysis.nodes  # type: ignore[attr-defined]


def test_a_tree_that_was_full_can_be_searched_below_its_leaves() -> None:
    tree = SearchTree(Position(), MCTS(solver=False).switches(), blocks=40)
    tree.search(5000, 1, np.zeros(1, np.uint8))
    line = tree.line()
    assert tree.nodes == 39
    words = np.concatenate([tree.tree.words, np.zeros(21 * 4000, np.int32)])  # room again
    tree.tree = tree.tree._replace(words=words)
    position = Position()
    for column in line:
        position = position.play(column)
    below = tree.descend(position)
    assert below is not None
    done, why, _ = below.search(1000, 1, np.zeros(1, np.uint8))
    assert (done, why) == (1000, kernel.RUNNING)
    assert all(each.visits > 0 for each in below.columns())
