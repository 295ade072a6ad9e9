"""Bhat's experiments at the smallest scale, and the exact facts they rest on."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fourlab.agent import Analysis, ColumnAnalysis, Decision, Limit
from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import form_of
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.bhat import (
    demos,
    exploration,
    learner,
    order,
    schedules,
    table_5,
    table_8,
)
from fourlab.studies.catalogue import all_experiments, chosen, items_of
from fourlab.studies.claims import Answer, Claim, Counts, Estimate
from fourlab.studies.compare import homogeneity
from fourlab.studies.pages import fill
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

SIZES = {
    "001-table-5": {"games": 6},
    "001-figure-6": {"batches": 2, "games": 2},
    "001-figure-8": {"wins": 2, "sweeps": 2, "games": 100, "batches": 1},
    "001-table-8": {"seeds": 2, "wins": 20, "code_wins": 20, "training": 200, "games": 200},
    "001-demos": {"tables": 2, "seeds": 2, "wins": 20, "training": 200, "games": 50},
    "001-truth": {"positions": 20, "seeds": 1, "wins": 20, "training": 200},
}
"""Smaller than smoke."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bhat")


def conducted(folder: Path, name: str) -> list[Part]:
    """Return the parts of an experiment; its work is done once for all tests."""
    experiment = all_experiments()[name]
    return list(experiment.conduct(Workbench(folder / name, "smoke", SIZES[name], 0, Threads(1))))


@pytest.mark.parametrize("name", SIZES)
def test_every_experiment_yields_claims_and_pictures_that_can_be_drawn(
    folder: Path, name: str
) -> None:
    parts = conducted(folder, name)
    claims = [part for part in parts if isinstance(part, Claim)]
    assert len({claim.name for claim in claims}) == len(claims) > 5
    assert all(claim.faithful or claim.exact for claim in claims)
    for part in parts:
        if isinstance(part, Picture):
            assert render(part.draw(), "svg").startswith(b"<svg")
            assert all(len(row) == len(part.data.head) for row in part.data.rows)
    again = [part for part in conducted(folder, name) if isinstance(part, Claim)]
    assert again == claims, "stored work gives the same claims again"


def test_every_item_of_the_report_is_covered() -> None:
    covered = {item for experiment in chosen(["bhat"]) for item in experiment.ids}
    assert covered == {f"D1-{number:02}" for number in range(1, 17)}


def claims_of(folder: Path, name: str) -> dict[str, Claim]:
    return {part.name: part for part in conducted(folder, name) if isinstance(part, Claim)}


def test_every_table_and_figure_of_the_report_has_an_entry() -> None:
    names = {item.name for item in items_of("bhat")}
    assert names == {f"{kind}-{number}" for kind in ("table", "figure") for number in range(1, 9)}
    for name in names:
        assert len(chosen(["bhat", name])) == 1


def test_the_summary_finds_all_its_values(folder: Path) -> None:
    everything = {key: claim for name in SIZES for key, claim in claims_of(folder, name).items()}
    text = Path(table_8.__file__).with_name("summary.md").read_text(encoding="utf-8")
    filled = fill(text, everything)
    assert filled is not None
    assert "{" not in filled


def test_figure_6_has_the_published_bars_beside_ours(folder: Path) -> None:
    parts = conducted(folder, "001-figure-6")
    pictures = {part.name: part for part in parts if isinstance(part, Picture)}
    assert set(pictures) == {"figure-6", "figure-6-as-drawn", "figure-6-ours"}
    versions = {row[1] for row in pictures["figure-6"].data.rows}
    assert versions == {"published", "ours, faithful", "ours, corrected"}
    # At c = 1 the line of panel b has the ratio of the bars of panel a.
    drawn = {row[:2]: row[-1] for row in pictures["figure-6-as-drawn"].data.rows}
    assert drawn["MC200", 1.0] == 6.0
    ratio = claims_of(folder, "001-figure-6")["figure-6-ratio"].reproduced
    assert ratio is not None
    assert ratio.answer == Answer.DIFFERS


def test_an_effect_of_c_has_the_sign_of_the_claim() -> None:
    """With c = 0, MC200 wins half of its games, else three quarters."""
    curve = [(50, 50, 0), *[(25, 75, 0)] * 15]
    curves = {"MC40": [tuple(10 * n for n in cell) for cell in curve]}
    curves["MC200"] = curves["MC40"]
    claims = {claim.name: claim for claim in exploration._single_constants(curves, curves)}
    assert set(claims) == {f"figure-6-c-{c}" for c in ("0", "02", "1", "2")}
    answers = {name: claim.true.answer for name, claim in claims.items() if claim.true}
    assert answers["figure-6-c-0"] == Answer.AGREES
    assert answers["figure-6-c-2"] != Answer.AGREES
    low = claims["figure-6-c-0"].faithful
    assert isinstance(low, Estimate)
    assert low.value == pytest.approx(-25)


def test_the_reported_counts_are_complete() -> None:
    assert {sum(counts) for counts in table_5.TABLE_5.values()} == {50}
    assert {counts.n for counts in table_8.TABLE_8.values()} == {500}
    assert {sum(counts) for panel in order.FIGURE_6.values() for counts in panel} == {50}
    # As counted in the published file by other means.
    assert demos.SHIPPED == {
        "all": 81_371,
        "unchanged": 58_887,
        "lost": 16_380,
        "won": 4_203,
        "drawn": 1_896,
        "learned": 5,
        "passed": 1_091,
    }


def test_figures_3_to_5_show_the_games_of_table_5(folder: Path) -> None:
    parts = conducted(folder, "001-table-5")
    pictures = {part.name: part for part in parts if isinstance(part, Picture)}
    assert set(pictures) == {"figure-3", "figure-4-as-drawn", "figure-4", "figure-5"}
    for whose, game, moves, winner in pictures["figure-4"].data.rows:
        assert isinstance(moves, int)
        assert winner == ("MC200" if moves % 2 else "MC40") or (winner, moves) == ("draw", 30), (
            f"game {game}, {whose}"
        )
    drawn, right = (legend(pictures[name]) for name in ("figure-4-as-drawn", "figure-4"))
    assert {{"MC40": "Draw", "MC200": "MC40", "draw": "MC200"}[name] for name in right} == drawn
    assert all(
        0 <= value <= 1
        for row in pictures["figure-5"].data.rows
        for value in row[3:]
        if isinstance(value, float)
    )


def test_the_points_of_figures_3_to_5_are_the_games_of_table_5() -> None:
    for first, counts in table_5.TABLE_5.items():
        assert tuple(table_5._counts(table_5.PUBLISHED[first]).counts.values()) == counts
    higher = [
        sum(game.confidence["MC200"] > game.confidence["MC40"] for game in games)
        for games in table_5.PUBLISHED.values()
    ]
    assert higher == [28, 39], "not in almost all games"


def test_a_game_that_was_played_twice_is_not_unique() -> None:
    games = [
        table_5.ShownGame("MC40", 3, {"MC40": 0.5, "MC200": 0.5}, columns)
        for columns in ((0, 1, 2), (0, 1, 3), (0, 1, 2))
    ]
    once = {"MC40": games[:1], "MC200": games[1:2]}
    twice = {"MC40": games[:2], "MC200": games[2:]}
    claim = table_5._unique(once, twice)
    assert str(claim.corrected) == "2 of 3", "a count without an interval"
    assert claim.reproduced is None, "there is no set of a hundred games"
    assert claim.true is not None
    assert claim.true.answer is Answer.DIFFERS
    assert "2 of 2 are different" in claim.why


def test_unique_means_that_as_many_games_as_hers_are_mostly_different() -> None:
    def games(*numbers: int) -> list[table_5.ShownGame]:
        values = {"MC40": 0.5, "MC200": 0.5}
        return [table_5.ShownGame("MC40", 9, values, (number,)) for number in numbers]

    # Forty sets of 50 and 50 games; a game of the last set comes twice.
    first, second = games(*range(2000)), games(*range(2000, 4000))
    second[-1] = first[-1]
    sets = table_5.all_different({"MC40": first, "MC200": second})
    assert (len(sets), sum(sets)) == (40, 39)
    claim = table_5._unique({"MC40": first, "MC200": second}, {"MC40": first, "MC200": second})
    assert str(claim.faithful).startswith("97.5 %")
    assert claim.reproduced is not None
    assert claim.reproduced.answer is Answer.AGREES
    assert claim.true is not None
    assert claim.true.answer is Answer.DIFFERS, "one game that was played twice refutes it"


def legend(picture: Picture) -> set[str]:
    """Return the names in a figure's legend."""
    box = picture.draw().axes[0].get_legend()
    assert box is not None
    return {text.get_text() for text in box.get_texts()}


def test_the_reported_sweep_of_c_is_noise_except_for_c_0() -> None:
    chances = []
    for panel in order.FIGURE_6.values():
        chances.append(homogeneity([(counts[1], sum(counts) - counts[1]) for counts in panel[1:]]))
    assert chances == pytest.approx([0.378, 0.080], abs=0.001)


def test_a_cells_games_depend_on_its_number_alone() -> None:
    cell = partial(exploration.play_cell, 7, 3)
    numbers = [
        order.CONSTANTS.index(2.0),
        order.CONSTANTS.index(2.0) + exploration.CELLS,
    ]
    assert (
        exploration._cell(numbers[0])
        == exploration._cell(numbers[1] % exploration.CELLS)
        == (10, "MC40", 1)
    )
    assert [cell(number) for number in numbers] == [cell(number) for number in numbers]
    assert sum(cell(numbers[0])) == 3
    batches = [cell(number) for number in range(exploration.CELLS)]
    for faithful in (1, 0):
        curves = exploration._curves(faithful, batches)
        assert all(sum(counts) == 3 for panel in curves.values() for counts in panel)


def test_labels_are_blamed_only_if_exchanged_ones_fit() -> None:
    near = [(5 * one, 5 * other, 5 * draws) for one, other, draws in order.FIGURE_6["MC40"]]
    far = [(225, 25, 0)] * 16
    for own, exchanged, fault in ((near, far, "B5"), (far, near, "B9"), (far, far, "no fault")):
        curves = {"MC40": own, "MC200": exchanged}
        assert exploration._agreement("MC40", curves, curves).why.startswith(fault)


def test_the_number_of_games_to_a_hundred_wins_is_negative_binomial() -> None:
    chance = schedules.Chance([(26, 500), (30, 500)])
    assert chance.shares == pytest.approx([5.2, 6.0])
    assert chance.expected(100) == pytest.approx(1785.7, abs=0.1)
    rng = np.random.default_rng(0)
    lengths = [100 + int(rng.negative_binomial(100, 0.056)) for _ in range(3000)]
    assert np.std(lengths) == pytest.approx(chance.spread(100), rel=0.05)
    assert schedules._dispersion(lengths[:30], 100) > 0.01
    assert schedules._dispersion([*lengths[:29], 4000], 100) < 1e-6


def test_the_reported_rule_makes_a_random_player() -> None:
    settings = learner.settings_of(3, True, wins=100)
    table, progress = learner.learn(settings, [0, 0])
    assert progress.pace[1] == 1.0
    trained = learner.evaluate(settings, table, 1.0, 2000, [1])
    assert homogeneity([trained, learner.random_player(settings, 2000, [2])]) > 0.001


def test_corrected_training_beats_the_reported_one(folder: Path) -> None:
    table = next(part for part in conducted(folder, "001-table-8") if isinstance(part, Table))
    assert len(table.rows) == 3 * (1 + len(table_8.VARIANTS))
    size = {"wins": 50, "code_wins": 50, "training": 20_000, "games": 1000}
    faithful, corrected = (
        table_8.train_and_evaluate(0, size, table_8.JOBS.index((2, variant)))["counts"]
        for variant in ("faithful", "corrected")
    )
    assert corrected[0] < faithful[0] / 3
    assert corrected[1] > 2 * faithful[1]


def test_table_8_is_trained_with_its_own_parameters() -> None:
    assert table_8.printed(2) == {"epsilon": 0.6, "alpha": 0.4, "gamma": 0.3}
    assert table_8.printed(3) == {"epsilon": 0.7, "alpha": 0.1, "gamma": 0.9}
    assert table_8.printed(4) == {"epsilon": 0.4, "alpha": 0.5, "gamma": 1.0}
    defaults = learner.settings_of(4, True)
    assert (defaults.epsilon, defaults.alpha, defaults.gamma) == (0.3, 0.5, 0.9)
    # Epsilon rises from 0.7 by 0.01 at every update, so it is 1 after 30 of them.
    games = [table_8._games_until_random(3, seed, table_8.printed(3)) for seed in range(20)]
    assert np.mean(games) == pytest.approx(5.3, abs=0.5)


def test_table_8_is_tested_by_all_three_counts_and_with_trainings(folder: Path) -> None:
    claims = claims_of(folder, "001-table-8")
    assert {f"table-8-{rows}-rows" for rows in learner.ROWS} < set(claims)
    assert all(claims[f"table-8-{rows}-rows"].reproduced is None for rows in learner.ROWS), (
        "two trainings to twenty wins give no verdict"
    )
    alike = [{"counts": [1980, 760, 7260], "training": 50_000}] * 3
    results = {(2, variant): alike for variant in table_8.VARIANTS}
    results[2, "corrected"] = [{"counts": [0, 4800, 5200], "training": 200_000}] * 3
    claim = table_8._results(2, results, "draw", judged=True)
    assert claim.reproduced is not None
    assert claim.true is not None
    assert (claim.reproduced.answer, claim.true.answer) == (Answer.AGREES, Answer.DIFFERS)
    assert "3 trainings" in claim.reproduced.test
    assert "200,000 games instead of 50,000" in claim.why
    assert isinstance(claim.faithful, Counts)
    assert claim.faithful.n == 30_000
    random = table_8._random(2, results, judged=True).reproduced
    assert random is not None
    assert random.answer == Answer.AGREES
    learned = table_8._learned(2, results, judged=True)
    assert learned.reproduced is not None
    assert learned.true is not None
    assert (learned.reproduced.answer, learned.true.answer) == (Answer.DIFFERS, Answer.AGREES)


def test_the_percentages_of_table_8_are_cut_off() -> None:
    verdict = table_8._percentage().reproduced
    assert verdict is not None
    assert verdict.answer == Answer.DIFFERS


def test_figure_8s_random_players_meet_the_mc25_of_their_side(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    with monkeypatch.context() as patched:
        patched.setattr(
            schedules,
            "random_player",
            lambda settings, games, seed: calls.append((settings.against, seed[2])),
        )
        for faithful in (True, False):
            schedules.baseline(0, 1, faithful, 0)
    assert calls == [(learner.FAITHFUL_MC25["against"], 2), (learner.MC25["against"], 3)]
    learning = [
        claim
        for name, claim in claims_of(folder, "001-figure-8").items()
        if name.startswith("figure-8-learning")
    ]
    assert len(learning) == 3
    assert all(claim.faithful and claim.corrected for claim in learning)


def test_figure_8_as_read_off_has_the_reported_means_and_range() -> None:
    means = [np.mean(schedules._hers(rows)) for rows in learner.ROWS]
    # Another reading of the same figure; sharp corners are off by at most ten games.
    assert means == pytest.approx([1727, 2019, 1584], abs=5)
    games = schedules.FIGURE_8.values()
    assert (min(games), max(games)) == pytest.approx((1325, 2515), abs=schedules.READING)
    assert [schedules._dispersion(schedules._hers(rows), 100) for rows in learner.ROWS] == (
        pytest.approx([0.61, 0.06, 0.22], abs=0.1)
    )


def test_table_7_picks_a_gamma_that_is_not_the_lowest() -> None:
    claim = schedules._lowest()
    assert isinstance(claim.faithful, str)
    assert claim.faithful.startswith("gamma with 3 rows")
    assert claim.faithful.endswith("at 0.3)")
    assert claim.reproduced is not None
    assert claim.reproduced.answer == Answer.DIFFERS


def test_few_wins_or_sweeps_give_no_verdict_on_figure_8(folder: Path) -> None:
    claims = claims_of(folder, "001-figure-8")
    judged = {name for name, claim in claims.items() if claim.verdicts()}
    assert judged == {"table-7-from-figure-8"}


def test_each_figure_8_shows_its_own_random_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chances = {True: schedules.Chance([(50, 1000)]), False: schedules.Chance([(20, 1000)])}
    monkeypatch.setattr(
        schedules,
        "_chances",
        lambda bench, faithful: dict.fromkeys(learner.ROWS, chances[faithful]),
    )
    parts = conducted(tmp_path, "001-figure-8")
    pictures = {part.name: part for part in parts if isinstance(part, Picture)}
    middles = [
        pictures[name].draw().axes[0].lines[0].get_ydata()[0]
        for name in ("figure-8", "figure-8-corrected")
    ]  # type: ignore[index]
    assert middles == [2000, 5000]


def test_a_random_player_meets_the_opponents_of_the_learner_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    monkeypatch.setattr(
        table_8,
        "random_player",
        lambda settings, games, seed: calls.append((settings.against, settings.passing)),
    )
    for number, (_, variant) in enumerate(table_8.JOBS):
        if variant.startswith("random"):
            table_8.train_and_evaluate(0, {"games": 1}, number)
    sides = [
        learner.settings_of(rows, faithful) for rows in learner.ROWS for faithful in (True, False)
    ]
    assert calls == [(settings.against, settings.passing) for settings in sides]


def test_the_positions_of_a_table_are_counted_by_kind() -> None:
    form = form_of(learner.settings_of(4, True))
    once = Position("12", "5x4x4")
    boards = [once, Position("1213", "5x4x4"), Position("5/5/5/yy3 r 4", check_counts=False)]
    # A key takes the view of the side that has just moved.
    keys = sorted(_key_of_mover(board) for board in boards)
    table = QTable.of(form, np.array(keys), np.array([[1.0], [-2.0], [0.95]], np.float32))
    assert demos.composition(table) == {
        "all": 3,
        "unchanged": 1,
        "lost": 1,
        "won": 0,
        "drawn": 0,
        "learned": 1,
        "passed": 1,
    }


def _key_of_mover(position: Position) -> int:
    from fourlab.compiled.board import key

    return int(key(position.mask ^ position.own, position.mask, position.rules.geometry))


def test_a_first_alpha_of_1_gives_the_files_value_of_the_empty_board(folder: Path) -> None:
    claim = claims_of(folder, "001-demos")["value-file-empty-board"]
    assert isinstance(claim.reported, Estimate)
    assert claim.reported.value == pytest.approx(0.9)
    assert claim.reproduced is None, "these trainings are too short"
    # As in twelve full trainings, of which one learned a little more about the empty board.
    for ours, expected in (([0.9] * 11 + [0.8945], Answer.AGREES), ([0.95] * 12, Answer.DIFFERS)):
        verdict = demos._first_alpha(ours, judged=True).reproduced
        assert verdict is not None
        assert (verdict.answer, verdict.margin) == (expected, "0.025")
    # The program's default alpha gives another value.
    halved, _ = learner.learn(learner.settings_of(4, True, wins=5), [0])
    assert demos._empty_board(halved) == pytest.approx(0.95, abs=0.001)


class Leftmost:
    """Plays the first legal column, like an empty table."""

    def decide(self, position: Position, limit: Limit, rng: np.random.Generator) -> Decision:
        legal = position.legal_columns()
        columns = tuple(ColumnAnalysis(column, estimate=1.0) for column in legal)
        return Decision(legal[0], analysis=Analysis(columns))


def test_games_are_printed_as_the_report_prints_them() -> None:
    lines = demos.play_printed(["one", "other"], [Leftmost(), Leftmost()], "2x3x3", 0).splitlines()
    assert lines[:6] == [
        "Player 1 (one)",
        "Action selected: 1",
        "Value of next state according to Q-learning : 1.0000",
        "0 0",
        "0 0",
        "1 0",
    ]
    assert lines[-2:] == ["Player 0 won the game!", "Total number of moves = 6"]


def test_without_its_table_part_c_plays_the_leftmost_column(folder: Path) -> None:
    parts = conducted(folder, "001-demos")
    texts = {part.title: part.lines for part in parts if isinstance(part, Text)}
    part_a, part_c = (
        next(text for title, text in texts.items() if title.startswith(number))
        for number in ("1 =", "2 =")
    )
    assert part_a.startswith("Player 1 (MCTS 200)\nAction selected: ")
    assert "\nTotal playouts for next state: " in part_a
    assert "won the game!\nTotal number of moves = " in part_a
    assert part_c.startswith("Player 1 (MCTS 25)\n")
    position = Position(board="5x4x4")
    actions = [line for line in part_c.splitlines() if line.startswith("Action")]
    for action in actions:
        column = int(action.removeprefix("Action selected: ")) - 1
        if position.to_move == 1:
            assert column == position.legal_columns()[0]
        position = position.play(column)
    assert position.outcome() is not None


def test_sizes_grow_from_scale_to_scale() -> None:
    for experiment in chosen(["bhat"]):
        smoke, quick, full = (experiment.sizes[scale] for scale in ("smoke", "quick", "full"))
        assert all(smoke[name] <= quick[name] <= full[name] for name in smoke), experiment.name
