"""What every registered agent owes its callers."""

import itertools
import shlex
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

from fourlab import Agent, Decision, Limit, Position, Stop
from fourlab import make as make_by_spec
from fourlab.agent import is_unbounded
from fourlab.agents import registry
from fourlab.game.rules import CLASSIC
from fourlab.web.players import base_of
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
    "kaggle": f'kaggle:file="{ROOT / "tests/bridges/kaggle/random_player.py"}"',
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


@pytest.mark.parametrize("name", registry.names())
def test_a_position_alone_is_enough_to_ask(name: str) -> None:
    """Limit and generator have defaults, so that `agent.decide(position)` works in a notebook."""
    position = POSITIONS[places(name)[0]]
    assert make(name).decide(position).column in position.legal_columns()


# --- clock and stop flag: counted in work, not in seconds ---------------------------------------------------------------

MOST_WORK = 1 << 20
"""Simulations or nodes between two looks at the clock: milliseconds of simulations, tenths of a second of nodes."""
DO_NOT_LOOK = {
    "dqn": "asks its network once",
    "expectimax-random": "refuses positions that take long",
    "human": "waits for a person",
    "kaggle": "a submission has Kaggle's clock",
    "negamax": "always searches to its depth, seven plies at most",
    "openspiel-mcts": "OpenSpiel's search cannot be interrupted",
    "q": "looks up",
    "random": "draws lots",
    "rules": "looks at the discs",
    "value": "asks its network once",
}
"""Agents that do not look at clock or flag, and why that may be so."""
LOOKS = [name for name in registry.names() if base_of(name) not in {*DO_NOT_LOOK, "engine"}]


class SteppingClock:
    """A clock that goes on only when somebody looks at it."""

    def __init__(self, step: float) -> None:
        self.now, self.step, self.looks = 1000.0, step, 0

    def __call__(self) -> float:
        self.now += self.step
        self.looks += 1
        return self.now


def work_of(decision: Decision) -> int:
    return max(decision.analysis.simulations or 0, decision.analysis.nodes or 0)


@pytest.mark.parametrize("name", LOOKS)
def test_the_clock_is_looked_at_often_enough(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = make(name)
    decide(agent, Position(), Limit(seconds=0.001, simulations=1, nodes=1, depth=1))  # what is loaded at first
    clock = SteppingClock(0.01)
    for reads in ("perf_counter", "process_time"):
        monkeypatch.setattr(time, reads, clock)
    decision = decide(agent, Position("44"), Limit(seconds=0.1))
    monkeypatch.undo()
    if is_unbounded(agent) and decision.proven is None:
        assert clock.looks >= 10  # nothing but the clock ended it
    assert clock.looks > 0
    assert work_of(decision) <= MOST_WORK * max(clock.looks, 1)


@pytest.mark.parametrize("name", LOOKS)
def test_a_stop_flag_that_is_set_ends_the_search_at_once(name: str) -> None:
    stop = Stop()
    stop.set()
    position = Position("44")
    decision = decide(make(name), position, Limit(stop=stop))
    assert decision.column in position.legal_columns()
    assert work_of(decision) <= MOST_WORK
