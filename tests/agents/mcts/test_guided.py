"""The agent guided: what it asks its evaluator, how it uses the answers, its limits."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest

from fourlab import Decision, Exact, Limit, Position, Rules, Stop, UserError, make
from fourlab.agent import UNLIMITED
from fourlab.agents import registry
from fourlab.agents.mcts.guided import Guided
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.bitboard import has_line, landing
from fourlab.game.rules import CLASSIC
from tests.agents.mcts.test_agent import random_position, truth


@dataclass
class Indifferent:
    """Evaluates everything as a draw, and records the size of every batch."""

    rules: Rules = CLASSIC
    has_policy: bool = False
    batches: list[int] = field(default_factory=list)

    def evaluate(self, batch: Batch) -> Evaluation:
        if batch.rules != self.rules:
            raise UserError(f"knows the board {self.rules}, not {batch.rules}")
        self.batches.append(len(batch))
        positions = list(zip(batch.own.tolist(), batch.mask.tolist(), strict=True))
        # float64, not float32: agents must accept both.
        values = np.array([self.value(*position) for position in positions])
        if not self.has_policy:
            return Evaluation(values)
        logits = [
            [self.logit(*position, column) for column in range(self.rules.columns)]
            for position in positions
        ]
        return Evaluation(values, np.array(logits))

    def value(self, own: int, mask: int) -> float:
        return 0.0

    def logit(self, own: int, mask: int, column: int) -> float:
        return 0.0


class Strict(Indifferent):
    """Accepts only unfinished, legal positions from the side to move's point of view."""

    def value(self, own: int, mask: int) -> float:
        g = self.rules.geometry
        for column in range(g.columns):
            discs = mask >> column * g.height & (1 << g.height) - 1
            assert discs & discs + 1 == 0  # no disc floats
        assert mask & ~g.cells == 0
        assert mask != g.cells
        assert own & ~mask == 0
        assert own.bit_count() == mask.bit_count() // 2
        assert not has_line(own, g.height, g.in_a_row)
        assert not has_line(own ^ mask, g.height, g.in_a_row)
        return 0.25


class Partisan(Indifferent):
    """Evaluates every position as won by red."""

    def value(self, own: int, mask: int) -> float:
        return 1.0 if mask.bit_count() % 2 == 0 else -1.0


class Edger(Indifferent):
    """Prefers the last column."""

    def logit(self, own: int, mask: int, column: int) -> float:
        return float(column)


class Oracle(Indifferent):
    """Evaluates every position exactly."""

    def value(self, own: int, mask: int) -> float:
        return float(exact(own, mask, self.rules))

    def logit(self, own: int, mask: int, column: int) -> float:
        g = self.rules.geometry
        cell = landing(mask, column, g)
        return -9.0 if cell == 0 else -after(own, mask, cell, self.rules)


@cache
def exact(own: int, mask: int, rules: Rules) -> int:
    """Return the exact result of an unfinished position for the side to move, by brute force."""
    cells = [
        cell for column in range(rules.columns) if (cell := landing(mask, column, rules.geometry))
    ]
    return max(-after(own, mask, cell, rules) for cell in cells)


def after(own: int, mask: int, cell: int, rules: Rules) -> int:
    """Return the exact result for the other side after the side to move has played a cell."""
    g = rules.geometry
    if has_line(own | cell, g.height, g.in_a_row):
        return -1
    return 0 if mask | cell == g.cells else exact(own ^ mask, mask | cell, rules)


def decide(
    position: Position,
    evaluator: Indifferent,
    seed: int = 0,
    limit: Limit = UNLIMITED,
    **settings: Any,
) -> Decision:
    """Decide with rollouts to the end, unless the settings say otherwise."""
    agent = Guided(evaluator=evaluator, **{"depth": None, **settings})
    return agent.decide(position, limit, np.random.default_rng(seed))


# --- the search -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rollouts", ["uniform", "wins-and-blocks"])
@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("moves", ["", "4453", "2713217673732233676731"])
def test_without_the_evaluator_it_is_the_plain_search(
    moves: str, solver: bool, rollouts: str
) -> None:
    plain = make(f"mcts:simulations=700,rollouts={rollouts},proofs={int(solver)}")
    for seed in range(3):
        settings = {
            "simulations": 700,
            "epsilon": 1.0,
            "batch": 1,
            "rollouts": rollouts,
            "proofs": solver,
        }
        decision = decide(Position(moves), Indifferent(), seed, **settings)
        expected = plain.decide(Position(moves), Limit(), np.random.default_rng(seed))
        for name in ("column", "value", "policy", "line", "proven"):
            assert getattr(decision, name) == getattr(expected, name)
        for name in ("simulations", "nodes", "memory_bytes", "columns", "visits"):
            assert getattr(decision.analysis, name) == getattr(expected.analysis, name)
        assert decision.analysis.evaluations == 0


@pytest.mark.parametrize(
    "settings", [{}, {"depth": 0}, {"depth": 3}, {"rollouts": "uniform"}, {"has_policy": True}]
)
@pytest.mark.parametrize(
    "start", [Position(), Position("2713217673732233676731"), Position("3324", board="5x4x4")]
)
def test_the_evaluator_is_asked_about_unfinished_positions_only(
    start: Position, settings: dict[str, Any]
) -> None:
    evaluator = Strict(start.rules, settings.get("has_policy", False))
    options = {name: value for name, value in settings.items() if name != "has_policy"}
    decision = decide(start, evaluator, simulations=150, **options)
    assert min(evaluator.batches) > 0
    # The first batch only finds out whether there is a policy.
    assert decision.analysis.evaluations == sum(evaluator.batches[1:]) > 0


def test_batches_grow_with_the_tree_up_to_their_bound() -> None:
    evaluator = Indifferent()
    decide(Position(), evaluator, simulations=500, depth=0, batch=20)
    first, *batches = evaluator.batches  # the first finds out whether there is a policy
    assert first == 1
    assert batches[:10] == [1, 1, 1, 1, 1, 1, 1, 1, 2, 2]
    assert max(batches) == 20
    assert sum(batches) == 500


def test_values_are_for_the_side_to_move() -> None:
    for moves, value in (("", 1.0), ("4", -1.0), ("44", 1.0), ("443", -1.0)):
        for depth in (0, 1, 2):
            decision = decide(
                Position(moves), Partisan(), simulations=100, depth=depth, rollouts="uniform"
            )
            assert decision.value == value
            assert {column.value for column in decision.analysis.columns} == {value}


def test_a_leaf_counts_as_the_evaluator_says() -> None:
    decision = decide(Position(), Strict(), simulations=7, depth=0)
    columns = decision.analysis.columns
    # The value is 0.25 for the side to move after the column.
    assert [(column.visits, column.value) for column in columns] == [(1, -0.25)] * 7
    assert columns[0].bound == pytest.approx(-0.25 + 1.4 * np.log(7) ** 0.5)


def test_rollouts_follow_the_logits() -> None:
    """One simulation is one game, in which both sides fill the columns from the right."""
    decision = decide(
        Position(), Edger(has_policy=True), simulations=1, epsilon=0.0, rollouts="uniform"
    )
    position = Position().play(decision.column)
    while position.outcome() is None:
        wins = [
            column
            for column in position.legal_columns()
            if position.makes_line(column, position.to_move)
        ]
        position = position.play(wins[0] if wins else max(position.legal_columns()))
    assert decision.value == position.outcome().score(0)  # type: ignore[union-attr]


def test_epsilon_is_the_probability_of_a_random_ply() -> None:
    evaluations = {}
    # The greedy plies of an indifferent evaluator are random, too, so all games are as long.
    for epsilon in (0.0, 0.25, 0.5, 1.0):
        evaluator = Indifferent(has_policy=True)
        decide(Position(), evaluator, simulations=1500, epsilon=epsilon, proofs=False)
        evaluations[epsilon] = sum(evaluator.batches[1:])
    assert evaluations[0.25] / evaluations[0.0] == pytest.approx(0.75, abs=0.05)
    assert evaluations[0.5] / evaluations[0.0] == pytest.approx(0.5, abs=0.05)
    assert evaluations[1.0] == 0


# --- strength and proofs --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [{"depth": 0}, {"epsilon": 0.0}, {"epsilon": 0.0, "has_policy": True}]
)
def test_with_a_perfect_evaluator_a_few_simulations_play_perfectly(
    settings: dict[str, Any],
) -> None:
    rng = np.random.default_rng(3)
    evaluator = Oracle(Rules.parse("4x4x3"), settings.get("has_policy", False))
    options = {name: value for name, value in settings.items() if name != "has_policy"}
    for number in range(60):
        position = random_position("4x4x3", number % 5, rng)
        column = decide(
            position, evaluator, number, simulations=24, c=0.5, batch=4, proofs=False, **options
        ).column
        assert -truth(position.play(column)) == truth(position)


@pytest.mark.parametrize(("board", "plies"), [("4x4x3", 2), ("4x4x4", 8), ("7x6x4", 31)])
@pytest.mark.parametrize("settings", [{"depth": 0}, {"batch": 16}])
def test_what_is_proven_is_true(board: str, plies: int, settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    proven = 0
    for _ in range(40):
        position = random_position(board, plies, rng)
        decision = decide(
            position, Partisan(position.rules), int(rng.integers(99)), simulations=3000, **settings
        )
        if decision.proven is not None:
            proven += 1
            assert decision.proven.result == decision.value == truth(position)
            assert -truth(position.play(decision.column)) == truth(position)
        for column in decision.analysis.columns:
            if column.proven is not None:
                assert column.proven == -truth(position.play(column.column))
    assert proven > 30


def test_a_forced_win_is_found_whatever_the_evaluator_says() -> None:
    for settings in ({}, {"depth": 0}, {"depth": 2, "epsilon": 1.0}):
        # Three in a row, open at both ends.
        decision = decide(Position("4455"), Partisan(), simulations=3000, **settings)
        assert decision.proven == Exact(1)
        assert decision.column in (2, 5)
        assert decision.analysis.simulations < 3000
        lost = decide(Position("44556"), Partisan(), simulations=3000, **settings)
        assert lost.proven == Exact(-1)
        assert lost.column in Position("44556").legal_columns()


def test_a_proven_draw_is_played_unless_another_column_looks_better() -> None:
    rng = np.random.default_rng(1)
    drawn = 0
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
        for settings in ({}, {"depth": 0}, {"rollouts": "uniform", "proofs": False}):
            decision = decide(position, Indifferent(position.rules), simulations=20, **settings)
            assert decision.column in position.legal_columns()
            assert sum(decision.policy or ()) == pytest.approx(1)


# --- limits and options ---------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_search() -> None:
    first, again, other = (
        decide(Position(), Partisan(), seed, simulations=300) for seed in (1, 1, 2)
    )
    assert (first.column, first.analysis.columns, first.line) == (
        again.column,
        again.analysis.columns,
        again.line,
    )
    assert first.analysis.columns != other.analysis.columns


def test_the_first_bound_reached_counts() -> None:
    def simulations(limit: Limit, **settings: Any) -> int:
        return int(
            decide(Position(), Indifferent(), limit=limit, depth=0, **settings).analysis.simulations
        )

    assert simulations(Limit(simulations=30), simulations=100) == 30
    assert simulations(Limit(simulations=300), simulations=100) == 100
    assert simulations(Limit()) == 1000
    assert decide(Position(), Indifferent(), limit=Limit(nodes=50), depth=0).analysis.nodes <= 50
    assert simulations(Limit(seconds=1e-9)) == 0


def test_time_is_a_limit_too() -> None:
    decision = decide(Position(), Indifferent(), limit=Limit(seconds=0.1), depth=0)
    assert decision.analysis.seconds >= 0.1
    assert decision.analysis.simulations > 0


def test_a_stop_flag_ends_an_endless_search() -> None:
    stop = Stop()

    class Impatient(Indifferent):
        """Sets the flag at the tenth batch."""

        def evaluate(self, batch: Batch) -> Evaluation:
            if len(self.batches) == 9:
                stop.set()
            return super().evaluate(batch)

    assert decide(Position(), Impatient(), limit=Limit(stop=stop)).analysis.simulations > 0
    before = decide(Position(), Indifferent(), limit=Limit(stop=stop))
    assert before.analysis.simulations == 0
    assert before.column in range(7)


def test_a_board_that_the_evaluator_refuses_is_refused() -> None:
    with pytest.raises(UserError, match="7x6x4, not 5x4x4"):
        decide(Position(board="5x4x4"), Indifferent())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"simulations": 0}, "from 1 to 1,000,000,000"),
        ({"seconds": -1.0}, "greater than 0"),
        ({"batch": 0}, "from 1 to 4,096"),
        ({"batch": 100_000}, "from 1 to 4,096"),
        ({"c": -1.0}, "from 0 to 1,000"),
        ({"depth": -1}, "from 0 to 1,000"),
        ({"epsilon": 1.5}, "from 0 to 1"),
        ({"epsilon": -0.1}, "from 0 to 1"),
    ],
)
def test_invalid_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Guided(evaluator=Indifferent(), **settings)


def test_the_settings_of_sewell() -> None:
    options = {option.name: option.default for option in registry.options_of("sewell-guided")}
    expected = {
        "net": "sewell",
        "simulations": 5,
        "epsilon": 0.25,
        "depth": None,
        "rollouts": "uniform",
        "proofs": False,
    }
    assert {name: options[name] for name in expected} == expected
    # In the original the network had no influence.
    assert registry.PRESETS["sewell-guided"].faithful == "epsilon=1"


def test_the_error_for_a_missing_network_names_it() -> None:
    with pytest.raises(UserError, match="cannot read the network nowhere"):
        make("guided:net=nowhere")
