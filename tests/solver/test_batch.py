"""Many positions solved in one call: the answers are those of single calls and of brute force."""

import numpy as np
import pytest

from fourlab import Limit, Position, Rules, Stop, UserError
from fourlab.solver import Solver, search, solver
from fourlab.solver.solution import CLOSED
from tests.solver.brute_force import random_positions, score
from tests.solver.sets import golden


def keys_of(positions: list[Position]) -> np.ndarray:
    return np.array([position.key for position in positions], np.int64)


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("nodes", [None, 1, 300])
def test_a_batch_is_solved_like_its_positions_one_by_one(nodes: int | None, weak: bool) -> None:
    positions = [Position(moves) for moves, _ in golden()[100:200]]
    limit = Limit(nodes=nodes)
    single, together, by_keys = (Solver(book=None) for _ in range(3))
    expected = [single.solve(position, limit, weak) for position in positions]
    solutions = together.solve_many(positions, limit, weak)
    numbers = [(solution.lower, solution.upper, solution.nodes) for solution in expected]
    assert [(one.lower, one.upper, one.nodes) for one in solutions] == numbers
    assert [one.left for one in solutions] == [one.left for one in expected]
    bounds = by_keys.bounds(keys_of(positions), limit=limit, weak=weak)
    assert list(zip(*(array.tolist() for array in bounds), strict=True)) == numbers
    assert any(one.nodes for one in solutions)
    # The next search finds the same table, too.
    assert together._spent == by_keys._spent == single._spent
    assert together.megabytes == single.megabytes


@pytest.mark.parametrize(
    ("board", "plies"),
    [("4x4x4", 6), ("3x5x3", 5), ("5x3x3", 5), ("4x3x4", 3), ("3x3x4", 2), ("1x5x4", 1)],
)
def test_batches_agree_with_brute_force(board: str, plies: int) -> None:
    rules = Rules.parse(board)
    positions = random_positions(board, plies, 20)
    solver = Solver(book=None)
    keys = keys_of(positions)
    scores = [score(position) for position in positions]
    assert [solution.score for solution in solver.solve_many(positions)] == scores
    lower, upper, _ = solver.bounds(keys, rules)
    assert lower.tolist() == upper.tolist() == scores
    lower, upper, _ = solver.column_bounds(keys, rules)
    assert np.array_equal(lower, upper)
    assert lower.max(axis=1).tolist() == scores
    weak = solver.column_bounds(keys, rules, weak=True)
    assert np.array_equal(np.sign(weak.lower), np.sign(lower))
    for position, row in zip(positions, lower.tolist(), strict=True):
        columns = solver.columns(position)
        assert row == [
            columns[column].score if column in columns else CLOSED
            for column in range(rules.columns)
        ]
        assert row == [
            _after(position, column) if column in columns else CLOSED
            for column in range(rules.columns)
        ]


def _after(position: Position, column: int) -> int:
    """Return the score of a column by brute force."""
    after = position.play(column)
    if (outcome := after.outcome()) is None:
        return -score(after)
    empty = position.rules.columns * position.rules.rows - position.ply
    return 0 if outcome.winner is None else (empty + 1) // 2


def test_scores_come_from_the_book_where_it_has_them() -> None:
    solver = Solver()
    positions = [Position(moves) for moves in ("", "4", "44444", "7654321", "23766176641753")]
    solutions = solver.solve_many(positions)
    assert [one.book for one in solutions] == [True, True, True, True, False]
    assert [one.score for one in solutions] == [solver.solve(one).score for one in positions]
    # The mirror images share entries.
    mirrored = solver.solve_many([position.mirror() for position in positions])
    assert [one.score for one in mirrored] == [one.score for one in solutions]
    first_moves = solver.column_bounds(keys_of(positions[:1])).lower
    assert first_moves.tolist() == [[-2, -1, 0, 1, 0, -1, -2]]


@pytest.mark.parametrize("threads", [1, 2])
def test_limits_hold_for_a_batch(threads: int) -> None:
    easy, score = golden()[-1]
    hard = [Position(moves) for moves in ("75777317", "44", "", easy)]
    shared = Solver(book=None, threads=threads)
    limited = shared.solve_many(hard, Limit(nodes=2000))
    assert all(one.nodes <= 2000 for one in limited)
    assert [one.score for one in limited] == [None, None, None, score]
    assert sum(one.nodes for one in limited) == shared._spent
    stop = Stop()
    stop.set()
    assert [one.nodes for one in shared.solve_many(hard, Limit(stop=stop))][1:] == [0, 0, 0]
    timed = shared.solve_many(hard, Limit(seconds=0.05))
    assert timed[0].lower <= -2 <= timed[0].upper
    assert (timed[2].lower, timed[2].upper) == (-21, 21)


def test_progress_is_reported_up_to_the_last_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MAX_ROWS", 7)
    monkeypatch.setattr(search, "SLICE", 50)
    positions = [Position(moves) for moves, _ in golden()[150:200]]
    counts: list[int] = []
    solutions = Solver(book=None).solve_many(positions, on_solved=counts.append)
    assert [one.score for one in solutions] == [value for _, value in golden()[150:200]]
    assert counts == sorted(set(counts))
    assert counts[-1] == len(positions)
    assert len(counts) > len(positions) / 7


def test_an_empty_batch_has_no_solutions() -> None:
    solver = Solver(book=None)
    none = np.zeros(0, np.int64)
    assert solver.solve_many([]) == []
    assert [array.shape for array in solver.bounds(none)] == [(0,)] * 3
    assert [array.shape for array in solver.column_bounds(none)] == [(0, 7)] * 3


def test_batches_that_cannot_be_solved_are_refused() -> None:
    solver = Solver(book=None)
    with pytest.raises(UserError, match="one board"):
        solver.solve_many([Position("4"), Position("4", board="5x4x4")])
    won = Position("1212121")
    with pytest.raises(UserError, match="the game is over"):
        solver.solve_many([Position("4"), won])
    for solve in (solver.bounds, solver.column_bounds):
        with pytest.raises(UserError, match="the game is over"):
            solve(keys_of([Position("4"), won]))
        for key in (0, -1, 1 << 62, 2**63 - 1):
            with pytest.raises(UserError, match="not keys of positions on 7x6x4"):
                solve(np.array([key]))
