"""Document 002's experiments at their smallest, and the exact facts they rest on."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from fourlab.agents.registry import make
from fourlab.arena.tables import Table
from fourlab.arena.tally import Tally
from fourlab.game.position import Position
from fourlab.jobs.executors import Work
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.experiment import Finding, Part, Picture, Text
from fourlab.studies.gao import EXPERIMENTS, future, games, root
from fourlab.studies.workbench import Workbench

SIZES = {
    "002-games": {"games": 6, "weak_games": 3},
    "002-table-1": {"sets": 4},
    "002-convergence": {"runs": 12, "simulations": 500},
    "002-future": {"simulations": 10, "rounds": 1, "timed": 300, "timed_rounds": 1},
}
"""As small as smoke, or smaller."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gao")


def conducted(folder: Path, name: str) -> list[Part]:
    """What an experiment finds; its work is done once for all tests."""
    experiment = next(each for each in EXPERIMENTS if each.name == name)
    return list(experiment.conduct(Workbench(folder / name, "smoke", SIZES[name], 0, Threads(1))))


def findings(folder: Path, name: str) -> dict[str, Finding]:
    return {each.what: each for each in conducted(folder, name) if isinstance(each, Finding)}


@pytest.mark.parametrize("name", SIZES)
def test_every_experiment_finds_the_same_again_and_its_pictures_can_be_drawn(folder: Path, name: str) -> None:
    parts, again = conducted(folder, name), conducted(folder, name)
    assert [each for each in parts if not isinstance(each, Picture)] == [each for each in again if not isinstance(each, Picture)]
    assert sum(isinstance(each, Finding) for each in parts) == len(findings(folder, name)) >= 4
    for picture in (each for each in parts if isinstance(each, Picture)):
        assert render(picture.draw(), "svg").startswith(b"<?xml")
        assert all(len(row) == len(picture.data.head) for row in picture.data.rows)


def test_all_that_the_document_contains_is_covered() -> None:
    assert {each for experiment in EXPERIMENTS for each in experiment.ids} == {f"D2-{number:02}" for number in range(1, 9)}


def test_the_example_game_ends_with_a_horizontal_line_of_x(folder: Path) -> None:
    (text,) = [each for each in conducted(folder, "002-games") if isinstance(each, Text)]
    assert text.lines.startswith(" 1. X column ")
    assert any("X X X X" in line for line in text.lines.splitlines())
    assert text.lines.splitlines()[-1] == "red wins", "nobody is to move any more"


@pytest.mark.parametrize(
    ("moves", "way"), [("1122334", "horizontal"), ("1213141", "vertical"), ("12233434414", "diagonal, or several lines")]
)
def test_how_a_line_runs(moves: str, way: str) -> None:
    assert games.direction(Position(moves)) == way


def test_table_1_is_neither_near_nor_symmetric(folder: Path) -> None:
    found = findings(folder, "002-table-1")
    assert found["column 4: winning probability"].agrees is False
    assert found["all seven: squared distance from our mean, in standard deviations"].agrees is False
    chances = [found[f"column {one} less its mirror image {other}"].why.split()[-1] for one, other in ((1, 7), (2, 6), (3, 5))]
    assert chances == ["7e-04", "2e-03", "2e-08"]
    assert found["column 4 is best in one run"].agrees


def test_mirror_images_differ_as_in_the_document_only_if_ours_do() -> None:
    noise = np.random.default_rng(0).normal(0.5, 1, (400, 7))
    for spread, agrees in ((0.1, True), (0.01, False)):
        assert [each.agrees for each in root._mirrored(0.5 + spread * noise)] == [agrees] * 3


def test_flat_playouts_win_as_often_as_other_programs_say(folder: Path) -> None:
    (table,) = [each for each in conducted(folder, "002-table-1") if isinstance(each, Table)]
    expected = (0.512, 0.544, 0.575, 0.640, 0.570, 0.543, 0.511)
    for row, share in zip(table.rows, expected, strict=True):
        assert float(str(row[-2])) == pytest.approx(share, abs=0.006)
    assert [str(row[-1]).split()[0] for row in table.rows] == ["loses", "loses", "draw", "wins", "draw", "loses", "loses"]


def test_visits_follow_values(folder: Path) -> None:
    found = findings(folder, "002-convergence")
    assert found["visits and values of the columns after 500: rank correlation"].agrees
    values, visits = np.array([0.5, 0.2, 0.2, 0.9]), np.array([3.0, 1.0, 2.0, 8.0])
    assert root._rank_correlation(values, visits) == pytest.approx(spearmanr(values, visits).statistic)


def test_means_of_convergence_have_intervals(folder: Path) -> None:
    found = findings(folder, "002-convergence")
    for what in (
        "column 4: the value changes less and less",
        "visits of column 4 and of an edge column (mean of both) after 500",
    ):
        assert found[what].faithful.count("], sd ") == 2


def test_everybody_meets_everybody(folder: Path) -> None:
    table = next(each for each in conducted(folder, "002-future") if isinstance(each, Table))
    assert [row[1] for row in table.rows] == [18] * 10


def test_a_gain_has_an_interval_and_one_pair_tells_nothing(folder: Path) -> None:
    assert future._gain(Tally((0, 0, 1, 0, 0))) == "–"
    assert future._gain(Tally((0, 0, 0, 0, 15))) == "no Elo: a score of 100 % has no finite Elo"
    assert future._gain(Tally((1, 2, 4, 3, 5))) == "+107.5 [-6.0, +250.4] Elo"  # 0.65 ± 1.96 · √(1.475 / 15 / 15)
    gains = [each.corrected for what, each in findings(folder, "002-future").items() if what.startswith("gain: ")]
    assert all(gain.startswith("–; won ") for gain in gains)
    assert gains


def test_threads_are_measured_by_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    monkeypatch.setattr(future, "make", lambda spec: asked.append(spec) or make(spec))  # type: ignore[func-returns-value]
    for spec, trees in zip(future.WAYS.values(), (1, 4), strict=True):
        asked.clear()
        speeds = future._speeds(spec, 400)
        assert all(rate > 0 and processors > 0 for rate, processors in speeds.values())
        assert {each.split("simulations=")[1].split(",")[0] for each in asked} == {str(400 // trees)}
        assert {each.partition(",runs=")[2] for each in asked} == {"" if trees == 1 else "4"}


def test_threads_are_measured_by_their_strength_one_game_after_another(folder: Path, tmp_path: Path) -> None:
    (found,) = [each for what, each in findings(folder, "002-future").items() if what.startswith("strength with 2 threads")]
    assert found.corrected.startswith("–; won ")
    assert "not repeatable" in found.why
    assert "threads" not in future.WHY["+ 10 × simulations"]
    at_once = list[int]()

    class Counting(Threads):
        def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
            listed = list(items)
            at_once.append(len(listed))
            yield [(number, {"results": [1, -1], "processors": 0.7}) for number in listed]

    bench = Workbench(tmp_path, "smoke", {"timed_rounds": 3}, 0, Counting(2))
    strength = future._strength(bench)
    assert "won 50.0 %" in strength.corrected
    assert "0.7 processors" in strength.why, "a busy machine is told"
    assert at_once == [1, 1, 1]
