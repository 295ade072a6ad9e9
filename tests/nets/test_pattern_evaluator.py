"""Patterns as an evaluator: a slow twin judges it, and searches are driven by it."""

from math import tanh
from pathlib import Path

import numpy as np
import pytest

from fourlab import Limit, Position, UserError, make
from fourlab.cli import main
from fourlab.evaluator import Batch, evaluate_checked
from fourlab.game.outcome import RED
from fourlab.game.rules import CLASSIC, Rules
from fourlab.nets.loading import load
from fourlab.nets.pattern_evaluator import PatternEvaluator
from fourlab.nets.patterns import UNIT, PatternNetwork
from tests.agents.patterns import twin
from tests.nets.test_patterns import BOARDS, network_of, random_game


def value(network: PatternNetwork, position: Position) -> float:
    """Return the value for the side to move."""
    if twin.wins_at_once(position):
        return 1.0
    for_red = tanh(twin.total(network.shape, network.patterns.weights, position) / UNIT)
    return for_red if position.to_move == RED else -for_red


def value_after(network: PatternNetwork, position: Position, column: int) -> float:
    """Return what a column is worth to the side to move."""
    if column not in position.legal_columns():
        return -1.0
    after = position.play(column)
    outcome = after.outcome()
    return -value(network, after) if outcome is None else outcome.score(position.to_move)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_values_and_logits_are_those_of_the_slow_twin(
    rules: Rules, seed: int, tmp_path: Path
) -> None:
    network = network_of(rules)
    network.save(tmp_path / "patterns.npz")
    positions = random_game(rules, seed)
    evaluator = PatternEvaluator(str(tmp_path / "patterns.npz"), temperature=0.5)
    answer = evaluate_checked(evaluator, Batch.of(positions))
    assert answer.logits is not None
    for position, number, logits in zip(positions, answer.values, answer.logits, strict=True):
        assert number == pytest.approx(value(network, position), abs=1e-6)
        for column in range(rules.columns):
            expected = value_after(network, position, column) / 0.5
            assert logits[column] == pytest.approx(expected, abs=1e-6)


def test_the_last_disc_draws(tmp_path: Path) -> None:
    rules = Rules(3, 4, 4)
    network_of(rules).save(tmp_path / "patterns.npz")
    last = Position(". X X\nX O O\nO X O\nX O X", board=rules, check_counts=False)
    answer = PatternEvaluator(str(tmp_path / "patterns.npz")).evaluate(Batch.of([last]))
    assert answer.logits is not None
    assert answer.logits[0, 0] == 0
    assert (answer.logits[0, 1:] < 0).all(), "full columns"


@pytest.mark.parametrize("spec", ["alphazero:net=patterns", "guided:net=patterns"])
def test_searches_play_with_patterns(spec: str) -> None:
    agent = make(f"{spec},simulations=200")
    rng = np.random.default_rng(1)
    assert agent.decide(Position("121212"), Limit(), rng).column == 0, "a win at once"
    assert agent.decide(Position("12131"), Limit(), rng).column == 0, "a threat to block"
    decision = agent.decide(Position(), Limit(), rng)
    assert decision.column == 3
    assert decision.value is not None
    assert decision.value > 0


@pytest.mark.parametrize("agent", ["alphazero", "guided"])
def test_a_file_of_another_board_is_refused_in_one_line(agent: str, tmp_path: Path) -> None:
    file = tmp_path / "small.npz"
    network_of(Rules(5, 4, 4)).save(file)
    player = make(f'{agent}:net="{file}",simulations=50')
    assert player.decide(Position(board="5x4x4")).column in range(5)
    with pytest.raises(UserError, match=r"^the patterns are for the board 5x4x4, not 7x6x4$"):
        player.decide(Position())
    with pytest.raises(UserError, match=r"^there are no patterns for the board 5x5x4, only for"):
        make(f"{agent}:net=patterns").decide(Position(board="5x5x4"))


def test_a_damaged_or_missing_file_ends_a_command_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "damaged.npz"
    network_of(CLASSIC).save(file)
    file.write_bytes(file.read_bytes()[:-50])
    for agent in ("alphazero", "guided"):
        for name, words in ((file, "is damaged"), (tmp_path / "no.npz", "No such file")):
            with pytest.raises(SystemExit) as ended:
                main(["analyze", "44", "--agent", f'{agent}:net="{name}"'])
            assert ended.value.code == 2
            printed = capsys.readouterr().err
            assert words in printed
            assert printed.count("\n") == 1


def test_other_names_are_those_of_neural_networks() -> None:
    assert load("alphazero") is load("alphazero")
    with pytest.raises(UserError, match="cannot read the network nothing"):
        load("nothing")
    with pytest.raises(UserError, match="cannot read the network patterns"):
        make("value:net=patterns")
