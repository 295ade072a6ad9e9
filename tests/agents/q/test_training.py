"""Q-learning: against its plain reference, stopped and resumed, and against perfect play."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab import UserError
from fourlab.agents.q import kernel as q_learning
from fourlab.agents.q.settings import TRAINING, QSettings, preset
from fourlab.agents.q.table import FEWEST_SLOTS, QTable
from fourlab.agents.q.table_kernel import LANES
from fourlab.agents.q.training import (
    NEVER,
    Opponents,
    Progress,
    QTrainee,
    form_of,
    rule_of,
    with_short_pieces,
)
from fourlab.agents.q.worst_case import worst_and_perfect
from fourlab.compiled.random import advance, seed_state
from fourlab.game.rules import Rules
from fourlab.jobs.run import Run
from fourlab.training.kind import TrainingJob
from fourlab.training.loop import train
from tests.agents.q.bhat_twin import LEARNER, SEARCH, BhatTwin, Board, dropped
from tests.agents.q.twin import Twin

TINY = QSettings(
    board="4x3x3",
    games=400,
    block=200,
    exam_games=50,
    epsilon=0.3,
    initial=0.25,
    gamma=0.9,
    target="played",
)
CASES = {
    "Bhat in self-play": {
        "win": 2.0,
        "draw": 0.5,
        "loss": -2.0,
        "initial": 1.0,
        "ties": "first",
    },
    "best": {"target": "best", "endings": "learn", "step": -0.01},
    "negamax": {"target": "negamax", "mirror": True},
    "columns, best": {"form": "state-action", "target": "best", "endings": "learn"},
    "columns, negamax, mirrored": {"form": "state-action", "target": "negamax", "mirror": True},
    "halved and rising": {"alpha_update": 0.5, "epsilon_update": 0.01},
    "falling": {
        "alpha_decay": 0.99,
        "alpha_least": 0.05,
        "epsilon_decay": 0.99,
        "epsilon_fall": 0.001,
        "epsilon_least": 0.05,
    },
    "means": {"alpha": 1.0, "alpha_by_visits": True, "alpha_least": 0.02},
    "columns, means": {
        "form": "state-action",
        "alpha": 1.0,
        "alpha_by_visits": True,
        "endings": "learn",
    },
    "against random, in turn": {"against": ("random",)},
    "second against searches": {"against": ("bhat-mc{0..3}:c=2",), "seat": "second"},
    "Bhat with passing": {
        "against": ("bhat-mc{0..2}:c=2,faithful=1",),
        "seat": "second",
        "passing": True,
    },
    "first, mirrored": {"against": ("random", "bhat-mc5"), "seat": "first", "mirror": True},
}


def learned(
    settings: QSettings, games: int, state: int, slots: int = FEWEST_SLOTS
) -> tuple[QTable, Progress, Opponents]:
    opponents = Opponents(settings.opponents, settings)
    table = QTable(form_of(settings), slots=slots)
    progress = Progress.new(settings.alpha, settings.epsilon, [0])
    progress.state = state
    opponents.play(table, rule_of(settings, learning=True), games, NEVER, progress)
    return table, progress, opponents


def values_of(table: QTable) -> dict[tuple[int, int], float]:
    keys, numbers = table.entries()
    return {
        (int(key), column): float(row[column])
        for key, row in zip(keys, numbers, strict=True)
        for column in range(table.form.values)
    }


@pytest.mark.parametrize("case", CASES)
def test_the_compiled_loop_equals_the_plain_reference(case: str) -> None:
    settings = replace(TINY, **CASES[case])
    state = seed_state(3)
    table, progress, opponents = learned(settings, 60, state, slots=1 << 14)
    assert opponents.compiled is not None
    player, simulations = opponents.compiled
    twin = Twin(settings, state)
    if settings.against == ("self",):
        twin.play(60, LANES)
    else:
        twin.play(60, 1, simulations.tolist(), player.switches)
    assert values_of(table) == twin.values
    assert progress.state == twin.state
    assert progress.pace[:2].tolist() == [twin.alpha, twin.epsilon]
    assert progress.results.tolist() == [twin.results[1], twin.results[0], twin.results[-1]]


@pytest.mark.parametrize(
    ("rows", "epsilon", "alpha", "gamma"),
    [(2, 0.6, 0.4, 0.3), (3, 0.7, 0.1, 0.9), (4, 0.4, 0.5, 1.0), (4, 0.3, 1.0, 0.9)],
)
def test_bhats_learner_equals_her_program_key_by_key(
    rows: int, epsilon: float, alpha: float, gamma: float
) -> None:
    settings = replace(
        preset("bhat", faithful=True),
        board=f"5x{rows}x4",
        epsilon=epsilon,
        alpha=alpha,
        gamma=gamma,
    )
    opponents = Opponents(settings.opponents, settings)
    table = QTable(form_of(settings))
    progress = Progress.new(alpha, epsilon, [7])
    assert opponents.compiled is not None
    player, simulations = opponents.compiled
    twin = BhatTwin(rows, epsilon, alpha, gamma, progress.state)
    rules = Rules.parse(settings.board)
    height = rules.rows + 1

    def bit(column: int, row: int) -> int:
        """Return the bit of a cell, whose row counts from the top."""
        return 1 << column * height + rules.rows - 1 - row

    def bits(board: Board, *players: int) -> int:
        return sum(
            bit(column, row)
            for row, cells in enumerate(board)
            for column, cell in enumerate(cells)
            if cell in players
        )

    def search(board: Board, simulations: int) -> Board:
        own, mask = bits(board, SEARCH), bits(board, SEARCH, LEARNER)
        tree = np.zeros((simulations + 3) * 3 * 5, np.int32)
        column, twin.state = q_learning.search_move(
            own, mask, rules.geometry, player.switches, simulations, tree, twin.state
        )
        return dropped(board, column, SEARCH)

    opponents.play(table, rule_of(settings, learning=True), 300, NEVER, progress)
    for _ in range(300):
        twin.game(simulations.tolist(), search)
    assert (progress.state, int(progress.results[0])) == (twin.state, twin.won)
    assert progress.pace[:2].tolist() == pytest.approx([twin.alpha, twin.epsilon])
    keys, entries = table.entries()
    floor = sum(1 << column * height for column in range(5))
    expected = {
        bits(board, LEARNER) + bits(board, SEARCH, LEARNER) + floor: value
        for board, value in twin.q.items()
    }
    # The table has float32 numbers, the program Python's.
    assert dict(zip(keys.tolist(), entries[:, 0].tolist(), strict=True)) == pytest.approx(
        expected, rel=1e-6
    )
    assert sum(keys == floor) == 1, "the empty board has a value"


def test_games_against_any_agent_are_repeatable() -> None:
    settings = replace(TINY, against=("rules:otherwise=random",), seat="first")
    assert Opponents(settings.opponents, settings).compiled is None
    one, first, _ = learned(settings, 30, seed_state(1))
    other, second, _ = learned(settings, 30, seed_state(1))
    assert len(one) > 50
    assert values_of(one) == values_of(other)
    assert first.counts.tolist() == second.counts.tolist()


def test_games_played_from_python_equal_the_plain_reference() -> None:
    opponents = Opponents(("self",), TINY)
    table = QTable(form_of(TINY))
    progress = Progress.new(TINY.alpha, TINY.epsilon, [0])
    twin = Twin(TINY, 1)
    for number in range(40):
        twin.state = seed_state(number)
        # Only the compiled loop samples an opponent from this stream.
        progress.state = advance(twin.state)
        opponents.play_one(table, rule_of(TINY, learning=True), progress)
        twin.play(1, 1)
        assert progress.state == twin.state
    assert values_of(table) == twin.values
    assert progress.results.tolist() == [twin.results[1], twin.results[0], twin.results[-1]]


def test_the_table_grows_as_it_is_filled_and_nothing_is_lost() -> None:
    settings = replace(TINY, board="5x4x4", against=("random",))
    table, _, _ = learned(settings, 250, seed_state(1))
    twin = Twin(settings, seed_state(1))
    twin.play(250, 1, [0])
    assert table.slots > FEWEST_SLOTS
    assert values_of(table) == twin.values


def read_back(settings: QSettings) -> QSettings:
    """Return the settings as read from a run's configuration."""
    config = json.loads(json.dumps(TrainingJob(TRAINING, settings, "q").config))
    restored: QSettings = TRAINING.read_job(config).settings
    return restored


@pytest.mark.parametrize("against", ["self", "rules"])
def test_a_training_ends_at_the_memory_limit(against: str, tmp_path: Path) -> None:
    settings = replace(
        TINY, board="5x4x4", against=(against,), games=5000, block=20, memory_mb=0.0625
    )
    tables = []
    for name, stopped in (("whole", lambda: False), ("stopped", iter([False, True]).__next__)):
        run = Run(tmp_path / name)
        run.folder.mkdir()
        if (results := train(run, QTrainee(settings), stopped)) is None:
            results = train(run, QTrainee(read_back(settings)))
        assert results is not None
        assert 20 < results["games"] < 1000
        assert (
            "; stopped because the table may not take more than 0.1 MB (--memory-mb); "
            in results["headline"]
        )
        tables.append(QTable.load(run.folder / "table.q"))
    assert tables[0].megabytes == 0.0625
    assert values_of(tables[0]) == values_of(tables[1])
    assert len(tables[0]) == results["states"] > 1000


def test_blocks_are_short_if_games_are_played_from_python() -> None:
    fast = replace(TINY, target="best", block=10_000, exam_games=1000)
    slow = replace(fast, against=("rules",))
    assert with_short_pieces(fast, ()) == fast
    assert with_short_pieces(slow, ()) == replace(slow, block=200, exam_games=100)
    assert with_short_pieces(slow, ("block",)) == replace(slow, exam_games=100)
    assert with_short_pieces(replace(fast, exam_against=("rules",)), ()).block == 10_000


def test_changes_of_the_policy_are_counted_in_distinct_positions() -> None:
    for settings in (TINY, replace(TINY, board="3x1x3", epsilon=0.0, ties="first")):
        trainee = QTrainee(settings)
        trainee.advance()
        sample = trainee._sample
        assert 0 < len(sample) == len(set(sample)) <= 500
    assert len(sample) == 3


def test_only_trained_seats_are_compared_with_perfect_play(tmp_path: Path) -> None:
    run = Run(tmp_path)
    results = train(run, QTrainee(replace(TINY, against=("random",), seat="second")))
    assert results is not None
    assert set(results["all_replies"]) == {"second"}
    assert "as second player at worst a" in results["headline"]
    assert "as first player" not in results["headline"]


def test_a_human_cannot_be_a_training_opponent() -> None:
    for people in ({"against": ("human",)}, {"exam_against": ("human",)}):
        with pytest.raises(UserError, match="a human cannot be a training opponent"):
            QTrainee(replace(TINY, **people))


def test_an_evaluation_changes_nothing() -> None:
    trainee = QTrainee(TINY)
    trainee.advance()
    before = values_of(trainee.table)
    assert trainee.evaluate() == trainee.evaluate()
    assert values_of(trainee.table) == before


def test_training_stops_after_the_wins() -> None:
    trainee = QTrainee(replace(TINY, against=("random",), wins=30, games=10_000))
    won = 0
    while not trainee.finished:
        won += trainee.advance()["wins"]
    assert won == 30
    assert trainee.done < 400


def test_a_row_of_metrics_describes_the_block() -> None:
    trainee = QTrainee(TINY)
    first, second = trainee.advance(), trainee.advance()
    assert trainee.finished
    assert first["games"] == first["wins"] + first["draws"] + first["losses"] == 200
    assert second["games"] == 400
    assert 0 < second["change"] < second["largest_change"] <= 2
    assert first["policy_changes"] is None
    assert 0 <= second["policy_changes"] <= 1
    assert first["states"] < second["states"] == len(trainee.table)
    exam = second["exam"]
    assert exam["wins"] + exam["draws"] + exam["losses"] == 50
    assert exam["won"] == exam["wins"] / 50
    assert exam["won_interval"][0] < exam["won"] < exam["won_interval"][1] or exam["won"] in (0, 1)


def deterministic(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("seconds", "games_a_second")}


@pytest.mark.parametrize(
    "changed",
    [{}, {"against": ("rules", "bhat-mc3")}, {"alpha_by_visits": True, "form": "state-action"}],
)
def test_a_resumed_training_ends_with_the_same_bytes(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    settings = replace(TINY, games=120, block=30, exam_games=10, **changed)
    whole, stopped = Run(tmp_path / "whole"), Run(tmp_path / "stopped")
    for run in (whole, stopped):
        run.folder.mkdir()
    results = train(whole, QTrainee(settings))
    pieces = 0
    while True:  # a new trainee after every piece
        pieces += 1
        again = train(stopped, QTrainee(settings), iter([False, True]).__next__)
        if again is not None:
            break
        assert pieces < 10
    assert pieces == 4
    assert results is not None
    for name in ("states", "exam", "games"):
        assert again[name] == results[name]
    assert (whole.folder / "table.q").read_bytes() == (stopped.folder / "table.q").read_bytes()
    rows = [
        [
            deterministic(json.loads(line))
            for line in (run.folder / "metrics.jsonl").read_text().splitlines()
        ]
        for run in (whole, stopped)
    ]
    assert rows[0] == rows[1]


def test_settings_are_read_back_from_a_configuration() -> None:
    settings = replace(TINY, against=("random", "rules"))
    for variant in (settings, replace(settings, wins=5)):
        assert read_back(variant) == variant
        assert None not in TrainingJob(TRAINING, variant, "q").config.values()


def test_passing_needs_the_compiled_loop() -> None:
    settings = replace(TINY, against=("rules",), passing=True)
    with pytest.raises(UserError, match="passing needs opponents"):
        QTrainee(settings)


@pytest.mark.parametrize(("board", "games"), [("5x2x4", 40_000), ("5x3x4", 1_000_000)])
def test_self_play_learns_perfect_play_on_small_boards(board: str, games: int) -> None:
    """Against all replies and in both seats, the learned play keeps the board's exact value."""
    trainee = QTrainee(
        replace(preset("self-play"), board=board, games=games, block=games, exam_games=0)
    )
    trainee.advance()
    for seat in worst_and_perfect(trainee.table.greedy, trainee.table.form.rules).values():
        assert seat["worst"] == seat["perfect"]


def trained(faithful: bool, **changed: Any) -> dict[str, Any]:
    trainee = QTrainee(replace(preset("bhat", faithful), exam_games=0, **changed))
    while not trainee.finished:
        trainee.advance()
    trainee.settings = replace(trainee.settings, exam_games=2000)
    exam = trainee.evaluate()
    assert exam is not None
    return exam


@pytest.mark.parametrize(
    ("board", "lost", "won"),
    # Bhat's rule, trained and measured by independent code, n = 4000
    [("5x2x4", 0.177, 0.083), ("5x3x4", 0.493, 0.110), ("5x4x4", 0.758, 0.173)],
)
def test_bhats_rule_as_printed_learns_to_play_at_random(
    board: str, lost: float, won: float
) -> None:
    exam = trained(True, board=board, wins=500)
    assert abs(exam["lost"] - lost) < 0.035
    assert abs(exam["won"] - won) < 0.025


def test_bhats_code_learns_a_little() -> None:
    """Alpha halves at every update; independent code gets 0 % losses, 7 % wins, 93 % draws."""
    exam = trained(True, board="5x2x4", wins=3000, epsilon_update=0.0, exam_exploring=False)
    assert exam["losses"] == 0
    assert abs(exam["won"] - 0.07) < 0.02


def test_the_corrected_rule_never_loses_on_two_rows() -> None:
    exam = trained(False, board="5x2x4", games=30_000, exam_against=("bhat-mc25:c=2",))
    assert exam["losses"] == 0
    assert exam["won"] > 0.3
