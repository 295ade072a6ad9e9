"""SeWell's experiments at the smallest scale, and the verdicts on made-up results."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fourlab.arena.store import Store
from fourlab.errors import UserError
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.catalogue import all_experiments, chosen, items_of
from fourlab.studies.claims import Answer, Claim, Estimate, Verdict
from fourlab.studies.pages import fill
from fourlab.studies.sewell import experiment_1, future, network, predictions
from fourlab.studies.sewell.experiment_3 import (
    ARMS,
    BLIND,
    BOTH,
    FIXED,
    HALF,
    INDEPENDENT,
    LOOK,
    NETWORK,
    RANDOM,
)
from fourlab.studies.sewell.learner import TreeTraining
from fourlab.studies.trainings import ONE_TRAINING
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

SIZES: dict[str, dict[str, Any]] = {
    "003-experiment-1": {"runs": 1, "games": 20, "afterwards": 1},
    "003-figure-1": {"epochs": 3, "networks": 1, "plain": 1},
    "003-figures-2-4": {"networks": 0},
    "003-experiment-3": {"runs": 1, "games": 10},
    "003-future": {
        **{"runs": 1, "games": 10, "afterwards": 1, "rounds": 1, "pairs": 1},
        "simulations": 20,
    },
    "003-ablation": {"pairs": 1, "positions": 4, "seeds": 1, "games": 10, "afterwards": 2},
}
"""As small as smoke, or smaller."""
CLAIMS = {
    "003-experiment-1": 13,
    "003-figure-1": 9,
    "003-figures-2-4": 10,
    "003-experiment-3": 10,
    "003-future": 7,
    "003-ablation": 11,
}
"""The number of claims by experiment."""
AGREES, DIFFERS, CANNOT_TELL = Answer.AGREES, Answer.DIFFERS, Answer.CANNOT_TELL
SPREAD = (-20, 0, 20)
"""Games by which made-up runs differ, so that tests have a variance to work with."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sewell")


def conducted(folder: Path, name: str, **sizes: Any) -> list[Part]:
    """Return the parts of an experiment; its work is done once for all tests."""
    if name == "003-figure-1":
        pytest.importorskip("torch")
    size = {**SIZES[name], **sizes}
    bench = Workbench(folder / name, "smoke", size, 0, Threads(1))
    return list(all_experiments()[name].conduct(bench))


def by_name(parts: list[Part]) -> dict[str, Claim]:
    return {part.name: part for part in parts if isinstance(part, Claim)}


def answer(verdict: Verdict | None) -> Answer | None:
    return None if verdict is None else verdict.answer


@pytest.mark.parametrize("name", SIZES)
def test_every_experiment_repeats_its_results_and_its_pictures_can_be_drawn(
    folder: Path, name: str
) -> None:
    parts = conducted(folder, name)
    again = conducted(folder, name)
    assert [part for part in parts if not isinstance(part, Picture)] == [
        part for part in again if not isinstance(part, Picture)
    ]
    number = sum(isinstance(part, Claim) for part in parts)
    assert number == len(by_name(parts)) == CLAIMS[name]
    for picture in (part for part in parts if isinstance(part, Picture)):
        assert render(picture.draw(), "svg").startswith(b"<svg")
        assert picture.data.rows
        assert all(len(row) == len(picture.data.head) for row in picture.data.rows)


def test_every_item_of_the_report_is_covered() -> None:
    experiments = chosen(["sewell"])
    assert [experiment.name for experiment in experiments] == list(SIZES)
    assert {item for experiment in experiments for item in experiment.ids} == {
        f"D3-{number:02}" for number in range(1, 14)
    }
    assert [item.name for item in items_of("sewell")] == [
        "experiment-1",
        "experiment-2",
        *(f"figure-{number}" for number in (1, 2, 3, 4)),
        "experiment-3",
    ]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_every_numbered_figure_has_its_picture(folder: Path, number: int) -> None:
    (item,) = (item for item in items_of("sewell") if item.name == f"figure-{number}")
    names = [part.name for part in conducted(folder, item.experiment) if isinstance(part, Picture)]
    assert item.name in names


def test_the_summary_finds_all_its_values(folder: Path) -> None:
    everything = {
        key: claim for name in SIZES for key, claim in by_name(conducted(folder, name)).items()
    }
    file = Path(network.__file__).with_name("summary.md")
    text = fill(file.read_text(encoding="utf-8"), everything)
    assert text is not None
    assert "{" not in text


def test_a_quick_figure_1_has_no_networks_without_momentum(folder: Path) -> None:
    parts = conducted(folder, "003-figure-1", plain=0)
    momentum = by_name(parts)["figure-1-momentum"]
    assert momentum.corrected == "not trained at this scale"
    assert momentum.true is None
    for picture in (part for part in parts if isinstance(part, Picture)):
        assert not any("without" in name for name in picture.data.head)
        assert render(picture.draw(), "svg").startswith(b"<svg")


# --- Experiment 1 ---------------------------------------------------------------------------------


def test_too_few_games_or_runs_give_no_verdict(folder: Path) -> None:
    claims = by_name(conducted(folder, "003-experiment-1"))
    assert not any(claim.verdicts() for claim in claims.values())


def test_experiment_1_shows_five_games(folder: Path) -> None:
    parts = conducted(folder, "003-experiment-1")
    (text,) = (part for part in parts if isinstance(part, Text))
    assert "after training" in text.title
    assert text.lines.count("wins") + text.lines.count("draw") == 5
    assert "to move" not in text.lines
    (table,) = (part for part in parts if isinstance(part, Table))
    assert [row[0] for row in table.rows] == [
        "first of equals, replies kept",
        "random ties (B13), replies kept",
        "random ties, sampled anew (B2, B13)",
    ]


def made_up(early: int, then: int = 4, now: int = 2) -> dict[str, Any]:
    """Return what a training would return that loses every other one of the first `early` games.

    `then` and `now` are the real games of four that it wins afterwards.
    """
    after = {experiment_1.DETERMINISTIC: then, experiment_1.RANDOM: now}
    return {
        "results": [-1, 1] * (early // 2) + [1] * (500 - early),
        "rollouts": 25_000,
        "plies": 20 * 500,
        "shown": ["121212"] * 5,
        "afterwards": {spec: [1] * won + [-1] * (4 - won) for spec, won in after.items()},
    }


def claims_of(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    make_up: Callable[[int, int], dict[str, Any]],
    runs: int,
) -> dict[str, Claim]:
    """Return the claims about made-up trainings, by place of their kind and number of the run."""

    def repeat(self: Workbench, name: str, what: Any, times: int, *rest: Any) -> list[Any]:
        return [make_up(*divmod(number, runs)) for number in range(times)]

    monkeypatch.setattr(Workbench, "repeat", repeat)
    monkeypatch.setattr(experiment_1, "learning_match", lambda bench, *specs: [1] * 500)
    return by_name(conducted(tmp_path, name, runs=runs, games=500))


# The margins are 8 iterations and 0.3 of the average result.
@pytest.mark.parametrize(("early", "reproduced"), [(170, AGREES), (400, DIFFERS)])
def test_experiment_1_is_compared_with_the_reported_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: int, reproduced: Answer
) -> None:
    def make_up(kind: int, run: int) -> dict[str, Any]:
        return made_up(early + SPREAD[run % 3])

    claims = claims_of(tmp_path, monkeypatch, "003-experiment-1", make_up, 40)
    assert str(claims["experiment-1-iterations"].reported).startswith("17")
    assert answer(claims["experiment-1-iterations"].reproduced) is reproduced
    assert answer(claims["experiment-1-average"].reproduced) is reproduced
    assert answer(claims["experiment-1-found"].reproduced) is AGREES
    assert answer(claims["experiment-1-rollouts"].reproduced) is AGREES


def test_always_winning_is_judged_by_runs_that_win_every_real_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make_up(kind: int, run: int) -> dict[str, Any]:
        return made_up(170 + SPREAD[run % 3], then=4 if kind == 0 else 3, now=2 - kind // 2)

    claims = claims_of(tmp_path, monkeypatch, "003-experiment-1", make_up, 40)
    then, now = claims["always-wins-then"], claims["always-wins-now"]
    assert isinstance(then.faithful, Estimate)
    assert isinstance(now.faithful, Estimate)
    assert (then.faithful.value, now.faithful.value) == (100, 50)
    # The corrected column is the third kind: random ties, sampled anew.
    assert isinstance(then.corrected, Estimate)
    assert isinstance(now.corrected, Estimate)
    assert (then.corrected.value, now.corrected.value) == (75, 25)
    assert (answer(then.reproduced), answer(then.true)) == (AGREES, DIFFERS)
    assert (answer(now.reproduced), answer(now.true)) == (DIFFERS, DIFFERS)
    assert answer(claims["always-wins-kept"].reproduced) is AGREES


def test_negamax_of_the_report_is_deterministic_and_that_of_today_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = claims_of(tmp_path, monkeypatch, "003-experiment-1", lambda kind, run: made_up(170), 3)
    claim = claims["negamax-deterministic"]
    assert (answer(claim.reproduced), answer(claim.true)) == (AGREES, DIFFERS)


def test_the_agents_play_matches_that_can_be_learned_from(folder: Path) -> None:
    claim = by_name(conducted(folder, "003-experiment-1"))["experiment-1-agents"]
    assert isinstance(claim.faithful, Estimate)
    assert claim.faithful.n == 10, "the second half of 20 games"
    with Store(folder / "003-experiment-1" / "match-faithful-1.sqlite") as store:
        games = list(store.games())
    assert {(game.red, game.start) for game in games} == {("learner", "")}
    won = [game.result for game in games[10:]].count(1)
    assert claim.faithful.value == 10 * won


# --- the network ----------------------------------------------------------------------------------


def test_the_data_set_has_the_published_counts(folder: Path) -> None:
    claims = by_name(conducted(folder, "003-figure-1"))
    assert answer(claims["data-rows"].reproduced) is AGREES
    assert answer(claims["data-results"].true) is AGREES
    assert answer(claims["data-split"].reproduced) is AGREES
    assert claims["figure-1-train"].reproduced is None, "three epochs are too few"


def test_figure_1_is_drawn_beside_the_reported_points(folder: Path) -> None:
    parts = conducted(folder, "003-figure-1")
    pictures = {part.name: part for part in parts if isinstance(part, Picture)}
    for picture in pictures.values():
        assert "Only 3 of SeWell's 10,000 epochs" in picture.caption
        axes: Any = picture.draw().axes
        drawn = {float(line.get_ydata()[-1]) for one in axes for line in one.lines}
        assert {0.31, 0.349} <= drawn
    # The figure as reported ends at 9,000 recorded epochs, the other at 10,000.
    for name, end in (("figure-1", 8990), ("figure-1-all-epochs", 8990 / 0.9)):
        lines: Any = [line for axes in pictures[name].draw().axes for line in axes.lines]
        assert max(float(line.get_xdata()[-1]) for line in lines) == pytest.approx(end)


def trained(*errors: tuple[float, float]) -> list[list[dict[str, Any]]]:
    """Return metrics of networks with these errors on the training and the test set."""
    return [
        [{"epochs": 10_000, "train_mse": train, "test_mse": test, "badly_wrong": 7_000}]
        for train, test in errors
    ]


def test_final_errors_within_the_margin_agree() -> None:
    near = trained((0.311, 0.350), (0.309, 0.348), (0.313, 0.352))
    claims = {claim.name: claim for claim in network._final_errors(near, 10_000, judged=True)}
    assert [answer(claim.reproduced) for claim in claims.values()] == [AGREES] * 3
    far = trained((0.36, 0.41), (0.361, 0.411), (0.359, 0.409))
    claims = {claim.name: claim for claim in network._final_errors(far, 10_000, judged=True)}
    assert answer(claims["figure-1-train"].reproduced) is DIFFERS


@pytest.mark.parametrize(("other", "true"), [(0.37, AGREES), (0.33, DIFFERS), (0.35, DIFFERS)])
def test_momentum_helps_if_the_error_without_it_is_larger(other: float, true: Answer) -> None:
    moved = trained(*((0.31, 0.35 + step) for step in (-0.001, 0, 0.001)))
    plain = trained(*((0.31, other + step) for step in (-0.001, 0, 0.001)))
    assert answer(network._momentum(moved, plain, judged=True).true) is true
    assert network._momentum(moved, plain, judged=False).true is None


def test_87_errors_do_not_belong_to_labels_from_minus_1_to_1() -> None:
    networks = trained((0.31, 0.35), (0.31, 0.35), (0.31, 0.35))
    for rows, wrong in zip(networks, (7_000, 7_300, 7_700), strict=True):
        rows[0]["badly_wrong"] = wrong
    assert answer(network._badly_wrong(networks, 10_000, judged=True).reproduced) is DIFFERS
    with_unit = [{"badly_wrong": wrong} for wrong in (80, 88, 95)]
    assert answer(predictions._badly_wrong(with_unit, judged=True).reproduced) is AGREES


# --- Figures 2 to 4 -------------------------------------------------------------------------------


def test_the_boards_of_the_figures_have_the_printed_results(folder: Path) -> None:
    parts = conducted(folder, "003-figures-2-4")
    claims = by_name(parts)
    boards = [claims[f"figure-{number}-{side}"] for number in "234" for side in ("left", "right")]
    assert [str(claim.exact) for claim in boards] == ["1", "1", "0", "0", "0", "0"]
    assert [claim.reported.value for claim in boards if isinstance(claim.reported, Estimate)] == [
        *(1.223, 1.25, -0.021, -0.233, 0.693, 0.524),
    ]
    assert str(claims["wrong-unit"].faithful) == "94 (one run)"
    assert claims["figure-4-coin-flip"].exact == "lost"
    # Every position of the data set is in one row of either table.
    tables = [part for part in parts if isinstance(part, Table)]
    assert sum(int(str(row[1])) for table in tables for row in table.rows) == 2 * 67_557


def answers_of(boards: Mapping[str, float], error: float = 0.0) -> dict[str, Any]:
    """Return made-up answers of a network."""
    centre = {"4": {"positions": 122, "error": error}}
    return {"boards": dict(boards), "badly_wrong": 87, "centre": centre}


def test_predictions_are_judged_with_the_spread_of_trainings() -> None:
    reported = {name: predicted for name, (predicted, _) in predictions.printed().items()}
    exact = dict.fromkeys(predictions.BOARDS, 0.0) | {"2l": 1.0, "2r": 1.0}
    for shift, reproduced in ((0.0, AGREES), (1.0, DIFFERS)):
        unit = [
            answers_of({name: value + shift + step for name, value in reported.items()})
            for step in (-0.02, 0.0, 0.02)
        ]
        claims = list(predictions._boards(unit, unit[0], exact, judged=True))
        assert {answer(claim.reproduced) for claim in claims} == {reproduced}
        assert {answer(claim.true) for claim in claims} == {AGREES}
        # Shifted predictions take every board for won.
        same = predictions._identified(unit, judged=True).faithful
        assert isinstance(same, Estimate)
        assert same.value == (100 if shift == 0 else 0)
    wrong = exact | {"4l": 1.0}
    left = next(
        claim
        for claim in predictions._boards(unit, unit[0], wrong, judged=True)
        if claim.name == "figure-4-left"
    )
    assert answer(left.true) is DIFFERS


@pytest.mark.parametrize(("error", "true"), [(0.1, AGREES), (-0.1, DIFFERS), (0.0, DIFFERS)])
def test_centres_are_over_valued_only_beyond_the_margin(error: float, true: Answer) -> None:
    exact = dict.fromkeys(predictions.BOARDS, 0.0)
    boards = dict.fromkeys(predictions.BOARDS, 0.5)
    unit = [answers_of(boards, error + step) for step in (-0.01, 0.0, 0.01)]
    centre, coin_flip = predictions._limits(unit, exact, judged=True)
    assert answer(centre.true) is true
    assert answer(coin_flip.true) is DIFFERS, "a solved position is no coin flip"


def test_only_additional_networks_need_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictions, "find_spec", lambda name: None)
    all_experiments()["003-figures-2-4"].check()
    with pytest.raises(
        UserError, match=r"sewell figures-2-4 needs torch: pip install 'fourlab\[train\]'"
    ):
        conducted(tmp_path, "003-figures-2-4", networks=1)


# --- Experiment 3 ---------------------------------------------------------------------------------


def test_arms_of_experiment_3_differ_in_one_thing_from_another_arm() -> None:
    trainings = {arm: TreeTraining(0, 1, **settings) for arm, settings in ARMS.items()}
    changed = {
        (before, after): {
            name
            for name in ("nets", "looks", "blind", "epsilon", "fixed")
            if getattr(trainings[before], name) != getattr(trainings[after], name)
        }
        for before, after in (
            *((RANDOM, LOOK), (RANDOM, NETWORK), (LOOK, BOTH), (NETWORK, BOTH)),
            *((NETWORK, HALF), (NETWORK, BLIND), (RANDOM, FIXED)),
        )
    }
    expected = [{"looks"}, {"nets"}, {"nets"}, {"looks"}, {"epsilon"}, {"blind"}, {"fixed"}]
    assert list(changed.values()) == expected


def test_the_gain_of_the_look_is_not_credited_to_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A network without any effect of its own: only the look gains.
    averages = {arm: 0.86 if settings.get("looks") else 0.70 for arm, settings in ARMS.items()}

    def make_up(kind: int, run: int) -> dict[str, Any]:
        average = list(averages.values())[kind]
        return made_up(round(500 * (1 - average)) + SPREAD[run % 3])

    claims = claims_of(tmp_path, monkeypatch, "003-experiment-3", make_up, 24)
    true = {name: answer(claim.true) for name, claim in claims.items()}
    assert true["experiment-3-look"] is AGREES
    assert true["experiment-3-look-network"] is AGREES
    assert true["experiment-3-fixed"] is DIFFERS
    # Three networks are few, so not all of these may be refuted.
    for name in ("network", "network-look", "blind", "knowledge", "epsilon"):
        assert true[f"experiment-3-{name}"] is not AGREES
    why = claims["experiment-3-look"].why
    assert "which is ours and not SeWell's" in why
    # The words about the independent program follow from the numbers of both.
    for words in ("0.70 (random; ours 0.70)", "0.73 (network; ours 0.70)"):
        assert words in why
    assert why.endswith("no mean differs by more than 0.05")
    averages[RANDOM] = 0.872
    (tmp_path / "other").mkdir()
    other = claims_of(tmp_path / "other", monkeypatch, "003-experiment-3", make_up, 24)
    why = other["experiment-3-look"].why
    assert "0.70 (random; ours 0.87)" in why
    assert why.endswith("Why there is a difference of more than 0.05 (random) is not known")
    # Three equal programs in falling order: 40, 20 and 0 games more are not in this order.
    assert str(claims["experiment-3-order"].faithful).startswith("0.0 %")


def test_runs_with_one_network_are_one_observation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks = {arm for arm, settings in ARMS.items() if "nets" in settings}
    assert networks == {NETWORK, BOTH, HALF, BLIND}

    # One network of three is useless: fifteen runs do not make the mean of three certain.
    def make_up(kind: int, run: int) -> dict[str, Any]:
        gains = list(ARMS)[kind] in networks and run % 3 < 2
        return made_up((20 if gains else 150) + 2 * (run // 3))

    claims = claims_of(tmp_path, monkeypatch, "003-experiment-3", make_up, 15)
    claim = claims["experiment-3-network"]
    assert "kept replies" in claim.quantity
    assert isinstance(claim.corrected, Estimate)
    assert isinstance(claim.faithful, Estimate)
    assert (claim.faithful.n, claim.corrected.n) == (15, 3)
    assert claim.corrected.note == "networks"
    assert claim.true is not None
    assert claim.true.answer is Answer.CANNOT_TELL
    assert claim.true.test == "Welch's t-test over 3 and 15 trainings"


def test_random_rollouts_have_the_runs_of_experiment_1(folder: Path) -> None:
    def first_point(experiment: str, picture: str, kind: str) -> float:
        parts = conducted(folder, experiment)
        drawn = next(
            part for part in parts if isinstance(part, Picture) and part.name == picture
        ).data
        return float(str(drawn.rows[0][drawn.head.index(f"{kind}, run 0")]))

    assert first_point("003-experiment-3", "guided-rollouts", RANDOM) == first_point(
        "003-experiment-1", "all-runs", "first of equals, replies kept"
    )


def test_the_arms_are_different_runs(folder: Path) -> None:
    parts = conducted(folder, "003-experiment-3")
    beside, table = (part for part in parts if isinstance(part, Table))
    assert [row[0] for row in beside.rows] == list(INDEPENDENT)
    assert [row[0] for row in table.rows] == list(ARMS)
    assert len({row[3:] for row in table.rows}) == len(ARMS)
    shown = next(part for part in parts if isinstance(part, Picture))
    axes: Any = shown.draw().axes[1]
    crosses = next(line for line in axes.lines if line.get_label() == "as reported")
    assert sorted(crosses.get_xdata()) == [8, 12, 17]


# --- future work ----------------------------------------------------------------------------------


def test_future_work_is_carried_out(folder: Path) -> None:
    parts = conducted(folder, "003-future")
    claims = by_name(parts)
    # The perfect player always wins as first player.
    assert str(claims["future-perfect"].corrected).startswith("0.0 %")
    selections = [claims[f"future-selection-{name}"] for name in future.SELECTIONS]
    assert all(claim.corrected and claim.true is None for claim in selections)
    assert all(ONE_TRAINING in claim.why for claim in selections)
    assert any(isinstance(part, Text) and "c_puct" in part.lines for part in parts)


def test_bound_follows_the_puct_formula() -> None:
    rows = future.puct("alphazero", 40, 0)
    visits = sum(row[2] for row in rows)
    assert visits == 40
    for _, p, n, q, bound in rows:
        if n:
            assert bound == pytest.approx(q + future.C_PUCT * p * math.sqrt(visits) / (1 + n))
