"""Which margins may decide, and that all go through one check."""

import ast
from pathlib import Path

import pytest

from fourlab.studies import rules
from fourlab.studies.claims import RESULTS, SHARES, Answer
from fourlab.studies.rules import claimed_equal, says_something


def test_a_margin_must_be_small_beside_its_value() -> None:
    assert says_something(4, 8)
    assert not says_something(4.1, 8)
    assert says_something(0, 0), "an exact comparison has no margin"
    assert not says_something(0.1, 0)
    assert says_something(0.5, 0.1, RESULTS), "a quarter of -1 to 1"
    assert not says_something(0.3, 0.9, SHARES)
    assert says_something(25, unit="points")
    assert not says_something(30, unit="points")
    assert says_something(50, unit="Elo")
    assert not says_something(500, unit="Elo")
    assert not says_something(500, 142, unit="Elo")
    with pytest.raises(ValueError, match="a value or a scale"):
        says_something(1)


WITH_A_MARGIN = {
    # Too few games or trainings for a test.
    "ablation.py": 2,
    # A bound, which can refute a rating but not show it.
    "arya/chess_rating.py": 1,
    # Factors and reading errors, which are compared without chance.
    "bhat/schedules.py": 1,
    "bhat/table_8.py": 1,
}
"""Verdicts with a margin that no function of `rules` makes, by module."""


def test_every_margin_goes_through_the_one_check() -> None:
    """Verdicts with a margin are made by `rules`, which check the margin."""
    folder = Path(rules.__file__).parent
    counts: dict[str, int] = {}
    for file in folder.rglob("*.py"):
        name = file.relative_to(folder).as_posix()
        if name in ("verdicts.py", "rules.py", "claims.py", "bhat/comparisons.py"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "Verdict"
                and (len(node.args) > 2 or any(word.arg == "margin" for word in node.keywords))
            ):
                counts[name] = counts.get(name, 0) + 1
    assert counts == WITH_A_MARGIN


def test_a_difference_of_just_the_margin_is_no_further() -> None:
    # 0.98 - 0.83 is a little more than 0.15 in binary fractions.
    difference = 100 * (0.83 - 0.98)
    assert -difference > 15
    just = claimed_equal("test", 0.001, (difference, difference - 4, difference + 4), 15, 0.9)
    assert just.answer is Answer.CANNOT_TELL
    further = claimed_equal("test", 0.001, (-15.1, -19.1, -11.1), 15, 0.9)
    assert further.answer is Answer.DIFFERS
