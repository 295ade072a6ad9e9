"""The pattern networks that come with Fourlab."""

import subprocess
import sys

import numpy as np
import pytest

from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.pattern_files import shipped_boards
from fourlab.nets.patterns import load, load_for
from fourlab.solver import Solver


def test_the_boards_of_the_reports_and_of_the_levels_have_patterns() -> None:
    assert {"5x4x4", "5x6x4", "6x5x4", "7x6x4", "8x6x4"} <= set(shipped_boards())


@pytest.mark.parametrize("board", shipped_boards())
def test_a_shipped_network_is_for_the_board_in_its_name(board: str) -> None:
    network = load(board)
    assert str(network.rules) == board
    assert load_for(Rules.parse(board), None) is network
    assert network.patterns.weights.any()


@pytest.mark.parametrize("board", shipped_boards())
def test_the_values_of_a_shipped_network_go_with_the_exact_results(board: str) -> None:
    network = load(board)
    solver = Solver(1)
    pairs = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        position = Position(board=board)
        for _ in range(position.rules.columns * position.rules.rows * 2 // 3):
            position = position.play(int(rng.choice(position.legal_columns())))
            if position.outcome() is not None:
                break
        else:
            result = Result.of_score(solver.solve(position).score or 0)
            pairs.append((network.value(position), int(result)))
    assert len(pairs) >= 10
    # Networks with random weights are at 0 ± 0.3.
    assert np.corrcoef(np.array(pairs).T)[0, 1] > 0.6


def test_listing_the_boards_imports_no_compiler() -> None:
    code = (
        "import sys; from fourlab.nets.pattern_files import shipped_boards; shipped_boards(); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
