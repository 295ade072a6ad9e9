"""The compiled minimax beside a plain one."""

import numpy as np
import pytest

from fourlab import Limit, Position, UserError, make
from fourlab.agents.minimax.kernel import THREAT, WIN, lines_through_cells
from fourlab.game import bitboard as bits
from fourlab.solver import Solver

RNG = np.random.default_rng(0)


def plain(position: Position, depth: int, evaluation: str) -> int:
    """Search without table, pruning or move ordering."""
    empty = position.rules.columns * position.rules.rows - position.ply
    if (outcome := position.outcome()) is not None:
        return 0 if outcome.winner is None else -(WIN + empty + 1)
    if depth == 0:
        return evaluate(position) if evaluation == "lines" else 0
    return max(
        -plain(position.play(column), depth - 1, evaluation) for column in position.legal_columns()
    )


def evaluate(position: Position) -> int:
    """Count the lines through every disc, and the empty cells that complete one."""
    g = position.rules.geometry
    total = 0
    lines = lines_through_cells(g).tolist()
    for sign, discs in ((1, position.own), (-1, position.own ^ position.mask)):
        total += sign * sum(count for cell, count in enumerate(lines) if discs >> cell & 1)
        for column in range(g.columns):
            for row in range(g.rows):
                cell = 1 << (column * g.height + row)
                if not position.mask & cell and bits.has_line(discs | cell, g.height, g.in_a_row):
                    total += sign * THREAT
    return total


def random_positions(board: str, count: int) -> list[Position]:
    rng = np.random.default_rng(8)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position(board=board)
        plies = int(rng.integers(0, 16))
        while position.ply < plies and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            positions.append(position)
    return positions


@pytest.mark.parametrize("evaluation", ["lines", "terminal"])
@pytest.mark.parametrize(
    ("board", "depth", "count"),
    [("7x6x4", 1, 15), ("7x6x4", 3, 10), ("4x4x3", 5, 15), ("5x4x4", 4, 10)],
)
def test_every_column_has_the_value_of_plain_minimax(
    board: str, depth: int, count: int, evaluation: str
) -> None:
    agent = make(f"minimax:depth={depth},evaluation={evaluation}")
    for position in random_positions(board, count):
        decision = agent.decide(position, Limit(), RNG)
        reached = decision.analysis.depth
        assert reached is not None
        expected = {
            column: -plain(position.play(column), reached - 1, evaluation)
            for column in position.legal_columns()
        }
        assert decision.analysis.scores == expected
        assert expected[decision.column] == max(expected.values())


def test_the_lines_through_the_cells_of_the_classic_board() -> None:
    through = lines_through_cells(Position().rules.geometry).reshape(7, 7)
    assert through[:, 0].tolist() == [3, 4, 5, 7, 5, 4, 3]
    assert through[:, 2].tolist() == [5, 8, 11, 13, 11, 8, 5]
    assert through.sum() == 4 * 69


def test_what_it_reports_as_proven_is_true() -> None:
    solver = Solver(book=None)
    proofs = 0
    for position in random_positions("7x6x4", 40):
        if position.ply < 10:
            continue
        decision = make("minimax:depth=7").decide(position, Limit(), RNG)
        if decision.proven is not None:
            solution = solver.solve(position)
            assert (decision.proven.result, decision.proven.plies) == (
                solution.result,
                solution.plies,
            )
            proofs += 1
    assert proofs > 5


def test_deep_enough_it_solves_a_small_board() -> None:
    decision = make("minimax:depth=16").decide(Position(board="4x4x4"), Limit(), RNG)
    assert decision.proven is not None
    assert (decision.proven.result, decision.proven.plies) == (0, 16)


def test_it_wins_and_blocks() -> None:
    for depth in (1, 4, 6):
        assert make(f"minimax:depth={depth}").decide(Position("121212"), Limit(), RNG).column == 0
    for depth in (2, 4, 6):
        assert make(f"minimax:depth={depth}").decide(Position("12131"), Limit(), RNG).column == 0


def test_ties_are_broken_by_the_option() -> None:
    position = Position()
    spec = "minimax:depth=2,evaluation=terminal,ties="
    assert make(spec + "centre").decide(position, Limit(), RNG).column == 3
    assert make(spec + "first").decide(position, Limit(), RNG).column == 0
    chosen = {
        make(spec + "random").decide(position, Limit(), np.random.default_rng(seed)).column
        for seed in range(60)
    }
    assert chosen == set(range(7))


def test_with_a_limit_it_deepens_iteratively() -> None:
    agent = make("minimax:depth=40")
    shallow, deep = (
        agent.decide(Position("4444"), Limit(nodes=nodes), RNG) for nodes in (500, 200_000)
    )
    assert 1 <= shallow.analysis.depth < deep.analysis.depth < 40
    assert deep.analysis.nodes <= 200_000
    assert 1 <= agent.decide(Position("4444"), Limit(seconds=0.1), RNG).analysis.depth < 40
    assert agent.decide(Position("4444"), Limit(depth=2), RNG).analysis.depth == 2


@pytest.mark.parametrize("depth", [0, 63])
def test_impossible_depths_are_refused(depth: int) -> None:
    with pytest.raises(UserError, match="1 to 62"):
        make(f"minimax:depth={depth}")


def original(position: Position, depth: int) -> tuple[int, int | None]:
    """Return the value and column of Arya's graphical version, on lists.

    It stops at depth == 6, and every disc is the searcher's own.
    """
    columns: list[list[int]] = [[] for _ in range(position.rules.columns)]
    g = position.rules.geometry
    for column in range(g.columns):
        for row in range(g.rows):
            cell = 1 << (column * g.height + row)
            if position.mask & cell:
                columns[column].append(1 if position.own & cell else -1)

    def won(player: int) -> bool:
        board = sum(
            1 << (column * g.height + row)
            for column, discs in enumerate(columns)
            for row, disc in enumerate(discs)
            if disc == player
        )
        return bits.has_line(board, g.height, g.in_a_row)

    def search(depth: int, maximising: bool) -> tuple[int, int | None]:
        if won(1):
            return 1, None
        if depth == 6 or all(len(discs) == g.rows for discs in columns):
            return 0, None
        best: tuple[int, int | None] = (-2 if maximising else 2, None)
        for column, discs in enumerate(columns):
            if len(discs) < g.rows:
                discs.append(1)
                value = search(depth - 1, not maximising)[0]
                discs.pop()
                if (value > best[0]) if maximising else (value < best[0]):
                    best = (value, column)
        return best

    return search(depth, True)


@pytest.mark.parametrize("depth", [6, 7, 8, 9, 10])
def test_the_faithful_form_is_that_of_arya(depth: int) -> None:
    agent = make(f"minimax:depth={depth},faithful=1")
    for position in random_positions("7x6x4", 12):
        value, column = original(position, depth)
        decision = agent.decide(position, Limit(), RNG)
        assert decision.value == value
        assert decision.column == (position.legal_columns()[0] if column is None else column)


def test_the_faithful_form_without_a_cut_off() -> None:
    agent = make("minimax:depth=4,faithful=1")
    for position in random_positions("4x3x3", 20):
        assert agent.decide(position, Limit(), RNG).value == original(position, 4)[0]
    assert agent.decide(Position(), Limit(), RNG).value == 1


def test_the_faithful_form_does_not_block() -> None:
    """Yellow threatens column 1: Arya's minimax plays elsewhere, the corrected one blocks."""
    position = Position("217131")
    assert make("minimax:depth=4").decide(position, Limit(), RNG).column == 0
    faithful = make("arya-minimax:faithful=1,depth=8")
    assert faithful.decide(position.mirror(), Limit(), RNG).column != 6
