import sys
from pathlib import Path
from typing import Any

import pytest

from fourlab.bridges.kaggle.submission import Struct, ask, load


def test_values_are_items_and_attributes() -> None:
    struct = Struct(columns=7)
    struct.columns = 6
    struct["rows"] = 5
    assert (struct["columns"], struct.columns, struct.rows, struct.get("inarow", 4)) == (6, 6, 5, 4)


def test_the_last_callable_is_the_agent() -> None:
    agent = load("import random\ndef one(o, c): return 1\ndef two(o, c): return 2\nthree = 3\n")
    assert ask(agent, [0] * 42, 1, 0) == 2


def test_the_namespace_is_empty() -> None:
    with pytest.raises(NameError, match="__file__"):
        load("print(__file__)")
    with pytest.raises(ValueError, match="no function"):
        load("answer = 42")


def test_an_agent_sees_what_kaggle_shows() -> None:
    agent = load(
        "def agent(o, c): return [o.board[41], o['mark'], o.step, o.remainingOverageTime,"
        " c.columns, c['inarow'], c.actTimeout]"
    )
    assert ask(agent, [0] * 41 + [1], 2, 1, actTimeout=1) == [1, 2, 1, 60, 7, 4, 1]


def test_an_agent_may_want_the_observation_only() -> None:
    assert ask(load("def agent(observation): return observation.mark"), [0] * 42, 2, 1) == 2


def test_modules_beside_a_file_are_imported_while_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "beside_a_submission.py").write_text("COLUMN = 5")
    path = list(sys.path)
    agent = load(
        "from beside_a_submission import COLUMN\ndef agent(o): return COLUMN", str(tmp_path)
    )
    assert ask(agent, [0] * 42, 1, 0) == 5
    assert sys.path == path
    with pytest.raises(ModuleNotFoundError):
        load("import not_beside_a_submission", str(tmp_path))


def test_observation_and_configuration_are_kaggle_s(environments: Any) -> None:
    seen: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def agent(observation: Any, configuration: Any) -> int:
        seen.append((dict(observation), dict(configuration)))
        return 3

    environments.make("connectx").run([agent, "random"])
    theirs = seen.copy()
    seen.clear()
    for observation, _ in theirs:
        ask(agent, observation["board"], observation["mark"], observation["step"])
    assert len(theirs) >= 4
    for their, our in zip(theirs, seen, strict=True):
        assert their[1] == our[1]
        their[0]["remainingOverageTime"] = 60
        assert their[0] == our[0]
