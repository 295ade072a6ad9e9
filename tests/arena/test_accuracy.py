import numpy as np
import pytest

from fourlab import Decision, Limit, Position, UserError, make
from fourlab.arena.accuracy import Answer, Fault, ask, count, exact_scores, random_positions
from fourlab.game.record import Cause
from fourlab.solver import Solver


def test_answers_are_compared_by_result_and_by_score() -> None:
    scores = {0: 3, 1: 5, 2: 0, 3: -2}
    best, slower, draw, loss = (Answer(Position(), scores, column, 0.0) for column in (1, 0, 2, 3))
    answers = [best, slower, draw, loss]
    assert [answer.is_best for answer in answers] == [True, False, False, False]
    assert [answer.is_mistake for answer in answers] == [False, False, True, True]
    assert best.can_go_wrong
    assert not Answer(Position(), {0: -3, 1: -8}, 1, 0.0).can_go_wrong
    accuracy = count(answers)
    assert (accuracy.positions, accuracy.can_go_wrong) == (4, 4)
    assert (accuracy.mistakes, accuracy.best) == (2, 1)
    assert accuracy.mistake_rate == 0.5
    low, high = accuracy.mistake_interval
    assert 0.1 < low < 0.5 < high < 0.9


def test_the_perfect_agent_makes_no_mistake_and_the_worst_one_all() -> None:
    positions = random_positions(12, (20, 30), seed=4)
    truth = list(exact_scores(positions, Solver(book=None)))
    for position, scores in zip(positions, truth, strict=True):
        assert set(scores) == set(position.legal_columns())
        assert max(scores.values()) == Solver(book=None).solve(position).score

    class Worst:
        """Plays the worst column."""

        def decide(self, position: Position, limit: Limit, rng: np.random.Generator) -> Decision:
            scores = truth[positions.index(position)]
            return Decision(min(scores, key=lambda column: scores[column]))

    perfect = count(list(ask(make("perfect"), positions, truth, Limit(), 0)))
    assert (perfect.mistakes, perfect.best) == (0, 12)
    worst = count(list(ask(Worst(), positions, truth, Limit(), 0)))
    assert worst.mistakes == worst.can_go_wrong > 0


def test_answers_that_cannot_be_played_are_mistakes_and_counted_apart() -> None:
    positions = [Position("444444"), Position("4"), Position("44"), Position("444")]
    exact = [dict.fromkeys(position.legal_columns(), 1) for position in positions]

    class Faulty:
        """Plays column 4, which may be full, and fails after one or two discs."""

        def decide(self, position: Position, limit: Limit, rng: np.random.Generator) -> Decision:
            if position.ply < 3:
                raise ValueError("too\nfew")
            return Decision(3)

    accuracy = count(list(ask(Faulty(), positions, exact, Limit(), 0)))
    assert (accuracy.mistakes, accuracy.best, accuracy.can_go_wrong) == (3, 1, 0)
    crash, illegal = accuracy.faults
    assert crash == Fault(Cause.CRASH, 2, r"Position('4'): ValueError('too\nfew')")
    assert illegal == Fault(
        Cause.ILLEGAL, 1, "Position('444444'): played column 4, which is not open"
    )


def test_an_agent_that_refuses_the_board_is_not_counted() -> None:
    position = Position(board="5x4x4")
    with pytest.raises(UserError, match="7x6x4"):
        list(ask(make("alphazero"), [position], [{0: 0}], Limit(), 0))


def test_random_positions_are_distinct_undecided_and_reproducible() -> None:
    positions = random_positions(50, (3, 12), seed=9)
    assert len({position.canonical_key for position in positions}) == 50
    assert all(position.outcome() is None and 3 <= position.ply <= 12 for position in positions)
    assert positions == random_positions(50, (3, 12), seed=9)
    assert len(random_positions(50, (0, 1), seed=9)) == 5  # the empty board and four first moves
