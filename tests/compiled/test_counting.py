"""Perft and distinct positions, compared with golden numbers and a naive game."""

import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given

from fourlab import Position, Rules
from fourlab.compiled.counting import distinct, perft
from tests.naive import NaiveGame
from tests.strategies import FULL, examples, games, usual_boards

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "perft.json").read_text())
G = Rules().geometry


@pytest.mark.parametrize(("depth", "leaves"), list(enumerate(GOLDEN["7x6x4"]["leaves"])))
def test_perft_of_the_empty_board(depth: int, leaves: int) -> None:
    assert perft(0, 0, G, depth) == leaves


def test_distinct_positions_of_the_empty_board_to_ply_11() -> None:
    assert list(islice(distinct(0, 0, G), 12)) == GOLDEN["7x6x4"]["distinct"]


@pytest.mark.parametrize(("board", "positions"), list(GOLDEN["whole trees"].items()))
def test_all_positions_of_small_boards(board: str, positions: int) -> None:
    assert sum(distinct(0, 0, Rules.parse(board).geometry)) == positions


def naive_perft(rules: Rules, moves: list[int], depth: int) -> int:
    game = NaiveGame(rules.columns, rules.rows, rules.in_a_row)
    for column in moves:
        game.play(column)
    if depth == 0:
        return 1
    return sum(naive_perft(rules, [*moves, column], depth - 1) for column in game.legal())


@examples(15)
@given(games(usual_boards()))
def test_perft_from_any_position_agrees_with_the_naive_game(game: tuple[Rules, list[int]]) -> None:
    rules, moves = game
    position = Position(board=rules)
    for column in moves:
        position = position.play(column)
    if position.outcome() is None:
        depth = 3 if FULL else 2
        count = perft(position.own, position.mask, rules.geometry, depth)
        assert count == naive_perft(rules, moves, depth)
