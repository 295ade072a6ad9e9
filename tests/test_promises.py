"""The table of promises and figures that `make soak` prints."""

import pytest

from tests.promises import Figure, promise_of, table


def test_a_figure_holds_at_its_limit_and_not_beyond() -> None:
    assert Figure("wait", 2.0, 2.0, "s").holds
    assert not Figure("wait", 2.1, 2.0, "s").holds
    assert not Figure("wait", float("nan"), 2.0, "s").holds
    assert not Figure("score", 0.8, 0.85, at_least=True).holds
    assert str(Figure("score", 0.9, 0.85, at_least=True)) == "score: 0.9 (at least 0.85)"


def test_a_promise_is_the_name_of_its_test() -> None:
    assert promise_of("tests/a.py::test_it_is_quick") == "it is quick"
    assert promise_of("tests/a.py::test_who_wins[6x6-1]") == "who wins [6x6-1]"


def test_a_broken_promise_is_in_the_table() -> None:
    def report(name: str, outcome: str) -> pytest.TestReport:
        properties = [("figure", "wait: 3 s (at most 2)")]
        return pytest.TestReport(
            f"tests/a.py::test_{name}",
            ("a", 1, "a"),
            {},
            outcome,
            None,
            "call",
            user_properties=properties,
        )

    lines = table([report("b", "failed"), report("a", "passed")])
    assert [line.split()[0] for line in lines] == ["holds", "wait:", "BROKEN", "wait:"]
