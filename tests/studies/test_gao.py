"""Gao's experiments at the smallest scale, and the exact facts they rest on."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from fourlab.agent import Agent
from fourlab.agents.registry import make
from fourlab.arena.tally import Tally
from fourlab.game.position import Position
from fourlab.jobs.executors import Work
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.catalogue import all_experiments, chosen
from fourlab.studies.gao import future, games, root
from fourlab.studies.workbench import Finding, Part, Picture, Table, Text, Workbench

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
    """Return the parts of an experiment; its work is done once for all tests."""
    experiment = all_experiments()[name]
    return list(experiment.conduct(Workbench(folder / name, "smoke", SIZES[name], 0, Threads(1))))


def findings(folder: Path, name: str) -> dict[str, Finding]:
    parts = conducted(folder, name)
    return {part.what: part for part in parts if isinstance(part, Finding)}


@pytest.mark.parametrize("name", SIZES)
def test_every_experiment_repeats_its_results_and_its_pictures_can_be_drawn(
    folder: Path, name: str
) -> None:
    parts = conducted(folder, name)
    again = conducted(folder, name)
    assert [part for part in parts if not isinstance(part, Picture)] == [
        part for part in again if not isinstance(part, Picture)
    ]
    assert sum(isinstance(part, Finding) for part in parts) == len(findings(folder, name)) >= 4
    for picture in (part for part in parts if isinstance(part, Picture)):
        assert render(picture.draw(), "svg").startswith(b"<svg")
        assert all(len(row) == len(picture.data.head) for row in picture.data.rows)


def test_every_item_of_the_report_is_covered() -> None:
    assert {item for experiment in chosen(["gao"]) for item in experiment.ids} == {
        f"D2-{number:02}" for number in range(1, 9)
    }


def test_the_example_game_ends_with_a_horizontal_line_of_x(folder: Path) -> None:
    (text,) = [part for part in conducted(folder, "002-games") if isinstance(part, Text)]
    assert text.lines.startswith(" 1. X column ")
    assert any("X X X X" in line for line in text.lines.splitlines())
    assert text.lines.splitlines()[-1] == "red wins", "no side is to move"


@pytest.mark.parametrize(
    ("moves", "direction"),
    [
        ("1122334", "horizontal"),
        ("1213141", "vertical"),
        ("12233434414", "diagonal, or several lines"),
    ],
)
def test_the_direction_of_a_winning_line(moves: str, direction: str) -> None:
    assert games.direction(Position(moves)) == direction


def test_table_1_is_neither_near_nor_symmetric(folder: Path) -> None:
    results = findings(folder, "002-table-1")
    assert results["column 4: winning probability"].agrees is False
    distance = results["all seven: squared distance from our mean, in standard deviations"]
    assert distance.agrees is False
    chances = [
        results[f"column {one} minus its mirror image {other}"].why.split()[-1]
        for one, other in ((1, 7), (2, 6), (3, 5))
    ]
    assert chances == ["7e-04", "2e-03", "2e-08"]
    assert results["column 4 is best in one run"].agrees


def test_mirror_images_differ_as_reported_only_if_ours_do() -> None:
    noise = np.random.default_rng(0).normal(0.5, 1, (400, 7))
    for spread, agrees in ((0.1, True), (0.01, False)):
        mirrored = root._mirrored(0.5 + spread * noise)
        assert [finding.agrees for finding in mirrored] == [agrees] * 3


def test_random_rollouts_win_as_often_as_in_other_programs(folder: Path) -> None:
    (table,) = [part for part in conducted(folder, "002-table-1") if isinstance(part, Table)]
    expected = (0.512, 0.544, 0.575, 0.640, 0.570, 0.543, 0.511)
    for row, share in zip(table.rows, expected, strict=True):
        assert float(str(row[-2])) == pytest.approx(share, abs=0.006)
    assert [str(row[-1]).split()[0] for row in table.rows] == [
        "loses",
        "loses",
        "draw",
        "wins",
        "draw",
        "loses",
        "loses",
    ]


def test_visits_follow_values(folder: Path) -> None:
    results = findings(folder, "002-convergence")
    quantity = "rank correlation of the columns' visits and values after 500 simulations"
    assert results[quantity].agrees
    values = np.array([0.5, 0.2, 0.2, 0.9])
    visits = np.array([3.0, 1.0, 2.0, 8.0])
    assert root._rank_correlation(values, visits) == pytest.approx(
        spearmanr(values, visits).statistic
    )


def test_means_of_convergence_have_intervals(folder: Path) -> None:
    results = findings(folder, "002-convergence")
    for quantity in (
        "column 4: changes of the value become smaller",
        "visits of column 4 and of an edge column (mean of both) after 500 simulations",
    ):
        assert results[quantity].faithful.count("], sd ") == 2


def test_every_player_meets_every_other(folder: Path) -> None:
    table = next(part for part in conducted(folder, "002-future") if isinstance(part, Table))
    assert [row[1] for row in table.rows] == [18] * 10
    # The search is stored under its old name.
    names = {row[0] for row in table.rows}
    assert "the report's search" in names
    assert "the document's search" not in names


def test_a_gain_has_an_interval_and_one_pair_has_none(folder: Path) -> None:
    assert future._gain(Tally((0, 0, 1, 0, 0))) == "–"
    assert future._gain(Tally((0, 0, 0, 0, 15))) == "no Elo: a score of 100 % has no finite Elo"
    # A score of 0.65 ± 1.96 · √(1.475 / 15 / 15).
    assert future._gain(Tally((1, 2, 4, 3, 5))) == "+107.5 [-6.0, +250.4] Elo"
    gains = [
        finding.corrected
        for quantity, finding in findings(folder, "002-future").items()
        if quantity.startswith("gain: ")
    ]
    assert all(gain.startswith("–; won ") for gain in gains)
    assert gains


def test_threads_are_measured_by_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = list[str]()

    def recorded(spec: str) -> Agent:
        specs.append(spec)
        return make(spec)

    monkeypatch.setattr(future, "make", recorded)
    for template, trees in zip(future.WAYS.values(), (1, 4), strict=True):
        specs.clear()
        speeds = future._speeds(template, 400)
        assert all(rate > 0 and processors > 0 for rate, processors in speeds.values())
        simulations = {spec.split("simulations=")[1].split(",")[0] for spec in specs}
        assert simulations == {str(400 // trees)}
        assert {spec.partition(",runs=")[2] for spec in specs} == {"" if trees == 1 else "4"}


def test_the_strength_of_threads_is_measured_one_game_after_another(
    folder: Path, tmp_path: Path
) -> None:
    (finding,) = [
        finding
        for quantity, finding in findings(folder, "002-future").items()
        if quantity.startswith("strength with 2 threads")
    ]
    assert finding.corrected.startswith("–; won ")
    assert "not repeatable" in finding.why
    assert "threads" not in future.WHY["+ 10 × simulations"]
    at_once = list[int]()

    class Counting(Threads):
        def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
            numbers = list(items)
            at_once.append(len(numbers))
            yield [(number, {"results": [1, -1], "processors": 0.7}) for number in numbers]

    bench = Workbench(tmp_path, "smoke", {"timed_rounds": 3}, 0, Counting(2))
    strength = future._strength(bench)
    assert "won 50.0 %" in strength.corrected
    assert "0.7 processors" in strength.why, "the load of the machine is reported"
    assert at_once == [1, 1, 1]
