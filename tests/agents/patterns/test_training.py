"""Self-play and learning of pattern networks, beside a slow twin."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fourlab.agents.patterns import kernel
from fourlab.agents.patterns.settings import PRESETS, PatternSettings
from fourlab.agents.patterns.training import PatternTrainee, shape_of
from fourlab.compiled.random import seed_states
from fourlab.datasets import labels
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.jobs.executors.threads import Threads
from fourlab.solver import Solver
from fourlab.solver.table import new_table
from fourlab.training.test_set import validation_set
from tests.agents.patterns import twin
from tests.in_process import run_in_process

SMALL = PatternSettings(
    board="5x4x4", tuples=8, cells=5, games=600, batch=100, block=300, opening=6, seed=3
)


def played(settings: PatternSettings, games: int = 40, **changes: float) -> kernel.Games:
    """Return games of a network with random weights."""
    shape = shape_of(settings)
    rng = np.random.default_rng(5)
    weights = rng.integers(-kernel.UNIT, kernel.UNIT, (2, shape.entries)).astype(np.int32)
    g = shape.rules.geometry
    batch = kernel.new_games(games, g)
    exploration = kernel.Exploration(6, 0.1, 0.0, 0, False)._replace(**changes)
    states = np.array(seed_states(9, games), np.int64)
    patterns = shape.patterns(weights)
    kernel.play_games(0, games, states, batch, exploration, patterns, new_table(1 << 12), g)
    return batch


def positions_of(games: kernel.Games, game: int, rules: Rules) -> list[Position]:
    """Return the positions of a game; raises if a column is full or the game was over before."""
    positions = [Position(board=rules)]
    for column in games.columns[game, : games.lengths[game]].tolist():
        assert positions[-1].outcome() is None
        positions.append(positions[-1].play(column))
    return positions


def test_games_are_legal_and_have_their_results() -> None:
    games = played(SMALL, epsilon=0.3)
    for game in range(40):
        outcome = positions_of(games, game, Rules(5, 4, 4))[-1].outcome()
        assert outcome is not None
        assert outcome.score(0) == games.results[game]
        assert games.openings[game] <= 6
        # No exploratory move is part of the random opening.
        assert games.explored[game] & ((1 << games.openings[game]) - 1) == 0
    assert games.explored.any()
    assert len(set(games.openings.tolist())) > 3


def test_a_greedy_side_plays_the_best_value_and_wins_at_once() -> None:
    games = played(SMALL, epsilon=0.0)
    shape = shape_of(SMALL)
    rng = np.random.default_rng(5)
    weights = rng.integers(-kernel.UNIT, kernel.UNIT, (2, shape.entries)).astype(np.int32)
    for game in range(3):
        positions = positions_of(games, game, shape.rules)
        for ply in range(games.openings[game], games.lengths[game]):
            position, column = positions[ply], int(games.columns[game, ply])
            sign = 1 if ply % 2 == 0 else -1
            values = {}
            for legal in position.legal_columns():
                outcome = position.play(legal).outcome()
                if outcome is None:
                    values[legal] = sign * twin.total(shape, weights, position.play(legal))
                else:
                    values[legal] = 10**12 if outcome.winner is not None else 0
            assert values[column] == max(values.values())


def test_a_safe_side_leaves_no_win_at_once() -> None:
    games = played(SMALL, games=100, epsilon=0.0, safe=True)
    unsafe = played(SMALL, games=100, epsilon=0.0)
    assert games.is_cut.any()
    assert not unsafe.is_cut.any()
    for game in range(100):
        positions = positions_of(games, game, Rules(5, 4, 4))
        last = positions[-1]
        for position in positions[games.openings[game] + 1 : games.lengths[game]]:
            assert not twin.wins_at_once(position)
        if games.is_cut[game]:
            # Every column lets the other side win at once.
            assert not twin.wins_at_once(last)
            children = [last.play(column) for column in last.legal_columns()]
            assert all(twin.wins_at_once(child) for child in children)
            assert games.results[game] == (-1 if last.ply % 2 == 0 else 1)
        else:
            outcome = last.outcome()
            assert outcome is not None
            assert outcome.score(0) == games.results[game]


def test_softmax_explores_more_when_it_is_hot() -> None:
    explored = [
        sum(map(int.bit_count, played(SMALL, epsilon=0.0, temperature=heat).explored.tolist()))
        for heat in (0.0, 0.05, 10.0)
    ]
    assert explored[0] == 0
    assert 0 < explored[1] < explored[2]


def test_exact_endings_are_those_of_the_solver() -> None:
    games = played(SMALL, exact=9)
    solver = Solver(1)
    assert games.is_cut.any()
    for game in np.flatnonzero(games.is_cut).tolist():
        last = positions_of(games, game, Rules(5, 4, 4))[-1]
        result = solver.solve(last, weak=True).result
        assert result is not None
        assert games.results[game] == (result if last.ply % 2 == 0 else -result)


@pytest.mark.parametrize("coherence", [True, False])
@pytest.mark.parametrize("exact", [0, 9])
def test_learning_changes_the_weights_as_the_slow_twin_does(coherence: bool, exact: int) -> None:
    shape = shape_of(SMALL)
    games = played(SMALL, games=6, exact=exact)
    rule = kernel.Learning(3.0, 0.7, coherence)
    rng = np.random.default_rng(1)
    weights = rng.integers(-1000, 1000, (2, shape.entries)).astype(np.int32)
    expected = [weights.copy(), *np.zeros((2, 2, shape.entries), np.float32)]
    sums = np.zeros((2, shape.entries, 2), np.float32)
    twin.learn(shape, *expected, games, rule)
    patterns = shape.patterns(weights)
    kernel.learn_games(games, rule, patterns, sums, shape.rules.geometry)
    # Compiled tanh may differ from Python's in the last bit.
    assert np.abs(weights - expected[0]).max() <= 2
    assert sums[:, :, 0] == pytest.approx(expected[1], abs=1e-6)
    assert sums[:, :, 1] == pytest.approx(expected[2], abs=1e-6)
    assert np.abs(expected[0]).max() > 100_000


def test_learning_solved_positions_reduces_the_error() -> None:
    shape = shape_of(SMALL)
    own, mask = np.array([[0, 1], [1, 0b11]], np.int64)
    sums = np.zeros((2, shape.entries, 2), np.float32)
    patterns = shape.patterns(np.zeros((2, shape.entries), np.int32))
    errors = [
        kernel.learn_positions(
            own,
            mask,
            np.array([1, -1]),
            np.arange(2),
            kernel.Learning(1.0, 0.0, True),
            patterns,
            sums,
            shape.rules.geometry,
        )[0]
        for _ in range(30)
    ]
    assert errors[-1] < errors[0] / 4


def test_the_network_depends_neither_on_threads_nor_on_chunks_in_flight() -> None:
    networks = []
    for workers in (1, 3):
        trainee = PatternTrainee(SMALL, Threads(workers))
        while not trainee.finished:
            trainee.advance()
        networks.append(trainee.network().to_bytes())
    assert networks[0] == networks[1]


def test_training_reduces_mistakes() -> None:
    trainee = PatternTrainee(replace(SMALL, games=3000, block=3000, tuples=20))
    # Without any knowledge the first column is played.
    before = validation_set(trainee.rules).evaluate(trainee.choose)["mistakes"]
    row = trainee.advance()
    assert row["exam"]["mistakes"] < before / 1.5
    assert row["cpu_seconds"] > 0


def test_a_supervised_start_learns_the_positions_of_a_file(tmp_path: Path) -> None:
    command = "dataset solved --positions 60 --board 5x4x4 --plies 6-14 --output set.npz"
    assert run_in_process(command.split(), tmp_path).returncode == 0
    settings = replace(SMALL, games=0, solved=str(tmp_path / "set.npz"), passes=3)
    trainee = PatternTrainee(settings)
    errors = []
    while not trainee.finished:
        errors.append(trainee.advance()["error"])
    assert len(errors) == 3
    assert errors == sorted(errors, reverse=True)
    solved = labels.load(tmp_path / "set.npz")
    assert len(solved) == 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--given a1b1c9", "a list of different cells of 7x6x4"),
        ("--given a1a1", "a list of different cells of 7x6x4"),
        ("--board 2x12", "up to 9 rows"),
        ("--tuples 900 --cells 16", "states, more than"),
        ("--opening 42", "opening must be less than the 42 cells"),
        ("--alpha nan", "alpha"),
        ("--solved nothing.npz", "cannot read nothing.npz"),
    ],
)
def test_impossible_settings_are_refused_in_one_line(
    options: str, words: str, tmp_path: Path
) -> None:
    done = run_in_process(f"train patterns --games 10 {options}".split(), tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_given_tuples_are_read_as_cells() -> None:
    settings = replace(PRESETS["smoke"], given=("a1b1c1d1", "d1d2d3"))
    assert shape_of(settings).tuples == (1 | 1 << 7 | 1 << 14 | 1 << 21, 0b111 << 21)


def test_presets_have_possible_tuples() -> None:
    for settings in PRESETS.values():
        assert len(shape_of(settings).tuples) == settings.tuples


def test_a_checkpoint_of_other_tuples_is_refused(tmp_path: Path) -> None:
    trainee = PatternTrainee(SMALL)
    trainee.save(tmp_path)
    with pytest.raises(ValueError, match="are for other tuples"):
        PatternTrainee(replace(SMALL, tuples=9)).load(tmp_path)
    other = PatternTrainee(SMALL)
    other.load(tmp_path)
    assert (other.patterns.weights == trainee.patterns.weights).all()


def test_a_checkpoint_with_numbers_that_are_not_finite_is_refused(tmp_path: Path) -> None:
    trainee = PatternTrainee(SMALL)
    trainee.sums[0, 0, 0] = np.nan
    trainee.save(tmp_path)
    with pytest.raises((ValueError, UserError), match="damaged"):
        PatternTrainee(SMALL).load(tmp_path)
