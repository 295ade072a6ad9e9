"""Play, mirror, write and read in any order: a position always agrees with the naive board."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fourlab import Position, Rules
from fourlab.game.notation import NOTATIONS
from tests.naive import NaiveGame
from tests.strategies import ANY_BOARD, examples


class PositionMachine(RuleBasedStateMachine):
    @initialize(rules=ANY_BOARD)
    def begin(self, rules: Rules) -> None:
        self.naive = NaiveGame(rules.columns, rules.rows, rules.in_a_row)
        self.position = Position(board=rules)

    @precondition(lambda self: self.naive.legal())
    @rule(data=st.data())
    def play(self, data: st.DataObject) -> None:
        column = data.draw(st.sampled_from(self.naive.legal()))
        self.naive.play(column)
        self.position = self.position.play(column)

    @rule()
    def mirror(self) -> None:
        self.naive.discs.reverse()
        self.position = self.position.mirror()

    @rule(notation=st.sampled_from(sorted(NOTATIONS)))
    def write_and_read(self, notation: str) -> None:
        if self.position.moves is None and notation in ("moves", "moves0", "letters"):
            return
        if notation == "letters" and self.position.rules.columns > 26:
            return
        text = self.position.write(notation)
        self.position = Position(text, self.position.rules, notation=notation)

    @invariant()
    def both_agree(self) -> None:
        if not hasattr(self, "naive"):
            return
        assert self.position.grid() == self.naive.grid()
        assert list(self.position.legal_columns()) == self.naive.legal()
        assert self.position.to_move == self.naive.to_move
        assert set(self.position.winning_cells()) == self.naive.winning_cells()
        outcome = self.position.outcome()
        assert (outcome is not None) == self.naive.is_over()
        assert (outcome.winner if outcome else None) == self.naive.winner


TestPosition = PositionMachine.TestCase
TestPosition.settings = settings(examples(100), stateful_step_count=50)
