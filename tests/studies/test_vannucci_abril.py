"""Vannucci & Abril's experiments at the smallest scale, and the exact facts they rest on."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.claims import Claim, Estimate
from fourlab.studies.searches import Searched
from fourlab.studies.vannucci_abril import boards, exact, runs, statements
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

SIZES = {
    "000-exact": {},
    "000-figure-1": {"games": 12},
    "000-figure-2": {"sets": 4},
    "000-own-moves": {"sets": 1},
    "000-variants": {"sets": 2, "long_sets": 1},
    "000-empty-board": {"sets": 1, "games": 3},
    "000-statements": {"runs": 3},
}
"""As small as smoke, or smaller."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vannucci_abril")


def conducted(folder: Path, name: str) -> list[Part]:
    """Return the parts of an experiment; its work is done once for all tests."""
    experiment = all_experiments()[name]
    return list(experiment.conduct(Workbench(folder / name, "smoke", SIZES[name], 0, Threads(1))))


def claims(folder: Path, name: str) -> dict[str, Claim]:
    parts = conducted(folder, name)
    return {part.name: part for part in parts if isinstance(part, Claim)}


def answers(claim: Claim) -> tuple[str | None, str | None]:
    """Return what the tests say: reproduced, true."""
    reproduced, true = (verdict and verdict.answer for verdict in (claim.reproduced, claim.true))
    return reproduced, true


@pytest.mark.parametrize("name", SIZES)
def test_every_experiment_repeats_its_results_and_its_pictures_can_be_drawn(
    folder: Path, name: str
) -> None:
    parts = conducted(folder, name)
    again = conducted(folder, name)
    assert [part for part in parts if not isinstance(part, Picture)] == [
        part for part in again if not isinstance(part, Picture)
    ]
    assert sum(isinstance(part, Claim) for part in parts) == len(claims(folder, name)) >= 3
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
    results = claims(folder, "000-exact")
    assert results["exact-positions"].exact == "313, of which 105 are terminal"
    assert answers(results["exact-ranking"]) == (None, "agrees")
    assert answers(results["exact-value-4"]) == (None, "differs")
    assert str(results["exact-value-6"].exact) == "0.65625 (21/32)"
    (table,) = [part for part in conducted(folder, "000-exact") if isinstance(part, Table)]
    assert [row[-1] for row in table.rows] == ["wins in 9", "loses in 8", "wins in 9"]


def test_the_reported_means_are_those_of_the_faulty_search(folder: Path) -> None:
    results = claims(folder, "000-figure-2")
    for action in (4, 6):
        reproduced, true = answers(results[f"figure-2-mean-{action}"])
        assert reproduced != "differs"
        assert true == "differs"
    ranking = results["figure-2-ranking-of-one"]
    assert isinstance(ranking.corrected, Estimate)
    assert isinstance(ranking.faithful, Estimate)
    assert ranking.faithful.value < ranking.corrected.value == 100
    whys = [results[f"figure-2-mean-{action}"].why for action in (4, 6)]
    assert ["hardly visits it" in why and "is not a value" in why for why in whys] == [False, True]


def test_a_length_that_was_seen_once_is_only_possible(folder: Path) -> None:
    claim = claims(folder, "000-empty-board")["empty-board-moves"]
    assert claim.reproduced is None or claim.reproduced.test.startswith("may happen")


def test_a_number_of_iterations_has_one_verdict_on_the_page(folder: Path) -> None:
    variants = claims(folder, "000-variants")
    judged = {name for name, claim in variants.items() if claim.reproduced is not None}
    assert judged == {f"variant-{n}-{action}" for n in (1048, 2048) for action in (4, 6)}


def test_the_words_about_margins_have_the_ratio_of_the_spreads(folder: Path) -> None:
    results = claims(folder, "000-figure-2")
    four, six = (results[f"figure-2-mean-{action}"] for action in (4, 6))
    assert isinstance(four.faithful, Estimate)
    assert isinstance(six.faithful, Estimate)
    assert four.faithful.sd
    assert six.faithful.sd
    ratio = six.faithful.sd / four.faithful.sd
    assert four.why.endswith(f"whose single runs vary {ratio:.1f} times as much")


def test_the_boxes_of_figure_2_are_those_of_the_published_runs(folder: Path) -> None:
    results = claims(folder, "000-figure-2")
    assert str(results["figure-2-box-6"].reported).startswith("16.18")
    assert str(results["figure-2-box-4"].reported).startswith("0.58")
    published = runs.published_runs()
    assert published.mean(axis=0).tolist() == pytest.approx([0.7035, 0.5252], abs=1e-4)
    assert published.std(axis=0, ddof=1).tolist() == pytest.approx([0.109, 0.311], abs=1e-3)
    assert all(results[f"figure-2-box-{action}"].source == "author's code" for action in (4, 6))


def test_running_means() -> None:
    values = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 3.0]])
    assert runs.running(values).tolist() == [[1.0, 0.0], [0.5, 0.0], [0.5, 1.0]]


def test_the_agents_moves_are_4_6_4_and_exactly_right(folder: Path) -> None:
    moves = claims(folder, "000-own-moves").values()
    expected = [f"action {action}" for action in (4, 6, 4)]
    assert [move.reported for move in moves] == [move.exact for move in moves] == expected
    assert all(str(move.faithful).startswith("100.0 %") for move in moves)
    assert all(answers(move) == ("agrees", "agrees") for move in moves)


def test_a_ranking_that_none_of_our_runs_shows_differs() -> None:
    def searched(first: bool) -> dict[str, Searched]:
        means = np.tile([0.9, 0.1] if first else [0.1, 0.9], (500, 2, 1))
        return {name: Searched(means, means) for name in ("faithful", "corrected")}

    for first, answer in ((True, "agrees"), (False, "differs")):
        claim = runs._ranking("", "yes", searched(first), Searched.sets_first)
        assert answers(claim) == (answer, answer)
    unreported = runs._ranking("", "", searched(True), Searched.share_first)
    assert answers(unreported) == (None, None)


def test_a_win_in_two_moves_must_be_among_our_games() -> None:
    def played(columns: list[int]) -> dict[str, object]:
        return {"columns": columns, "searches": [], "score": 1}

    for columns, answer in (([4, 4, 4], "agrees"), ([4, 4, 6, 6, 4], "differs")):
        compared = boards._games([played(columns)] * 500, [played([4, 4, 4])] * 500)
        results = {claim.name: claim for claim in compared}
        assert answers(results["figure-1-moves"])[0] == answer
        assert answers(results["figure-1-won"]) == ("agrees", "agrees")


def test_figure_1_shows_the_reported_line(folder: Path) -> None:
    parts = conducted(folder, "000-figure-1")
    drawn, right = (part for part in parts if isinstance(part, Picture))
    assert "4→4→4" in drawn.caption
    assert drawn.data.rows[0][1:] == ("X", "X", "X", "X", "", "X", "")
    # The reported values, one board late; ours are at their own boards.
    assert drawn.data.rows[1][5::2] == ("0.71", "0.61")
    assert drawn.data.rows[2][5::2] == ("1.00", "-1.00")
    assert "reported values" in drawn.caption
    assert "as coded" in right.caption
    assert right.data.rows[0][5] != "0.71"
    assert Position(str(right.data.rows[0][0])) == exact.GIVEN


def test_every_variant_has_a_row_beside_another_program(folder: Path) -> None:
    (table,) = [part for part in conducted(folder, "000-variants") if isinstance(part, Table)]
    assert [row[1] for row in table.rows] == [1000, 1048, 2048, 1000, 2048, 2048, 1000, 200_000]
    assert all(len(row) == len(table.head) for row in table.rows)
    assert [table.rows[line][-1] for line in (0, 1, 2, 5)] == ["yes"] * 4


def test_the_variants_means_have_intervals(folder: Path) -> None:
    results = claims(folder, "000-variants")
    means = [results[f"variant-{n}-{action}"] for n in (1000, 1048, 2048) for action in (4, 6)]
    for claim in means:
        for estimate in (claim.faithful, claim.corrected):
            assert isinstance(estimate, Estimate)
            assert estimate.low is not None
            assert estimate.high is not None
            assert estimate.low < estimate.value < estimate.high


def test_a_graph_has_one_node_for_equal_positions() -> None:
    tree, graph = (statements.Search(kind, np.random.default_rng(3)) for kind in statements.KINDS)
    assert tree.node_of(exact.GIVEN) is not tree.root
    assert graph.node_of(exact.GIVEN) is graph.root
    for search in (tree, graph):
        means = search.run()
        assert all(-1 <= mean <= 1 for mean in means)
        assert search.root.visits == statements.ITERATIONS
        # The first visit of the root is that of its first child, too.
        children = search.root.children.values()
        assert sum(child.visits for child in children) == statements.ITERATIONS
    positions = [node.position for node in graph.nodes.values()]
    assert len(set(positions)) == len(positions)
    assert statements.searched("tree", 0, 1) == statements.searched("tree", 0, 1)


def test_values_are_not_probabilities(folder: Path) -> None:
    results = claims(folder, "000-statements")
    assert str(results["win-probability"].exact) == "0.78125 (25/32)"
    assert results["dag-nodes"].faithful.value >= results["dag-nodes"].corrected.value


def test_the_empty_boards_exact_values_stand_beside_the_means(folder: Path) -> None:
    results = claims(folder, "000-empty-board")
    exact_words = [
        str(results[f"empty-board-action-{action}"].exact).split()[0] for action in range(7)
    ]
    assert exact_words == ["loses", "loses", "draw", "wins", "draw", "loses", "loses"]


def test_the_given_position_is_shown(folder: Path) -> None:
    (text,) = [part for part in conducted(folder, "000-exact") if isinstance(part, Text)]
    assert text.lines.splitlines()[0] == "O O O X . X ."
