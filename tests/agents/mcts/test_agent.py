"""The agent mcts: every variant, its proofs, its memory, its presets."""

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
from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.mcts.tree import SearchTree
from fourlab.agents.registry import PRESETS
from tests.strategies import examples

GOLDEN = Path(__file__).parents[2] / "golden" / "mcts.json"
DOCUMENT_000 = Position("vannucci-abril")


def search(spec: str, position: Position, seed: int = 0, limit: Limit = Limit()) -> object:  # noqa: B008 (frozen)
    return make(spec).search(position, limit, np.random.default_rng(seed))  # type: ignore[attr-defined]


def play(red: Agent, yellow: Agent, seed: int, limit: Limit) -> int:
    """Red's result of one game."""
    position, rng = Position(), np.random.default_rng(seed)
    while position.outcome() is None:
        position = position.play((red, yellow)[position.to_move].decide(position, limit, rng).column)
    return position.outcome().value  # type: ignore[union-attr]


# --- results must reach the tree ------------------------------------------------------------------------------------


def score_against_fair_credit(spec: str) -> int:
    """Wins minus losses of twenty games, both colours, against a search that credits the winner."""
    fair, other = make("mcts:rollouts=uniform,solver=0"), make(spec)
    games = [
        (play(other, fair, seed, Limit(simulations=500)), -play(fair, other, seed, Limit(simulations=500))) for seed in range(10)
    ]
    return sum(map(sum, games))


def test_outcomes_move_values() -> None:
    """The fault copied in ten public repositories, rollout results that never reach the tree, must show."""
    assert score_against_fair_credit("mcts:rollouts=uniform,solver=0,credit=leaf,draw_credit=leaf") < -12
    assert abs(score_against_fair_credit("mcts:rollouts=uniform,solver=0")) <= 12


def test_a_column_whose_rollouts_win_is_preferred() -> None:
    for spec in ("mcts:solver=0", "mcts:rollouts=uniform,solver=0", "textbook"):
        chosen = [make(spec).decide(Position("4455"), Limit(simulations=400), np.random.default_rng(s)).column for s in range(10)]
        assert set(chosen) <= {2, 5}  # three in a row, open at both ends


# --- document 000's variants, beside independent programs (20,000 runs each) ----------------------------------------


@pytest.mark.parametrize(
    ("options", "four", "six", "right"),
    [
        ("simulations=1000,ucb=log-ratio,opponent=random-frozen", (0.644, 0.171), (0.422, 0.461), 0.63),
        ("simulations=2048,ucb=log-ratio,opponent=random-frozen", (0.645, 0.171), (0.433, 0.461), 0.63),
        ("simulations=1000,opponent=random-frozen", (0.942, 0.220), (0.507, 0.730), 0.84),
        ("simulations=2048,opponent=random-frozen", (0.970, 0.160), (0.603, 0.700), 0.87),
        ("simulations=2048,opponent=random", (0.954, 0.003), (-0.117, 0.243), 1.00),
    ],
)
def test_the_search_variants_of_document_000(
    options: str, four: tuple[float, float], six: tuple[float, float], right: float
) -> None:
    runs = 1000
    agent = make(f"mcts:c=2,rollouts=uniform,solver=0,{options}")
    found = [agent.decide(DOCUMENT_000, Limit(), np.random.default_rng(seed)).analysis.columns for seed in range(runs)]
    means = np.array([[each.value for each in columns] for columns in found])
    for column, (mean, deviation) in enumerate((four, six)):
        assert means[:, column].mean() == pytest.approx(mean, abs=4 * deviation / runs**0.5 + 0.003)
    assert (means[:, 0] > means[:, 1]).mean() == pytest.approx(right, abs=0.06)


def test_drawing_the_opponent_anew_converges_to_the_sure_win() -> None:
    agent = make("mcts:c=2,rollouts=uniform,solver=0,opponent=random,simulations=200000")
    for seed in range(3):
        four, _ = agent.decide(DOCUMENT_000, Limit(), np.random.default_rng(seed)).analysis.columns
        assert four.value == pytest.approx(0.9990, abs=0.0005)


def test_the_25_runs_of_document_000() -> None:
    agent = make("vannucci-abril:faithful=1,simulations=1000,runs=25,threads=2")
    decision = agent.decide(DOCUMENT_000, Limit(), np.random.default_rng(1))
    four, six = decision.analysis.columns
    assert decision.column == 4
    assert 0.572 <= four.value <= 0.707  # the bands of a 25-run mean
    assert 0.218 <= six.value <= 0.591


# --- proofs ---------------------------------------------------------------------------------------------------------


@cache
def truth(position: Position) -> int:
    """The result for the side to move, by brute force."""
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
    ("board", "plies", "count"), [("4x4x3", 2, 150), ("4x4x4", 7, 150), ("5x4x4", 11, 150), ("7x6x4", 31, 150)]
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
        for each in decision.analysis.columns:
            if each.proven is not None:
                assert each.proven == -truth(position.play(each.column))
    assert proven > 0.9 * count


def test_a_proven_position_ends_the_search() -> None:
    decision = make("mcts:simulations=1000000").decide(DOCUMENT_000, Limit(), np.random.default_rng(0))
    assert decision.proven == Exact(1)
    assert decision.column == 4
    assert decision.analysis.simulations < 1000


def test_a_lost_position_still_gets_a_legal_column() -> None:
    lost = Position("445566")  # nothing is lost yet for red: it wins at once
    assert make("mcts").decide(lost, Limit(), np.random.default_rng(0)).proven == Exact(1)
    doomed = Position("44556")
    decision = make("mcts").decide(doomed, Limit(), np.random.default_rng(0))
    assert decision.proven == Exact(-1)
    assert decision.column in doomed.legal_columns()


# --- budgets, threads, determinism ----------------------------------------------------------------------------------


def test_a_stop_flag_ends_an_endless_search(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, begin = Stop(), SearchTree.search

    def begun(tree: SearchTree, *arguments: Any) -> Any:
        threading.Timer(0.1, stop.set).start()
        return begin(tree, *arguments)

    monkeypatch.setattr(SearchTree, "search", begun)
    decision = make("mcts").decide(Position(), Limit(stop=stop), np.random.default_rng(0))
    assert stop.is_set()
    assert decision.analysis.simulations > 0


def test_a_flag_set_before_the_search_leaves_it_nothing_to_do() -> None:
    stop = Stop()
    stop.set()
    decision = make("mcts:threads=2").decide(Position(), Limit(stop=stop), np.random.default_rng(0))
    assert decision.analysis.simulations == 0
    assert decision.column in range(7)


def test_several_runs_share_the_time_and_the_limits() -> None:
    found = search("mcts:runs=4,seconds=0.2,clock=cpu", Position("44"))
    visits = [sum(each.visits for each in tree.columns()) for tree in found.trees]  # type: ignore[attr-defined]
    assert min(visits) > max(visits) / 20
    assert search("mcts:runs=4", Position(), limit=Limit(simulations=100)).decision.analysis.simulations <= 100  # type: ignore[attr-defined]
    assert search("mcts:runs=4", Position(), limit=Limit(nodes=100)).decision.analysis.nodes <= 100  # type: ignore[attr-defined]


@pytest.mark.parametrize("options", ["threads=2", "runs=4,threads=2"])
def test_an_interrupt_ends_all_threads(options: str) -> None:
    code = (
        "import numpy as np\n"
        "from fourlab import *\n"
        "from fourlab.agents.mcts.tree import SearchTree\n"
        "search = SearchTree.search\n"
        "def begun(*arguments):\n"
        "    SearchTree.search = search\n"
        "    print('go', flush=True)\n"
        "    return search(*arguments)\n"
        f"agent = make('mcts:seconds=1000,{options}')\n"
        "agent.decide(Position(), Limit(simulations=10), np.random.default_rng(0))\n"
        "SearchTree.search = begun\n"
        "try:\n"
        "    agent.decide(Position(), Limit(), np.random.default_rng(0))\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate()[0].removeprefix("go\n") == "interrupted\n"  # two may begin at once


def test_threads_at_the_memory_cap_stay_inside_it() -> None:
    for seed in range(30):
        tree = SearchTree(Position(), MCTS(threads=2).switches(), blocks=300)
        guard = np.full(21 * 20, 77, np.int32)
        whole = np.concatenate([tree.tree.words, guard])
        tree.tree = tree.tree._replace(words=whole[: len(tree.tree.words)])
        stop = np.zeros(1, np.uint8)
        threads = [threading.Thread(target=tree.search, args=(3000, 1 + seed + n, stop)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (whole[-len(guard) :] == 77).all()
        assert tree.tree.used[0] <= 300


@pytest.mark.parametrize("clock", ["wall", "cpu"])
def test_time_is_a_budget_too(clock: str) -> None:
    decision = make(f"mcts:clock={clock}").decide(Position(), Limit(seconds=0.05), np.random.default_rng(0))
    assert decision.analysis.seconds >= 0.05
    assert decision.analysis.simulations > 0


def test_the_first_bound_reached_counts() -> None:
    agent = make("mcts:simulations=100")
    assert agent.decide(Position(), Limit(simulations=30), np.random.default_rng(0)).analysis.simulations == 30
    assert agent.decide(Position(), Limit(simulations=300), np.random.default_rng(0)).analysis.simulations == 100
    assert make("mcts").decide(Position(), Limit(), np.random.default_rng(0)).analysis.simulations == 10_000
    assert make("mcts").decide(Position(), Limit(nodes=50), np.random.default_rng(0)).analysis.nodes <= 50


def test_parallel_runs_do_not_depend_on_the_number_of_threads() -> None:
    one, two = (search(f"mcts:runs=6,simulations=3000,threads={threads}", Position("44"), 7) for threads in (1, 2))
    assert one.columns == two.columns  # type: ignore[attr-defined]
    assert one.decision.column == two.decision.column  # type: ignore[attr-defined]


def test_threads_on_one_tree_lose_hardly_a_visit() -> None:
    for seed in range(5):
        found = search("mcts:threads=2,simulations=40000", Position(), seed)
        (tree,) = found.trees  # type: ignore[attr-defined]
        assert 39_600 <= sum(each.visits for each in tree.columns()) <= 40_000
        assert all(abs(each.value) <= 1.01 for each in tree.columns())
        assert found.decision.column == 3  # type: ignore[attr-defined]


def test_threads_on_one_tree_prove_only_what_is_true() -> None:
    rng = np.random.default_rng(9)
    for _ in range(60):
        position = random_position("5x4x4", 9, rng)
        decision = make("mcts:threads=2,simulations=50000").decide(position, Limit(), rng)
        if decision.proven is not None:
            assert decision.proven.result == truth(position)


def test_the_signature_of_the_search() -> None:
    """Visits of twenty positions; a change of the search that is meant must renew the golden file."""
    golden = json.loads(GOLDEN.read_text())
    assert len(golden) == 20
    for moves, visits in golden.items():
        found = search("mcts:simulations=2000", Position(moves), 1)
        assert [each.visits for each in found.columns] == visits, moves  # type: ignore[attr-defined]


# --- what is returned -----------------------------------------------------------------------------------------------


def test_the_trace_ends_with_what_was_found() -> None:
    seen = []
    found = MCTS(simulations=5000).search(Position(), Limit(), np.random.default_rng(0), watch=seen.append)
    assert tuple(seen) == found.trace
    assert [each.simulations for each in found.trace][:10] == [1, 2, 3, 5, 7, 10, 12, 15, 20, 25]
    assert found.trace[-1].simulations == 5000
    assert found.trace[-1].visits == tuple(each.visits for each in found.columns)
    assert all(sum(each.visits) == each.simulations for each in found.trace)


def test_the_tree_can_be_walked() -> None:
    found = MCTS(simulations=20_000, solver=False).search(Position(), Limit(), np.random.default_rng(0))
    (tree,) = found.trees
    for each in found.columns:
        below = tree.columns((each.column,))
        assert sum(child.visits for child in below) == each.visits - 1  # the first visit was a rollout
    assert tree.columns((0, 0, 0, 0, 0, 0, 0)) == []
    with pytest.raises(UserError, match="leaves the board"):
        tree.columns((9,))
    line = found.decision.line
    assert len(line) > 3
    assert tree.columns(line[:2])


def test_means_bounds_and_policy_fit_together() -> None:
    found = MCTS(simulations=3000, solver=False).search(Position("4453"), Limit(), np.random.default_rng(0))
    best = max(found.columns, key=lambda each: each.visits)
    assert found.decision.column == best.column
    assert found.decision.value == best.value
    assert found.decision.policy == pytest.approx([each.visits / 3000 for each in found.columns])
    for each in found.columns:
        assert each.value is not None
        assert each.bound == pytest.approx(each.value + 1.4 * np.sqrt(np.log(3000) / each.visits))


def test_the_final_column_follows_its_rule() -> None:
    position, limit = Position("44"), Limit(simulations=300)
    drawn = [make("mcts:final=sample,temperature=2").decide(position, limit, np.random.default_rng(s)).column for s in range(40)]
    assert len(set(drawn)) > 3
    make("mcts:final=sample,temperature=0.001").decide(position, Limit(simulations=2000), np.random.default_rng(0))
    cold = [make("mcts:final=sample,temperature=0.01").decide(position, limit, np.random.default_rng(s)) for s in range(10)]
    assert all(each.column == max(range(7), key=lambda c, each=each: each.policy[c]) for each in cold)  # type: ignore[index,misc]
    found = search("mcts:final=mean,solver=0", position, 1, limit)
    means = {each.column: each.value for each in found.columns}  # type: ignore[attr-defined]
    assert found.decision.column == max(means, key=lambda column: means[column])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("simulations=0", "from 1 to 1,000,000,000"),
        ("c=-1", "of at least 0, not '-1'"),
        ("draw=2", "from -1 to 1"),
        ("draw=0.3", "quarters"),
        ("scale=wins,draw=-1", "worth 0 to 1"),
        ("opponent=random,rollouts=uniform", "say solver=0"),
        ("credit=leaf", "say solver=0"),
        ("solver=0,opponent=random,rollouts=uniform,expansion=all", "opponent=player"),
        ("transpositions=1,threads=2", "threads=1"),
        ("runs=2,reuse=moves", "runs=1"),
        ("threads=0", "from 1 to 256"),
        ("threads=1000000", "from 1 to 256"),
        ("threads=2,expansion=all", "threads on one tree"),
        ("solver=0,opponent=random,rollouts=uniform,threads=2", "threads on one tree"),
        ("solver=0,opponent=random", "say rollouts=uniform"),
        ("memory=100000000", "no memory"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        make(f"mcts:{options}").decide(Position(), Limit(seconds=1000), np.random.default_rng(0))


# --- presets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vannucci-abril", "bhat-mc40", "bhat-mc200", "gao", "sewell", "arya-vanilla"])
def test_every_document_has_its_agent_meant_and_as_coded(name: str) -> None:
    meant, coded = make(name), make(f"{name}:faithful=1")
    assert isinstance(meant, MCTS)
    assert isinstance(coded, MCTS)
    changed = PRESETS[name].faithful
    assert (meant != coded) == bool(changed)
    assert make(f"{name}:faithful=0") == meant


def test_bhat_mc_takes_any_number() -> None:
    assert make("bhat-mc25") == make("bhat-mc40:simulations=25")
    assert make("bhat-mc200:faithful=1").terminal == "past-wins"  # type: ignore[attr-defined]
    assert make("bhat-mc0") == make("bhat-mc0:faithful=1") == make("random")
    chosen = {make("bhat-mc1").decide(Position(), Limit(), np.random.default_rng(seed)).column for seed in range(60)}
    assert chosen == set(range(7))  # one simulation says nothing: a random player
    with pytest.raises(UserError, match="faithful"):
        make("bhat-mc40:faithful=perhaps")


def test_the_documents_settings() -> None:
    assert make("arya-vanilla:faithful=1").switches()[5:7] == (True, True)  # type: ignore[attr-defined]
    assert make("bhat-mc40").switches().draw == -verbs.POINTS  # type: ignore[attr-defined]
    assert make("bhat-mc40").switches().c == pytest.approx(2 * 2**0.5)  # type: ignore[attr-defined]
    assert make("gao").simulations == 500  # type: ignore[attr-defined]


@examples(20)
@given(st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_search(seed: int) -> None:
    assert (
        search("mcts:simulations=200", Position("4"), seed).columns == search("mcts:simulations=200", Position("4"), seed).columns
    )  # type: ignore[attr-defined]
