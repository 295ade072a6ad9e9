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
