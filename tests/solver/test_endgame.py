"""Games played out without a mistake."""

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.solver import Solver
from fourlab.solver.endgame import NO_COLUMN, column_results, play_out
from fourlab.solver.table import new_table


def some_positions(board: str, plies: range, count: int) -> list[Position]:
    rng, found = np.random.default_rng(2), list[Position]()
    while len(found) < count:
        position = Position(board=Rules.parse(board))
        for _ in range(int(rng.choice(plies))):
            if position.outcome() is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            found.append(position)
    return found


@pytest.mark.parametrize(("board", "plies"), [("7x6x4", range(24, 41)), ("5x4x4", range(20)), ("4x3x3", range(12))])
def test_every_column_has_its_exact_result_and_no_game_throws_it_away(board: str, plies: range) -> None:
    solver, table = Solver(16), new_table(1 << 16)
    for number, position in enumerate(some_positions(board, plies, 40)):
        g = position.rules.geometry
        results = np.zeros(g.columns, np.int64)
        best = column_results(position.own, position.mask, g, table, results)
        truth = {column: each.result for column, each in solver.columns(position, weak=True).items()}
        assert {column: int(each) for column, each in enumerate(results) if each != NO_COLUMN} == truth
        assert best == max(truth.values())

        cells = g.columns * g.rows
        own, mask, policies = np.zeros(cells, np.int64), np.zeros(cells, np.int64), np.zeros((cells, g.columns), np.float32)
        met, result, _ = play_out(position.own, position.mask, g, table, own, mask, policies, 7 + number)
        assert result == best
        assert (own[0], mask[0]) == (position.own, position.mask)
        assert np.allclose(policies[:met].sum(axis=1), 1)
        assert [int(each).bit_count() for each in mask[:met]] == list(range(position.ply, position.ply + met))
        ends = {column for column in truth if position.makes_line(column, position.to_move)}
        assert {column for column in range(g.columns) if policies[0, column]} == (ends or {c for c in truth if truth[c] == best})
