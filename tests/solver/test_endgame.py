"""Perfect play to the end of the game."""

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.solver import Solver
from fourlab.solver.endgame import NO_COLUMN, column_results, play_out
from fourlab.solver.table import new_table


def some_positions(board: str, plies: range, count: int) -> list[Position]:
    rng = np.random.default_rng(2)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position(board=Rules.parse(board))
        for _ in range(int(rng.choice(plies))):
            if position.outcome() is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            positions.append(position)
    return positions


@pytest.mark.parametrize(
    ("board", "plies"), [("7x6x4", range(24, 41)), ("5x4x4", range(20)), ("4x3x3", range(12))]
)
def test_columns_have_exact_results_and_games_keep_the_game_theoretic_value(
    board: str, plies: range
) -> None:
    solver = Solver(16)
    table = new_table(1 << 16)
    for number, position in enumerate(some_positions(board, plies, 40)):
        g = position.rules.geometry
        results = np.zeros(g.columns, np.int64)
        best = column_results(position.own, position.mask, g, table, results)
        solutions = solver.columns(position, weak=True)
        exact_results = {column: solution.result for column, solution in solutions.items()}
        legal_results = {
            column: int(result) for column, result in enumerate(results) if result != NO_COLUMN
        }
        assert legal_results == exact_results
        assert best == max(legal_results.values())

        cells = g.columns * g.rows
        own = np.zeros(cells, np.int64)
        mask = np.zeros(cells, np.int64)
        policies = np.zeros((cells, g.columns), np.float32)
        reached, result, _ = play_out(
            position.own, position.mask, g, table, own, mask, policies, 7 + number
        )
        assert result == best
        assert (own[0], mask[0]) == (position.own, position.mask)
        assert np.allclose(policies[:reached].sum(axis=1), 1)
        disc_counts = [int(discs).bit_count() for discs in mask[:reached]]
        assert disc_counts == list(range(position.ply, position.ply + reached))
        side = position.to_move
        wins_at_once = {column for column in legal_results if position.makes_line(column, side)}
        best_columns = {column for column, result in legal_results.items() if result == best}
        played = {column for column in range(g.columns) if policies[0, column]}
        assert played == (wins_at_once or best_columns)
