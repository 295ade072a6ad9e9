from pathlib import Path

import numpy as np
import pytest

from fourlab import Limit, Position, UserError, make
from fourlab.agents.q.table import QForm, QTable
from fourlab.game.rules import Rules


def decide(spec: str, position: Position, seed: int = 0):  # type: ignore[no-untyped-def]
    return make(spec).decide(position, Limit(), np.random.default_rng(seed))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """On the empty 4x3 board, columns 2 and 4 are worth 1.5 to the first player, the others what they were at first."""
    start = Position(board="4x3x3")
    keys = [Position(start.play(column).grid(), "4x3x3", to_move=0, check_counts=False).key for column in (1, 3)]
    form = QForm(Rules.parse("4x3x3"), initial=1.0, win=2.0, loss=-2.0)
    QTable.of(form, np.sort(keys), np.full((2, 1), 1.5, np.float32)).save(tmp_path / "a.q")
    return tmp_path / "a.q"


def test_the_best_column_is_played_and_every_value_is_told(table: Path) -> None:
    decision = decide(f"q:table={table}", Position(board="4x3x3"))
    assert decision.column == 1
    assert decision.value == 0.75
    assert decision.analysis.known == 2
    assert decision.analysis.estimates == {0: 1.0, 1: 1.5, 2: 1.0, 3: 1.5}


def test_ties_are_broken_by_lot_if_so_wished(table: Path) -> None:
    assert {decide(f"q:table={table},tie=random", Position(board="4x3x3"), seed).column for seed in range(30)} == {1, 3}


def test_a_position_it_does_not_know_is_no_opinion(table: Path) -> None:
    decision = decide(f"q:table={table}", Position("1", board="4x3x3"))
    assert decision.column == 0
    assert decision.value is None
    assert decision.analysis.known == 0


def test_full_columns_have_no_value(table: Path) -> None:
    assert decide(f"q:table={table}", Position("111", board="4x3x3")).analysis.estimates == {1: 1.0, 2: 1.0, 3: 1.0}


def test_another_board_is_refused(table: Path) -> None:
    with pytest.raises(UserError, match="is for the board 4x3x3, not 7x6x4"):
        decide(f"q:table={table}", Position())


def test_without_a_table_the_shipped_one_plays_its_board_and_knows_no_other() -> None:
    decision = decide("q", Position(board="5x4x4"))
    assert decision.analysis.known == 5
    assert -1 <= decision.value <= 1
    assert decide("q", Position()).analysis.known == 0


def test_the_shipped_table_beats_a_random_player() -> None:
    agents, rng, wins = (make("q"), make("random")), np.random.default_rng(1), 0
    for game in range(60):
        position = Position(board="5x4x4")
        while position.outcome() is None:
            position = position.play(agents[position.to_move ^ game & 1].decide(position, Limit(), rng).column)
        wins += position.outcome().winner == game & 1  # type: ignore[union-attr]
    assert wins > 48
