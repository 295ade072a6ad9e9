"""What every registered agent owes its callers."""

import itertools
import shlex
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from fourlab import Agent, Decision, Limit, Position
from fourlab import make as make_by_spec
from fourlab.agents import registry
from fourlab.game.rules import CLASSIC
from tests.conftest import ROOT

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
NEARLY_FULL = ["one column open", "document 000"]
"""An exact agent may refuse larger positions (tests/agents/minimax/test_expectimax_random.py); these it must answer."""
ENGINE = shlex.join([sys.executable, "-S", str(ROOT / "tests" / "engines" / "engine.py"), "good"])
SPECS = {
    "engine": f'engine:cmd="{ENGINE}",start_seconds=600,grace=600',
    "kaggle": f'kaggle:file="{ROOT / "src/fourlab/bridges/kaggle/templates/random.py"}"',
}
"""What to write for an agent that needs more than its name."""
CLASSIC_ONLY = {"alphazero", "dqn", "guided", "sewell-guided", "value"}
"""Agents whose network knows the usual board and no other."""


def places(name: str) -> list[str]:
    """The positions that an agent must answer."""
    if name == "expectimax-random":
        return NEARLY_FULL
    return [where for where, position in POSITIONS.items() if name not in CLASSIC_ONLY or position.rules == CLASSIC]


PAIRS = [(name, where) for name in registry.names() for where in places(name)]


@pytest.fixture(autouse=True)
def keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person at the keyboard tries the columns in turn."""
    answers = itertools.cycle(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(answers))


made: list[Agent] = []


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    """What an agent has started is ended."""
    yield
    while made:
        agent = made.pop()
        if hasattr(agent, "close"):
            agent.close()


def make(name: str) -> Agent:
    made.append(make_by_spec(SPECS.get(name, name)))
    return made[-1]


def decide(agent: Agent, position: Position, limit: Limit = LIMIT, seed: int = 1) -> Decision:
    return agent.decide(position, limit, np.random.default_rng(seed))


@pytest.mark.parametrize(("name", "where"), PAIRS)
def test_the_column_is_legal_and_the_decision_makes_sense(name: str, where: str) -> None:
    position = POSITIONS[where]
    decision = decide(make(name), position)
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


@pytest.mark.parametrize(("name", "where"), [pair for pair in PAIRS if pair[0] != "human"])
def test_the_same_seed_gives_the_same_answer(name: str, where: str) -> None:
    limit = Limit(simulations=64, nodes=1000, depth=3)
    # Fresh agents each time, since one may have been asked to keep its tree.
    decisions = [decide(make(name), POSITIONS[where], limit, seed=5) for _ in range(3)]
    assert len({(decision.column, decision.value, decision.policy, decision.line) for decision in decisions}) == 1


@pytest.mark.parametrize("name", registry.names())
def test_limits_are_obeyed(name: str) -> None:
    for limit in (Limit(simulations=10), Limit(nodes=400), Limit(depth=1), Limit(seconds=0.01)):
        analysis = decide(make(name), POSITIONS["document 000"], limit).analysis
        for bound in ("simulations", "nodes", "depth"):
            allowed = getattr(limit, bound)
            assert allowed is None or (getattr(analysis, bound) or 0) <= allowed


@pytest.mark.parametrize("name", registry.names())
def test_the_position_is_left_as_it_was(name: str) -> None:
    position = POSITIONS["document 000"]
    before = (repr(position), position.key, position.moves)
    decide(make(name), position)
    assert (repr(position), position.key, position.moves) == before


@pytest.mark.parametrize("name", registry.names())
def test_whole_games_can_be_played(name: str) -> None:
    for start in [POSITIONS["document 000"]] + [Position(board="5x4x4")] * ("five by four" in places(name)):
        for seed in range(2):
            agent, position = make(name), start
            while position.outcome() is None:
                position = position.play(decide(agent, position, Limit(simulations=16, nodes=400, depth=2), seed).column)
