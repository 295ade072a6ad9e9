import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.agents.opponents import chooser
from fourlab.solver import Solver
from fourlab.training.evaluation import FULL_COLUMN, Benchmark

BOARD = Rules(5, 4, 4)


def benchmark_of(rules: Rules, games: int, positions: int) -> Benchmark:
    opponents = {spec: chooser(spec, rules) for spec in ("random", "rules")}
    return Benchmark(rules, games, positions, opponents)


def test_the_results_of_all_columns_are_those_of_the_solver() -> None:
    solver = Solver(book=None)
    arrays = Benchmark(BOARD, 2, 30).test_set
    assert len(arrays[0]) >= 30
    for own, mask, results in zip(*(array.tolist() for array in arrays), strict=True):
        position = Position.from_key(own + mask + BOARD.geometry.bottom, BOARD)
        assert (position.own, position.mask) == (own, mask)
        for column, result in enumerate(results):
            assert (result == FULL_COLUMN) == (column not in position.legal_columns())
            if result != FULL_COLUMN:
                after = position.play(column)
                outcome = after.outcome()
                if outcome is None:
                    assert result == -(solver.solve(after).result or 0)
                else:
                    assert result == (0 if outcome.winner is None else 1)


def test_perfect_play_keeps_every_value_and_random_play_does_not() -> None:
    benchmark = benchmark_of(BOARD, 20, 40)
    best = benchmark.run(chooser("perfect", BOARD))
    random = benchmark.run(chooser("random", BOARD))
    assert best["exact"]["kept"] == best["exact"]["decisive"] == 1
    assert random["exact"]["decisive"] < random["exact"]["kept"] < 1
    assert best["random"]["score"] > random["random"]["score"]
    assert best["rules"]["wins"] + best["rules"]["draws"] + best["rules"]["losses"] == 20
    low, high = best["random"]["win_interval"]
    assert low < best["random"]["wins"] / 20 < high


def test_the_same_player_gets_the_same_tables() -> None:
    player = chooser("rules", BOARD)
    assert benchmark_of(BOARD, 20, 20).run(player) == benchmark_of(BOARD, 20, 20).run(player)


@pytest.mark.parametrize("board", ["1x1x3", "1x4x3", "3x1x3", "2x2x4", "7x6x3"])
def test_any_board_has_a_benchmark(board: str) -> None:
    rules = Rules.parse(board)
    tables = benchmark_of(rules, 8, 10).run(chooser("random", rules))
    assert sum(tables["random"][result] for result in ("wins", "draws", "losses")) == 8
    if "exact" in tables:
        assert np.isfinite(tables["exact"]["kept"])
    else:
        assert not len(Benchmark(rules, 8, 10).test_set[0])
