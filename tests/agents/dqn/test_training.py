"""Training by deep Q-learning."""

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


def arrays(batch: list[Position]) -> tuple[np.ndarray, np.ndarray]:
    own = np.array([position.own for position in batch])
    mask = np.array([position.mask for position in batch])
    return own, mask


def q_values(net: torch.nn.Module, trainee: DqnTrainee, position: Position) -> list[float]:
    with torch.no_grad():
        values: list[float] = net(trainee._planes(*arrays([position])))[1][0].tolist()
    return values


@pytest.mark.parametrize("double", [True, False])
def test_the_target_is_the_result_or_the_networks_estimate(double: bool) -> None:
    """Both networks overrate one column, which would always be chosen if full columns could be."""
    trainee = DqnTrainee(replace(SMALL, gamma=0.5, double=double))
    with torch.no_grad():
        for weight in trainee.target.parameters():
            weight.mul_(-1.5)
        for net in (trainee.net, trainee.target):
            net.policy[0].bias[2] += 50
    moves = [
        (position, column)
        for position in positions(150, Rules(4, 4, 3))
        for column in position.legal_columns()
    ]
    expected = []
    kinds = set()
    for position, column in moves:
        after = position.play(column)
        if (outcome := after.outcome()) is not None:
            expected.append(0.0 if outcome.winner is None else 1.0)
        else:
            q = q_values(trainee.net if double else trainee.target, trainee, after)
            best = max(after.legal_columns(), key=q.__getitem__)
            estimate = q_values(trainee.target, trainee, after)[best]
            expected.append(-0.5 * min(1, max(-1, estimate)))
        kinds.add(outcome.winner is None if outcome else 2 in after.legal_columns())
    assert kinds == {True, False}
    own, mask = arrays([position for position, _ in moves])
    targets = trainee.targets(own, mask, np.array([column for _, column in moves]))
    assert targets.tolist() == pytest.approx(expected, abs=1e-5)


def test_full_columns_are_never_chosen() -> None:
    trainee = DqnTrainee(replace(SMALL, epsilon=0.5, epsilon_end=0.5))
    with torch.no_grad():
        trainee.net.policy[0].bias[1] += 50
    batch = [
        position for position in positions(600, trainee.rules) if 1 not in position.legal_columns()
    ]
    assert len(batch) > 20
    for choose in (trainee.choose, trainee._explore):
        columns = choose(*arrays(batch), np.random.default_rng(0))
        for position, column in zip(batch, columns, strict=True):
            assert column in position.legal_columns()


def untimed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name not in ("seconds", "games_a_second")}
        for row in rows
    ]


def test_a_training_stopped_after_every_piece_ends_with_the_same_bytes(tmp_path: Path) -> None:
    config = {"kind": "train-dqn", **json.loads(json.dumps(SMALL.__dict__))}
    straight, stopped = (
        open_run(tmp_path, "dqn", config, tmp_path / name) for name in ("straight", "stopped")
    )
    results = train(straight, DqnTrainee(TRAINING.read_job(config).settings))
    assert results is not None
    again = None
    pieces = 0
    while again is None:
        before = len(read_metrics(stopped))
        again = train(
            stopped,
            DqnTrainee(TRAINING.read_job(config).settings),
            lambda before=before: len(read_metrics(stopped)) > before,  # type: ignore[misc]
        )
        pieces += 1
    assert pieces == 8
    assert untimed([again]) == untimed([results | {"lines": again["lines"]}])
    assert untimed(read_metrics(stopped)) == untimed(read_metrics(straight))
    for kind in ("onnx", "safetensors", "json"):
        whole = (straight.folder / f"dqn.{kind}").read_bytes()
        assert (stopped.folder / f"dqn.{kind}").read_bytes() == whole


def test_another_seed_gives_another_network() -> None:
    weights = []
    for seed in (1, 1, 2):
        trainee = DqnTrainee(replace(SMALL, seed=seed))
        trainee.advance()
        weights.append(torch.cat([weight.flatten() for weight in trainee.net.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_rows_of_metrics_describe_the_training() -> None:
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
    before, after = trainee.exam.run(trainee.choose), trainee.advance()
    assert before["exact"]["decisive"] < 0.6
    assert after["exact"]["decisive"] > 0.85
    assert after["random"]["score"] > 0.8 > before["random"]["score"]


@pytest.mark.parametrize("board", ["7x6x4", "2x2x4", "1x5x3", "9x2x5"])
@pytest.mark.parametrize("first", ["relu", "batchnorm"])
def test_networks_for_any_board_are_saved_and_played(
    board: str, first: str, tmp_path: Path
) -> None:
    """The trained network, the one read back and the ONNX file choose the same columns."""
    layers = ("conv 4", first, "dense 16", "relu")
    trainee = DqnTrainee(
        replace(SMALL, board=board, layers=layers, moves=320, piece=320, against=("self",))
    )
    trainee.advance()
    (tmp_path / "run").mkdir()
    results = trainee.finish(Run(tmp_path / "run"))
    assert results["headline"].endswith("positions")
    file = tmp_path / "run" / "dqn.onnx"
    again = load_net(file)
    batch = positions(300, trainee.rules)
    own, mask = arrays(batch)
    q = trainee.q_values(own, mask)
    again.eval()
    with torch.no_grad():
        assert torch.equal(
            again(trainee._planes(own, mask))[1], trainee.net(trainee._planes(own, mask))[1]
        )
    agent = make(f"dqn:net={file}")
    compared = 0
    for position, row in zip(batch, q, strict=True):
        second, best = sorted(row)[-2:] if len(row) > 1 else (-np.inf, row[0])
        if best - second > 1e-3:
            compared += 1
            decision = agent.decide(position, Limit(), np.random.default_rng(0))
            assert decision.column == int(row.argmax())
    assert compared > 150
    evaluator = load(str(file))
    differences = np.abs(evaluator.heads(evaluator.planes(own, mask))["policy"] - q)
    assert differences[np.isfinite(q)].max() < 1e-4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"moves": 0}, "moves must be a whole number from 1 to 1,000,000,000,000, not 0"),
        ({"epsilon": 1.5}, "epsilon must be a number from 0 to 1, not 1.5"),
        ({"rate": 0.0}, "rate must be a number greater than 0"),
        ({"against": ()}, "at least one opponent"),
        ({"replay": 10}, "room for a move of each of the 16 games"),
        ({"board": "7x99"}, "too large"),
        ({"exam_games": 1}, "exam_games must be a whole number from 2 to 10,000,000"),
        ({"layers": ("konv 3",)}, "there is no layer 'konv 3'"),
        ({"features": "smells"}, "not 'smells'"),
        ({"against": ("nobody",)}, "there is no agent 'nobody'"),
    ],
)
def test_impossible_settings_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        DqnTrainee(replace(SMALL, **changed))
