"""Functions of `import fourlab as fl` about positions, games and agents."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fourlab as fl
from fourlab.agents.registry import AGENTS, spec_of
from tests.conftest import ROOT, Result

Run = Callable[..., Result]

THREE: Any = 3
SAME = ("4453", "ddec", "0:3342", "7/7/7/7/3y3/2yrr2 r 4", "key:40830a08081")


def test_solving_gives_the_exact_value() -> None:
    solution = fl.solve("32751571231557")
    assert (str(solution), solution.score, solution.plies) == ("loses in 24", -3, 24)
    assert solution.position == fl.Position("32751571231557")
    assert solution.columns == {}


@pytest.mark.parametrize("text", SAME)
def test_positions_are_accepted_in_every_notation(text: str) -> None:
    assert str(fl.solve(text)) == "loses in 36"
    assert str(fl.Solver().solve(text)) == "loses in 36"


@pytest.mark.parametrize(
    "spec",
    [
        *("random", "rules", "mcts:simulations=50", "textbook:simulations=20", "minimax:depth=3"),
        *("negamax", "perfect", "alphazero:simulations=8", "guided:simulations=8", "dqn", "value"),
        *("level-2", "expectimax-random"),
    ],
)
def test_agents_decide_on_texts(spec: str) -> None:
    # Twelve empty cells: few enough for the exact expectation.
    agent: Any = fl.make(spec)
    decisions = [
        agent.decide(position, fl.Limit(), np.random.default_rng(1)).column
        for position in ("vannucci-abril", fl.Position("vannucci-abril"))
    ]
    assert decisions[0] == decisions[1]


def test_positions_are_accepted_as_objects_names_and_boards() -> None:
    position = fl.Position("vannucci-abril")
    kaggle = [cell for row in position.grid() for cell in row]
    for given in (position, "vannucci-abril", position.grid(), kaggle, np.array(position.grid())):
        assert fl.solve(given).score == 2
    assert fl.solve("112", board="5x4x3").position == fl.Position("112", "5x4x3")


def test_all_columns_are_solved_as_the_command_prints_them(fourlab: Run) -> None:
    solution = fl.solve("32751571231557", all_columns=True)
    scores = [str(column.score) for column in solution.columns.values()]
    printed = fourlab("solve", "--all-columns", "32751571231557").stdout.split()
    assert printed == ["32751571231557", *scores]
    assert solution.score == -3
    rows = solution.to_pandas()
    assert list(rows.column) == [1, 2, 3, 4, 5, 6, 7]
    assert list(rows.score) == [column.score for column in solution.columns.values()]


def test_a_limit_leaves_bounds() -> None:
    solution = fl.solve("", nodes=1, book=False)
    assert solution.score is None
    assert solution.to_dict()["says"] == "not proven"
    weak = fl.solve("44444", weak=True)
    assert weak.result is not None


def test_an_analysis_is_what_the_command_prints(fourlab: Run) -> None:
    analysis = fl.analyse("4453", "mcts:simulations=1000")
    done = fourlab("analyze", "4453", "--agent", "mcts:simulations=1000")
    assert done.stdout == f"{analysis}\n"
    asked = fourlab("analyze", "4453", "--agent", "mcts:simulations=1000", "--json").stdout
    ours, theirs = analysis.to_dict(), json.loads(asked)
    for data in (ours, theirs):
        data["stats"].pop("seconds")
    assert ours == theirs
    assert fl.analyze is fl.analyse


def test_an_analysis_by_an_object_and_a_function() -> None:
    by_object = fl.analyse("445566", fl.make("mcts", simulations=500), proof=0)
    assert by_object.agent == "mcts:simulations=500"
    assert str(by_object.decision) == str(fl.analyse("445566", "mcts:simulations=500").decision)
    assert by_object.exact is None

    def leftmost(position: fl.Position) -> int:
        return position.legal_columns()[0]

    analysis = fl.analyse("445566", leftmost, seconds=1)
    assert (analysis.agent, analysis.decision.column) == ("leftmost", 0)
    with pytest.raises(fl.UserError, match="keeps no trace; mcts and alphazero do"):
        analysis.plot()


def test_a_review_is_what_the_command_prints(fourlab: Run) -> None:
    review = fl.review("4455661")
    assert fourlab("review", "4455661").stdout == f"{review}\n"
    assert review.to_dict() == json.loads(fourlab("review", "4455661", "--json").stdout)
    assert list(review.to_pandas().category) == [move.category.value for move in review.moves]
    assert str(fl.review(fl.Position("4455661"))) == str(review)
    later = fl.review("5661", start="445")
    assert [move.number for move in later.mistakes] == [1]


def test_agents_are_listed_as_the_command_prints_them(fourlab: Run) -> None:
    agents = fl.list_agents()
    assert fourlab("agents").stdout == f"{agents}\n"
    assert agents["mcts"].about.startswith("Monte Carlo tree search")
    assert json.loads(json.dumps(agents.to_dict()))["level-1"]["preset_of"]
    assert len(agents.to_pandas()) == len(agents) == len(agents.names)


def test_functions_are_made_agents() -> None:
    assert fl.make(lambda position: 3).decide("4453").column == 3
    with pytest.raises(fl.UserError, match="options are for agents that are written as text"):
        fl.make(lambda position: 3, simulations=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fl.match("random", "rules", gmes=3), "did you mean 'games'"),
        (lambda: fl.tournament(["random", "rules"], round=4), "did you mean 'rounds'"),
        (lambda: fl.study("bhat", "table-5", preset="smoke"), "did you mean 'scale'"),
        (lambda: fl.train("alphazero", learning_rate=1), "did you mean 'rate'"),
        (lambda: fl.tournament("random"), "takes a list of agents, not 'random'"),
        (lambda: fl.analyse("4453", seconds="x"), "a limit of seconds is a number, not 'x'"),
    ],
)
def test_wrong_arguments_are_answered_in_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(fl.UserError, match=re.escape(message)):
        call()


def test_agents_are_made_with_options_as_keywords() -> None:
    position = fl.Position("4453")
    rng = np.random.default_rng(3)
    ours = fl.make("mcts:c=2", simulations=200).decide(position, rng=rng)
    spec = fl.make("mcts:c=2,simulations=200")
    assert str(spec.decide(position, rng=np.random.default_rng(3))) == str(ours)
    assert fl.make("rules").decide(position).column == 3  # neither limit nor generator
    assert str(fl.make("bhat-mc40", faithful=True)) == str(fl.make("bhat-mc40:faithful=1"))
    assert fl.make("bhat-mc40", simulations=7) == fl.make("bhat-mc40:simulations=7")


@pytest.mark.parametrize(
    "spec",
    [
        "random",
        "rules:otherwise=random",
        "mcts:simulations=1000,c=1.5,proofs=0",
        "minimax:depth=6",
        "alphazero:simulations=8,method=puct",
        "perfect",
    ],
)
def test_agents_can_be_written_as_specs(spec: str) -> None:
    written = spec_of(fl.make(spec))
    assert written is not None
    assert fl.make(written) == fl.make(spec)


def test_what_has_no_spec_is_not_written() -> None:
    assert spec_of(object()) is None
    assert spec_of(len) is None
    assert set(AGENTS) >= {"mcts"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fl.make("mctss"), "there is no agent 'mctss' (did you mean 'mcts'?)"),
        (lambda: fl.make("mcts", simulation=3), "has no option 'simulation' (did you mean"),
        (lambda: fl.make("mcts", simulations=0), "must be a whole number from 1 to"),
        (lambda: fl.make("level-3", c=1), "agent 'level-3' has no options"),
        (lambda: fl.make("bhat-mc40", faithful="x"), "must be 0 or 1, not 'x'"),
        (lambda: fl.solve("8"), "there is no column 8: Position('') has columns 1 to 7"),
        (lambda: fl.solve("0:7"), "there is no column 7 (counted from 0)"),
        (lambda: fl.solve("4444444"), "column 4 is full: Position('444444')"),
        (lambda: fl.solve("1212121"), "the game is over (red wins)"),
        (lambda: fl.solve("1212121", all_columns=True), "the game is over (red wins)"),
        (lambda: fl.solve("nonsense"), "is neither columns a to g nor"),
        (lambda: fl.solve(THREE), "a position is a Position, moves such as '4453', a name"),
        (lambda: fl.solve(fl.Position("4"), board="5x4"), "is on a 7x6x4 board, not 5x4x4"),
        (lambda: fl.solve("", seconds=-1), "a limit of seconds must be greater than 0"),
        (lambda: fl.solve("", threads=0), "at least 1 thread"),
        (lambda: fl.analyse("1212121"), "the game is over (red wins)"),
        (lambda: fl.analyse("4", "nobody"), "there is no agent 'nobody'"),
        (lambda: fl.analyse("4", 5), "an agent is a spec, a function, or a class"),
        (lambda: fl.review("9"), "there is no column 9"),
        (lambda: fl.review("empty"), "is a board, not the moves of a game"),
        (lambda: fl.review("4", board="x"), "a board is written COLUMNSxROWSxINAROW"),
        (lambda: fl.Position("444444").play(3), "column 3 (counted from 0) is full"),
    ],
)
def test_errors_are_one_line_without_our_own_frames(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(fl.UserError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    # The test, the call, the front door, at most one more: where a method raises at once.
    assert len(caught.traceback) <= 4
    name = type(caught.value).__name__
    assert caught.value._render_traceback_() == [f"{name}: {caught.value}"]


def test_only_what_is_used_is_imported() -> None:
    code = (
        "import sys, fourlab as fl; fl.make; fl.match; fl.solve; "
        "print([name for name in ('numpy', 'numba', 'pandas', 'matplotlib', 'torch', 'typer') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "[]\n"


def test_a_decision_is_words_data_and_a_table() -> None:
    decision = fl.make("mcts", simulations=100).decide(fl.Position("4453"))
    data = json.loads(json.dumps(decision.to_dict()))
    assert str(decision).startswith(f"plays {decision.column + 1}, expecting ")
    assert data["column"] == decision.column + 1
    assert sum(decision.to_pandas().visits) == 100
    expected = fl.make("expectimax-random").decide(fl.Position("vannucci-abril"))
    assert json.loads(json.dumps(expected.to_dict()))["exact_values"]["7"] == "21/32"
    assert "21/32" in expected._repr_html_()
