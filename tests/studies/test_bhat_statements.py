"""Bhat's figures of the search, and statements of the text about Q-learning."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import form_of
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.bhat import learner, phases, statements
from fourlab.studies.claims import Answer, Claim, Estimate
from fourlab.studies.workbench import Part, Picture, Workbench

SIZE = {"seeds": 1, "wins": 20, "training": 200, "games": 10, "exam": 50}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Part]:
    folder = tmp_path_factory.mktemp("statements")
    return list(statements.conduct(Workbench(folder, "smoke", SIZE, 0, Threads(1))))


def test_a_simulation_adds_one_visit_to_every_move_of_its_path() -> None:
    levels, result = phases.simulation(0)
    assert len(levels) >= 2
    for level in levels:
        changed = [
            place
            for place, (before, after) in enumerate(zip(level.before, level.after, strict=True))
            if before != after
        ]
        assert changed == [level.chosen]
        assert level.after[level.chosen][1] == level.before[level.chosen][1] + 1
    won = [level.after[level.chosen][0] - level.before[level.chosen][0] for level in levels]
    if result.endswith("wins"):
        # Sides alternate along the path, so wins are counted at every second move.
        assert all(one + other == 1 for one, other in itertools.pairwise(won))
    assert [level.is_new for level in levels] == [False] * (len(levels) - 1) + [True]
    assert sum(visits for _, visits in levels[0].before) == phases.DRAWN - 1


def test_figure_1_is_drawn_from_a_search(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, "smoke", {"runs": 3}, 0, Threads(1))
    drawn = list(phases.conduct(bench))
    (picture,) = (part for part in drawn if isinstance(part, Picture))
    figure = picture.draw()
    assert [axes.get_title() for axes in figure.axes] == list(phases.PHASES)
    assert render(figure, "svg").startswith(b"<svg")
    assert {part.name for part in drawn if isinstance(part, Claim)} == {
        "figure-2-twin",
        "figure-1-expansion",
        "figure-1-trees",
    }


def test_one_training_gives_no_verdict_on_gamma(parts: list[Part]) -> None:
    claims = {part.name: part for part in parts if isinstance(part, Claim)}
    assert {"gamma-03", "gamma-06", "gamma-09", "sarsa", "afterstates"} == set(claims)
    assert not any(claims[f"gamma-{gamma}"].verdicts() for gamma in ("03", "06", "09"))
    (picture,) = (part for part in parts if isinstance(part, Picture))
    assert render(picture.draw(), "svg").startswith(b"<svg")


def test_a_gamma_helps_if_its_wins_are_shorter() -> None:
    def trained(moves: int) -> list[dict[str, object]]:
        return [{"moves": [moves, moves + 1 + seed], "games": 9} for seed in (0, 0, 0, 0)]

    results = {job: trained(8) for job in statements.JOBS}
    results["corrected", 0.3] = trained(6)
    claim = statements._gamma(0.3, results, judged=True)
    assert claim.reproduced is not None
    assert claim.true is not None
    assert (claim.reproduced.answer, claim.true.answer) == (Answer.DIFFERS, Answer.AGREES)
    assert isinstance(claim.corrected, Estimate)
    assert claim.corrected.value == pytest.approx(-2)
    lost = {**results, ("faithful", 1.0): [{"moves": [], "games": 9}] * 4}
    assert statements._gamma(0.3, lost, judged=True).faithful == "no game won"


def test_a_learner_explores_with_probability_epsilon() -> None:
    table = QTable(form_of(learner.settings_of(4, True)))
    position = Position("3", "5x4x4")
    rng = np.random.default_rng(0)
    assert {statements.choose(table, 0.0, position, rng) for _ in range(20)} == {0}
    assert {statements.choose(table, 1.0, position, rng) for _ in range(100)} == set(range(5))
