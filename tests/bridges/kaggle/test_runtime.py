"""Submissions play like the lab's agents, compiled and plain, on every board and in time."""

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourlab import Limit, Position, make
from fourlab.agents.alphazero.agent import AlphaZero
from fourlab.bridges.kaggle import runtime
from fourlab.bridges.kaggle.export import source_of
from fourlab.bridges.kaggle.submission import ask, load
from fourlab.bridges.kaggle.weights import read
from fourlab.compiled import _jit
from fourlab.nets.numpy_evaluator import NumpyEvaluator, parse
from fourlab.solver import Solver
from tests.bridges.kaggle.plain import namespace, plain_agent

SHAPES = [(7, 6, 4), (5, 4, 3), (4, 5, 4), (8, 6, 5), (9, 8, 4), (3, 3, 2), (3, 2, 1), (12, 2, 3)]


def random_positions(
    count: int, rules: str = "7x6x4", seed: int = 1, least: int = 0
) -> Iterator[Position]:
    """Positions of random games that are not over."""
    rng = np.random.default_rng(seed)
    while count:
        position = Position(board=rules)
        for _ in range(int(rng.integers(least, position.rules.columns * position.rules.rows))):
            if position.outcome() is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None and position.ply >= least:
            count -= 1
            yield position


def column_of(agent: Any, position: Position, bank: float = 0, **configuration: Any) -> int:
    rules = position.rules
    shape = {"columns": rules.columns, "rows": rules.rows, "inarow": rules.in_a_row}
    cells = [cell for row in position.grid() for cell in row]
    return int(
        ask(agent, cells, 1 + position.to_move, position.ply, bank, **shape, **configuration)
    )


def decision_of(player: Any, position: Position, **limit: Any) -> Any:
    """What a submission's first agent that searches decides, with a seed."""
    theirs = player.game(position.grid(), str(position.rules), to_move=position.to_move)
    agent = (player.with_role("proof") + player.with_role("search"))[0]
    return agent.decide(theirs, player.contract.Limit(**limit), np.random.default_rng(5))


def assert_equal(theirs: Any, ours: Any) -> None:
    assert (theirs.column, theirs.value, theirs.policy) == (ours.column, ours.value, ours.policy)
    assert (theirs.analysis.visits, theirs.analysis.nodes) == (
        ours.analysis.visits,
        ours.analysis.nodes,
    )


PLAIN = [
    ("mcts:simulations=60", "7x6x4", {}),
    ("mcts:simulations=60,proofs=0,rollouts=uniform,ties=first", "5x4x3", {}),
    ("mcts:simulations=60,transpositions=1", "7x6x4", {}),
    ("minimax:depth=4", "7x6x4", {}),
    ("minimax:depth=4,evaluation=terminal,ties=first", "5x4x3", {}),
    ("perfect", "7x6x4", {"nodes": 400}),
    ("patterns:nodes=300", "7x6x4", {}),
    ("patterns:depth=3", "7x6x4", {}),
    ("anytime:nodes=500", "7x6x4", {}),
    ("anytime:book=0", "7x6x4", {"nodes": 500}),
    ("rules", "7x6x4", {}),
    ("random", "8x6x5", {}),
]


@pytest.mark.parametrize(("spec", "rules", "limit"), PLAIN)
def test_plain_modules_decide_as_the_lab_s_to_the_bit(
    spec: str, rules: str, limit: dict[str, Any]
) -> None:
    (player,) = namespace(spec)["PLAYERS"]
    agent = make(spec)
    for position in random_positions(8, rules):
        ours = agent.decide(position, Limit(**limit), np.random.default_rng(5))
        assert_equal(decision_of(player, position, **limit), ours)


def test_a_network_searches_as_the_lab_s() -> None:
    (player,) = namespace("alphazero:simulations=40")["PLAYERS"]
    agent = AlphaZero(simulations=40, evaluator=NumpyEvaluator(*parse(*read("alphazero"))))
    for position in random_positions(6):
        assert_equal(
            decision_of(player, position), agent.decide(position, Limit(), np.random.default_rng(5))
        )


@pytest.mark.parametrize(
    "spec", ["value", "dqn", "value:net=dqn", "value:net=sewell", "value:net=sewell-unit"]
)
def test_networks_play_as_ours(spec: str) -> None:
    submission, agent = plain_agent(spec), make(spec)
    for position in random_positions(40):
        column, ours = (
            column_of(submission, position),
            agent.decide(position, Limit(), np.random.default_rng(1)).column,
        )
        assert column == ours or position.makes_line(
            column, position.to_move
        )  # ours may be as sure of another column


@pytest.mark.parametrize(
    ("spec", "module", "kernel_name"),
    [
        ("mcts:simulations=300", "fourlab.agents.mcts.kernel", "search"),
        ("patterns:nodes=1000", "fourlab.agents.patterns.search", "deepen"),
        ("anytime:nodes=2000", "fourlab.solver.batch", "solve_rows"),
    ],
)
def test_compiled_modules_take_over_and_decide_the_same(
    spec: str, module: str, kernel_name: str
) -> None:
    submission = load(source_of(spec))
    names = submission.__globals__
    assert len(names["PLAYERS"]) in (1, 2), "it plays before anything is compiled"
    for thread in threading.enumerate():
        if getattr(thread, "_target", None) is names["prepare"]:
            thread.join()
    assert names["TROUBLE"] == []
    plain, fast = names["PLAYERS"]
    kernel = getattr(fast.module(module), kernel_name)
    assert kernel.signatures, "it has been compiled"
    signatures = list(kernel.signatures)
    agent = make(spec)
    for position in random_positions(6):
        ours = agent.decide(position, Limit(), np.random.default_rng(5))
        assert_equal(decision_of(fast, position), ours)
        assert_equal(decision_of(plain, position), ours)
    assert kernel.signatures == signatures, "no move waits for the compiler"
    assert column_of(submission, Position("121212")) == 0


def test_the_opening_is_played_by_the_book() -> None:
    submission, agent = plain_agent("perfect"), make("perfect")
    for moves in ("", "4", "44", "43", "4444", "1234567", "12345"):
        position = Position(moves)
        before = time.process_time()
        column = column_of(submission, position, actTimeout=60)
        assert time.process_time() - before < 20, "plain Python could not have searched it"
        assert column == agent.decide(position, Limit(), np.random.default_rng(1)).column


def test_the_search_is_perfect_where_it_comes_to_an_end() -> None:
    solver, submission = Solver(), plain_agent("perfect")
    for position in random_positions(12, least=28):
        _, best = solver.best_columns(position)
        assert column_of(submission, position, actTimeout=60) in best, position


def test_who_has_proven_nothing_leaves_the_move_to_alpha_beta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = namespace("perfect:book=0")
    (player,) = names["PLAYERS"]
    asked = []
    real = player.decision

    def decision(agent: Any, position: Any, seconds: float) -> Any:
        asked.append(type(agent).__name__)
        return real(agent, position, seconds)

    monkeypatch.setattr(player, "decision", decision)
    assert column_of(names["agent"], Position(), actTimeout=0.3) in range(7)
    assert asked == ["Perfect", "Minimax"]
    asked.clear()
    assert column_of(names["agent"], Position("121212"), actTimeout=5) == 0
    assert asked == ["Perfect"]


@pytest.mark.parametrize("spec", ["patterns:seconds=5", "anytime:seconds=5"])
def test_boards_without_patterns_are_left_to_alpha_beta(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = namespace(spec)
    (player,) = names["PLAYERS"]
    decided = []
    real = player.decision

    def decision(agent: Any, position: Any, seconds: float) -> Any:
        answer = real(agent, position, seconds)
        decided.append(type(agent).__name__)
        return answer

    monkeypatch.setattr(player, "decision", decision)
    for board in ("8x6x4", "5x4x3"):
        assert column_of(names["agent"], Position("121", board), actTimeout=0.2) in range(8)
    assert decided == ["Minimax", "Minimax"]
    assert names["TROUBLE"] == []


def test_search_with_a_network_finds_what_the_network_alone_does_not() -> None:
    solver, right = Solver(), {"alphazero:simulations=0": 0, "alphazero:simulations=60": 0}
    positions = list(random_positions(12, least=16))
    for spec in right:
        submission = plain_agent(spec)
        for position in positions:
            columns = solver.columns(position, weak=True)
            best = max(solution.lower for solution in columns.values())
            right[spec] += columns[column_of(submission, position, actTimeout=60)].lower >= best
    assert right["alphazero:simulations=60"] >= right["alphazero:simulations=0"]
    assert right["alphazero:simulations=60"] >= 10


def test_rules_are_ours() -> None:
    submission, agent = plain_agent("rules"), make("rules")
    for position in random_positions(60):
        ours = {
            agent.decide(position, Limit(), np.random.default_rng(seed)).column
            for seed in range(12)
        }
        assert {column_of(submission, position) for _ in range(12)} <= ours


def test_an_observation_is_read_as_our_position() -> None:
    (player,) = namespace("random")["PLAYERS"]
    for position in random_positions(30, "5x4x4"):
        cells = [cell for row in position.grid() for cell in row]
        observation = SimpleNamespace(board=cells, mark=1 + position.to_move)
        question = runtime.read(observation, SimpleNamespace(columns=5, rows=4, inarow=4))
        theirs = player.position(question)
        assert (theirs.own, theirs.mask, theirs.to_move) == (
            position.own,
            position.mask,
            position.to_move,
        )


@pytest.mark.parametrize(
    "spec",
    [
        "minimax:depth=62",
        "mcts:seconds=5",
        "perfect:book=0",
        "alphazero:seconds=5",
        "patterns:seconds=5",
        "anytime:seconds=5,book=0",
    ],
)
def test_the_time_is_kept(spec: str) -> None:
    names = namespace(spec)
    column_of(
        names["agent"], Position(), actTimeout=0.05
    )  # the first search of a process has things to import
    before = time.process_time()
    assert column_of(names["agent"], Position(), actTimeout=0.1) in range(7)
    assert time.process_time() - before < 2, (
        "0.08 s are allowed; without a clock it would take far longer"
    )
    assert names["TROUBLE"] == []


# --- the simple player --------------------------------------------------------------------------


@pytest.mark.parametrize(("columns", "rows", "in_a_row"), SHAPES)
def test_the_simple_player_sees_lines(columns: int, rows: int, in_a_row: int) -> None:
    rng = np.random.default_rng(1)
    cells = [(column, row) for row in range(rows) for column in range(columns)]

    def is_line(discs: set[tuple[int, int]], cell: tuple[int, int]) -> bool:
        for right, down in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for start in range(1 - in_a_row, 1):
                line = {
                    (cell[0] + right * i, cell[1] + down * i)
                    for i in range(start, start + in_a_row)
                }
                if line <= discs | {cell}:
                    return True
        return False

    for _ in range(20):
        board = rng.integers(0, 3, size=len(cells)).tolist()
        for mark in (1, 2):
            discs = {cell for cell, disc in zip(cells, board, strict=True) if disc == mark}
            for column, row in cells:
                completes = runtime.completes_line(
                    board, columns, rows, in_a_row, column, row, mark
                )
                assert completes == is_line(discs, (column, row))


def simple_column(cells: list[int], mark: int, in_a_row: int) -> int:
    """What the simple player answers on a board of five columns."""
    question = runtime.Question(cells, mark, 5, len(cells) // 5, in_a_row, 1.0)
    return runtime.simple_column(question)


@pytest.mark.parametrize(
    ("board", "mark", "columns"),
    [
        ("...../...../...../...../12.../12.../12...", 1, {0}),  # a win
        ("...../...../...../...../12.../12.../12...", 2, {1}),  # its own win, not the block
        ("...../...../...../...../1..../1.2../122..", 2, {0}),  # a block
        ("...../...../...../...../...../21.../222..", 1, {3}),
        ("...../...../...../...../...../...../.....", 1, {2}),  # the centre
        ("22.../22.../11.../22.../11.../111../112..", 1, {2, 3, 4}),
    ],
)
def test_the_simple_player_wins_and_blocks(board: str, mark: int, columns: set[int]) -> None:
    rows = board.split("/")
    cells = [int(cell) if cell != "." else 0 for row in rows for cell in row]
    assert simple_column(cells, mark, 4) in columns


def test_the_simple_player_does_not_help_the_other_side() -> None:
    # If red plays the centre, yellow wins on top of it.
    rows = [".....", ".....", "22.22", "11.11"]
    cells = [int(cell) if cell != "." else 0 for row in rows for cell in row]
    assert simple_column(cells, 1, 5) == 2  # red wins itself
    cells[-1] = 2
    assert simple_column(cells, 1, 5) in (1, 3)


def test_without_numpy_the_simple_player_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of("alphazero:c=2.5")  # one that is not imported yet
    for name in ("numpy", "numba"):
        monkeypatch.setitem(sys.modules, name, None)
    submission = load(source)
    assert submission.__globals__["PLAYERS"] == []
    assert column_of(submission, Position("121212"), actTimeout=0.2) == 0
    assert column_of(submission, Position("12131"), actTimeout=0.2) == 0


def broken(*arguments: Any) -> int:
    raise ZeroDivisionError("broken")


def fresh(spec: str) -> dict[str, Any]:
    """A submission's names, not shared with other tests, without Numba."""
    names: dict[str, Any] = {}
    source = source_of(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)
        exec(source, names)
    return names


def test_a_player_that_fails_is_replaced_by_the_one_before_and_then_by_the_simple_one() -> None:
    names = fresh("rules:otherwise=random")
    (plain,) = names["PLAYERS"]
    compiled = SimpleNamespace(
        position=plain.position, refusal=plain.refusal, column=broken
    )  # stands for a player whose kernels crash
    names["PLAYERS"].append(compiled)
    assert column_of(names["agent"], Position("121212")) == 0
    assert names["PLAYERS"] == [plain]
    assert names["TROUBLE"] == ["ZeroDivisionError('broken')"]
    plain.column = broken
    assert column_of(names["agent"], Position("121212")) == 0
    assert names["PLAYERS"] == []
    assert column_of(names["agent"], Position("121212")) == 0


def test_a_numba_that_does_not_work_is_noted_and_costs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(__spec__=None))
    names: dict[str, Any] = {}
    exec(source_of("minimax:depth=3"), names)
    for thread in threading.enumerate():
        if getattr(thread, "_target", None) is names["prepare"]:
            thread.join()
    assert len(names["PLAYERS"]) == 1
    assert len(names["TROUBLE"]) == 1
    assert column_of(names["agent"], Position("121212")) == 0


@pytest.mark.parametrize(
    "configuration",
    [
        {"columns": 7, "rows": 6, "inarow": 4, "actTimeout": 0.1},
        {"columns": 7.0, "rows": 6, "inarow": 4, "actTimeout": None},
        {},
        SimpleNamespace(columns=7, rows=6, inarow=4),
    ],
)
def test_a_configuration_may_be_a_dictionary_and_lack_values(configuration: Any) -> None:
    names = namespace("rules")
    cells = [cell for row in Position("121212").grid() for cell in row]
    assert names["agent"]({"board": cells, "mark": 1}, configuration) == 0
    assert names["agent"](SimpleNamespace(board=cells, mark=1), configuration) == 0
    assert names["TROUBLE"] == []


def test_a_seeded_game_is_the_same_again(tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    file.write_text(source_of("random"))
    games = set()
    for _ in range(3):
        agent = make(f'kaggle:file="{file}"')
        columns = [
            agent.decide(Position(), Limit(), np.random.default_rng(seed)).column
            for seed in range(8)
        ]
        games.add(tuple(columns))
    assert len(games) == 1
    assert len(set(*games)) > 1


def test_two_compiled_submissions_play_in_one_process_and_leave_the_lab_s_messages_alone() -> None:
    submissions = [load(source_of(f"minimax:depth={depth}")) for depth in (2, 3)]
    # Wait for both before the first move: while one compiles, the other may have to wait for it.
    for submission in submissions:
        for thread in threading.enumerate():
            if getattr(thread, "_target", None) is submission.__globals__["prepare"]:
                thread.join()
    for submission in submissions:
        names = submission.__globals__
        assert (len(names["PLAYERS"]), names["TROUBLE"]) == (2, [])
        assert column_of(submission, Position("121212")) == 0
    assert not _jit.LOGGER.disabled
