"""What every registered agent owes its callers."""

import copy
import itertools

import numpy as np
import pytest

from fourlab import Agent, Decision, Limit, Position, make
from fourlab.agents import registry
from fourlab.agents.human import Human

POSITIONS = {
    "empty": Position(),
    "one column open": Position(". X .\nO X O\nX O X", board="3x3x4", check_counts=False),
    "document 000": Position("vannucci-abril"),
    "win at once": Position("121212"),
    "must block": Position("12131"),
    "five by four": Position("3324", board="5x4x4"),
    "wide": Position("10,10,", board="12x4x5"),
}
LIMIT = Limit(seconds=0.2, simulations=64, nodes=1000, depth=3)


@pytest.fixture(params=registry.names())
def agent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """Every agent by name; the person at the keyboard tries the columns in turn."""
    keyboard = itertools.cycle(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(keyboard))
    return make(request.param)


def decide(agent: Agent, position: Position, limit: Limit = LIMIT, seed: int = 1) -> Decision:
    return agent.decide(position, limit, np.random.default_rng(seed))


@pytest.mark.parametrize("name", list(POSITIONS))
def test_the_column_is_legal_and_the_decision_makes_sense(agent: Agent, name: str) -> None:
    position = POSITIONS[name]
    decision = decide(agent, position)
    assert decision.column in position.legal_columns()
    assert isinstance(decision.column, int)
    assert decision.value is None or -1 <= decision.value <= 1
    if decision.policy is not None:
        assert len(decision.policy) == position.rules.columns
        assert sum(decision.policy) == pytest.approx(1)
        assert all(share == 0 for column, share in enumerate(decision.policy) if column not in position.legal_columns())
    if decision.line:
        assert decision.line[0] == decision.column
        for column in decision.line:
            position = position.play(column)
    if decision.proven is not None:
        assert decision.proven.result in (-1, 0, 1)


@pytest.mark.parametrize("name", list(POSITIONS))
def test_the_same_seed_gives_the_same_answer(agent: Agent, name: str) -> None:
    limit = Limit(simulations=64, nodes=1000, depth=3)
    if not isinstance(agent, Human):  # a person may think again
        decisions = [decide(each, POSITIONS[name], limit, seed=5) for each in (agent, agent, copy.deepcopy(agent))]
        assert len({(decision.column, decision.value, decision.policy, decision.line) for decision in decisions}) == 1


def test_limits_are_obeyed(agent: Agent) -> None:
    for limit in (Limit(simulations=10), Limit(nodes=10), Limit(depth=1), Limit(seconds=0.01)):
        stats = decide(agent, Position("44"), limit).stats
        assert limit.simulations is None or stats.get("simulations", 0) <= limit.simulations
        assert limit.nodes is None or stats.get("nodes", 0) <= limit.nodes
        assert limit.depth is None or stats.get("depth", 0) <= limit.depth


def test_the_position_is_left_as_it_was(agent: Agent) -> None:
    position = Position("4453")
    before = (repr(position), position.key, position.moves)
    decide(agent, position)
    assert (repr(position), position.key, position.moves) == before


def test_whole_games_can_be_played(agent: Agent) -> None:
    for seed in range(3):
        position = Position(board="5x4x4")
        while position.outcome() is None:
            position = position.play(decide(agent, position, Limit(simulations=16, nodes=200, depth=2), seed).column)
