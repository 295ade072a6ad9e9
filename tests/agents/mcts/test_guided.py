"""The agent guided: what it asks its evaluator, what it makes of the answers, its bounds."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest

from fourlab import Decision, Exact, Limit, Position, Rules, Stop, UserError, make
from fourlab.agents import registry
from fourlab.agents.mcts.guided import Guided
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.bitboard import has_line, landing
from fourlab.game.rules import CLASSIC
from tests.agents.mcts.test_agent import random_position, truth


@dataclass
class Indifferent:
    """Has no opinion, and notes how many positions it is asked about each time."""

    rules: Rules = CLASSIC
    has_policy: bool = False
    asked: list[int] = field(default_factory=list)

    def evaluate(self, batch: Batch) -> Evaluation:
        if batch.rules != self.rules:
            raise UserError(f"knows the board {self.rules}, not {batch.rules}")
        self.asked.append(len(batch))
        positions = list(zip(batch.own.tolist(), batch.mask.tolist(), strict=True))
        values = np.array([self.value(*position) for position in positions])  # not float32: the agent must not mind
        if not self.has_policy:
            return Evaluation(values)
        columns = range(self.rules.columns)
        return Evaluation(values, np.array([[self.logit(*position, column) for column in columns] for position in positions]))

    def value(self, own: int, mask: int) -> float:
        return 0.0

    def logit(self, own: int, mask: int, column: int) -> float:
        return 0.0


class Strict(Indifferent):
    """Accepts nothing but unfinished positions of legal play, seen by the side to move."""

    def value(self, own: int, mask: int) -> float:
        g = self.rules.geometry
        for column in range(g.columns):
            discs = mask >> column * g.height & (1 << g.height) - 1
            assert discs & discs + 1 == 0  # none floats
        assert mask & ~g.cells == 0
        assert mask != g.cells
        assert own & ~mask == 0
        assert own.bit_count() == mask.bit_count() // 2
        assert not has_line(own, g.height, g.in_a_row)
        assert not has_line(own ^ mask, g.height, g.in_a_row)
        return 0.25


class Partisan(Indifferent):
    """Is sure that red wins."""

    def value(self, own: int, mask: int) -> float:
        return 1.0 if mask.bit_count() % 2 == 0 else -1.0


class Edger(Indifferent):
    """Likes the last column best."""

    def logit(self, own: int, mask: int, column: int) -> float:
        return float(column)


class Oracle(Indifferent):
    """Knows the truth."""

    def value(self, own: int, mask: int) -> float:
        return float(exact(own, mask, self.rules))

    def logit(self, own: int, mask: int, column: int) -> float:
        g = self.rules.geometry
        cell = landing(mask, column, g)
        return -9.0 if cell == 0 else -after(own, mask, cell, self.rules)


@cache
def exact(own: int, mask: int, rules: Rules) -> int:
    """The result for the side to move of a position that is not over, by brute force."""
    cells = [cell for column in range(rules.columns) if (cell := landing(mask, column, rules.geometry))]
    return max(-after(own, mask, cell, rules) for cell in cells)


def after(own: int, mask: int, cell: int, rules: Rules) -> int:
    """The result for the other side when the side to move has played a cell."""
    g = rules.geometry
    if has_line(own | cell, g.height, g.in_a_row):
        return -1
    return 0 if mask | cell == g.cells else exact(own ^ mask, mask | cell, rules)


def decide(position: Position, judge: Indifferent, seed: int = 0, limit: Limit = Limit(), **settings: Any) -> Decision:  # noqa: B008
    """Decide with rollouts to the end, unless the settings say otherwise."""
    agent = Guided(evaluator=judge, **{"depth": None, **settings})
    return agent.decide(position, limit, np.random.default_rng(seed))


# --- the search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rollouts", ["uniform", "wins-and-blocks"])
@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("moves", ["", "4453", "2713217673732233676731"])
def test_without_a_say_of_the_evaluator_it_is_the_plain_search(moves: str, solver: bool, rollouts: str) -> None:
    plain = make(f"mcts:simulations=700,rollouts={rollouts},solver={int(solver)}")
    for seed in range(3):
        settings = {"simulations": 700, "epsilon": 1.0, "batch": 1, "rollouts": rollouts, "solver": solver}
        found = decide(Position(moves), Indifferent(), seed, **settings)
        expected = plain.decide(Position(moves), Limit(), np.random.default_rng(seed))
        assert (found.column, found.value, found.policy) == (expected.column, expected.value, expected.policy)
        assert (found.line, found.proven) == (expected.line, expected.proven)
        for name in ("simulations", "nodes", "memory_bytes", "columns", "visits"):
            assert getattr(found.analysis, name) == getattr(expected.analysis, name)
        assert found.analysis.evaluations == 0


@pytest.mark.parametrize("settings", [{}, {"depth": 0}, {"depth": 3}, {"rollouts": "uniform"}, {"has_policy": True}])
@pytest.mark.parametrize("start", [Position(), Position("2713217673732233676731"), Position("3324", board="5x4x4")])
def test_the_evaluator_is_asked_about_unfinished_positions_only(start: Position, settings: dict[str, Any]) -> None:
    judge = Strict(start.rules, settings.get("has_policy", False))
    others = {name: value for name, value in settings.items() if name != "has_policy"}
    decision = decide(start, judge, simulations=150, **others)
    assert min(judge.asked) > 0
    assert decision.analysis.evaluations == sum(judge.asked[1:]) > 0  # the first looks what it can do


def test_batches_grow_with_the_tree_up_to_their_bound() -> None:
    judge = Indifferent()
    decide(Position(), judge, simulations=500, depth=0, batch=20)
    first, *asked = judge.asked  # the first looks what it can do
    assert first == 1
    assert asked[:10] == [1, 1, 1, 1, 1, 1, 1, 1, 2, 2]
    assert max(asked) == 20
    assert sum(asked) == 500


def test_values_are_for_the_side_to_move() -> None:
    for moves, value in (("", 1.0), ("4", -1.0), ("44", 1.0), ("443", -1.0)):
        for depth in (0, 1, 2):
            decision = decide(Position(moves), Partisan(), simulations=100, depth=depth, rollouts="uniform")
            assert decision.value == value
            assert {each.value for each in decision.analysis.columns} == {value}


def test_a_leaf_that_is_judged_counts_as_it_is_judged() -> None:
    decision = decide(Position(), Strict(), simulations=7, depth=0)  # a quarter for the side to move after the column
    assert [(each.visits, each.value) for each in decision.analysis.columns] == [(1, -0.25)] * 7
    assert decision.analysis.columns[0].bound == pytest.approx(-0.25 + 1.4 * np.log(7) ** 0.5)


def test_rollouts_follow_the_logits() -> None:
    """One simulation is one game, in which both sides fill the last column, then the one before, and so on."""
    decision = decide(Position(), Edger(has_policy=True), simulations=1, epsilon=0.0, rollouts="uniform")
    position = Position().play(decision.column)
    while position.outcome() is None:
        wins = [column for column in position.legal_columns() if position.makes_line(column, position.to_move)]
        position = position.play(wins[0] if wins else max(position.legal_columns()))
    assert decision.value == position.outcome().score(0)  # type: ignore[union-attr]


def test_epsilon_is_the_share_of_random_plies() -> None:
    asked = {}
    for epsilon in (0.0, 0.25, 0.5, 1.0):  # greedy plies of one without opinion are random too, so games are as long
        judge = Indifferent(has_policy=True)
        decide(Position(), judge, simulations=1500, epsilon=epsilon, solver=False)
        asked[epsilon] = sum(judge.asked[1:])
    assert asked[0.25] / asked[0.0] == pytest.approx(0.75, abs=0.05)
    assert asked[0.5] / asked[0.0] == pytest.approx(0.5, abs=0.05)
    assert asked[1.0] == 0


# --- strength and proofs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"depth": 0}, {"epsilon": 0.0}, {"epsilon": 0.0, "has_policy": True}])
def test_with_a_perfect_evaluator_a_few_simulations_play_perfectly(settings: dict[str, Any]) -> None:
    rules, rng = Rules.parse("4x4x3"), np.random.default_rng(3)
    judge = Oracle(rules, settings.get("has_policy", False))
    others = {name: value for name, value in settings.items() if name != "has_policy"}
    for number in range(60):
        position = random_position("4x4x3", number % 5, rng)
        column = decide(position, judge, number, simulations=24, c=0.5, batch=4, solver=False, **others).column
        assert -truth(position.play(column)) == truth(position)


@pytest.mark.parametrize(("board", "plies"), [("4x4x3", 2), ("4x4x4", 8), ("7x6x4", 31)])
@pytest.mark.parametrize("settings", [{"depth": 0}, {"batch": 16}])
def test_what_is_proven_is_true(board: str, plies: int, settings: dict[str, Any]) -> None:
    rng, proven = np.random.default_rng(5), 0
    for _ in range(40):
        position = random_position(board, plies, rng)
        decision = decide(position, Partisan(position.rules), int(rng.integers(99)), simulations=3000, **settings)
        if decision.proven is not None:
            proven += 1
            assert decision.proven.result == decision.value == truth(position)
            assert -truth(position.play(decision.column)) == truth(position)
        for each in decision.analysis.columns:
            if each.proven is not None:
                assert each.proven == -truth(position.play(each.column))
    assert proven > 30


def test_a_forced_win_is_found_whatever_the_evaluator_says() -> None:
    for settings in ({}, {"depth": 0}, {"depth": 2, "epsilon": 1.0}):
        decision = decide(Position("4455"), Partisan(), simulations=3000, **settings)  # three in a row, open at both ends
        assert decision.proven == Exact(1)
        assert decision.column in (2, 5)
        assert decision.analysis.simulations < 3000
        doomed = decide(Position("44556"), Partisan(), simulations=3000, **settings)
        assert doomed.proven == Exact(-1)
        assert doomed.column in Position("44556").legal_columns()


def test_a_proven_draw_is_played_unless_something_promises_more() -> None:
    rng, drawn = np.random.default_rng(1), 0
    for _ in range(200):
        position = random_position("4x4x4", 11, rng)
        decision = decide(position, Partisan(position.rules), simulations=2000, depth=0)
        drawn += decision.proven == Exact(0)
        assert decision.proven is not None
        assert truth(position) == -truth(position.play(decision.column))
    assert drawn > 20


def test_one_open_column_and_one_empty_cell() -> None:
    for rows in (". X .\nO X O\nX O X", ". X O\nO X O\nX O X"):
        position = Position(rows, board="3x3x4", check_counts=False)
        for settings in ({}, {"depth": 0}, {"rollouts": "uniform", "solver": False}):
            decision = decide(position, Indifferent(position.rules), simulations=20, **settings)
            assert decision.column in position.legal_columns()
            assert sum(decision.policy or ()) == pytest.approx(1)


# --- bounds and settings --------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_search() -> None:
    first, again, other = (decide(Position(), Partisan(), seed, simulations=300) for seed in (1, 1, 2))
    assert (first.column, first.analysis.columns, first.line) == (again.column, again.analysis.columns, again.line)
    assert first.analysis.columns != other.analysis.columns


def test_the_first_bound_reached_counts() -> None:
    def simulations(limit: Limit, **settings: Any) -> int:
        return int(decide(Position(), Indifferent(), limit=limit, depth=0, **settings).analysis.simulations)

    assert simulations(Limit(simulations=30), simulations=100) == 30
    assert simulations(Limit(simulations=300), simulations=100) == 100
    assert simulations(Limit()) == 1000
    assert decide(Position(), Indifferent(), limit=Limit(nodes=50), depth=0).analysis.nodes <= 50
    assert simulations(Limit(seconds=1e-9)) == 0


def test_time_is_a_budget_too() -> None:
    decision = decide(Position(), Indifferent(), limit=Limit(seconds=0.1), depth=0)
    assert decision.analysis.seconds >= 0.1
    assert decision.analysis.simulations > 0


def test_a_stop_flag_ends_an_endless_search() -> None:
    stop = Stop()

    class Impatient(Indifferent):
        """Sets the flag when it is asked for the tenth time."""

        def evaluate(self, batch: Batch) -> Evaluation:
            if len(self.asked) == 9:
                stop.set()
            return super().evaluate(batch)

    assert decide(Position(), Impatient(), limit=Limit(stop=stop)).analysis.simulations > 0
    before = decide(Position(), Indifferent(), limit=Limit(stop=stop))
    assert before.analysis.simulations == 0
    assert before.column in range(7)


def test_a_board_the_evaluator_does_not_know_is_refused() -> None:
    with pytest.raises(UserError, match="7x6x4, not 5x4x4"):
        decide(Position(board="5x4x4"), Indifferent())


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"simulations": 0}, "from 1 to 1,000,000,000"),
        ({"seconds": -1.0}, "greater than 0"),
        ({"batch": 0}, "from 1 to 4,096"),
        ({"batch": 100_000}, "from 1 to 4,096"),
        ({"c": -1.0}, "of at least 0"),
        ({"depth": -1}, "of at least 0"),
        ({"epsilon": 1.5}, "from 0 to 1"),
        ({"epsilon": -0.1}, "from 0 to 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        Guided(evaluator=Indifferent(), **settings)


def test_the_documents_settings() -> None:
    options = {option.name: option.default for option in registry.options_of("sewell-guided")}
    meant = {"net": "sewell", "simulations": 5, "epsilon": 0.25, "depth": None, "rollouts": "uniform", "solver": False}
    assert {name: options[name] for name in meant} == meant
    assert registry.PRESETS["sewell-guided"].faithful == "epsilon=1"  # there the network had no influence


def test_a_network_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="cannot read the network nowhere"):
        make("guided:net=nowhere")
