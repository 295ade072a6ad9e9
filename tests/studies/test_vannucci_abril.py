"""Vannucci & Abril's experiments at the smallest scale, and the exact facts they rest on."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.vannucci_abril import boards, empty_board, exact, runs
from fourlab.studies.workbench import Finding, Part, Picture, Table, Text, Workbench

SIZES = {
    "000-exact": {},
    "000-figure-1": {"games": 12},
    "000-figure-2": {"sets": 4},
    "000-own-moves": {"sets": 1},
    "000-variants": {"sets": 2, "long_sets": 1},
    "000-empty-board": {"sets": 1, "games": 3},
}
"""As small as smoke, or smaller."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vannucci_abril")


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
    assert sum(isinstance(part, Finding) for part in parts) == len(findings(folder, name)) >= 3
    for picture in (part for part in parts if isinstance(part, Picture)):
        assert render(picture.draw(), "svg").startswith(b"<svg")
        assert picture.data.rows
        assert all(len(row) == len(picture.data.head) for row in picture.data.rows)


def test_the_exact_values_are_one_and_21_32nds() -> None:
    assert exact.exact_values(exact.GIVEN) == {4: 1, 6: Fraction(21, 32)}
    after = exact.GIVEN.play(4).play(4)
    assert exact.exact_values(after) == {4: 1, 6: Fraction(-13, 16)}


def test_exact_chances_against_a_random_opponent() -> None:
    best = exact.AgainstRandom(best=True)
    random = exact.AgainstRandom(best=False)
    assert best[exact.GIVEN.play(4)] == (Fraction(1), Fraction(0), Fraction(0))
    assert best[exact.GIVEN.play(6)] == (Fraction(25, 32), Fraction(3, 32), Fraction(1, 8))
    assert exact.value(random[exact.GIVEN]) == Fraction(-35, 512)
    assert [exact.value(random[exact.GIVEN.play(action)]) for action in (4, 6)] == [
        Fraction(-25, 512),
        Fraction(-45, 512),
    ]


def test_all_positions_below_the_given_one_are_counted(folder: Path) -> None:
    results = findings(folder, "000-exact")
    assert results["reachable positions"].exact == "313, of which 105 are terminal"
    assert results["ranking"].agrees
    assert not results["value of action 4 against a random opponent"].agrees
    (table,) = [part for part in conducted(folder, "000-exact") if isinstance(part, Table)]
    assert [row[-1] for row in table.rows] == ["wins in 9", "loses in 8", "wins in 9"]


def test_the_reported_means_are_those_of_the_faulty_search(folder: Path) -> None:
    results = findings(folder, "000-figure-2")
    for action in (4, 6):
        assert results[f"action {action}: mean of 25 runs"].agrees
    assert results["one run ranks action 4 first"].corrected.startswith("100.0 %")
    assert not results["one run ranks action 4 first"].faithful.startswith("100.0 %")
    whys = [results[f"action {action}: mean of 25 runs"].why for action in (4, 6)]
    assert ["hardly visits it" in why and "is not a value" in why for why in whys] == [False, True]


def test_running_means() -> None:
    values = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 3.0]])
    assert runs.running(values).tolist() == [[1.0, 0.0], [0.5, 0.0], [0.5, 1.0]]


def test_the_agents_moves_are_4_6_4_and_exactly_right(folder: Path) -> None:
    moves = findings(folder, "000-own-moves").values()
    assert [move.document for move in moves] == [move.exact for move in moves] == ["4", "6", "4"]
    assert all(move.faithful.startswith(f"{move.document} in 100.0 %") for move in moves)
    assert all(move.agrees is None for move in moves), "one mean is too few to tell"


def test_a_ranking_that_none_of_our_runs_shows_differs() -> None:
    assert [runs._ranking("", "yes", (first, 50), (50, 50)).agrees for first in (0, 50)] == [
        False,
        True,
    ]
    assert runs._ranking("", "", (0, 50), (50, 50)).agrees is None


def test_games_of_eight_moves_agree_only_with_both_shorter_and_longer_games() -> None:
    both = [*range(4, 14)] * 3
    shorter = [4, 5, 6] * 10
    longer = [9, 10] * 15
    agree = [
        empty_board._covers_reported_length(np.array(lengths, np.float64))
        for lengths in (both, shorter, longer, both[:19])
    ]
    assert agree == [True, False, False, None]


def test_a_win_in_two_moves_must_be_among_our_games() -> None:
    def played(columns: list[int]) -> dict[str, object]:
        return {"columns": columns, "searches": [], "score": 1}

    for columns, agrees in (([4, 4, 4], True), ([4, 4, 6, 6, 4], False)):
        compared = boards._games([played(columns)] * 50, [played([4, 4, 4])] * 50)
        results = {finding.what: finding for finding in compared}
        assert results["the agent's moves until it wins"].agrees is agrees
        assert results["games won"].agrees is True


def test_figure_1_shows_the_reported_line(folder: Path) -> None:
    parts = conducted(folder, "000-figure-1")
    drawn, right = (part for part in parts if isinstance(part, Picture))
    assert "4→4→4" in drawn.caption
    assert drawn.data.rows[0][1:] == ("X", "X", "X", "X", "", "X", "")
    assert drawn.data.rows[1][1:] == right.data.rows[0][1:], (
        "the report shows values one board late"
    )
    assert drawn.data.rows[2][5] == "1.00"
    assert Position(str(right.data.rows[0][0])) == exact.GIVEN


def test_every_variant_has_a_row_beside_another_program(folder: Path) -> None:
    (table,) = [part for part in conducted(folder, "000-variants") if isinstance(part, Table)]
    assert [row[1] for row in table.rows] == [1000, 1048, 2048, 1000, 2048, 2048, 1000, 200_000]
    assert all(len(row) == len(table.head) for row in table.rows)
    assert [table.rows[line][-1] for line in (0, 1, 2, 5)] == ["yes"] * 4


def test_the_variants_means_have_intervals(folder: Path) -> None:
    means = [
        finding
        for quantity, finding in findings(folder, "000-variants").items()
        if "iterations (" in quantity
    ]
    assert len(means) == 6
    pattern = r"-?\d\.\d{3} \[-?\d\.\d{3}, -?\d\.\d{3}\], sd \d\.\d{3}"
    for finding in means:
        for text in (finding.faithful, finding.corrected):
            assert re.match(pattern, text), text


def test_the_empty_boards_exact_values_stand_beside_the_means(folder: Path) -> None:
    truths = [finding.exact for finding in findings(folder, "000-empty-board").values()][:7]
    assert [truth.split()[0] for truth in truths] == [
        "loses",
        "loses",
        "draw",
        "wins",
        "draw",
        "loses",
        "loses",
    ]


def test_the_given_position_is_shown(folder: Path) -> None:
    (text,) = [part for part in conducted(folder, "000-exact") if isinstance(part, Text)]
    assert text.lines.splitlines()[0] == "O O O X . X ."
