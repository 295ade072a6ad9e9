"""Solved positions that come with the tests, and larger public sets if they are available."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEST_SETS = Path(os.environ.get("FOURLAB_TEST_SETS", ROOT.parent / "shared" / "data" / "pons"))
FIRST_MOVES = {
    "": [-2, -1, 0, 1, 0, -1, -2],
    "4": [-4, -2, -2, -1, -2, -2, -4],
    "3": [-2, -2, 0, 0, 0, 0, -3],
    "2": [-2, 0, 1, 0, -2, -2, -3],
    "1": [-1, 2, 1, 2, -1, 1, -2],
}
"""The scores of all columns after 0 or 1 discs, which others have found too."""


def golden() -> list[tuple[str, int]]:
    """Return 320 positions from all phases of the game (`tests/golden/make_solved.py`)."""
    return _read(ROOT / "tests" / "golden" / "solved.txt")


def public(name: str) -> list[tuple[str, int]]:
    """Return one of Pascal Pons's test sets, which are not part of this project."""
    file = TEST_SETS / f"Test_{name}"
    if not file.exists():
        pytest.skip(
            f"the public test set {file.name} is missing: "
            "put it into a folder and set FOURLAB_TEST_SETS to that folder"
        )
    return _read(file)


def _read(file: Path) -> list[tuple[str, int]]:
    lines = [line.split() for line in file.read_text().splitlines()]
    return [(moves, int(score)) for moves, score in lines]
