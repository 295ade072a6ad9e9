"""`fourlab accuracy` with solved positions and several budgets; test_solve.py has the rest."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result


def test_agents_are_tested_with_every_budget_they_support(fourlab: Callable[..., Result]) -> None:
    done = fourlab(
        "accuracy", "alphazero", "mcts", "--solved", "24", "--budgets", "0,16,5ms", "--json"
    )
    assert done.returncode == 0, done.stderr
    agents = json.loads(done.stdout)["agents"]
    assert set(agents) == {"alphazero 0", "alphazero 16", "alphazero 5ms", "mcts 16", "mcts 5ms"}
    for result in agents.values():
        assert result["positions"] == 24
        assert set(result["phases"]) == {"early", "middle", "late"}
    assert agents["alphazero 16"]["mistakes"] <= 3
    table = fourlab("accuracy", "perfect", "--solved", "240")
    assert table.returncode == 0, table.stderr
    assert "  0.0%   0.0%   0.0%  100.0%" in table.stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["alphazero:simulations=20", "--solved", "3", "--budgets", "0,600"],
            "has a bound of its own, simulations=20",
        ),
        (["random", "--solved", "3", "--board", "5x4x4"], "are on 7x6x4"),
        (["human", "--solved", "3"], "a human cannot be tested here; use fourlab play"),
        (["random", "--solved", "961"], "--solved must be a whole number from 1 to 960"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    arguments: list[str], why: str, fourlab: Callable[..., Result]
) -> None:
    done = fourlab("accuracy", *arguments)
    assert done.returncode == 2
    assert why in done.stderr


def test_illegal_answers_and_exceptions_are_counted_as_mistakes(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    file = tmp_path / "hasty.py"
    file.write_text("def hasty(position):\n    return 40 // (position.ply - 8)\n")
    asked = ("accuracy", str(file), "rules", "--solved", "30")
    done = fourlab(*asked)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert any(" by illegal move, the first in Position(" in line for line in lines)
    assert lines[-1].startswith("rules ")
    agents = json.loads(fourlab(*asked, "--json").stdout)["agents"]
    result = agents[str(file)]
    causes = {fault["cause"]: fault["positions"] for fault in result["faults"]}
    assert 0 < causes["illegal move"] < result["mistakes"] <= 30
    assert agents["rules"]["faults"] == []
    # An agent that does not start is no agent with mistakes.
    done = fourlab("accuracy", "engine:cmd=nowhere", "--solved", "3")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot start nowhere" in done.stderr


def test_bad_budgets_are_reported_in_one_line(fourlab: Callable[..., Result]) -> None:
    for arguments, why in (
        (
            ["--solved", "5", "--budgets", "soon"],
            "a budget is a number of simulations, or a time like 10ms or 1s, not 'soon'",
        ),
        (["--solved", "5", "--random", "5"], "choose one of --positions"),
    ):
        done = fourlab("accuracy", "rules", *arguments)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert why in done.stderr
