"""Our form of Kaggle's negamax beside Kaggle's own code."""

from typing import Any

import pytest

from fourlab import Position
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.compiled.random import seed_state
from tests.bridges.kaggle.negamax_golden import COUNT, FILE, line_of, seeded_positions

LINES = FILE.read_text().splitlines()
LIVE = range(0, COUNT, 80)
"""Kaggle's code takes a quarter of a second a position, so every day only these are asked anew."""


def ours(number: int, position: Position) -> str:
    g = position.rules.geometry
    _, first, _ = kaggle_negamax(position.own, position.mask, g, 4, False, 1)
    _, tossed, state = kaggle_negamax(position.own, position.mask, g, 4, True, seed_state(number))
    return f"{position.write('moves') or '-'} {first + 1} {tossed + 1} {state}"


def test_a_thousand_positions_move_by_move() -> None:
    assert len(LINES) == COUNT
    assert [ours(number, position) for number, position in enumerate(seeded_positions())] == LINES


def test_the_positions_are_of_all_kinds() -> None:
    first, tossed = zip(*(line.split()[1:3] for line in LINES), strict=True)
    assert len(set(first)) == 7
    assert (
        sum(one != other for one, other in zip(first, tossed, strict=True)) > COUNT // 10
    )  # ties are common


def test_kaggles_code_still_plays_so(environments: Any) -> None:
    positions = seeded_positions()
    assert [line_of(number, positions[number]).strip() for number in LIVE] == [
        LINES[number] for number in LIVE
    ]


@pytest.mark.soak
def test_kaggles_code_still_plays_so_everywhere(environments: Any) -> None:
    assert [
        line_of(number, position).strip() for number, position in enumerate(seeded_positions())
    ] == LINES
