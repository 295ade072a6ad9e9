"""The agent mcts: its variants, proofs, budgets and presets."""

import json
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Agent, Exact, Limit, Position, Stop, UserError, make
from fourlab.agent import UNLIMITED, Analysis, Snapshot
from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.agent import MCTS, SearchResult
from fourlab.agents.mcts.tree import SearchTree
from fourlab.agents.registry import PRESETS
from tests.strategies import examples

GOLDEN = Path(__file__).parents[2] / "golden" / "mcts.json"
VANNUCCI_ABRIL = Position("vannucci-abril")


def search(spec: str, position: Position, seed: int = 0, limit: Limit = UNLIMITED) -> SearchResult:
    agent = make(spec)
    assert isinstance(agent, MCTS)
    return agent.search(position, limit, np.random.default_rng(seed))


def play(red: Agent, yellow: Agent, seed: int, limit: Limit) -> int:
    """Play a game and return red's result."""
    position = Position()
    rng = np.random.default_rng(seed)
    while position.outcome() is None:
        agent = (red, yellow)[position.to_move]
        position = position.play(agent.decide(position, limit, rng).column)
    return position.outcome().value  # type: ignore[union-attr]


# --- results must reach the tree ------------------------------------------------------------------


def score_against_fair_credit(spec: str) -> int:
    """Return wins minus losses in 20 games against a search that credits the winner."""
    fair = make("mcts:rollouts=uniform,proofs=0")
    tested = make(spec)
    limit = Limit(simulations=500)
    score = 0
    for seed in range(10):
        score += play(tested, fair, seed, limit) - play(fair, tested, seed, limit)
    return score


def test_rollout_results_reach_the_tree() -> None:
    """With the fault of ten public repositories they do not, and the search plays badly."""
    faulty = "mcts:rollouts=uniform,proofs=0,credit=leaf,draw_credit=leaf"
    assert score_against_fair_credit(faulty) < -12
    assert abs(score_against_fair_credit("mcts:rollouts=uniform,proofs=0")) <= 12


def test_a_column_whose_rollouts_win_is_preferred() -> None:
    for spec in ("mcts:proofs=0", "mcts:rollouts=uniform,proofs=0", "textbook"):
        chosen = [
            make(spec)
            .decide(Position("4455"), Limit(simulations=400), np.random.default_rng(s))
            .column
            for s in range(10)
        ]
        assert set(chosen) <= {2, 5}  # three in a row, open at both ends


# --- Vannucci & Abril's variants, beside independent programs (20,000 runs each) ------------------


@pytest.mark.parametrize(
    ("options", "four", "six", "correct"),
    [
        (
            "simulations=1000,ucb=log-ratio,opponent=random-frozen",
            (0.644, 0.171),
            (0.422, 0.461),
            0.63,
        ),
        (
            "simulations=2048,ucb=log-ratio,opponent=random-frozen",
            (0.645, 0.171),
            (0.433, 0.461),
            0.63,
        ),
        ("simulations=1000,opponent=random-frozen", (0.942, 0.220), (0.507, 0.730), 0.84),
        ("simulations=2048,opponent=random-frozen", (0.970, 0.160), (0.603, 0.700), 0.87),
        ("simulations=2048,opponent=random", (0.954, 0.003), (-0.117, 0.243), 1.00),
    ],
)
def test_the_search_variants_of_vannucci_and_abril(
    options: str, four: tuple[float, float], six: tuple[float, float], correct: float
) -> None:
    runs = 1000
    agent = make(f"mcts:c=2,rollouts=uniform,proofs=0,{options}")
    decisions = [
        agent.decide(VANNUCCI_ABRIL, Limit(), np.random.default_rng(seed)) for seed in range(runs)
    ]
    means = np.array(
        [[column.value for column in decision.analysis.columns] for decision in decisions]
    )
    for column, (mean, deviation) in enumerate((four, six)):
        assert means[:, column].mean() == pytest.approx(mean, abs=4 * deviation / runs**0.5 + 0.003)
    assert (means[:, 0] > means[:, 1]).mean() == pytest.approx(correct, abs=0.06)


def test_sampling_the_opponent_at_every_visit_converges_to_the_certain_win() -> None:
    agent = make("mcts:c=2,rollouts=uniform,proofs=0,opponent=random,simulations=200000")
    for seed in range(3):
        decision = agent.decide(VANNUCCI_ABRIL, Limit(), np.random.default_rng(seed))
        four, _ = decision.analysis.columns
        assert four.value == pytest.approx(0.9990, abs=0.0005)


def test_the_25_runs_of_vannucci_and_abril() -> None:
    agent = make("vannucci-abril:faithful=1,simulations=1000,runs=25,threads=2")
    decision = agent.decide(VANNUCCI_ABRIL, Limit(), np.random.default_rng(1))
    four, six = decision.analysis.columns
    assert decision.column == 4
    assert 0.572 <= four.value <= 0.707  # the bands of a 25-run mean
    assert 0.218 <= six.value <= 0.591


# --- proofs ---------------------------------------------------------------------------------------


@cache
def truth(position: Position) -> int:
    """Return the exact result for the side to move, by brute force."""
    outcome = position.outcome()
    if outcome is not None:
        return outcome.score(position.to_move)
    best = -1
    for column in position.legal_columns():
        best = max(best, -truth(position.play(column)))
        if best == 1:
            break
    return best


def random_position(board: str, plies: int, rng: np.random.Generator) -> Position:
    while True:
        position = Position(board=board)
        while position.ply < plies and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            return position


@pytest.mark.parametrize(
    ("board", "plies", "count"),
    [("4x4x3", 2, 150), ("4x4x4", 7, 150), ("5x4x4", 11, 150), ("7x6x4", 31, 150)],
)
def test_what_the_solver_proves_is_true(board: str, plies: int, count: int) -> None:
    rng = np.random.default_rng(5)
    proven = 0
    for number in range(count):
        position = random_position(board, plies, rng)
        spec = "mcts:simulations=20000" if number % 2 else "mcts:simulations=20000,transpositions=1"
        decision = make(spec).decide(position, Limit(), rng)
        if decision.proven is None:
            continue
        proven += 1
        assert decision.proven.result == truth(position)
        assert -truth(position.play(decision.column)) == truth(position)
        for column in decision.analysis.columns:
            if column.proven is not None:
                assert column.proven == -truth(position.play(column.column))
    assert proven > 0.9 * count


def test_a_proven_position_ends_the_search() -> None:
    decision = make("mcts:simulations=1000000").decide(
        VANNUCCI_ABRIL, Limit(), np.random.default_rng(0)
    )
    assert decision.proven == Exact(1)
    assert decision.column == 4
    assert decision.analysis.simulations < 1000


def test_a_lost_position_still_gets_a_legal_column() -> None:
    won = Position("445566")  # red wins at once
    assert make("mcts").decide(won, Limit(), np.random.default_rng(0)).proven == Exact(1)
    lost = Position("44556")
    decision = make("mcts").decide(lost, Limit(), np.random.default_rng(0))
    assert decision.proven == Exact(-1)
    assert decision.column in lost.legal_columns()


# --- budgets, threads, determinism ----------------------------------------------------------------


def test_a_stop_flag_ends_an_endless_search(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stop()
    original = SearchTree.search

    def search_and_stop(tree: SearchTree, *arguments: Any) -> Any:
        threading.Timer(0.1, stop.set).start()
        return original(tree, *arguments)

    monkeypatch.setattr(SearchTree, "search", search_and_stop)
    decision = make("mcts").decide(Position(), Limit(stop=stop), np.random.default_rng(0))
    assert stop.is_set()
    assert decision.analysis.simulations > 0


def test_with_the_stop_flag_already_set_no_simulation_runs() -> None:
    stop = Stop()
    stop.set()
    decision = make("mcts:threads=2").decide(Position(), Limit(stop=stop), np.random.default_rng(0))
    assert decision.analysis.simulations == 0
    assert decision.column in range(7)


def test_several_runs_share_the_time_and_the_limits() -> None:
    timed = search("mcts:runs=4,seconds=0.2,clock=cpu", Position("44"))
    visits = [sum(column.visits for column in tree.columns()) for tree in timed.trees]
    assert min(visits) > max(visits) / 20
    simulated = search("mcts:runs=4", Position(), limit=Limit(simulations=100)).decision.analysis
    assert simulated.simulations is not None
    assert simulated.simulations <= 100
    expanded = search("mcts:runs=4", Position(), limit=Limit(nodes=100)).decision.analysis
    assert expanded.nodes is not None
    assert expanded.nodes <= 100


@pytest.mark.parametrize("options", ["threads=2", "runs=4,threads=2"])
def test_an_interrupt_ends_all_threads(options: str) -> None:
    code = (
        "import numpy as np\n"
        "from fourlab import *\n"
        "from fourlab.agents.mcts.tree import SearchTree\n"
        "search = SearchTree.search\n"
        "def announce_and_search(*arguments):\n"
        "    SearchTree.search = search\n"
        "    print('go', flush=True)\n"
        "    return search(*arguments)\n"
        f"agent = make('mcts:seconds=1000,{options}')\n"
        "agent.decide(Position(), Limit(simulations=10), np.random.default_rng(0))\n"
        "SearchTree.search = announce_and_search\n"
        "try:\n"
        "    agent.decide(Position(), Limit(), np.random.default_rng(0))\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    process.send_signal(signal.SIGINT)
    output = process.communicate()[0].removeprefix("go\n")  # both threads may print it
    assert output == "interrupted\n"


def test_threads_at_the_memory_cap_stay_inside_it() -> None:
    for seed in range(30):
        tree = SearchTree(Position(), MCTS(threads=2).switches(), blocks=300)
        guard = np.full(21 * 20, 77, np.int32)
        blocks = tree.tree.nodes
        whole = np.concatenate([blocks.words, guard])
        tree.tree = tree.tree._replace(nodes=blocks._replace(words=whole[: len(blocks.words)]))
        stop = np.zeros(1, np.uint8)
        threads = [
            threading.Thread(target=tree.search, args=(3000, 1 + seed + n, stop)) for n in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (whole[-len(guard) :] == 77).all()
        assert tree.tree.nodes.used[0] <= 300


@pytest.mark.parametrize("clock", ["wall", "cpu"])
def test_time_is_a_limit_too(clock: str) -> None:
    decision = make(f"mcts:clock={clock}").decide(
        Position(), Limit(seconds=0.05), np.random.default_rng(0)
    )
    assert decision.analysis.seconds >= 0.05
    assert decision.analysis.simulations > 0


def test_the_first_bound_reached_counts() -> None:
    def analysis(spec: str, limit: Limit) -> Analysis:
        return make(spec).decide(Position(), limit, np.random.default_rng(0)).analysis

    assert analysis("mcts:simulations=100", Limit(simulations=30)).simulations == 30
    assert analysis("mcts:simulations=100", Limit(simulations=300)).simulations == 100
    assert analysis("mcts", Limit()).simulations == 10_000
    nodes = analysis("mcts", Limit(nodes=50)).nodes
    assert nodes is not None
    assert nodes <= 50


def test_parallel_runs_do_not_depend_on_the_number_of_threads() -> None:
    one, two = (
        search(f"mcts:runs=6,simulations=3000,threads={threads}", Position("44"), 7)
        for threads in (1, 2)
    )
    assert one.columns == two.columns
    assert one.decision.column == two.decision.column


def test_threads_on_one_tree_lose_hardly_a_visit() -> None:
    for seed in range(5):
        result = search("mcts:threads=2,simulations=40000", Position(), seed)
        (tree,) = result.trees
        assert 39_600 <= sum(column.visits for column in tree.columns()) <= 40_000
        for column in tree.columns():
            assert column.value is not None
            assert abs(column.value) <= 1.01
        assert result.decision.column == 3


def test_threads_on_one_tree_prove_only_what_is_true() -> None:
    rng = np.random.default_rng(9)
    for _ in range(60):
        position = random_position("5x4x4", 9, rng)
        decision = make("mcts:threads=2,simulations=50000").decide(position, Limit(), rng)
        if decision.proven is not None:
            assert decision.proven.result == truth(position)


def test_the_signature_of_the_search() -> None:
    """Compare the visits of 20 positions; an intended change must renew the golden file."""
    golden = json.loads(GOLDEN.read_text())
    assert len(golden) == 20
    for moves, visits in golden.items():
        result = search("mcts:simulations=2000", Position(moves), 1)
        assert [column.visits for column in result.columns] == visits, moves


# --- the result -----------------------------------------------------------------------------------


def test_the_trace_ends_with_the_result() -> None:
    seen: list[Snapshot] = []
    result = MCTS(simulations=5000).search(
        Position(), Limit(), np.random.default_rng(0), watch=seen.append
    )
    assert tuple(seen) == result.trace
    counts = [snapshot.simulations for snapshot in result.trace]
    assert counts[:10] == [1, 2, 3, 5, 7, 10, 12, 15, 20, 25]
    assert counts[-1] == 5000
    assert result.trace[-1].visits == tuple(column.visits for column in result.columns)
    assert [sum(snapshot.visits) for snapshot in result.trace] == counts


def test_the_tree_can_be_read() -> None:
    result = MCTS(simulations=20_000, proofs=False).search(
        Position(), Limit(), np.random.default_rng(0)
    )
    (tree,) = result.trees
    for column in result.columns:
        children = tree.columns((column.column,))
        # The first visit was a rollout.
        assert sum(child.visits for child in children) == column.visits - 1
    assert tree.columns((0, 0, 0, 0, 0, 0, 0)) == []
    with pytest.raises(UserError, match="leaves the board"):
        tree.columns((9,))
    line = result.decision.line
    assert len(line) > 3
    assert tree.columns(line[:2])


def test_means_bounds_and_policy_are_consistent() -> None:
    result = MCTS(simulations=3000, proofs=False).search(
        Position("4453"), Limit(), np.random.default_rng(0)
    )
    best = max(result.columns, key=lambda column: column.visits)
    assert result.decision.column == best.column
    assert result.decision.value == best.value
    shares = [column.visits / 3000 for column in result.columns]
    assert result.decision.policy == pytest.approx(shares)
    for column in result.columns:
        assert column.value is not None
        spread = 1.4 * np.sqrt(np.log(3000) / column.visits)
        assert column.bound == pytest.approx(column.value + spread)


def test_the_final_column_follows_its_rule() -> None:
    position = Position("44")
    limit = Limit(simulations=300)
    agent = make("mcts:final=sample,temperature=2")
    sampled = {
        agent.decide(position, limit, np.random.default_rng(seed)).column for seed in range(40)
    }
    assert len(sampled) > 3
    make("mcts:final=sample,temperature=0.001").decide(
        position, Limit(simulations=2000), np.random.default_rng(0)
    )
    agent = make("mcts:final=sample,temperature=0.01")
    for seed in range(10):
        decision = agent.decide(position, limit, np.random.default_rng(seed))
        assert decision.policy is not None
        assert decision.column == np.argmax(decision.policy)
    result = search("mcts:final=mean,proofs=0", position, 1, limit)
    means = np.array([column.value for column in result.columns], np.float64)
    assert result.decision.column == result.columns[int(means.argmax())].column


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("simulations=0", "from 1 to 1,000,000,000"),
        ("c=-1", "from 0 to 1,000 or none, not '-1'"),
        ("draw=2", "from -1 to 1"),
        ("draw=0.3", "multiple of 0.25"),
        ("scale=wins,draw=-1", "from 0 to 1 with scale=wins"),
        ("opponent=random,rollouts=uniform", "say proofs=0"),
        ("credit=leaf", "say proofs=0"),
        ("proofs=0,opponent=random,rollouts=uniform,expansion=all", "opponent=player"),
        ("transpositions=1,threads=2", "threads=1"),
        ("runs=2,reuse=moves", "runs=1"),
        ("threads=0", "from 1 to 256"),
        ("threads=1000000", "from 1 to 256"),
        ("threads=2,expansion=all", "threads on one tree"),
        ("proofs=0,opponent=random,rollouts=uniform,threads=2", "threads on one tree"),
        ("proofs=0,opponent=random", "say rollouts=uniform"),
        ("memory_mb=1000000", "not enough memory"),
    ],
)
def test_invalid_options_are_refused(options: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make(f"mcts:{options}").decide(Position(), Limit(seconds=1000), np.random.default_rng(0))


# --- presets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["vannucci-abril", "bhat-mc40", "bhat-mc200", "gao", "sewell", "arya-vanilla"]
)
def test_every_report_has_its_agent_as_described_and_as_coded(name: str) -> None:
    described = make(name)
    coded = make(f"{name}:faithful=1")
    assert isinstance(described, MCTS)
    assert isinstance(coded, MCTS)
    assert (described != coded) == bool(PRESETS[name].faithful)
    assert make(f"{name}:faithful=0") == described


def test_bhat_mc_takes_any_number() -> None:
    assert make("bhat-mc25") == make("bhat-mc40:simulations=25")
    assert make("bhat-mc200:faithful=1").terminal == "past-wins"  # type: ignore[attr-defined]
    assert make("bhat-mc0") == make("bhat-mc0:faithful=1") == make("random")
    chosen = {
        make("bhat-mc1").decide(Position(), Limit(), np.random.default_rng(seed)).column
        for seed in range(60)
    }
    assert chosen == set(range(7))  # one simulation is a random player
    with pytest.raises(UserError, match="faithful"):
        make("bhat-mc40:faithful=perhaps")


def test_the_settings_of_the_reports() -> None:
    def agent(spec: str) -> MCTS:
        made = make(spec)
        assert isinstance(made, MCTS)
        return made

    arya = agent("arya-vanilla:faithful=1").switches()
    assert (arya.draw_leaf_wins, arya.leaf_wins) == (True, True)
    bhat = agent("bhat-mc40").switches()
    assert bhat.draw == -verbs.POINTS
    assert bhat.c == pytest.approx(2 * 2**0.5)
    assert agent("gao").simulations == 500


@examples(20)
@given(st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_search(seed: int) -> None:
    first, second = (search("mcts:simulations=200", Position("4"), seed) for _ in range(2))
    assert first.columns == second.columns
