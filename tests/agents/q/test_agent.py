"""The agent `q`."""

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
    """Save a table in which columns 2 and 4 of the empty 4x3 board have the value 1.5."""
    start = Position(board="4x3x3")
    keys = [
        Position(start.play(column).grid(), "4x3x3", to_move=0, check_counts=False).key
        for column in (1, 3)
    ]
    form = QForm(Rules.parse("4x3x3"), initial=1.0, win=2.0, loss=-2.0)
    QTable.of(form, np.sort(keys), np.full((2, 1), 1.5, np.float32)).save(tmp_path / "a.q")
    return tmp_path / "a.q"


def test_the_best_column_is_played_and_every_value_is_reported(table: Path) -> None:
    decision = decide(f"q:table={table}", Position(board="4x3x3"))
    assert decision.column == 1
    assert decision.value == 0.75
    assert decision.analysis.table_hits == 2
    assert decision.analysis.estimates == {0: 1.0, 1: 1.5, 2: 1.0, 3: 1.5}


def test_ties_can_be_broken_at_random(table: Path) -> None:
    assert {
        decide(f"q:table={table},ties=random", Position(board="4x3x3"), seed).column
        for seed in range(30)
    } == {1, 3}


def test_a_position_that_is_not_in_the_table_has_no_value(table: Path) -> None:
    decision = decide(f"q:table={table}", Position("1", board="4x3x3"))
    assert decision.column == 0
    assert decision.value is None
    assert decision.analysis.table_hits == 0


def test_full_columns_have_no_value(table: Path) -> None:
    decision = decide(f"q:table={table}", Position("111", board="4x3x3"))
    assert decision.analysis.estimates == {1: 1.0, 2: 1.0, 3: 1.0}


def test_another_board_is_refused(table: Path) -> None:
    with pytest.raises(UserError, match="is for the board 4x3x3, not 7x6x4"):
        decide(f"q:table={table}", Position())


def test_the_shipped_table_has_values_for_its_board_only() -> None:
    decision = decide("q", Position(board="5x4x4"))
    assert decision.analysis.table_hits == 5
    assert -1 <= decision.value <= 1
    assert decide("q", Position()).analysis.table_hits == 0


def test_the_shipped_table_beats_a_random_player() -> None:
    agents = (make("q"), make("random"))
    rng = np.random.default_rng(1)
    wins = 0
    for game in range(60):
        position = Position(board="5x4x4")
        while position.outcome() is None:
            agent = agents[position.to_move ^ game & 1]
            position = position.play(agent.decide(position, Limit(), rng).column)
        wins += position.outcome().winner == game & 1  # type: ignore[union-attr]
    assert wins > 48
