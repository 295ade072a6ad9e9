"""Games in lockstep agree with positions played one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Position, Rules
from fourlab.agents.simple.rules import RulesOfThumb
from fourlab.compiled.batches import (
    DRAWN,
    ONGOING,
    WON,
    mirror_moves,
    open_columns,
    play_columns,
    urgent_columns,
)
from tests.strategies import positions


def arrays(*positions: Position) -> tuple[np.ndarray, np.ndarray]:
    """Return `own` and `mask` of positions."""
    own = np.array([position.own for position in positions], np.int64)
    mask = np.array([position.mask for position in positions], np.int64)
    return own, mask


@given(positions(), st.integers(0, 30))
def test_a_played_column_agrees_with_the_position(position: Position, choice: int) -> None:
    if position.outcome() is not None:
        return
    column = position.legal_columns()[choice % len(position.legal_columns())]
    after = position.play(column)
    own, mask = arrays(position)
    (state,) = play_columns(own, mask, np.array([column]), position.rules.geometry)
    assert (own[0], mask[0]) == (after.own, after.mask)
    outcome = after.outcome()
    if outcome is None:
        assert state == ONGOING
    else:
        assert state == (DRAWN if outcome.winner is None else WON)


@given(positions())
def test_open_columns_are_those_that_can_be_played(position: Position) -> None:
    if position.outcome() is None:
        (open_,) = open_columns(arrays(position)[1], position.rules.geometry)
        assert tuple(np.flatnonzero(open_)) == position.legal_columns()


class EveryChoice:
    """A random generator that records the columns it chooses from."""

    def choice(self, columns: list[int]) -> int:
        self.columns = columns
        return columns[0]


@given(positions(), st.booleans())
def test_urgent_columns_are_those_the_agent_rules_chooses_from(
    position: Position, central: bool
) -> None:
    if position.outcome() is not None:
        return
    rng = EveryChoice()
    agent = RulesOfThumb("centre" if central else "random")
    agent.decide(position, None, rng)  # type: ignore[arg-type]
    (urgent,) = urgent_columns(*arrays(position), central, position.rules.geometry)
    assert list(np.flatnonzero(urgent)) == rng.columns


@given(positions(), positions())
def test_only_the_selected_moves_are_mirrored(one: Position, other: Position) -> None:
    second = other if other.rules == one.rules else one
    own, mask = arrays(one, second)
    columns = np.array([0, 0])
    mirror_moves(own, mask, columns, np.array([False, True]), one.rules.geometry)
    expected_own, expected_mask = arrays(one, second.mirror())
    assert own.tolist() == expected_own.tolist()
    assert mask.tolist() == expected_mask.tolist()
    assert columns.tolist() == [0, one.rules.columns - 1]


def test_many_games_are_played_at_once() -> None:
    """A disc in column 3 continues one game, wins another and fills the board in the third."""
    own, mask = arrays(*(Position(moves, "3x2x3") for moves in ("", "1122", "12123")))
    states = play_columns(own, mask, np.array([2, 2, 2]), Rules(3, 2, 3).geometry)
    assert states.tolist() == [ONGOING, WON, DRAWN]
