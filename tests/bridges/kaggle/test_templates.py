"""The agents that submissions are made of, beside ours and beside slow and obvious twins."""

import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourlab import Limit, Position, make
from fourlab.bridges.kaggle.export import KINDS, source_of
from fourlab.bridges.kaggle.opening import opening_of
from fourlab.bridges.kaggle.submission import ask, load
from fourlab.bridges.kaggle.templates import board, compiled, mcts, search
from fourlab.bridges.kaggle.weights import read
from fourlab.nets.evaluator import load as load_onnx
from fourlab.nets.evaluator import probe_positions
from fourlab.nets.modules import Net
from fourlab.solver import Solver
from fourlab.solver.book import shipped_book
from tests.bridges.kaggle.plain import namespace, plain_agent
from tests.conftest import ROOT

SHAPES = [(7, 6, 4), (5, 4, 3), (4, 5, 4), (8, 6, 5), (9, 8, 4), (3, 3, 2), (3, 2, 1), (12, 2, 3)]


def random_positions(count: int, rules: str = "7x6x4", seed: int = 1, least: int = 0) -> Iterator[Position]:
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


def column_of(agent: Any, position: Position, **configuration: Any) -> int:
    rules = position.rules
    shape = {"columns": rules.columns, "rows": rules.rows, "inarow": rules.in_a_row}
    cells = [cell for row in position.grid() for cell in row]
    return int(ask(agent, cells, 1 + position.to_move, position.ply, **shape, **configuration))


@pytest.fixture(scope="module", autouse=True)
def ready() -> None:
    """All is compiled."""
    for thread in threading.enumerate():
        if getattr(thread, "_target", None) is compiled.compile_now:
            thread.join()
    assert {"negamax", "grow"} <= compiled.COMPILED.keys()


@pytest.fixture
def pure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled."""
    monkeypatch.setattr(compiled, "COMPILED", {})


@pytest.mark.parametrize(("columns", "rows", "in_a_row"), SHAPES)
def test_winning_cells_are_those_that_complete_a_line(columns: int, rows: int, in_a_row: int) -> None:
    shape, rng = board.shape_of(columns, rows, in_a_row), np.random.default_rng(1)
    cells = [(column, row) for column in range(columns) for row in range(rows)]

    def completes(stones: set[tuple[int, int]], cell: tuple[int, int]) -> bool:
        for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for start in range(1 - in_a_row, 1):
                line = {(cell[0] + right * i, cell[1] + up * i) for i in range(start, start + in_a_row)}
                if line <= stones | {cell}:
                    return True
        return False

    for _ in range(40):
        heights = [int(rng.integers(rows + 1)) for _ in range(columns)]  # no disc floats
        discs = [int(rng.integers(1, 3)) if row < heights[column] else 0 for column, row in cells]
        stones = {cell for cell, disc in zip(cells, discs, strict=True) if disc == 1}
        own, other = (
            sum(1 << column * shape.height + row for (column, row), disc in zip(cells, discs, strict=True) if disc == each)
            for each in (1, 2)
        )
        expected = {cell for cell, disc in zip(cells, discs, strict=True) if disc == 0 and completes(stones, cell)}
        found = board.winning_cells(own, own | other, shape)
        assert {cell for cell in cells if found >> cell[0] * shape.height + cell[1] & 1} == expected


def test_an_observation_is_read_as_our_position() -> None:
    for position in random_positions(30, "5x4x4"):
        cells = [cell for row in position.grid() for cell in row]
        observation = SimpleNamespace(board=cells, mark=1 + position.to_move)
        own, mask, shape = board.read(observation, SimpleNamespace(columns=5, rows=4, inarow=4))
        assert (own, mask) == (position.own, position.mask)
        assert [column for column in range(5) if board.landing(mask, column, shape)] == list(position.legal_columns())
        assert set(board.columns_of(board.landings(mask, shape), shape)) == set(position.legal_columns())


def test_bits_are_counted() -> None:
    rng = np.random.default_rng(1)
    numbers = [0, 1, (1 << 62) - 1, *map(int, rng.integers(1 << 62, size=200))]
    assert [compiled.COMPILED["count"](number) for number in numbers] == [number.bit_count() for number in numbers]


@pytest.mark.parametrize("spec", ["minimax:depth=1", "minimax:depth=4", "minimax:depth=5,evaluation=terminal,tie=first"])
@pytest.mark.parametrize("rules", ["7x6x4", "5x4x3"])
def test_minimax_plays_as_ours(spec: str, rules: str) -> None:
    names, agent = namespace(spec), make(spec)
    for position in random_positions(25, rules):
        ours = agent.decide(position, Limit(), np.random.default_rng(1)).column
        assert column_of(names["agent"], position, actTimeout=60) == ours


def test_the_compiled_search_finds_the_same_values() -> None:
    for rules in ("7x6x4", "5x4x3"):
        for position in random_positions(15, rules):
            shape = board.shape_of(position.rules.columns, position.rules.rows, position.rules.in_a_row)
            left = shape.columns * shape.rows - position.ply
            found = []
            for function, fast in ((search.negamax, False), (compiled.COMPILED["negamax"], True)):
                arrays = [compiled.zeros(length, fast) for length in (99, 1009, 1009, 99, 1)]
                arrays[0][:] = (search.lines_through_cells(shape) + [0] * 99)[:99]
                bounds = (-2 * search.WIN, 2 * search.WIN)
                found.append(int(function(position.own, position.mask, shape, 5, left, *bounds, 0, *arrays)))
            assert found[0] == found[1]


def test_the_compiled_tree_grows_the_same() -> None:
    for position in random_positions(12):
        shape = board.shape_of(7, 6, 4)
        found = []
        for function, fast in ((mcts.grow, False), (compiled.COMPILED["grow"], True)):
            arrays = [compiled.zeros(length, fast) for length in (7 * 300, 300, 300, 300, 300, 50, 1)]
            made = function(position.own, position.mask, shape, 200, 1.4, True, True, *arrays, 77)
            found.append((int(made), [list(map(int, array)) for array in arrays[:5]]))
        assert found[0] == found[1]
        children, visits, points, proofs, _ = found[0][1]
        assert sum(visits[child] for child in children[:7] if child) in (found[0][0], found[0][0] - 1)
        assert all(abs(each) <= number for each, number in zip(points, visits, strict=True))
        assert set(proofs) <= {-1, 0, 1}


def test_what_the_tree_proves_is_true() -> None:
    solver, proven = Solver(), 0
    for position in random_positions(40, least=20):
        shape, arrays = board.shape_of(7, 6, 4), [[0] * length for length in (7 * 3000, 3000, 3000, 3000, 3000, 50, 1)]
        mcts.grow(position.own, position.mask, shape, 300, 1.4, True, True, *arrays, 5)
        if arrays[3][0]:
            proven += 1
            assert solver.solve(position).result == -arrays[3][0]
    assert proven > 10


@pytest.mark.usefixtures("pure")
def test_the_search_is_perfect_where_it_comes_to_an_end() -> None:
    solver, shape = Solver(), board.shape_of(7, 6, 4)
    for position in random_positions(25, least=28):
        best = search.best_columns(position.own, position.mask, shape, 42, 60, True, False)
        worth, expected = solver.best_columns(position)
        assert best[0] in expected, (position, worth)


def test_the_time_is_kept_and_the_best_so_far_is_played(pure: None) -> None:
    shape = board.shape_of(9, 8, 4)
    assert search.best_columns(0, 0, shape, 63, 0.05, True, False)[0] in range(9)
    assert set(search.best_columns(0, 0, shape, 63, 1e-9, True, True)) <= set(range(9))


def test_the_opening_keeps_every_value_and_knows_what_can_come() -> None:
    book = shipped_book()
    assert book is not None
    opening = opening_of(book)
    names, rng = namespace("perfect"), np.random.default_rng(1)
    assert names["OPENING"] == opening
    for seat in (0, 1) * 15:
        position = Position()
        while position.outcome() is None and position.ply < book.plies:
            if position.to_move == seat:
                column, score = opening[position.key], book.score(position)
                after = position.play(column)
                assert after.outcome() is not None or book.score(after) == -(score or 0)
                position = after
            else:
                position = position.play(int(rng.choice(position.legal_columns())))


@pytest.mark.parametrize("spec", ["value", "dqn", "value:net=dqn", "value:net=sewell", "value:net=sewell-unit"])
def test_networks_play_as_ours(spec: str) -> None:
    submission, agent = plain_agent(spec), make(spec)
    for position in random_positions(40):
        column, ours = column_of(submission, position), agent.decide(position, Limit(), np.random.default_rng(1)).column
        assert column == ours or position.makes_line(column, position.to_move)  # ours may be as sure of another column


def test_the_weights_are_those_of_the_network() -> None:
    import torch

    names = namespace("alphazero")
    network, weights = read("alphazero")
    net = Net(network)
    net.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights.items()}, strict=False)
    net.eval()
    own, mask = probe_positions(network.rules)
    planes = names["planes_of"](list(zip(own.tolist(), mask.tolist(), strict=True)))
    with torch.no_grad():
        value, policy = net(torch.from_numpy(planes))
    found = names["judge"](list(zip(own.tolist(), mask.tolist(), strict=True)))
    assert np.abs(found[0] - value.numpy()[:, 0]).max() < 1e-4
    assert np.abs(found[1] - policy.numpy()).max() < 1e-4
    ours = load_onnx("alphazero")
    assert (planes == ours.planes(own, mask)).all()


def test_search_with_a_network_finds_what_the_network_alone_does_not() -> None:
    solver, right = Solver(), {"alphazero:simulations=0": 0, "alphazero:simulations=60": 0}
    positions = list(random_positions(12, least=16))
    for spec in right:
        submission = plain_agent(spec)
        for position in positions:
            columns = solver.columns(position, weak=True)
            best = max(each.lower for each in columns.values())
            right[spec] += columns[column_of(submission, position, actTimeout=60)].lower >= best
    assert right["alphazero:simulations=60"] >= right["alphazero:simulations=0"]
    assert right["alphazero:simulations=60"] >= 10


def test_rules_are_ours() -> None:
    submission, agent = plain_agent("rules"), make("rules")
    for position in random_positions(60):
        ours = {agent.decide(position, Limit(), np.random.default_rng(seed)).column for seed in range(12)}
        assert {column_of(submission, position) for _ in range(12)} <= ours


def test_without_numpy_a_network_gives_way_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numpy", "numba"):
        monkeypatch.setitem(sys.modules, name, None)
    submission = load(source_of("alphazero"))
    assert column_of(submission, Position("121212"), actTimeout=0.2) == 0
    assert column_of(submission, Position("12131"), actTimeout=0.2) == 0


def test_the_templates_folder_holds_what_can_be_exported() -> None:
    folder = ROOT / "src" / "fourlab" / "bridges" / "kaggle" / "templates"
    agents = {file.stem for file in folder.glob("*.py") if "\ndef agent(" in file.read_text()}
    assert agents == KINDS.keys()
