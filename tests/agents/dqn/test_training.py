import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fourlab import Limit, Position, Rules, UserError, make
from fourlab.agents.dqn.settings import TRAINING, DqnSettings
from fourlab.agents.dqn.training import DqnTrainee
from fourlab.jobs.run import Run, open_run
from fourlab.nets.evaluator import load, probe_positions
from fourlab.nets.weights import load_net
from fourlab.training.loop import read_metrics, train

SMALL = DqnSettings(
    board="4x4x3",
    moves=1600,
    games=16,
    against=("self", "rules", "random"),
    replay=500,
    warmup=100,
    epsilon_moves=800,
    batch=32,
    target=7,
    layers=("conv 4", "relu", "dense 16", "relu"),
    piece=200,
    exam_every=2,
    exam_games=20,
    exam_positions=20,
    seed=5,
)


def positions(count: int, rules: Rules) -> list[Position]:
    own, mask = probe_positions(rules, count)
    return [Position.from_key(key, rules) for key in (own + mask + rules.geometry.bottom).tolist()]


def arrays(given: list[Position]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([each.own for each in given]), np.array([each.mask for each in given])


def answers(net: torch.nn.Module, trainee: DqnTrainee, position: Position) -> list[float]:
    with torch.no_grad():
        return net(trainee._planes(*arrays([position])))[1][0].tolist()  # type: ignore[no-any-return]


def test_the_goal_is_the_result_or_what_the_target_network_thinks_of_the_answer_that_the_other_chose() -> None:
    """Move by move; one column is so overrated by both networks that it would always be chosen if it could be when it is full."""
    trainee = DqnTrainee(replace(SMALL, gamma=0.5))
    with torch.no_grad():
        for weight in trainee.target.parameters():
            weight.mul_(-1.5)
        for net in (trainee.net, trainee.target):
            net.policy[0].bias[2] += 50
    moves = [(position, column) for position in positions(150, Rules(4, 4, 3)) for column in position.legal_columns()]
    expected, kinds = [], set()
    for position, column in moves:
        after = position.play(column)
        if (outcome := after.outcome()) is not None:
            expected.append(0.0 if outcome.winner is None else 1.0)
        else:
            chosen = answers(trainee.net, trainee, after)
            best = max(after.legal_columns(), key=lambda column: chosen[column])
            expected.append(-0.5 * min(1, max(-1, answers(trainee.target, trainee, after)[best])))
        kinds.add(outcome.winner is None if outcome else 2 in after.legal_columns())
    assert kinds == {True, False}
    found = trainee.goals(*arrays([position for position, _ in moves]), np.array([column for _, column in moves]))
    assert found.tolist() == pytest.approx(expected, abs=1e-5)


def test_full_columns_are_never_chosen() -> None:
    trainee = DqnTrainee(replace(SMALL, epsilon=0.5, epsilon_end=0.5))
    with torch.no_grad():
        trainee.net.policy[0].bias[1] += 50
    given = [each for each in positions(600, trainee.rules) if 1 not in each.legal_columns()]
    assert len(given) > 20
    for choose in (trainee.choose, trainee._explore):
        columns = choose(*arrays(given), np.random.default_rng(0))
        assert all(column in position.legal_columns() for position, column in zip(given, columns, strict=True))


def untimed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in ("seconds", "games_a_second")} for row in rows]


def test_a_training_stopped_after_every_piece_ends_with_the_same_bytes(tmp_path: Path) -> None:
    config = {"kind": "train-dqn", **json.loads(json.dumps(SMALL.__dict__))}
    straight, stopped = (open_run(tmp_path, "dqn", config, tmp_path / name) for name in ("straight", "stopped"))
    results = train(straight, DqnTrainee(TRAINING.read_job(config).settings))
    assert results is not None
    again, pieces = None, 0
    while again is None:
        before = len(read_metrics(stopped))
        again = train(stopped, DqnTrainee(TRAINING.read_job(config).settings), lambda: len(read_metrics(stopped)) > before)  # noqa: B023
        pieces += 1
    assert pieces == 8
    assert untimed([again]) == untimed([results | {"lines": again["lines"]}])
    assert untimed(read_metrics(stopped)) == untimed(read_metrics(straight))
    for kind in ("onnx", "safetensors", "json"):
        assert (straight.folder / f"dqn.{kind}").read_bytes() == (stopped.folder / f"dqn.{kind}").read_bytes()


def test_another_seed_gives_another_network() -> None:
    nets = [DqnTrainee(replace(SMALL, seed=seed)) for seed in (1, 1, 2)]
    for each in nets:
        each.advance()
    one, same, other = (torch.cat([weight.flatten() for weight in each.net.parameters()]) for each in nets)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_the_rows_of_metrics_tell_what_was_done() -> None:
    trainee = DqnTrainee(SMALL)
    rows = [trainee.advance() for _ in range(8)]
    assert trainee.finished
    assert [row["moves"] for row in rows] == [208, 416, 624, 832, 1040, 1248, 1456, 1600]
    assert [row["replay"] for row in rows] == [208, 416, *[500] * 6]
    assert rows[-1]["updates"] == sum(moves >= 100 for moves in range(16, 1601, 16))
    assert rows[0]["epsilon"] == pytest.approx(1 - 0.9 * 208 / 800)
    assert rows[-1]["epsilon"] == pytest.approx(0.1)
    assert ["exact" in row for row in rows] == [False, True] * 4
    for row in rows:
        assert row["games"] > 0
        assert 0 < row["loss"] <= row["error"]
        assert -1.5 < row["greatest_q"] < 1.5


def test_it_learns_a_small_game() -> None:
    settings = DqnSettings(
        board="4x4x3",
        moves=12_000,
        games=16,
        epsilon_moves=6_000,
        warmup=500,
        rate=3e-3,
        target=50,
        layers=("dense 128", "relu"),
        piece=12_000,
        exam_positions=300,
    )
    trainee = DqnTrainee(settings)
    before, after = trainee.exam.take(trainee.choose), trainee.advance()
    assert before["exact"]["decisive"] < 0.6
    assert after["exact"]["decisive"] > 0.85
    assert after["random"]["score"] > 0.8 > before["random"]["score"]


@pytest.mark.parametrize("board", ["7x6x4", "2x2x4", "1x5x3", "9x2x5"])
@pytest.mark.parametrize("first", ["relu", "batchnorm"])
def test_any_board_can_be_learned_and_played_from_its_file(board: str, first: str, tmp_path: Path) -> None:
    """The network in training, the one read back and the one in the ONNX file choose the same columns."""
    layers = ("conv 4", first, "dense 16", "relu")
    trainee = DqnTrainee(replace(SMALL, board=board, layers=layers, moves=320, piece=320, against=("self",)))
    trainee.advance()
    (tmp_path / "run").mkdir()
    results = trainee.finish(Run(tmp_path / "run"))
    assert results["headline"].endswith("positions")
    file = tmp_path / "run" / "dqn.onnx"
    again = load_net(file)
    given = positions(300, trainee.rules)
    own, mask = arrays(given)
    q = trainee.q_values(own, mask)
    again.eval()
    with torch.no_grad():
        assert torch.equal(again(trainee._planes(own, mask))[1], trainee.net(trainee._planes(own, mask))[1])
    agent, compared = make(f"dqn:net={file}"), 0
    for position, each in zip(given, q, strict=True):
        second, best = sorted(each)[-2:] if len(each) > 1 else (-np.inf, each[0])
        if best - second > 1e-3:
            compared += 1
            assert agent.decide(position, Limit(), np.random.default_rng(0)).column == int(each.argmax())
    assert compared > 150
    assert np.abs(load(str(file)).heads(load(str(file)).planes(own, mask))["policy"] - q)[np.isfinite(q)].max() < 1e-4


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"moves": 0}, "moves must be a whole number of at least 1, not 0"),
        ({"epsilon": 1.5}, "epsilon must be a number from 0 to 1, not 1.5"),
        ({"rate": 0.0}, "rate must be a number greater than 0"),
        ({"against": ()}, "at least one opponent"),
        ({"replay": 10}, "room for a move of each of the 16 games"),
        ({"board": "7x99"}, "too large"),
        ({"exam_games": 1}, "exam_games must be a whole number of at least 2"),
        ({"layers": ("konv 3",)}, "there is no layer 'konv 3'"),
        ({"features": "smells"}, "not 'smells'"),
        ({"against": ("nobody",)}, "there is no agent 'nobody'"),
    ],
)
def test_impossible_settings_are_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        DqnTrainee(replace(SMALL, **changed))
