"""Reviews agree with a plain exhaustive search of the game tree."""

import json
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Limit, Position, Rules, Stop
from fourlab.analysis.review import SLOW_PLIES, Category, Review, review
from fourlab.game.outcome import RED, YELLOW
from fourlab.game.position import IllegalColumn
from fourlab.solver import Solution
from tests.strategies import examples, games

NO_LIMIT = Limit()
GLANCE = Limit(nodes=50)
LITTLE_BOARDS = st.sampled_from([Rules.parse(board) for board in ("4x3x3", "3x4x3", "4x3x4")])


@cache
def value_of(position: Position) -> tuple[int, int]:
    """Return the result for the side to move and the plies to the end, by exhaustive search."""
    if (outcome := position.outcome()) is not None:
        return outcome.score(position.to_move), 0
    return max(after_each(position).values(), key=preference)


def after_each(position: Position) -> dict[int, tuple[int, int]]:
    """Return the value of every column for the side that plays it."""
    values = {column: value_of(position.play(column)) for column in position.legal_columns()}
    return {column: (-result, plies + 1) for column, (result, plies) in values.items()}


def preference(value: tuple[int, int]) -> tuple[int, int]:
    """Order values: short wins are better than long ones, long losses better than short."""
    result, plies = value
    return result, -result * plies


def category(position: Position, column: int) -> str:
    """Return the category of a move as the documentation defines it."""
    columns = after_each(position)
    (had, soonest), (has, plies) = value_of(position), columns[column]
    if len(columns) == 1:
        return "forced"
    if had - has == 2:
        return "blunder"
    if had - has == 1:
        return "mistake"
    if had == 0 or plies == soonest:
        return "best"
    return "good" if abs(plies - soonest) <= SLOW_PLIES else "slow"


def of(moves: str, board: str | None = None, start: str = "", limit: Limit = NO_LIMIT) -> Review:
    columns = tuple(int(column) - 1 for column in moves)
    return review(Position(start, board), columns, limit)


@pytest.fixture(scope="module")
def reviewed() -> Review:
    """A game with slow moves, mistakes and a blunder."""
    return of("4444413333122")


@examples(60)
@given(games(LITTLE_BOARDS))
def test_every_position_and_move_agrees_with_exhaustive_search(
    game: tuple[Rules, list[int]],
) -> None:
    board, columns = game
    reviewed = review(Position(board=board), columns)
    assert reviewed.is_complete
    assert len(reviewed.standings) == len(reviewed.moves) + 1
    for standing in reviewed.standings:
        position = standing.position
        result, plies = value_of(position)
        assert standing.result == (result if position.to_move == RED else -result)
        assert standing.plies == plies
        assert standing.chance == (standing.result + 1) / 2
    for move in reviewed.moves:
        values = after_each(move.position)
        assert move.category == category(move.position, move.column)
        assert move.had.result == value_of(move.position)[0]
        assert move.has.result == values[move.column][0]
        best = {
            column
            for column, value in values.items()
            if preference(value) == preference(value_of(move.position))
        }
        assert set(move.best) == best


def test_moves_are_described_in_words(reviewed: Review) -> None:
    assert [move.number for move in reviewed.mistakes] == [13, 11, 12]
    assert [move.category for move in reviewed.moves[8:]] == [
        "slow",
        "slow",
        "mistake",
        "mistake",
        "blunder",
    ]
    assert str(reviewed.moves[0]) == "column 4 wins in 41"
    assert str(reviewed.moves[8]) == "column 3 wins in 33; column 5 wins in 3"
    assert str(reviewed.moves[7]) == "column 3 loses in 4; columns 2, 5 and 6 lose in 34"
    assert str(reviewed.moves[10]) == "column 1 gives away the win; column 5 wins in 3"
    assert str(reviewed.moves[11]) == "column 2 gives away the draw; column 6 draws"
    assert str(reviewed.moves[12]) == "column 2 turns a win into a loss; column 1 wins in 27"
    assert str(reviewed.standings[0]) == "red wins in 41"
    assert str(reviewed.standings[-1]) == "yellow wins in 27"


def test_accuracy_counts_moves_with_a_choice(reviewed: Review) -> None:
    red = [move for move in reviewed.moves if move.position.to_move == RED]
    sizes = [0, 0, 0, 0, 30 / 42, 1, 2]
    assert [move.size for move in red] == sizes
    accuracy = reviewed.accuracy(RED)
    assert (accuracy.moves, accuracy.kept, accuracy.best) == (7, 5 / 7, 4 / 7)
    assert accuracy.accuracy == pytest.approx(sum(1 - size / 2 for size in sizes) / 7)
    assert of("").accuracy(YELLOW).accuracy is None


def test_the_only_legal_column_is_forced() -> None:
    reviewed = of("1111", "1x4x4")
    assert {move.category for move in reviewed.moves} == {Category.FORCED}
    assert reviewed.accuracy(RED).moves == 0
    assert reviewed.mistakes == ()
    assert str(reviewed.moves[0]) == "column 1 is the only one"
    assert str(reviewed.standings[-1]) == "draw"


def test_unproven_positions_are_estimated_and_their_moves_not_rated() -> None:
    reviewed = of("4453221", "8x6x4", limit=GLANCE)
    assert not reviewed.is_complete
    assert reviewed.standings[0].result is None
    assert {move.category for move in reviewed.moves} == {Category.UNKNOWN}
    assert all(move.size == 0 and str(move) == "not proven" for move in reviewed.moves)
    for standing in reviewed.standings:
        assert standing.chance == standing.estimate
        assert 0 <= standing.chance <= 1
    assert str(reviewed.standings[0]) == f"about {100 * reviewed.standings[0].chance:.0f} % for red"


def test_a_stop_flag_ends_the_solver_and_leaves_estimates() -> None:
    stop = Stop()
    stop.set()
    reviewed = of("44532214", "8x6x4", limit=Limit(seconds=1000, stop=stop))
    assert not reviewed.is_complete
    assert all(standing.estimate is not None for standing in reviewed.standings)


def test_without_time_the_end_of_the_game_and_the_book_are_still_exact() -> None:
    reviewed = of("1212121", limit=Limit(seconds=1e-9))
    assert reviewed.is_complete
    assert str(reviewed.standings[-1]) == "red has won"


def test_the_estimate_is_from_reds_point_of_view() -> None:
    for board in ("7x6x4", "6x5x4"):
        to_win = {
            RED: of("415161", board, limit=GLANCE),
            YELLOW: of("1415262", board, limit=GLANCE),
        }
        estimates = {side: won.standings[-1].estimate for side, won in to_win.items()}
        assert estimates[RED] > 0.9 > 0.1 > estimates[YELLOW]  # type: ignore[operator]
        assert all(won.standings[-1].position.to_move == side for side, won in to_win.items())


def test_a_review_is_reproducible() -> None:
    assert (
        of("445322", "6x5x4", limit=GLANCE).to_dict()
        == of("445322", "6x5x4", limit=GLANCE).to_dict()
    )


def test_a_game_may_start_anywhere() -> None:
    reviewed = of("555", start="vannucci-abril")
    data = reviewed.to_dict()
    assert data["start"] == Position("vannucci-abril").write("fen")
    assert data["moves"] == "555"
    assert [position["ply"] for position in data["positions"]] == [30, 31, 32, 33]
    assert data["outcome"] == "red wins"
    over = of("", start="1212121").to_dict()
    assert (over["outcome"], over["moves_made"], over["positions"][0]["says"]) == (
        "red wins",
        [],
        "red has won",
    )


def test_impossible_columns_are_refused() -> None:
    with pytest.raises(IllegalColumn):
        of("8")
    with pytest.raises(IllegalColumn):
        of("12121211")


def test_a_review_as_json(reviewed: Review) -> None:
    data = json.loads(json.dumps(reviewed.to_dict()))
    assert set(data) == {
        "board",
        "start",
        "moves",
        "outcome",
        "complete",
        "positions",
        "moves_made",
        "accuracy",
        "mistakes",
    }
    assert (data["board"], data["start"], data["moves"]) == ("7x6x4", "", "4444413333122")
    assert data["outcome"] is None
    assert data["complete"] is True
    assert data["mistakes"] == [13, 11, 12]
    assert len(data["positions"]) == 14
    last = data["positions"][-1]
    assert 0 <= last.pop("estimate") <= 1
    assert last == {
        "ply": 13,
        "to_move": "yellow",
        "proven": True,
        "result": -1,
        "plies": 27,
        "chance": 0.0,
        "says": "yellow wins in 27",
    }
    assert data["moves_made"][-1] == {
        "number": 13,
        "side": "red",
        "column": 2,
        "category": "blunder",
        "had": 1,
        "has": -1,
        "size": 2.0,
        "best": [1],
        "says": "column 2 turns a win into a loss; column 1 wins in 27",
    }
    assert set(data["accuracy"]["red"]) == {"moves", "kept", "best", "accuracy"}


def test_a_kept_value_of_unproven_length_is_good() -> None:
    move = of("4").moves[0]
    unsure = Solution(1, 18, 41)
    assert replace(move, has=unsure).category == Category.GOOD
    assert replace(move, has=unsure).size == 0
    assert str(replace(move, has=unsure)) == "column 4 wins; column 4 wins in 41"
