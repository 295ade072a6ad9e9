"""The solver: exact scores, limits, and valid bounds for what it could not prove."""

import threading

import numpy as np
import pytest

from fourlab import Limit, Position, Stop, UserError
from fourlab.solver import Solution, Solver, centre_first
from fourlab.solver.solution import plies_to_end
from fourlab.solver.solver import FIRST_WORDS
from tests.solver import brute_force
from tests.solver.sets import FIRST_MOVES, golden, public
from tests.strategies import FULL

HARD = Position("75777317")
"""Takes millions of nodes, enough to be interrupted."""


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver(book=None)


@pytest.mark.sweep
def test_golden_positions(solver: Solver) -> None:
    solved = golden()
    assert len(solved) >= 300
    for moves, score in solved[40 :: 1 if FULL else 3]:
        solver.forget()
        assert solver.solve(Position(moves)).score == score, moves


@pytest.mark.soak
def test_golden_positions_of_the_first_plies_from_scratch(solver: Solver) -> None:
    for moves, score in golden()[:40]:
        assert solver.solve(Position(moves)).score == score, moves


@pytest.mark.parametrize(
    ("name", "count"), [("L3_R1", 1000), ("L2_R1", 1000), ("L1_R1", 200), ("L1_R2", 30)]
)
def test_public_test_sets(solver: Solver, name: str, count: int) -> None:
    solver.forget()
    solved = public(name)[:count]
    assert len(solved) == count
    for moves, score in solved:
        assert solver.solve(Position(moves)).score == score, moves


@pytest.mark.soak
@pytest.mark.parametrize("name", ["L3_R1", "L2_R1", "L1_R1", "L1_R2"])
def test_complete_public_test_sets_with_scores_and_winners(solver: Solver, name: str) -> None:
    for moves, score in public(name):
        solver.forget()
        assert solver.solve(Position(moves), weak=True).result == (score > 0) - (score < 0), moves
        assert solver.solve(Position(moves)).score == score, moves


@pytest.mark.parametrize(("moves", "score"), [("226744515337", 7), ("475772722323", 4)])
def test_two_positions_with_wrong_scores_in_an_old_book(
    solver: Solver, moves: str, score: int
) -> None:
    assert solver.solve(Position(moves)).score == score


DRAW, FIRST, SECOND = 0, 1, -1
BOARDS = {
    4: (DRAW, DRAW, SECOND, DRAW, SECOND),
    5: (DRAW, DRAW, DRAW, DRAW, FIRST),
    6: (DRAW, DRAW, SECOND, FIRST, SECOND),
    7: (DRAW, DRAW, FIRST, DRAW, FIRST),
}
"""The winners on boards of 4 to 8 columns, by number of rows."""
QUICK = {"4x4", "5x4", "6x4", "7x4", "4x5", "5x5", "4x6", "5x6", "4x7"}
SIZES = [
    pytest.param(
        f"{columns}x{rows}", value, marks=() if f"{columns}x{rows}" in QUICK else pytest.mark.soak
    )
    for rows, values in BOARDS.items()
    for columns, value in zip(range(4, 9), values, strict=True)
    if (columns, rows) not in ((8, 7), (8, 6), (7, 7))  # these take hours
]


@pytest.mark.parametrize(("board", "value"), SIZES)
def test_the_winner_on_small_boards(board: str, value: int) -> None:
    assert Solver(256, book=None).solve(Position(board=board), weak=True).result == value


@pytest.mark.soak
@pytest.mark.parametrize(("board", "last"), [("6x6", 36), ("7x6", 41), ("6x7", 41), ("8x5", 39)])
def test_the_last_disc_under_perfect_play(board: str, last: int) -> None:
    assert Solver(256, book=None).solve(Position(board=board)).plies == last


@pytest.mark.soak
@pytest.mark.parametrize(("moves", "scores"), FIRST_MOVES.items())
def test_the_first_moves_from_scratch(solver: Solver, moves: str, scores: list[int]) -> None:
    solutions = solver.columns(Position(moves))
    assert [solution.score for solution in solutions.values()] == scores


def test_the_scores_of_columns_are_those_of_the_positions_after_them(solver: Solver) -> None:
    position = Position("32751571231557")
    columns = solver.columns(position)
    scores = [columns[column].score for column in range(7)]
    assert scores == [-4, -3, -3, -5, -5, -9, -4]
    assert str(columns[5]) == "loses in 12"
    assert solver.solve(position).score == -3
    winners = solver.columns(position, weak=True)
    assert {solution.result for solution in winners.values()} == {-1}


def test_the_column_that_wins_or_fills_the_board_at_once(solver: Solver) -> None:
    columns = solver.columns(Position("121212"))
    assert str(columns[0]) == "wins in 1"
    assert columns[0].score == 18
    last = Position(". X .\nO X O\nX O X", board="3x3x4", check_counts=False)
    assert {str(solution) for solution in solver.columns(last).values()} == {"draw"}


@pytest.mark.parametrize("moves", ["32751571231557", "23766176641753", "445566", "121213"])
def test_the_line_is_best_play_to_the_end(solver: Solver, moves: str) -> None:
    position = Position(moves)
    solution = solver.solve(position)
    line = solver.line(position)
    assert len(line) == solution.plies
    for column in line:
        assert position.outcome() is None
        best, columns = solver.best_columns(position)
        assert column in columns
        assert solver.best_columns(position, first=True)[1] == [column]
        assert best.plies == len(line) - (position.ply - len(moves))
        position = position.play(column)
    outcome = position.outcome()
    assert outcome is not None
    winner = {1: len(moves) % 2, -1: 1 - len(moves) % 2, 0: None}[solution.result or 0]
    assert outcome.winner == winner


@pytest.mark.sweep
def test_mirror_images_have_the_same_score(solver: Solver) -> None:
    for moves, score in golden()[60 : 140 : 1 if FULL else 3]:
        assert solver.solve(Position(moves).mirror()).score == score


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_threads_give_the_same_scores(step: int) -> None:
    shared = Solver(book=None, threads=3)
    for moves, score in golden()[45:120:step]:
        assert shared.solve(Position(moves)).score == score
        shared.forget()


def test_a_node_limit_is_kept_and_the_search_repeats(solver: Solver) -> None:
    outcomes = []
    for _ in range(2):
        solver.forget()
        solution = solver.solve(HARD, Limit(nodes=100_000))
        assert solution.nodes == 100_000
        assert solution.score is None
        assert solution.lower <= -2 <= solution.upper
        outcomes.append((solution.lower, solution.upper, solution.nodes, solution.left))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_time_limit_and_a_stop_flag_end_a_search_unproven(threads: int) -> None:
    solver = Solver(book=None, threads=threads)
    solver.solve(Position("12"), Limit(nodes=1))  # compile first
    solution = solver.solve(Position(), Limit(seconds=0.2))
    assert solution.score is None
    assert solution.lower <= 1 <= solution.upper
    stop = Stop()
    threading.Timer(0.1, stop.set).start()
    assert solver.solve(Position(), Limit(stop=stop)).score is None
    assert solver.solve(Position(), Limit(stop=stop)).score is None


def test_columns_share_a_limit(solver: Solver) -> None:
    solver.forget()
    columns = solver.columns(HARD, Limit(nodes=7_000))
    assert len(columns) == 7
    assert sum(solution.nodes for solution in columns.values()) <= 7_000
    assert any(solution.score is None for solution in columns.values())
    assert all(solution.lower <= -2 for solution in columns.values())


def test_the_table_grows_and_is_released() -> None:
    solver = Solver(megabytes=16, book=None)
    assert solver.megabytes == 0
    solver.solve(Position("23766176641753"))
    assert solver.megabytes * 2**20 == 8 * FIRST_WORDS
    solver.solve(HARD, Limit(nodes=2_000_000))
    assert solver.megabytes == 16
    solver.forget()
    assert solver.megabytes * 2**20 == 8 * FIRST_WORDS


def test_a_search_with_far_too_small_a_table_still_ends() -> None:
    tiny = Solver(megabytes=0.001, book=None)
    assert tiny.solve(Position("2416615552")).score == 4
    assert tiny.solve(Position("2416615552"), Limit(seconds=200)).score == 4


def test_the_line_keeps_to_a_limit(solver: Solver) -> None:
    solver.forget()
    before = solver._spent
    line = solver.line(Position("44"), Limit(nodes=10_000))
    assert solver._spent - before <= 10_000
    assert line == ()


@pytest.mark.parametrize("board", ["4x4x3", "4x4x4", "5x3x3"])
def test_weak_best_columns_keep_the_result(board: str) -> None:
    solver = Solver(book=None)
    for position in brute_force.random_positions(board, 5, 30):
        results = {}
        for column in position.legal_columns():
            after = position.play(column)
            outcome = after.outcome()
            if outcome is None:
                results[column] = -np.sign(brute_force.score(after))
            else:
                results[column] = 0 if outcome.winner is None else 1
        keeping = [column for column, result in results.items() if result == max(results.values())]
        side = position.to_move
        wins = [column for column in keeping if position.makes_line(column, side)]
        safe = [
            column
            for column in keeping
            if position.play(column).outcome() is not None
            or not any(
                position.play(column).makes_line(reply, 1 - side)
                for reply in position.play(column).legal_columns()
            )
        ]
        keeping = wins or safe or keeping
        solution, columns = solver.best_columns(position, weak=True)
        assert (solution.result, columns) == (max(results.values()), keeping), position
        (first,) = solver.best_columns(position, first=True, weak=True)[1]
        assert first == min(keeping, key=centre_first(position).index)


def test_best_columns_keep_to_a_limit(solver: Solver) -> None:
    solver.forget()
    assert solver.best_columns(HARD, limit=Limit(nodes=100))[1] == []
    late = Position("44444435555352333266")
    solver.forget()
    whole = solver.best_columns(late)
    assert whole[1]
    solver.forget()
    assert solver.best_columns(late, limit=Limit(nodes=10**6, seconds=1000))[1] == whole[1]


def test_threads_keep_to_a_node_limit() -> None:
    shared = Solver(book=None, threads=4)
    assert shared.solve(HARD, Limit(nodes=10)).nodes <= 10


def test_earlier_searches_make_the_next_one_shorter(solver: Solver) -> None:
    solver.forget()
    first = solver.solve(Position("2416615552"))
    again = solver.solve(Position("2416615552"))
    assert again.score == first.score
    assert again.nodes < first.nodes / 10
    solver.forget()
    assert solver.solve(Position("2416615552")).nodes == first.nodes


def test_one_solver_solves_several_boards_in_turn(solver: Solver) -> None:
    for _ in range(2):
        assert solver.solve(Position("32751571231557")).score == -3
        assert solver.solve(Position(board="5x4x4")).score == 0
        assert solver.solve(Position(board="5x4x3")).result == 1


def test_a_finished_game_cannot_be_solved(solver: Solver) -> None:
    with pytest.raises(UserError, match="the game is over"):
        solver.solve(Position("1212121"))


@pytest.mark.parametrize(
    ("megabytes", "threads"), [(0, 1), (-1, 1), (float("inf"), 1), (float("nan"), 1), (64, 0)]
)
def test_impossible_settings_are_refused(megabytes: float, threads: int) -> None:
    with pytest.raises(UserError):
        Solver(megabytes, threads)


def test_plies_to_the_end() -> None:
    assert plies_to_end(18, 36) == 1  # the next disc wins
    assert plies_to_end(1, 42) == 41
    assert plies_to_end(0, 42) == 42
    assert plies_to_end(-18, 36) == 2
    assert plies_to_end(-1, 42) == 42
    assert plies_to_end(-1, 41) == 40


def test_solutions_in_words() -> None:
    assert str(Solution(3, 3, 20)) == "wins in 15"
    assert str(Solution(-2, -2, 20)) == "loses in 18"
    assert str(Solution(0, 0, 20)) == "draw"
    assert str(Solution(1, 5, 20)) == "wins"
    assert str(Solution(-5, -1, 20)) == "loses"
    assert str(Solution(0, 5, 20)) == "draws at least"
    assert str(Solution(-3, 0, 20)) == "draws at most"
    assert str(Solution(-3, 5, 20)) == "not proven"
    assert Solution(-3, 5, 20).exact is None
