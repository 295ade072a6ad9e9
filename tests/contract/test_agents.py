"""The contract that every registered agent keeps."""

import itertools
import shlex
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

from fourlab import Agent, Decision, Limit, Position, Stop
from fourlab import make as make_by_spec
from fourlab.agent import Searcher, is_unbounded
from fourlab.agents import registry
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC
from fourlab.nets.pattern_files import shipped_boards
from fourlab.web.players import base_of
from tests.conftest import ROOT

POSITIONS = {
    "empty": Position(),
    "one column open": Position(". X .\nO X O\nX O X", board="3x3x4", check_counts=False),
    "vannucci-abril": Position("vannucci-abril"),
    "win at once": Position("121212"),
    "must block": Position("12131"),
    "five by four": Position("3324", board="5x4x4"),
    "wide": Position("10,10,", board="12x4x5"),
    "largest": Position("5564", board="9x6x5"),
}
LIMIT = Limit(seconds=0.2, simulations=64, nodes=1000, depth=3)
NEARLY_FULL = ["one column open", "vannucci-abril"]
"""An exact agent may refuse larger positions, but not these. Its own tests are in
tests/agents/minimax/test_expectimax_random.py."""
ENGINE = shlex.join([sys.executable, "-S", str(ROOT / "tests" / "engines" / "engine.py"), "good"])
SPECS = {
    "engine": f'engine:cmd="{ENGINE}",start_seconds=600,grace=600',
    "kaggle": f'kaggle:file="{ROOT / "tests/bridges/kaggle/random_player.py"}"',
    "onnx": f'onnx:file="{ROOT / "tests/bridges/linear.onnx"}"',
}
"""The specs of agents that need more than their name."""
CLASSIC_ONLY = {
    *("alphazero", "arya-alphamcts-10", "arya-alphamcts-50", "arya-q"),
    *("dqn", "guided", "onnx", "sewell-guided", "value"),
}
"""Agents whose network or table was trained on the usual board only."""
WITH_PATTERNS = {"anytime", "patterns"}
"""Agents that play the boards for which pattern networks come with Fourlab."""


def places(name: str) -> list[str]:
    """Return the names of the positions that an agent must answer."""
    if name == "expectimax-random":
        return NEARLY_FULL
    if name == "sewell":  # refuses boards on which one reply of its opponent takes long
        return [place for place, position in POSITIONS.items() if position.rules.columns <= 9]
    if name in CLASSIC_ONLY:
        return [place for place, position in POSITIONS.items() if position.rules == CLASSIC]
    if name in WITH_PATTERNS:
        return [
            place
            for place, position in POSITIONS.items()
            if str(position.rules) in shipped_boards()
        ]
    return list(POSITIONS)


NAMES = [name for name in registry.names() if name != "sb3"]
"""The agents, without one that loads torch in every process; its own tests are in test_sb3.py."""
PAIRS = [(name, place) for name in NAMES for place in places(name)]


@pytest.fixture(autouse=True)
def keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the person at the keyboard try the columns in turn."""
    answers = itertools.cycle(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(answers))


made: list[Agent] = []


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    """Close the agents after every test."""
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


@pytest.mark.parametrize(("name", "place"), PAIRS)
def test_the_column_is_legal_and_the_decision_makes_sense(name: str, place: str) -> None:
    position = POSITIONS[place]
    # An exact search refuses when its time is up, which depends on the machine.
    limit = Limit(nodes=1000) if name == "expectimax-random" else LIMIT
    decision = decide(make(name), position, limit)
    assert decision.column in position.legal_columns()
    assert isinstance(decision.column, int)
    assert decision.value is None or -1 <= decision.value <= 1
    if decision.policy is not None:
        assert len(decision.policy) == position.rules.columns
        assert sum(decision.policy) == pytest.approx(1)
        for column, probability in enumerate(decision.policy):
            assert probability == 0 or column in position.legal_columns()
    if decision.line:
        assert decision.line[0] == decision.column
        for column in decision.line:
            position = position.play(column)
    if decision.proven is not None:
        assert decision.proven.result in (-1, 0, 1)


@pytest.mark.parametrize(("name", "place"), [pair for pair in PAIRS if pair[0] != "human"])
def test_the_same_seed_gives_the_same_answer(name: str, place: str) -> None:
    limit = Limit(simulations=64, nodes=1000, depth=3)
    # New agents, since some keep their tree between moves.
    decisions = [decide(make(name), POSITIONS[place], limit, seed=5) for _ in range(3)]
    answers = {
        (decision.column, decision.value, decision.policy, decision.line) for decision in decisions
    }
    assert len(answers) == 1


@pytest.mark.parametrize("name", NAMES)
def test_limits_are_kept(name: str) -> None:
    seconds = 60 if name == "expectimax-random" else 0.01
    for limit in (Limit(simulations=10), Limit(nodes=400), Limit(depth=1), Limit(seconds=seconds)):
        analysis = decide(make(name), POSITIONS["vannucci-abril"], limit).analysis
        for bound in ("simulations", "nodes", "depth"):
            allowed = getattr(limit, bound)
            assert allowed is None or (getattr(analysis, bound) or 0) <= allowed


@pytest.mark.parametrize("name", NAMES)
def test_the_position_is_not_changed(name: str) -> None:
    position = POSITIONS["vannucci-abril"]
    before = (repr(position), position.key, position.moves)
    decide(make(name), position, Limit(simulations=64, nodes=1000, depth=3))
    assert (repr(position), position.key, position.moves) == before


@pytest.mark.parametrize("name", NAMES)
def test_whole_games_can_be_played(name: str) -> None:
    limit = Limit(simulations=16, nodes=400, depth=2)
    starts = [POSITIONS["vannucci-abril"]]
    if "five by four" in places(name):
        starts.append(Position(board="5x4x4"))
    for start in starts:
        for seed in range(2):
            agent = make(name)
            position = start
            while position.outcome() is None:
                position = position.play(decide(agent, position, limit, seed).column)


FINISHED = {
    "won": Position("1212121"),
    "drawn": Position("1122211122", board="2x5x4"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("end", FINISHED)
def test_a_finished_game_is_refused(name: str, end: str) -> None:
    agent = make(name)
    message = r"the game is over \((red wins|draw)\): Position"
    with pytest.raises(UserError, match=message):
        agent.decide(FINISHED[end])
    if isinstance(agent, Searcher):
        with pytest.raises(UserError, match=message):
            agent.search(FINISHED[end], Limit(), np.random.default_rng(0))


@pytest.mark.parametrize("name", NAMES)
def test_a_position_is_the_only_required_argument(name: str) -> None:
    """The limit and the generator have defaults, so `agent.decide(position)` works."""
    position = POSITIONS[places(name)[0]]
    assert make(name).decide(position).column in position.legal_columns()


# --- clock and stop flag, measured in work instead of seconds -------------------------------------

MAX_WORK = 1 << 20
"""Simulations or nodes between two readings of the clock, at most tenths of a second."""
NEVER_CHECK = {
    "dqn": "evaluates its network once",
    "human": "waits for a person",
    "q": "looks up its table",
    "random": "does not search",
    "rules": "does not search",
    "value": "evaluates its network once",
}
"""Agents that check neither the clock nor the flag, and why they need not."""
OWN_TESTS = {
    "engine": "tests/engines/test_program.py",
    "kaggle": "tests/bridges/kaggle/test_host.py and test_player.py",
    "onnx": "tests/bridges/test_onnx.py",
    "openspiel-mcts": "tests/bridges/test_openspiel.py",
}
"""Agents whose clock cannot be replaced by one of Python's, and where theirs is tested."""
CHECKING = [
    name for name in NAMES if base_of(name) not in {*NEVER_CHECK, *OWN_TESTS, "expectimax-random"}
]


class SteppingClock:
    """A clock that advances only when it is read."""

    def __init__(self, step: float) -> None:
        self.now = 1000.0
        self.step = step
        self.readings = 0

    def __call__(self) -> float:
        self.now += self.step
        self.readings += 1
        return self.now


def work_of(decision: Decision) -> int:
    return max(decision.analysis.simulations or 0, decision.analysis.nodes or 0)


@pytest.mark.parametrize("name", CHECKING)
def test_the_clock_is_read_often_enough(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = make(name)
    # The first decision loads kernels and networks.
    decide(agent, Position(), Limit(seconds=0.001, simulations=1, nodes=1, depth=1))
    clock = SteppingClock(0.01)
    for function in ("perf_counter", "process_time"):
        monkeypatch.setattr(time, function, clock)
    decision = decide(agent, Position("44"), Limit(seconds=0.1))
    monkeypatch.undo()
    if is_unbounded(agent) and decision.proven is None:
        assert clock.readings >= 10  # only the clock ended the search
    assert clock.readings > 0
    assert work_of(decision) <= MAX_WORK * max(clock.readings, 1)


@pytest.mark.parametrize("name", CHECKING)
def test_a_stop_flag_ends_the_search_at_once(name: str) -> None:
    stop = Stop()
    stop.set()
    position = Position("44")
    decision = decide(make(name), position, Limit(stop=stop))
    assert decision.column in position.legal_columns()
    assert work_of(decision) <= MAX_WORK


@pytest.mark.parametrize(
    ("spec", "board"),
    [
        ("minimax:faithful=1,depth=4", "21x2x9"),
        ("negamax:depth=7", "31x1x4"),
        ("negamax:depth=7", "21x2x9"),
        ("perfect", "21x2x9"),
        ("textbook", "21x2x9"),
        ("mcts:opponent=negamax,rollouts=uniform,solver=0", "9x6x63"),
        ("mcts:runs=10000", "21x2x9"),
        ("arya-vanilla", "7x6x4"),
    ],
)
def test_searches_on_wide_boards_stop_with_the_clock(
    spec: str, board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = Position(board=board)
    agent = make_by_spec(spec)
    decide(agent, position, Limit(seconds=0.001, nodes=10))  # loads the kernels
    clock = SteppingClock(0.01)
    monkeypatch.setattr(time, "perf_counter", clock)
    decision = decide(agent, position, Limit(seconds=0.1))
    monkeypatch.undo()
    assert decision.column in position.legal_columns()
    assert 10 <= clock.readings <= 100


def test_an_exact_search_refuses_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "perf_counter", SteppingClock(0.01))
    with pytest.raises(UserError, match="ran out of time"):
        decide(make("expectimax-random"), Position("44"), Limit(seconds=0.1))


@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("moves", ["", "4453", "444444", "121212"])
def test_negamax_in_slices_is_negamax(
    moves: str, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = Position(moves)
    agent = make_by_spec(f"negamax:depth=4,ties={ties}")
    whole = decide(agent, position, Limit(), seed=3)
    monkeypatch.setattr("fourlab.agents.minimax.negamax.SLICE_NODES", 10)
    sliced = decide(agent, position, Limit(), seed=3)
    deepened = decide(agent, position, Limit(seconds=10_000), seed=3)
    assert (sliced.column, sliced.analysis.score) == (whole.column, whole.analysis.score)
    assert (deepened.column, deepened.analysis.score) == (whole.column, whole.analysis.score)
