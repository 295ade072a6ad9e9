"""The page's scripts under Node: their own tests, and their rules compared with Python's."""

import json
import random
import subprocess
from typing import Any

import pytest

from fourlab import Position
from tests.conftest import ROOT
from tests.missing_parts import require

FOLDER = ROOT / "tests" / "javascript"
BOARDS = ["7x6x4", "5x4x3", "4x4x4", "12x4x5", "3x6x3"]


@pytest.fixture(scope="module")
def node() -> str:
    return require("node")


def test_the_javascript_tests_pass(node: str) -> None:
    done = subprocess.run([node, "--test", f"{FOLDER}/"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert "tests 0" not in done.stdout


def random_games(board: str, count: int) -> list[list[Position]]:
    """Return random games from the empty board, each as the list of its positions."""
    rng = random.Random(board)
    games = []
    for _ in range(count):
        positions = [Position(board=board)]
        while positions[-1].outcome() is None:
            column = rng.choice(positions[-1].legal_columns())
            positions.append(positions[-1].play(column))
        games.append(positions)
    return games


def expected_view(position: Position) -> dict[str, Any]:
    outcome = position.outcome()
    return {
        "fen": position.write("fen"),
        "outcome": None if outcome is None else str(outcome),
        "toMove": ("red", "yellow")[position.to_move],
        "movesText": position.write("moves"),
        "legal": [] if outcome else [column + 1 for column in position.legal_columns()],
        "cells": sorted(f"{column + 1},{row + 1}" for column, row in position.winning_cells()),
    }


@pytest.mark.parametrize("board", BOARDS)
def test_rules_and_notation_agree_with_python(node: str, board: str) -> None:
    games = random_games(board, 40)
    request = [
        {"board": board, "columns": [column + 1 for column in positions[-1].moves or ()]}
        for positions in games
    ]
    done = subprocess.run(
        [node, str(FOLDER / "replay.mjs")],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    expected = [[expected_view(position) for position in positions] for positions in games]
    assert json.loads(done.stdout) == expected
