"""The agent `alphazero`: what only it does. The contract of all agents is tested elsewhere."""

import itertools
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

from fourlab import Decision, Exact, Limit, Position, make
from fourlab.agents.alphazero import agent as alphazero
from fourlab.errors import UserError
from fourlab.solver import Solver


def decided(spec: str, moves: str, limit: Limit | None = None) -> Decision:
    return make(spec).decide(Position(moves), limit or Limit(), np.random.default_rng(0))


def test_simulations_are_counted_and_the_prior_is_shown() -> None:
    decision = decided("alphazero:simulations=200", "4435")
    assert sum(decision.analysis.visits) == decision.analysis.simulations == 200
    assert sum(stats.prior for stats in decision.analysis.columns) == pytest.approx(1, abs=1e-4)
    position = Position("4435")
    for column in decision.line:
        position = position.play(column)


def test_the_policy_is_what_decides() -> None:
    by_visits = decided("alphazero:simulations=200,method=puct", "4435")
    assert by_visits.policy == tuple(visits / 200 for visits in by_visits.analysis.visits)
    improved = decided("alphazero:simulations=200", "4435")
    assert improved.policy is not None
    assert improved.column == int(np.argmax(improved.policy))
    assert sum(improved.policy) == pytest.approx(1)
    # Sequential halving: two columns are left at the end, and get about half of the visits.
    assert sum(sorted(improved.analysis.visits)[-2:]) >= 100


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a clock that advances by a millisecond whenever it is read."""
    looks = itertools.count()
    monkeypatch.setattr(alphazero, "time", SimpleNamespace(perf_counter=lambda: next(looks) / 1000))


@pytest.mark.usefixtures("clock")
def test_a_search_by_the_clock_plans_for_its_time() -> None:
    """It measures its pace and replans, so that two columns are left at the end."""
    for limit in (Limit(seconds=0.3), Limit(seconds=0.3, simulations=1_000_000)):
        decision = decided("alphazero", "4435", limit)
        visits = sorted(decision.analysis.visits)
        assert sum(visits) == decision.analysis.simulations > 0
        # Two of seven columns with even shares would have less than 0.3.
        assert sum(visits[-2:]) >= 0.35 * sum(visits)
    stop = Event()
    stop.set()
    assert decided("alphazero", "4435", Limit(stop=stop)).analysis.simulations == 0


def test_without_simulations_the_prior_decides() -> None:
    decision = decided("alphazero:simulations=0", "4435")
    priors = [stats.prior for stats in decision.analysis.columns]
    assert decision.column == int(np.argmax(priors))
    assert decision.analysis.evaluations == 1
    assert decision.value == decision.analysis.network


@pytest.mark.parametrize(
    "spec",
    ["alphazero:simulations=300", "alphazero:simulations=300,method=puct", "alphazero:batch=1"],
)
def test_wins_and_forced_replies_are_detected(spec: str) -> None:
    win = decided(spec, "121212")
    assert (win.column, win.value, win.analysis.evaluations) == (0, 1.0, 0)
    assert win.proven is not None
    assert decided(spec, "12121").column == 0  # the only block
    lost = decided(spec, "44335")  # red threatens on both sides
    assert lost.proven is not None
    assert lost.proven.result == -1


def test_late_positions_are_proven() -> None:
    moves = "2252576253462244111563365343671351441"
    decision = decided("alphazero:simulations=2000", moves)
    assert decision.proven is not None
    assert decision.proven.result == Solver(1).solve(Position(moves), weak=True).result


def test_leaves_that_take_too_many_nodes_are_evaluated() -> None:
    moves = "44444325"
    exact = Solver().columns(Position(moves), weak=True)
    by_nodes = {
        nodes: decided(f"alphazero:simulations=400,solver_nodes={nodes}", moves)
        for nodes in (0, 1, 100, 10_000)
    }
    evaluations = [decision.analysis.evaluations for decision in by_nodes.values()]
    assert evaluations == sorted(evaluations, reverse=True)
    assert len(set(evaluations)) == 4
    for decision in by_nodes.values():
        for column in decision.analysis.columns:
            if column.proven is not None:
                assert column.proven == exact[column.column].result


def test_the_tree_can_be_kept_between_moves() -> None:
    agent, rng = make("alphazero:simulations=300,reuse=1"), np.random.default_rng(0)
    first = agent.decide(Position("44"), Limit(), rng)
    line = first.line
    after = Position("44").play(line[0]).play(line[1])
    kept = agent.decide(after, Limit(), rng)
    alone = make("alphazero:simulations=300").decide(after, Limit(), rng)
    assert sum(kept.analysis.visits) > sum(alone.analysis.visits) == 300
    elsewhere = agent.decide(Position("7777"), Limit(), rng)
    assert sum(elsewhere.analysis.visits) == 300


@pytest.mark.usefixtures("clock")
def test_limits_bound_the_search() -> None:
    assert decided("alphazero", "44", Limit(simulations=50)).analysis.simulations == 50
    assert decided("alphazero", "44", Limit(nodes=40)).analysis.nodes <= 40
    assert decided("alphazero:seconds=0.05", "44").analysis.simulations > 0


def test_unusable_options_and_networks_are_refused(tmp_path: Path) -> None:
    for spec, message in (
        ("alphazero:net=value", "value has no policy and value"),
        ("alphazero:net=dqn", "dqn has no policy and value"),
        (
            "alphazero:simulations=-1",
            "option simulations of agent 'alphazero' must be a whole number from 0",
        ),
        ("alphazero:method=uct", "method"),
        (
            "alphazero:scale=-1",
            "option scale of agent 'alphazero' must be a number from 0 to 1,000, not '-1'",
        ),
        (f"alphazero:net={tmp_path / 'none.onnx'}", "cannot read the network"),
    ):
        with pytest.raises(UserError, match=message):
            make(spec)
    with pytest.raises(UserError, match="knows the board 7x6x4"):
        make("alphazero").decide(Position(board="5x4"), Limit(), np.random.default_rng(0))


@pytest.mark.parametrize("proving", [0, 1])
def test_the_faithful_search_stays_inside_its_tree(proving: int) -> None:
    """Also where every column of a node loses at once."""
    agent = make(f"alphazero:simulations=200,faithful=1,proofs={proving}")
    rng = np.random.default_rng(4)
    for _ in range(12):
        position = Position()
        plies = int(rng.integers(22, 34))
        while (
            position.ply < plies
            and position.play(column := int(rng.choice(position.legal_columns()))).outcome() is None
        ):
            position = position.play(column)
        result = agent.search(position, Limit(), rng)  # type: ignore[attr-defined]
        roots = result.forest.roots()
        blocks = result.forest.forest.nodes
        visits = blocks.words.reshape(-1, blocks.size)[: blocks.used[0], :7]
        assert (visits >= 0).all()
        assert result.decision.proven is not None or roots.visits[0].sum() == 200
        assert bool(proving) or result.decision.proven is None


@pytest.mark.parametrize("method", ["gumbel", "puct"])
@pytest.mark.parametrize(("moves", "result"), [("44335", -1), ("121212", 1)])
def test_a_proven_position_is_proven_again_when_the_tree_is_kept(
    method: str, moves: str, result: int
) -> None:
    agent = make(f"alphazero:simulations=100,reuse=1,method={method}")
    rng = np.random.default_rng(0)
    for _ in range(2):
        decision = agent.decide(Position(moves), Limit(), rng)
        assert decision.proven == Exact(result)
        assert min(decision.analysis.visits) >= 0


def test_a_temperature_samples_from_the_prior_without_simulations() -> None:
    agent = make("alphazero:simulations=0,temperature=5")
    columns = {
        agent.decide(Position("4435"), Limit(), np.random.default_rng(seed)).column
        for seed in range(40)
    }
    assert len(columns) > 3


def test_without_simulations_the_network_alone_decides() -> None:
    agent, rng = make("alphazero:simulations=0"), np.random.default_rng(0)
    for moves in ("121212", "12121"):  # a win at once, a forced reply
        decision = agent.decide(Position(moves), Limit(), rng)
        assert decision.analysis.evaluations == 1
        assert decision.proven is None
        assert min(decision.policy or ()) > 0


@pytest.mark.parametrize("temperature", [1e-4, 1.25])
def test_a_temperature_never_samples_columns_proven_to_be_worse(temperature: float) -> None:
    agent = make(f"alphazero:simulations=60,method=puct,temperature={temperature}")
    for seed in range(8):
        winning = agent.decide(Position("121212"), Limit(), np.random.default_rng(seed))
        assert winning.column == 0
        forced = agent.decide(Position("12121"), Limit(), np.random.default_rng(seed))
        assert forced.column in (0, 1)
