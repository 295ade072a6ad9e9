"""The perfect agent keeps the value of a position; with mistakes it errs at the stated rate."""

import numpy as np
import pytest

from fourlab import Limit, Position, Stop, UserError, make
from fourlab.arena.accuracy import random_positions
from fourlab.solver import Solver


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


@pytest.mark.parametrize("choice", ["centre", "random"])
def test_it_never_gives_away_a_win_or_a_draw(choice: str) -> None:
    """Against a random player the result is never worse than the value at the start."""
    perfect = make(f"perfect:ties={choice}")
    rng = np.random.default_rng(3)
    for start in random_positions(12, (12, 24), seed=3):
        value = Solver(book=None).solve(start).result
        position = start
        while position.outcome() is None:
            if position.to_move == start.to_move:
                position = position.play(perfect.decide(position, Limit(), rng).column)
            else:
                position = position.play(int(rng.choice(position.legal_columns())))
        outcome = position.outcome()
        assert outcome is not None
        assert value is not None
        assert outcome.score(start.to_move) >= value


def test_two_perfect_players_play_the_value_in_the_proven_number_of_discs() -> None:
    perfect = make("perfect:ties=random")
    rng = np.random.default_rng(5)
    for start in random_positions(10, (14, 24), seed=7):
        solution = Solver(book=None).solve(start)
        position = start
        while position.outcome() is None:
            decision = perfect.decide(position, Limit(), rng)
            assert decision.proven is not None
            assert decision.proven.plies == (solution.plies or 0) - (position.ply - start.ply)
            position = position.play(decision.column)
        assert position.ply - start.ply == solution.plies


def test_ties_are_broken_by_rule_or_at_random() -> None:
    position = Position("32751571231557")  # columns 2 and 3 lose latest
    chosen = {
        make("perfect:ties=random").decide(position, Limit(), np.random.default_rng(seed)).column
        for seed in range(20)
    }
    assert chosen == {1, 2}
    by_rule = {
        make("perfect").decide(position, Limit(), np.random.default_rng(seed)).column
        for seed in range(5)
    }
    assert by_rule == {2}
    policy = make("perfect:ties=random").decide(position, Limit(), np.random.default_rng(0)).policy
    assert policy == (0, 0.5, 0.5, 0, 0, 0, 0)


def test_mistakes_come_at_the_stated_rate() -> None:
    agent = make("perfect:mistakes=0.3")
    solver = Solver(book=None)
    rng = np.random.default_rng(1)
    moves = mistakes = 0
    for position in random_positions(60, (18, 30), seed=2):
        results = {
            column: solution.result or 0
            for column, solution in solver.columns(position, weak=True).items()
        }
        if min(results.values()) == max(results.values()):
            assert results[agent.decide(position, Limit(), rng).column] == max(results.values())
            continue
        for _ in range(20):
            moves += 1
            mistakes += results[agent.decide(position, Limit(), rng).column] < max(results.values())
    assert moves > 300
    assert abs(mistakes / moves - 0.3) < 4 * (0.3 * 0.7 / moves) ** 0.5


def test_a_rate_of_one_is_always_and_of_zero_never() -> None:
    position = Position("23156612526")  # columns 2, 3 and 5 win, 6 draws, the others lose
    rng = np.random.default_rng(1)
    mistaken = make("perfect:mistakes=1")
    chosen = {mistaken.decide(position, Limit(), rng).column for _ in range(40)}
    assert chosen == {0, 3, 5, 6}
    assert make("perfect").decide(position, Limit(), rng).column in (1, 4)


def test_within_a_limit_it_claims_only_what_it_has_proven() -> None:
    position = Position("75777317")
    decision = make("perfect:book=0").decide(position, Limit(nodes=5_000), np.random.default_rng(0))
    assert decision.proven is None
    assert decision.value is None
    assert decision.analysis.nodes <= 5_000
    enough = make("perfect:book=0").decide(
        Position("23766176641753"), Limit(nodes=5_000_000), np.random.default_rng(0)
    )
    assert enough.column == 4
    assert enough.proven is not None
    assert enough.proven.plies == 25


def test_within_a_limit_it_proves_the_result_first() -> None:
    """The score of this position takes more than a million nodes, its winner 110,000."""
    position = Position("146434446")
    decision = make("perfect:book=0").decide(position, Limit(nodes=400_000))
    assert decision.column in (0, 1, 2, 6)
    assert decision.proven is not None
    assert decision.proven.result == 1
    assert decision.analysis.nodes <= 400_000


def test_a_limit_that_is_used_up_leaves_a_legal_column() -> None:
    stop = Stop()
    stop.set()
    for limit in (Limit(nodes=1), Limit(seconds=1e-9), Limit(stop=stop)):
        decision = make("perfect:book=0").decide(Position("75777317"), limit)
        assert decision.column in Position("75777317").legal_columns()
        assert decision.proven is None


def test_a_limited_answer_does_not_depend_on_earlier_ones() -> None:
    agent = make("perfect:book=0")
    position = Position("23156612526")
    decisions = [
        agent.decide(position, Limit(nodes=20_000), np.random.default_rng(0)) for _ in range(3)
    ]
    answers = {(decision.column, decision.value, decision.proven) for decision in decisions}
    assert len(answers) == 1


def test_a_mistake_is_not_reported_as_proven() -> None:
    decision = make("perfect:mistakes=1").decide(
        Position("23156612526"), Limit(), np.random.default_rng(4)
    )
    assert decision.proven is None
    assert decision.value in (0.0, -1.0)


@pytest.mark.parametrize("option", ["mistakes=1.5", "mistakes=-1", "memory_mb=0", "threads=0"])
def test_impossible_settings_are_refused(option: str) -> None:
    with pytest.raises(UserError):
        make(f"perfect:{option}")
