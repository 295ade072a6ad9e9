import pytest

from fourlab import Position
from fourlab.arena.openings import is_undecided, openings
from fourlab.errors import UserError
from fourlab.solver import Solver


def test_the_empty_board_and_single_positions() -> None:
    assert openings("empty", "7x6x4", 10, 0) == [Position()]
    assert openings("4453", "7x6x4", 10, 0) == [Position("4453")]
    assert openings("vannucci-abril", "7x6x4", 10, 0) == [Position("vannucci-abril")]
    assert openings(["44", "45"], "5x4x4", 10, 0) == [
        Position("44", "5x4x4"),
        Position("45", "5x4x4"),
    ]


def test_random_openings_are_distinct_up_to_mirror_images() -> None:
    positions = openings("random:4", "7x6x4", 200, 1)
    assert len({position.canonical_key for position in positions}) == len(positions) == 200
    assert {position.ply for position in positions} == {4}
    assert all(is_undecided(position) for position in positions)
    assert positions == openings("random:4", "7x6x4", 200, 1)
    assert positions != openings("random:4", "7x6x4", 200, 2)


def test_there_may_be_fewer_random_openings_than_requested() -> None:
    # Columns 1 to 4; the others are mirror images.
    assert len(openings("random:1", "7x6x4", 100, 0)) == 4
    assert len(openings("random:0", "7x6x4", 100, 0)) == 1


@pytest.mark.parametrize(("plies", "number"), [(0, 1), (1, 4), (2, 25), (3, 121), (4, 568)])
def test_all_openings_are_all_positions_up_to_mirroring(plies: int, number: int) -> None:
    positions = openings(f"all:{plies}", "7x6x4", None, 0)
    everything = {Position().canonical_key: Position()}
    for _ in range(plies):
        after = [
            position.play(column)
            for position in everything.values()
            for column in position.legal_columns()
        ]
        everything = {position.canonical_key: position for position in after}
    assert len(positions) == number
    assert {position.canonical_key for position in positions} == set(everything)


def test_positions_with_an_immediate_win_are_left_out() -> None:
    assert not is_undecided(Position("121212"))
    assert not is_undecided(Position("1212121"))
    assert all(is_undecided(position) for position in openings("all:6", "4x4x3", None, 0))


def test_balanced_openings_are_draws_under_perfect_play() -> None:
    solver = Solver()
    positions = openings("balanced:3", "5x4x4", 20, 0)
    assert positions
    assert {solver.solve(position).result for position in positions} == {0}


@pytest.mark.parametrize(
    ("source", "board", "word"),
    [
        ("random:x", "7x6x4", "random:K"),
        ("random:99", "7x6x4", "at most 60"),
        ("all:9", "7x6x4", "at most 8"),
        ("all:16", "4x4x4", "at most 8"),
        ("random:50", "7x6x4", "no opening random:50"),
        ("nonsense!", "7x6x4", "nonsense!"),
        ("1212121", "7x6x4", "is over"),
        (["7/7/7/7/7/3r3 y 4"], "5x4x4", "5x4x4"),
    ],
)
def test_impossible_openings_are_refused(source: str | list[str], board: str, word: str) -> None:
    with pytest.raises(UserError, match=word):
        openings(source, board, 10, 0)
