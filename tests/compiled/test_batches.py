"""Games in step are the games that positions play one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Position, Rules
from fourlab.agents.simple.rules import RulesOfThumb
from fourlab.compiled.batches import DRAWN, GOES_ON, WON, mirror_moves, open_columns, play_columns, urgent_columns
from tests.strategies import positions


def arrays(*given: Position) -> tuple[np.ndarray, np.ndarray]:
    return np.array([each.own for each in given], np.int64), np.array([each.mask for each in given], np.int64)


@given(positions(), st.integers(0, 30))
def test_a_column_is_played_as_a_position_plays_it(position: Position, choice: int) -> None:
    if position.outcome() is not None:
        return
    column = position.legal_columns()[choice % len(position.legal_columns())]
    after = position.play(column)
    own, mask = arrays(position)
    (stands,) = play_columns(own, mask, np.array([column]), position.rules.geometry)
    assert (own[0], mask[0]) == (after.own, after.mask)
    outcome = after.outcome()
    assert stands == (GOES_ON if outcome is None else DRAWN if outcome.winner is None else WON)


@given(positions())
def test_open_columns_are_those_that_can_be_played(position: Position) -> None:
    if position.outcome() is None:
        (found,) = open_columns(arrays(position)[1], position.rules.geometry)
        assert tuple(np.flatnonzero(found)) == position.legal_columns()


class EveryChoice:
    """A random generator that is asked for one of some columns and notes them all."""

    def choice(self, columns: list[int]) -> int:
        self.columns = columns
        return columns[0]


@given(positions(), st.booleans())
def test_urgent_columns_are_those_among_which_the_agent_rules_draws(position: Position, central: bool) -> None:
    if position.outcome() is not None:
        return
    lots = EveryChoice()
    RulesOfThumb("centre" if central else "random").decide(position, None, lots)  # type: ignore[arg-type]
    (found,) = urgent_columns(*arrays(position), central, position.rules.geometry)
    assert list(np.flatnonzero(found)) == lots.columns


@given(positions(), positions())
def test_only_the_moves_named_are_mirrored(one: Position, other: Position) -> None:
    given = [each if each.rules == one.rules else one for each in (one, other)]
    own, mask = arrays(*given)
    columns = np.array([0, 0])
    mirror_moves(own, mask, columns, np.array([False, True]), one.rules.geometry)
    expected = arrays(given[0], given[1].mirror())
    assert (own.tolist(), mask.tolist()) == (expected[0].tolist(), expected[1].tolist())
    assert columns.tolist() == [0, one.rules.columns - 1]


def test_many_games_are_played_at_once() -> None:
    """A disc into column 3: nothing comes of it, a line is made, the board is full."""
    own, mask = arrays(*(Position(moves, "3x2x3") for moves in ("", "1122", "12123")))
    stands = play_columns(own, mask, np.array([2, 2, 2]), Rules(3, 2, 3).geometry)
    assert stands.tolist() == [GOES_ON, WON, DRAWN]
