"""Numbers of the ablation, computed once more from the raw games and answers in plain Python."""

import csv
import io
import json
import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.solver import Solver
from fourlab.studies.ablation import positions_of
from fourlab.studies.gao import ablation as gao
from fourlab.studies.workbench import Picture, Table, Workbench

PAIRS, POSITIONS = 12, 30


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    size = {"pairs": PAIRS, "positions": POSITIONS}
    return Workbench(tmp_path_factory.mktemp("gao"), "quick", size, 0, Threads(1))


@pytest.fixture(scope="module")
def rows(bench: Workbench) -> dict[str, dict[str, str]]:
    """The numbers of the picture, by what is changed."""
    (data,) = [part.data for part in gao.conduct(bench) if isinstance(part, Picture)]
    return {row["arm"]: row for row in csv.DictReader(io.StringIO(written(data)))}


def written(table: Table) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([table.head, *table.rows])
    return out.getvalue()


def points_by_pair(file: Path) -> list[float]:
    """Return the arm's points in every pair of games, from 0 to 2."""
    games = sqlite3.connect(file).execute("SELECT unit, red, result FROM games").fetchall()
    assert len(games) == 2 * PAIRS
    points = [0.0] * PAIRS
    for unit, red, result in games:
        points[unit] += (1 + (result if red == "arm" else -result)) / 2
    return points


def elo(score: float) -> float:
    return 400 * math.log10(score / (1 - score))


@pytest.mark.parametrize("other", ["faithful", "opponent"])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_elo_follows_from_the_stored_games(
    bench: Workbench, rows: dict[str, dict[str, str]], place: int, other: str
) -> None:
    arm = gao.PROGRAM.arms[place]
    points = points_by_pair(bench.folder / f"search-{arm.name}-{other}.sqlite")
    scores = [point / 2 for point in points]
    mean = sum(scores) / PAIRS
    # One pair won and one lost more.
    padded = [*scores, 0.0, 1.0]
    middle = sum(padded) / len(padded)
    variance = sum((score - middle) ** 2 for score in padded) / len(padded)
    half = 1.959964 * math.sqrt(variance / len(padded))
    column = "gain" if other == "faithful" else "Elo against the common opponent"
    row = rows[arm.change]
    assert 0 < mean < 1
    assert float(row[column]) == pytest.approx(elo(mean), abs=0.01)
    low, high = max(middle - half, 0.001), min(middle + half, 0.999)
    assert float(row[f"{column} low"]) == pytest.approx(elo(low), abs=0.01)
    assert float(row[f"{column} high"]) == pytest.approx(elo(high), abs=0.01)
    assert int(row[f"{column} n"]) == 2 * PAIRS


def sign(solver: Solver, position: Position) -> int:
    """Return +1, 0 or -1 for the side to move."""
    score = solver.solve(position).score
    assert score is not None
    return (score > 0) - (score < 0)


def test_accuracy_follows_from_the_solver(
    bench: Workbench, rows: dict[str, dict[str, str]]
) -> None:
    arm = gao.PROGRAM.arms[0]
    agent, solver = make(arm.spec), Solver()
    positions, _ = positions_of("7x6x4", POSITIONS)
    kept = []
    for number, position in enumerate(positions):
        column = agent.decide(position, rng=np.random.default_rng([0, number])).column
        child = position.play(column)
        outcome = child.outcome()
        # A child's value is for the other side.
        value = -sign(solver, child) if outcome is None else outcome.score(position.to_move)
        kept.append(value == sign(solver, position))
    assert json.loads((bench.folder / "search-answers.json").read_text())["0"] == kept
    row = rows[arm.change]
    assert float(row["accuracy"]) == pytest.approx(100 * sum(kept) / len(kept), abs=0.001)
    assert int(row["accuracy n"]) == len(kept)
