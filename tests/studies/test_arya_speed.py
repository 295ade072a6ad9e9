"""Arya's speed, statements about the game, and the listing in plain Python."""

import json
from pathlib import Path

import numpy as np
import pytest

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.reporting import figures
from fourlab.studies.arya import listing, speed, theory
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.claims import Answer, Claim, Estimate, Kind
from fourlab.studies.workbench import Picture, Text
from tests.studies.test_arya import claims, conduct


def test_statements_about_the_game(tmp_path: Path) -> None:
    by_name = claims(conduct("004-theory", tmp_path))
    assert by_name["first-columns"].exact == "loss, loss, draw, win, draw, loss, loss"
    answers = {name: claim.true.answer for name, claim in by_name.items() if claim.true}
    holding = {name for name, answer in answers.items() if answer == Answer.AGREES}
    # Only the window's minimax fails to block; a corrected one does not.
    assert holding == {"winning-ply", "state-space"}
    blocks = by_name["window-blocks"]
    assert blocks.reproduced is not None
    assert blocks.reproduced.answer == Answer.AGREES
    assert str(blocks.faithful) == "12.6 % [10.0, 15.8] of 500"
    for verdict in blocks.verdicts().values():
        assert verdict.p is not None
        assert verdict.power is not None
    branching = by_name["branching-factor"].corrected
    assert isinstance(branching, Estimate)
    assert 6 < branching.value < 7


def test_per_game_values_have_the_mean_and_the_error_of_the_ratio() -> None:
    rng = np.random.default_rng(0)
    games = [
        (int(count * 6 + rng.integers(-3, 4)), int(count)) for count in rng.integers(10, 40, 400)
    ]
    values = theory.per_game(games)
    assert np.mean(values) == pytest.approx(
        sum(total for total, _ in games) / sum(count for _, count in games)
    )
    resamples = [rng.integers(0, len(games), len(games)) for _ in range(2000)]
    ratios = [
        sum(games[i][0] for i in sample) / sum(games[i][1] for i in sample) for sample in resamples
    ]
    assert np.std(values) / np.sqrt(len(values)) == pytest.approx(np.std(ratios), rel=0.1)


def test_speeds_are_reported_per_second_with_a_verdict(tmp_path: Path) -> None:
    for seconds in (1, 3, 5):
        rates = [12_500.0, 12_700.0, 13_000.0, 13_300.0, 13_500.0]
        (tmp_path / f"listing-{seconds}s.json").write_text(json.dumps(rates))
        (tmp_path / f"compiled-{seconds}s.json").write_text("[31000.0]")
    for depth, time in ((4, 1.5), (6, 0.01)):
        for kind in ("terminal", "lines"):
            times = [time, 1.1 * time]
            (tmp_path / f"minimax-times-{depth}-{kind}.json").write_text(json.dumps(times))
    parts = conduct("004-speed", tmp_path, seconds=[1, 3, 5])
    by_name = claims(parts)
    answers = {
        name: [verdict.answer for verdict in claim.verdicts().values()]
        for name, claim in by_name.items()
    }
    # 13,000 are within a factor of 2 of 11,000, not of 30,000. Compiled code is not judged.
    assert answers == {
        "rollouts-1s-11000": [Answer.AGREES],
        "rollouts-1s-30000": [Answer.DIFFERS],
        "rollouts-3s-95530": [Answer.DIFFERS],
        "rollouts-5s-150000": [Answer.DIFFERS],
        "minimax-seconds-4": [],
        "minimax-seconds-6": [],
    }
    # The thesis has both numbers for one second, so they are one statement.
    assert by_name["rollouts-1s-11000"].statement == by_name["rollouts-1s-30000"].statement
    for claim in by_name.values():
        for verdict in claim.verdicts().values():
            assert None not in (verdict.p, verdict.power, verdict.low, verdict.high)
    three = by_name["rollouts-3s-95530"]
    assert str(three.reported) == "31,843"
    assert str(three.faithful).startswith("13,000 [")
    assert three.why.startswith("ours differs by a factor of 2.4.")
    assert len({claim.quantity for claim in by_name.values()}) == len(by_name)
    six = by_name["minimax-seconds-6"].faithful
    assert isinstance(six, Estimate)
    assert (six.value, six.n) == (pytest.approx(10.5), 2)
    (picture,) = (part for part in parts if isinstance(part, Picture))
    assert figures.render(picture.draw(), "svg").startswith(b"<svg")
    assert len(picture.data.rows) == 3 * 4


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (10_500, "is within the range"),
        (5_000, "differs by a factor of 2.0"),
        (20_900, "differs by a factor of 1.9"),
    ],
)
def test_the_factor_is_that_to_the_nearest_end_of_the_range(measured: float, words: str) -> None:
    assert speed._factor(measured, 10_000, 11_000) == words


def test_a_speed_agrees_only_if_its_interval_is_within_the_factor() -> None:
    rates = [14_400.0, 14_900.0, 15_400.0, 15_900.0, 16_300.0]
    answers = {
        factor: verdict.answer
        for factor in (0.5, 0.9, 1.0, 1.2, 3.9, 5.0)
        if (verdict := speed.near([factor * rate for rate in rates], 30_000, 30_000))
    }
    assert answers == {
        0.5: Answer.DIFFERS,
        0.9: Answer.DIFFERS,
        1.0: Answer.CANNOT_TELL,
        1.2: Answer.AGREES,
        3.9: Answer.CANNOT_TELL,
        5.0: Answer.DIFFERS,
    }
    assert speed.near(rates[:2], 30_000, 30_000) is None, "too few measurements"


def test_published_speeds_are_measured_at_least_five_times() -> None:
    sizes = all_experiments()["004-speed"].sizes
    assert min(sizes[scale]["times"] for scale in ("quick", "full")) >= 5
    assert len(speed._seconds_per_move(2, "lines", 3)) == 3


def test_the_listing_is_timed(tmp_path: Path) -> None:
    assert speed._listing_rates(0.02, 2)[1] > 100
    assert speed._compiled_rates(0.02, 1)[0] > 1000


def visits_of_listing(moves: str, rollouts: int, seed: int) -> list[int]:
    state = listing.State()
    for move in moves:
        state.play(int(move) - 1)
    search = listing.ListedSearch(state, seed)
    # The first rollout starts at the root and visits no column.
    for _ in range(rollouts + 1):
        search.step()
    children = search.root.children
    assert search.best_column() in children
    return [children[column].visits if column in children else 0 for column in range(7)]


@pytest.mark.parametrize("moves", ["", "4433", "7777771111114444", "112233", "1122335"])
def test_the_listing_and_the_compiled_search_visit_columns_alike(moves: str) -> None:
    runs = 60
    listed = np.array([visits_of_listing(moves, 150, seed) for seed in range(runs)])
    agent = make("arya-vanilla:seconds=none,simulations=150,faithful=1,reuse=none")
    compiled = np.array(
        [
            agent.decide(Position(moves), Limit(), np.random.default_rng(seed)).analysis.visits
            for seed in range(runs)
        ]
    )
    assert (listed.sum(axis=1) == 150).all()
    difference = listed.mean(axis=0) - compiled.mean(axis=0)
    error = np.sqrt((listed.var(axis=0) + compiled.var(axis=0)) / runs)
    assert (np.abs(difference) <= 4 * error + 0.5).all()


def test_every_decided_rollout_of_the_listing_credits_its_leaf() -> None:
    search = listing.ListedSearch()
    for _ in range(300):
        search.step()
    leaves = [child for child in search.root.children.values() if child.visits == 1]
    assert all(leaf.rewards == 1 for leaf in leaves)
    stack = [search.root]
    while stack:
        node = stack.pop()
        stack += node.children.values()
        if node.visits == 1 and not node.children:
            assert node.rewards == 1


def test_the_text_mode_shows_games(tmp_path: Path) -> None:
    printed, listed, corrected = conduct("004-text-mode", tmp_path, rollouts=50, shown=2)
    assert isinstance(printed, Claim)
    assert printed.faithful == "5"
    assert printed.kind is Kind.DIAGNOSTIC, "our text mode was made to print these"
    assert isinstance(listed, Text)
    for line in (
        "X is thinking...",
        "O is thinking...",
        "Statistics: 50 rollouts in ",
        "Results so far: {",
    ):
        assert line in listed.lines
    # The transcript is stored, so even the measured times are the same again.
    assert conduct("004-text-mode", tmp_path, rollouts=50, shown=2) == [printed, listed, corrected]


def test_grid_marks_the_first_players_discs_with_x() -> None:
    lines = speed._grid(Position("445"))
    assert lines[5] == "|   |   |   | X | X |   |   |"
    assert lines[4] == "|   |   |   | O |   |   |   |"
