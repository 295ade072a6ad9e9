"""Document 000's experiments at their smallest, and the exact facts they rest on."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fourlab.arena.tables import Table
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.experiment import Finding, Part, Picture, Text
from fourlab.studies.vannucci_abril import EXPERIMENTS, boards, empty_board, exact, runs
from fourlab.studies.workbench import Workbench

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
    """What an experiment finds; its work is done once for all tests."""
    experiment = next(each for each in EXPERIMENTS if each.name == name)
    return list(experiment.conduct(Workbench(folder / name, "smoke", SIZES[name], 0, Threads(1))))


def findings(folder: Path, name: str) -> dict[str, Finding]:
    return {each.what: each for each in conducted(folder, name) if isinstance(each, Finding)}


@pytest.mark.parametrize("name", SIZES)
def test_every_experiment_finds_the_same_again_and_its_pictures_can_be_drawn(folder: Path, name: str) -> None:
    parts, again = conducted(folder, name), conducted(folder, name)
    assert [each for each in parts if not isinstance(each, Picture)] == [each for each in again if not isinstance(each, Picture)]
    assert sum(isinstance(each, Finding) for each in parts) == len(findings(folder, name)) >= 3
    for picture in (each for each in parts if isinstance(each, Picture)):
        assert render(picture.draw(), "svg").startswith(b"<?xml")
        assert picture.data.rows
        assert all(len(row) == len(picture.data.head) for row in picture.data.rows)


def test_the_exact_values_are_one_and_21_32nds() -> None:
    assert exact.exact_values(exact.GIVEN) == {4: 1, 6: Fraction(21, 32)}
    after = exact.GIVEN.play(4).play(4)
    assert exact.exact_values(after) == {4: 1, 6: Fraction(-13, 16)}


def test_exact_chances_against_lots() -> None:
    best, lots = exact.AgainstLots(0, best=True), exact.AgainstLots(0, best=False)
    assert best.chances(exact.GIVEN.play(4)) == (Fraction(1), Fraction(0), Fraction(0))
    assert best.chances(exact.GIVEN.play(6)) == (Fraction(25, 32), Fraction(3, 32), Fraction(1, 8))
    assert exact.value(lots.chances(exact.GIVEN)) == Fraction(-35, 512)
    assert [exact.value(lots.chances(exact.GIVEN.play(action))) for action in (4, 6)] == [Fraction(-25, 512), Fraction(-45, 512)]


def test_all_positions_of_the_given_game_are_seen(folder: Path) -> None:
    found = findings(folder, "000-exact")
    assert found["positions that can come about"].truth == "313, of which 105 are final"
    assert found["ranking"].agrees
    assert not found["value of action 4 against a random opponent"].agrees
    (table,) = [each for each in conducted(folder, "000-exact") if isinstance(each, Table)]
    assert [row[-1] for row in table.rows] == ["wins in 9", "loses in 8", "wins in 9"]


def test_the_documents_means_are_those_of_its_search_and_not_of_a_right_one(folder: Path) -> None:
    found = findings(folder, "000-figure-2")
    for action in (4, 6):
        assert found[f"action {action}: mean of 25 runs"].agrees
    assert found["one run ranks action 4 first"].corrected.startswith("100.0 %")
    assert not found["one run ranks action 4 first"].faithful.startswith("100.0 %")
    whys = [found[f"action {action}: mean of 25 runs"].why for action in (4, 6)]
    assert ["hardly visits it" in why and "is not a value" in why for why in whys] == [False, True]


def test_running_means_lie_closer_together_than_runs() -> None:
    values = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 3.0]])
    assert runs.running(values).tolist() == [[1.0, 0.0], [0.5, 0.0], [0.5, 1.0]]


def test_our_own_moves_are_4_6_4_and_exactly_right(folder: Path) -> None:
    found = findings(folder, "000-own-moves")
    assert [each.document for each in found.values()] == [each.truth for each in found.values()] == ["4", "6", "4"]
    assert all(each.faithful.startswith(f"{each.document} by 100.0 %") for each in found.values())
    assert all(each.agrees is None for each in found.values()), "one mean is too few to tell"


def test_a_ranking_that_none_of_ours_shows_differs() -> None:
    assert [runs._ranking("", "yes", (first, 50), (50, 50)).agrees for first in (0, 50)] == [False, True]
    assert runs._ranking("", "", (0, 50), (50, 50)).agrees is None


def test_games_of_eight_own_moves_may_be_among_shorter_and_longer_ones_only() -> None:
    both, shorter, longer = [*range(4, 14)] * 3, [4, 5, 6] * 10, [9, 10] * 15
    agree = [empty_board._so_many_moves(np.array(lengths, np.float64)) for lengths in (both, shorter, longer, both[:19])]
    assert agree == [True, False, False, None]


def test_the_game_that_is_won_in_two_moves_must_be_among_ours() -> None:
    def played(columns: list[int]) -> dict[str, object]:
        return {"columns": columns, "searches": [], "score": 1}

    for columns, agrees in (([4, 4, 4], True), ([4, 4, 6, 6, 4], False)):
        found = {each.what: each for each in boards._games([played(columns)] * 50, [played([4, 4, 4])] * 50)}
        assert found["own moves until the game is won"].agrees is agrees
        assert found["games won"].agrees is True


def test_figure_1_shows_the_documents_line(folder: Path) -> None:
    drawn, right = (each for each in conducted(folder, "000-figure-1") if isinstance(each, Picture))
    assert "4→4→4" in drawn.caption
    assert drawn.data.rows[0][1:] == ("X", "X", "X", "X", "", "X", "")
    assert drawn.data.rows[1][1:] == right.data.rows[0][1:], "the document shows values a board late"
    assert drawn.data.rows[2][5] == "1.00"
    assert Position(str(right.data.rows[0][0])) == exact.GIVEN


def test_the_variants_have_a_line_each_beside_another_program(folder: Path) -> None:
    (table,) = [each for each in conducted(folder, "000-variants") if isinstance(each, Table)]
    assert [row[1] for row in table.rows] == [1000, 1048, 2048, 1000, 2048, 2048, 1000, 200_000]
    assert all(len(row) == len(table.head) for row in table.rows)
    assert [table.rows[line][-1] for line in (0, 1, 2, 5)] == ["yes"] * 4


def test_the_variants_means_have_intervals(folder: Path) -> None:
    found = [each for what, each in findings(folder, "000-variants").items() if "iterations (" in what]
    assert len(found) == 6
    for each in found:
        for told in (each.faithful, each.corrected):
            assert re.match(r"-?\d\.\d{3} \[-?\d\.\d{3}, -?\d\.\d{3}\], sd \d\.\d{3}", told), told


def test_the_empty_boards_exact_values_stand_beside_the_means(folder: Path) -> None:
    truths = [each.truth for each in findings(folder, "000-empty-board").values()][:7]
    assert [truth.split()[0] for truth in truths] == ["loses", "loses", "draw", "wins", "draw", "loses", "loses"]


def test_the_given_position_is_shown(folder: Path) -> None:
    (text,) = [each for each in conducted(folder, "000-exact") if isinstance(each, Text)]
    assert text.lines.splitlines()[0] == "O O O X . X ."
