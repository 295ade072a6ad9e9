"""The ablation of the faults: which arms there are, their statistics, and the smallest runs."""

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab.agent import Decision
from fourlab.agents.alphazero.choosing import FIXES
from fourlab.agents.registry import make
from fourlab.arena.tally import FEWEST, Tally
from fourlab.faults import FAULTS
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies import ablation
from fourlab.studies.ablation import (
    Arm,
    Program,
    Trained,
    compare_means,
    compare_trained,
    elo,
    gains,
)
from fourlab.studies.arya import ablation as arya
from fourlab.studies.bhat import ablation as bhat
from fourlab.studies.bhat.learner import settings_of
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.claims import Answer, Claim
from fourlab.studies.gao import ablation as gao
from fourlab.studies.sewell import ablation as sewell
from fourlab.studies.vannucci_abril import ablation as vannucci_abril
from fourlab.studies.workbench import Part, Picture, Table, Workbench

ALL_ONE = {"vanilla": 1, "minimax": 1, "alpha": 1}
ALL_FOUR = {"vanilla": 4, "minimax": 4, "alpha": 4}
"""Sizes that may differ by program."""
SIZES: dict[str, dict[str, Any]] = {
    "000-ablation": {"pairs": 1, "positions": 4, "person": 2},
    "001-ablation": {
        **{"pairs": 1, "positions": 8, "seeds": 1},
        **{"wins": 10, "training": 100, "games": 20},
    },
    "002-ablation": {"pairs": 1, "positions": 4},
    "003-ablation": {"pairs": 1, "positions": 4, "seeds": 1, "games": 2, "afterwards": 1},
    "004-ablation": {
        **{"pairs": ALL_ONE, "positions": ALL_FOUR, "iterations": 2, "networks": 3},
        **{"network": "4x1", "training": 10},
        **{"searched": 2, "seeds": 1, "played": 1, "trained_pairs": 1, "trained_positions": 2},
    },
}
PROGRAMS = (
    vannucci_abril.PROGRAM,
    gao.PROGRAM,
    bhat.program("MC40"),
    bhat.program("MC200"),
    sewell.SEARCH,
    sewell.GUIDED,
    arya.VANILLA,
    arya.MINIMAX,
    arya.alpha_program("arya-alphamcts-50-1", 10),
)
CUMULATIVE = {"b18-colours"}
"""Arms with two fixes, where the second cannot be played without the first."""


def options(spec: str) -> dict[str, Any]:
    """Return the options of an agent."""
    agent: Any = make(spec)
    return {
        field.name: getattr(agent, field.name)
        for field in fields(agent)
        if not field.name.startswith("_") and field.name != "evaluator"
    }


def changed(program: Program, arm: Arm) -> set[str]:
    """Return the options in which an arm differs from the faithful program."""
    faithful, own = options(program.arms[0].spec), options(arm.spec)
    return {name for name in faithful if faithful[name] != own[name]}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.title)
def test_every_arm_fixes_one_fault(program: Program) -> None:
    faithful, *fixes = program.arms
    assert "faithful=1" in faithful.spec
    assert changed(program, faithful) == set()
    for arm in fixes[:-1] if len(fixes) > 1 else fixes:
        if arm.name not in CUMULATIVE:
            # A draw's value and its owner are one fault, B16.
            expected = {"draw", "draw_credit"} if arm.name == "b16" else None
            assert changed(program, arm) == expected or len(changed(program, arm)) == 1, arm.name
    names = [arm.name for arm in program.arms]
    assert len(set(names)) == len(names)
    assert all(arm.change for arm in program.arms)


def test_the_last_arms_are_the_corrected_programs() -> None:
    corrected = {
        "Vannucci & Abril's search, 2,048 simulations": "vannucci-abril",
        "Gao's search, 500 simulations": "gao:opponent=player",
        "MC40 on 5x6": "bhat-mc40",
        "MC200 on 5x6": "bhat-mc200",
        sewell.SEARCH.title: "sewell:reuse=moves",
        sewell.GUIDED.title: "sewell-guided",
        arya.VANILLA.title: "arya-vanilla:seconds=none,simulations=10500",
        arya.MINIMAX.title: "arya-minimax:ties=random",
        "AlphaMCTS at play, 10 simulations": (
            "alphazero:net=arya-alphamcts-50-1,simulations=10,method=puct,solver_nodes=0"
        ),
    }
    for program in PROGRAMS:
        assert options(program.arms[-1].spec) == options(corrected[program.title])


FOLDERS = {
    "000-ablation": "vannucci-abril",
    "001-ablation": "bhat",
    "002-ablation": "gao",
    "003-ablation": "sewell",
    "004-ablation": "arya",
}
IN_GAMES = {"B1", "B2", "B5", "B6", "B7", "B8", "B10", "B13", "B15", "B16", "B17", "B18"}
"""Faults whose fixes are measured by Elo and exact accuracy; the others by a number."""
PARTS_OF_B17 = {"masks", "finished", "discs", "blocks", "temperature", "target"}


def claims_of(folder: Path, name: str) -> dict[str, list[Claim]]:
    """Return the claims of a report's ablation by fault, read off their names."""
    claims: dict[str, list[Claim]] = {}
    for part in conducted(folder, name):
        if isinstance(part, Claim) and (match := re.match(r"ablation-(b\d+)(-|$)", part.name)):
            claims.setdefault(match[1].upper(), []).append(part)
    return claims


def test_every_fault_is_in_the_ablation_of_its_own_reports_and_no_other(folder: Path) -> None:
    reports: dict[str, set[str]] = {fault: set() for fault in FAULTS}
    for name, author in FOLDERS.items():
        for fault in claims_of(folder, name):
            reports[fault].add(author)
    assert reports == {fault: set(entry.authors) for fault, entry in FAULTS.items()}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_measured_with_and_without(folder: Path, fault: str) -> None:
    for name, author in FOLDERS.items():
        if author not in FAULTS[fault].authors:
            continue
        parts = conducted(folder, name)
        (table,) = [part for part in parts if isinstance(part, Table)]
        arms = [row for row in table.rows if row[2] == fault]
        # One fix at a time, with its accuracy.
        assert bool(arms) == (fault in IN_GAMES)
        assert all("%" in str(row[6]) for row in arms)
        for claim in claims_of(folder, name)[fault]:
            assert claim.corrected
            if not claim.quantity.startswith("Elo gained"):
                assert claim.faithful or claim.reported


def test_b17_has_all_its_parts(folder: Path) -> None:
    names = {claim.name.removeprefix("ablation-b17-") for claim in claims_of_arya(folder)}
    assert names >= PARTS_OF_B17
    # The search's parts in training, too.
    assert names >= {"trained-masks", "trained-finished", "trained-unvisited", "unvisited"}


def claims_of_arya(folder: Path) -> list[Claim]:
    return claims_of(folder, "004-ablation")["B17"]


def test_without_the_budget_of_the_thesis_there_is_no_verdict(folder: Path) -> None:
    short = [claim for claim in claims_of_arya(folder) if claim.quantity.startswith("Elo gained")]
    assert short
    for claim in short:
        assert claim.true is None
        assert "no verdict: " in claim.why
    parts = conducted(folder, "004-ablation")
    (picture,) = [part for part in parts if isinstance(part, Picture)]
    assert "trainings are far shorter than Arya's" in picture.caption


def test_trained_arms_of_bhat_differ_in_the_settings_of_one_fault() -> None:
    size = {"wins": 100, "training": 1000}
    faithful = bhat.settings_for(bhat.LEARNER_ARMS[0], size)
    expected = {
        "b6": {"passing"},
        "b7-alpha": {"alpha", "alpha_update"},
        # The summand, the factor, the least value, and exploring in the evaluation.
        "b7-epsilon": {"epsilon_update", "epsilon_decay", "epsilon_least", "exam_exploring"},
    }
    expected["b7"] = expected["b7-alpha"] | expected["b7-epsilon"]
    # One that only trains longer, and one with all fixes and the same end of the training.
    expected["learner-longer"] = {"wins", "games"}
    for arm in bhat.LEARNER_ARMS[1:-1]:
        if arm.name == "learner-fixed":
            assert bhat.settings_for(arm, size).wins == faithful.wins
            continue
        own = bhat.settings_for(arm, size)
        names = {
            field.name
            for field in fields(own)
            if getattr(own, field.name) != getattr(faithful, field.name)
        }
        assert names == expected[arm.name]
    corrected = bhat.settings_for(bhat.LEARNER_ARMS[-1], size)
    assert corrected == settings_of(4, False, games=1000)


def test_trained_arms_of_arya_differ_in_the_settings_of_one_fault() -> None:
    size = {"network": "4x1", "training": 10, "searched": 2}
    settings = {arm.name: arya.training_settings(arm, size, 0) for arm in arya.TRAINED_ARMS}
    faithful = settings.pop("training-faithful")
    assert faithful.faithful
    assert faithful.search_share == 1
    assert not settings.pop("training-corrected").faithful
    shares = {}
    for name, own in settings.items():
        shares[name] = own.search_share
        assert replace(own, search_share=1.0) == faithful
    # The last disc and faults of the search are attributes of the trainee.
    assert {name: share for name, share in shares.items() if share < 1} == arya.SEARCH_SHARE
    assert set(settings) == {*arya.SEARCH_SHARE, *arya.FIXED, "b17-discs"}
    assert set(arya.FIXED.values()) == set(FIXES) - {"nothing"}


# --- Smallest runs --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ablation")


def conducted(folder: Path, name: str) -> list[Part]:
    """Return the parts of an experiment; its work is done once for all tests."""
    experiment = all_experiments()[name]
    return list(experiment.conduct(Workbench(folder / name, "smoke", SIZES[name], 0, Threads(1))))


@pytest.mark.parametrize("name", SIZES)
def test_every_ablation_has_claims_one_table_and_one_picture(folder: Path, name: str) -> None:
    parts = conducted(folder, name)
    again = conducted(folder, name)
    assert [part for part in parts if not isinstance(part, Picture)] == [
        part for part in again if not isinstance(part, Picture)
    ]
    claims = [part for part in parts if isinstance(part, Claim)]
    assert len({claim.name for claim in claims}) == len(claims) >= 3
    (table,) = [part for part in parts if isinstance(part, Table)]
    (picture,) = [part for part in parts if isinstance(part, Picture)]
    assert len(table.rows) == len(picture.data.rows)
    assert render(picture.draw(), "svg").startswith(b"<svg")
    assert table.title == ablation.TITLE
    assert picture.caption.startswith(ablation.TITLE)
    # One pair of games allows no verdict.
    tested = [claim.true for claim in claims if claim.quantity.startswith("Elo gained")]
    assert {verdict.answer for verdict in tested if verdict} == {Answer.CANNOT_TELL}


def test_boxes_of_figure_2_with_and_without_running_means(folder: Path) -> None:
    claims = {
        part.name: part for part in conducted(folder, "000-ablation") if isinstance(part, Claim)
    }
    ratios = {
        action: claims[f"ablation-b3-{action}"].corrected.value  # type: ignore[union-attr]
        / claims[f"ablation-b3-{action}"].reported.value  # type: ignore[union-attr]
        for action in (4, 6)
    }
    assert ratios[6] == pytest.approx(16.2, abs=0.1)
    assert ratios[4] == pytest.approx(0.57, abs=0.01)


def test_the_loop_as_coded_answers_a_board_without_the_persons_disc() -> None:
    asked: list[Position] = []

    class Recorder:
        def decide(self, position: Position, limit: Any = None, rng: Any = None) -> Any:
            asked.append(position)
            return make("random").decide(position, limit, rng)

    for is_fixed, parity in ((False, 0), (True, 1)):
        asked.clear()
        rng = np.random.default_rng(0)
        result = vannucci_abril.play_person(make("random"), Recorder(), is_fixed, rng)
        assert result in vannucci_abril.OUTCOMES
        assert {position.ply % 2 for position in asked} == {parity}


def test_a_column_that_the_person_has_filled_ends_the_game() -> None:
    class Leftmost:
        """Plays column 7 on the empty board if it is the person, else the leftmost open column."""

        def __init__(self, first: int) -> None:
            self.first = first

        def decide(self, position: Position, limit: Any = None, rng: Any = None) -> Decision:
            return Decision(self.first if position.ply == 0 else position.legal_columns()[0])

    rng = np.random.default_rng(0)
    # The person's fourth disc is the sixth in column 1, where the program wants to play, too.
    assert vannucci_abril.play_person(Leftmost(6), Leftmost(0), False, rng) == "illegal"
    assert vannucci_abril.play_person(Leftmost(6), Leftmost(0), True, rng) != "illegal"


# --- Statistics -----------------------------------------------------------------------------------


def test_gains_by_pairs() -> None:
    even = gains(Tally((10, 40, 100, 40, 10)))
    assert even.answer is Answer.DIFFERS
    assert even.p == pytest.approx(1)
    assert even.power is not None
    assert even.power > 0.8
    assert gains(Tally((0, 10, 50, 80, 60))).answer is Answer.AGREES
    assert gains(Tally((4, 4, 4, 4, 4))).answer is Answer.CANNOT_TELL
    assert gains(Tally((0, 0, 0, 0, FEWEST - 1))).p is None
    clean = gains(Tally((0, 0, 0, 0, 50)))
    assert clean.answer is Answer.AGREES


def test_elo_of_clean_scores_is_a_bound() -> None:
    assert elo(Tally((0, 0, 0, 0, FEWEST - 1))) is None
    won = elo(Tally((0, 0, 0, 0, 50)))
    lost = elo(Tally((50, 0, 0, 0, 0)))
    assert won is not None
    assert lost is not None
    assert won.high is None
    assert won.value > 300
    assert lost.low is None
    assert lost.value == pytest.approx(-won.value)
    usual = elo(Tally((10, 40, 100, 40, 10)))
    assert usual is not None
    assert usual.low is not None
    assert usual.high is not None
    assert usual.value == pytest.approx(0)
    assert usual.low < 0 < usual.high


def test_welch_agrees_with_scipy() -> None:
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(1)
    for shift in (-30.0, 0.0, 40.0):
        ones, others = (rng.normal(shift, 20, 6).tolist(), rng.normal(0, 20, 6).tolist())
        estimate, verdict = compare_means(ones, others)
        assert estimate is not None
        assert estimate.value == pytest.approx(np.mean(ones) - np.mean(others))
        expected = ttest_ind(ones, others, equal_var=False)
        # Degrees of freedom are rounded down.
        assert verdict.p == pytest.approx(expected.pvalue, abs=0.02)
    assert compare_means([1.0, 2.0], [1.0, 2.0, 3.0])[0] is None


def test_arms_with_the_same_seeds_are_paired() -> None:
    from scipy.stats import ttest_rel

    base = [10.0, 50.0, 120.0, 30.0]
    better = [42.0, 80.0, 149.0, 61.0]
    estimate, verdict = compare_means(better, base, same_seeds=True)
    assert estimate is not None
    assert estimate.value == pytest.approx(30.5)
    assert verdict.answer is Answer.AGREES
    assert compare_means(better, base)[1].answer is Answer.CANNOT_TELL
    noisy = [70.0, 20.0, 160.0, 90.0]
    assert compare_means(noisy, base, same_seeds=True)[1].p == pytest.approx(
        ttest_rel(noisy, base).pvalue
    )
    estimate, verdict = compare_means(base, base, same_seeds=True)
    assert estimate is not None
    assert estimate.note == "0: the same games"
    assert verdict.answer is Answer.DIFFERS


def test_trained_arms_are_compared_by_seed() -> None:
    def arm(name: str, points: float) -> Trained:
        scores = [(points + seed, 100) for seed in range(3)]
        return Trained(Arm(name, "", "", name), scores, [(seed + 50, 100) for seed in range(3)])

    base, better = compare_trained("title", "opponent", [arm("a", 20), arm("b", 60)])
    assert base.gain is None
    assert base.verdict is None
    assert better.gain is not None
    assert better.verdict is not None
    assert better.gain.value == pytest.approx(300, abs=20)
    assert better.verdict.answer is Answer.AGREES
    assert better.accuracy is not None
    assert better.accuracy.value == pytest.approx(51)


def test_positions_are_only_those_where_the_value_can_be_lost() -> None:
    positions, scores = ablation.positions_of("5x4x4", 30, side=1)
    assert positions
    for position, values in zip(positions, scores, strict=True):
        assert position.to_move == 1
        assert len({np.sign(score) for score in values.values()}) > 1
