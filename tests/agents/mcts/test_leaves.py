"""The agent mcts with leaves that pattern networks evaluate; test_twin.py judges its trees."""

from pathlib import Path

import numpy as np
import pytest

from fourlab import Exact, Limit, Position, Stop, UserError, make
from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.agent import MCTS
from fourlab.bridges.kaggle.export import source_of
from fourlab.cli import main
from fourlab.game.outcome import Result
from fourlab.game.rules import Rules
from fourlab.nets.patterns import PatternNetwork, Shape, random_walks
from tests.agents.mcts.test_agent import search

SPEC = "mcts:leaves=patterns,simulations=2000"


@pytest.fixture
def small_file(tmp_path: Path) -> str:
    """Return a file of patterns for another board."""
    rules = Rules(5, 4, 4)
    shape = Shape(rules, random_walks(rules, 4, 4, 1))
    weights = np.random.default_rng(1).integers(-500, 500, (2, shape.entries)).astype(np.int16)
    file = tmp_path / "small.npz"
    PatternNetwork(shape, weights).save(file)
    return str(file)


def test_means_are_fractions_and_visits_add_up() -> None:
    result = search(SPEC, Position("44"))
    assert sum(column.visits for column in result.columns) == 2000
    for column in result.columns:
        assert column.value is not None
        assert -1 <= column.value <= 1
        points = column.value * column.visits * verbs.WON
        assert points == pytest.approx(round(points), abs=1e-6)
    assert result.trace[-1].simulations == 2000


def test_forced_replies_prove_what_they_lead_to() -> None:
    # Red has two in a row with both ends open: any third disc beside them wins by a double threat.
    result = search("mcts:leaves=patterns,simulations=30", Position("445566"))
    assert result.decision.proven == Exact(Result.WIN)
    proven = search("mcts:leaves=patterns,simulations=20", Position("4455")).columns
    assert any(column.proven == Result.WIN for column in proven), "three in a row, both ends open"


@pytest.mark.parametrize(
    "options", ["reuse=moves", "reuse=games", "threads=2", "runs=3,threads=2", "transpositions=1"]
)
def test_other_ways_to_search_evaluate_leaves_too(options: str) -> None:
    agent = make(f"{SPEC},{options}")
    assert isinstance(agent, MCTS)
    position = Position("44")
    for _ in range(3):
        decision = agent.decide(position, Limit(), np.random.default_rng(1))
        assert decision.column in (2, 3, 4)
        assert decision.analysis.simulations is not None
        assert decision.value is not None
        assert -1 <= decision.value <= 1
        position = position.play(decision.column)
    agent.close()


def test_threads_and_kept_trees_add_up_fractions() -> None:
    for options in ("threads=2,simulations=20000", "reuse=games,simulations=3000"):
        agent = make(f"mcts:leaves=patterns,proofs=0,{options}")
        assert isinstance(agent, MCTS)
        result = agent.search(Position("4"), Limit(), np.random.default_rng(0))
        for column in result.columns:
            below = result.look((column.column,))
            if column.value is None or column.visits < 200:
                continue
            total = sum(reply.visits * (reply.value or 0.0) for reply in below)
            # The column's first visit evaluated the position itself.
            assert column.value == pytest.approx(-total / column.visits, abs=0.02)
        agent.close()


def test_a_search_ends_before_its_sums_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourlab.agents.mcts.verbs.MAX_VISITS", 1 << 10)
    agent = make("mcts:leaves=patterns,proofs=0,simulations=1000000")
    stop = Stop()
    decision = agent.decide(Position(), Limit(seconds=60, stop=stop), np.random.default_rng(0))
    limit = (1 << 10) * verbs.POINTS // verbs.WON
    assert decision.analysis.simulations is not None
    # The size of the last chunk depends on the speed, that of the first is 1.
    assert limit <= decision.analysis.simulations < 10000


def test_a_file_of_patterns_is_played_on_its_board(small_file: str) -> None:
    agent = make(f'{SPEC},file="{small_file}"')
    assert agent.decide(Position(board="5x4x4")).analysis.simulations == 2000
    with pytest.raises(UserError, match=r"^the patterns are for the board 5x4x4, not 7x6x4$"):
        agent.decide(Position())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("leaves=patterns,terminal=past-wins,proofs=0", "leaves=patterns needs"),
        ("leaves=patterns,opponent=random,rollouts=uniform,proofs=0", "leaves=patterns needs"),
        ("leaves=patterns,expansion=all", "leaves=patterns needs"),
        ("leaves=patterns,credit=leaf,proofs=0", "leaves=patterns needs"),
        ("leaves=patterns,draw_credit=leaf", "leaves=patterns needs"),
        ("leaves=patterns,draw=0.25", "leaves=patterns needs"),
        ("leaves=patterns,file=nothing.npz", "cannot read the patterns nothing.npz: No such file"),
        ("file=nothing.npz", "file is for leaves=patterns"),
        ("leaves=tables", "rollouts or patterns, not 'tables'"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(options: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        make(f"mcts:{options}")
    assert "\n" not in str(caught.value)


def test_draws_in_the_middle_of_the_scale_of_wins_are_the_usual_ones() -> None:
    agent = make("mcts:leaves=patterns,scale=wins,draw=0.5,c=0.5,simulations=100")
    usual = make("mcts:leaves=patterns,c=1,simulations=100")
    first, second = (a.decide(Position(), rng=np.random.default_rng(1)) for a in (agent, usual))
    assert first.analysis.visits == second.analysis.visits


def test_a_board_without_patterns_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match=r"^there are no patterns for the board 5x5x4, only for"):
        make(SPEC).decide(Position(board="5x5x4"))


def test_a_damaged_file_ends_a_command_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "damaged.npz"
    file.write_bytes(b"PK\3\4 nothing of use")
    with pytest.raises(SystemExit) as ended:
        main(["analyze", "44", "--agent", f'mcts:leaves=patterns,file="{file}"'])
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert "is not a file of patterns or is damaged" in printed
    assert printed.count("\n") == 1


def test_it_cannot_be_exported_to_kaggle() -> None:
    with pytest.raises(UserError, match="leaves=patterns cannot be exported"):
        source_of(SPEC)
