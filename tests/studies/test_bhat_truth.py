"""The exact values of Bhat's boards, and the counting of moves that keep them."""

import numpy as np
import pytest

from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import form_of
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.bhat import learner, truth
from fourlab.studies.claims import Claim, Estimate
from fourlab.studies.workbench import Part, Picture, Table, Workbench

SIZE = {"positions": 20, "seeds": 2, "wins": 20, "training": 200}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Part]:
    folder = tmp_path_factory.mktemp("truth")
    return list(truth.conduct(Workbench(folder, "smoke", SIZE, 0, Threads(1))))


def test_only_edge_openings_on_four_rows_do_not_draw(parts: list[Part]) -> None:
    claims = {part.name: part for part in parts if isinstance(part, Claim)}
    for rows in (2, 3, 6):
        assert claims[f"truth-{rows}-rows"].exact == " / ".join(["draw"] * 5)
    edge = "loses in 20"
    assert claims["truth-4-rows"].exact == f"{edge} / draw / draw / draw / {edge}"


def test_few_trainings_give_no_verdict_on_learners(parts: list[Part]) -> None:
    claims = {part.name: part for part in parts if isinstance(part, Claim)}
    for rows in learner.ROWS:
        assert not claims[f"truth-learner-{rows}-rows"].verdicts()


def test_the_truth_has_one_table_and_one_picture(parts: list[Part]) -> None:
    tables = [part for part in parts if isinstance(part, Table)]
    pictures = [part for part in parts if isinstance(part, Picture)]
    assert (len(tables), len(pictures)) == (1, 1)
    assert {row[0] for row in tables[0].rows} == {2, 3, 4, 6}
    assert len(pictures[0].data.rows) == 2 * 2 * 16
    assert render(pictures[0].draw(), "svg").startswith(b"<svg")


def test_a_column_keeps_the_value_if_the_result_stays_the_same() -> None:
    """Red has three in the bottom row and wins in column 4; everything else gives that up."""
    position = Position("112233", "5x4x4")
    scores = {3: 7, 0: -1, 1: 0, 2: 0, 4: 0}
    entry = {"moves": "112233", "scores": {str(column): score for column, score in scores.items()}}
    assert truth.keeping(4, entry) == (position, [3])


def test_an_unknown_position_gets_the_leftmost_column() -> None:
    position = Position("12", "5x4x4")
    table = QTable(form_of(learner.settings_of(4, True)))
    assert truth.ask(table, 0.0, position, [0]) == (1.0, False)
    assert truth.ask(table, 0.0, position, [1, 2]) == (0.0, False)
    # With epsilon 1 every move is random.
    assert truth.ask(table, 1.0, position, [1, 2]) == (pytest.approx(0.4), False)


def test_the_sides_of_a_comparison_are_means_over_the_same_positions() -> None:
    kept = np.zeros((2, 16, 3), dtype=bool)
    kept[1] = True
    assert truth._sides("playouts", kept) == ([100.0] * 3, [0.0] * 3)
    kept[:] = False
    kept[:, 10, 0] = True  # c = 2, the first position
    one, other = truth._sides("c-2", kept)
    assert (one, other) == ([100.0, 0.0, 0.0], [0.0] * 3)
    kept[:] = True
    kept[0, 0] = False
    assert truth._sides("c-0", kept) == ([100.0] * 3, [50.0] * 3)


def test_shares_of_searches_have_the_number_of_positions(parts: list[Part]) -> None:
    claims = {part.name: part for part in parts if isinstance(part, Claim)}
    share = claims["truth-mc200"].faithful
    assert isinstance(share, Estimate)
    assert share.n is not None
    assert 0 < share.n <= SIZE["positions"]


def test_the_choice_of_positions_is_part_of_a_learners_interval() -> None:
    # Trainings that all play at random agree in every position.
    at_random = truth._over_both([{"kept": [0.2, 0.4, 0.6, 0.8]}] * 3)
    assert at_random.value == pytest.approx(50)
    assert at_random.low is not None
    assert at_random.low < 40
    perfect = truth._over_both([{"kept": [1.0] * 50}] * 3)
    assert str(perfect) == "100.0 % [92.9, 100.0] of 50 (positions, 3 trainings)"
    assert truth._over_both([{"kept": [1.0, 0.0]}]).low is None
