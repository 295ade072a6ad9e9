"""Training of value networks: learning, resuming to the bit, and correct measures."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fourlab import Rules
from fourlab.agents.value.settings import SEWELL, TRAINING, ValueSettings
from fourlab.agents.value.training import ValueTrainee, one_cycle
from fourlab.compiled.planes import encode
from fourlab.datasets import labels
from fourlab.datasets.teacher import random_positions, solve_positions
from fourlab.errors import UserError
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.run import open_run
from fourlab.nets.evaluator import load
from fourlab.nets.weights import load_net
from fourlab.training.kind import TrainingJob
from fourlab.training.loop import read_metrics, train

SMALL = ValueSettings(
    body=("conv 4", "batchnorm", "relu"), head=("dense 8", "relu"), epochs=4, batch=128
)


@pytest.fixture(autouse=True)
def few_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use 2,000 of the 67,557 positions, to be fast."""
    subset = labels.uci8().take(np.random.default_rng(0).permutation(67_557)[:2000])
    monkeypatch.setattr(labels, "uci8", lambda: subset)


def config_of(settings: ValueSettings) -> dict[str, Any]:
    """Return the configuration of a run as it is read back."""
    config: dict[str, Any] = json.loads(json.dumps(TrainingJob(TRAINING, settings, "value").config))
    return config


def trained(
    folder: Path, settings: ValueSettings, pieces: int | None = None
) -> tuple[list[dict[str, Any]], bytes]:
    """Train `pieces` at a time, with a new trainee each; return the metrics and the weights."""
    run = open_run(folder, "value", config_of(settings))
    while True:
        checks = iter(range(pieces or 1_000_000))
        results = train(
            run,
            ValueTrainee(TRAINING.read_job(run.config).settings),
            lambda checks=checks: next(checks, None) is None,  # type: ignore[misc]
        )
        if results is not None:
            rows = [
                {name: value for name, value in row.items() if name != "seconds"}
                for row in read_metrics(run)
            ]
            return rows, (run.folder / "value.safetensors").read_bytes()


@pytest.mark.parametrize("settings", [SMALL, replace(SEWELL, epochs=6)], ids=["adamw", "sgd"])
def test_a_training_stopped_after_every_piece_ends_with_the_same_bytes(
    settings: ValueSettings, tmp_path: Path
) -> None:
    whole = trained(tmp_path / "whole", settings)
    stopped = trained(tmp_path / "stopped", settings, pieces=1)
    assert stopped == whole
    assert len(whole[0]) == settings.epochs


def test_the_error_falls() -> None:
    trainee = ValueTrainee(replace(SMALL, epochs=8))
    rows = [trainee.advance() for _ in range(8)]
    assert rows[-1]["loss"] < 0.9 * rows[0]["loss"]
    assert rows[-1]["test_mse"] < 0.9 * rows[0]["test_mse"]


def test_training_and_test_set_are_the_parts_of_the_split() -> None:
    trainee = ValueTrainee(replace(SMALL, share=0.7, seed=5))
    parts = labels.split(labels.gather(("uci8",)), 0.7, 5)
    assert [len(part) for part in parts] == [1400, 600]
    for places, part in zip((trainee.train, trainee.test), parts, strict=True):
        expected = encode(*part.discs, part.rules.geometry, "threats")
        assert np.array_equal(trainee.planes[places].numpy(), expected)
        assert trainee.results[places].tolist() == part.results.tolist()


def test_too_few_positions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.data").write_bytes(labels.as_text(labels.uci8().take(np.arange(1))))
    message = r"a share of 0\.8 of 1 positions leaves none for training or none for the test set"
    with pytest.raises(UserError, match=message):
        ValueTrainee(replace(SMALL, data=(str(tmp_path / "one.data"),)))


def test_a_changed_file_makes_another_run_and_cannot_be_resumed_on(tmp_path: Path) -> None:
    file = tmp_path / "some.data"
    settings = replace(SMALL, data=("uci8", str(file)))
    contents = labels.as_text(labels.uci8().take(np.arange(100)))
    file.write_bytes(contents)
    before = config_of(settings)
    assert before["files"] == [f"{hashlib.sha256(contents).hexdigest()}  {file}"]
    assert TRAINING.read_job(before).settings == settings
    file.write_bytes(labels.as_text(labels.uci8().take(np.arange(1, 101))))
    assert config_of(settings) != before
    with pytest.raises(
        UserError,
        match=r"files have changed since the training began: were .*some\.data.*, are .*some\.data",
    ):
        TRAINING.read_job(before)
    file.unlink()
    with pytest.raises(UserError, match=r"cannot read .*some\.data: No such file"):
        TRAINING.read_job(before)


def test_the_play_command_names_the_networks_board(tmp_path: Path) -> None:
    file = tmp_path / "small.npz"
    rules = Rules(4, 4, 3)
    keys = random_positions(rules, 40, (4, 7), 0)
    solved = solve_positions(
        rules, keys, tmp_path / "journal", Threads(1), lambda done, total: None
    )
    assert solved is not None
    labels.save(solved, file, {})
    trainee = ValueTrainee(replace(SMALL, data=(str(file),), epochs=1))
    trainee.advance()
    run = open_run(tmp_path, "value", {"kind": "train-value"})
    assert trainee.finish(run)["lines"] == [
        f"play it: fourlab play --board 4x4x3 --yellow value:net={run.folder / 'value.onnx'}"
    ]


@pytest.mark.parametrize("scale", ["signed", "unit", "results"])
def test_measures_equal_those_computed_from_the_onnx_network(scale: Any, tmp_path: Path) -> None:
    settings = replace(SMALL, labels=scale, epochs=2)
    trainee = ValueTrainee(settings)
    run = open_run(tmp_path, "value", {"kind": "train-value"})
    row = {}
    while not trainee.finished:
        row = trainee.advance()
    results = trainee.finish(run)
    evaluator = load(str(run.folder / "value.onnx"))
    outputs = evaluator.heads(trainee.planes.numpy())["value"].astype(float)
    truth = trainee.results.numpy()
    if scale == "results":
        probabilities = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
        errors = np.abs(probabilities[:, 0] - probabilities[:, 2] - truth)
        predicted = 1 - outputs.argmax(axis=1)
    elif scale == "unit":
        errors = np.abs(outputs[:, 0] - (truth + 1) / 2)
        predicted = np.where(outputs[:, 0] > 0.75, 1, np.where(outputs[:, 0] < 0.25, -1, 0))
    else:
        errors = np.abs(outputs[:, 0] - truth)
        predicted = np.where(outputs[:, 0] > 0.5, 1, np.where(outputs[:, 0] < -0.5, -1, 0))
    test = trainee.test.numpy()
    assert row["test_mse"] == pytest.approx((errors[test] ** 2).mean(), rel=1e-3)
    assert row["test_accuracy"] == pytest.approx((predicted[test] == truth[test]).mean(), abs=0.003)
    assert results["badly_wrong"] == pytest.approx((errors > 0.9).sum(), abs=2)
    confusion = results["confusion"]
    assert sum(sum(row.values()) for row in confusion.values()) == 400
    wins = (predicted[test] == 1)[truth[test] == 1].sum()
    assert confusion["win"]["win"] == pytest.approx(wins, abs=2)


def test_the_saved_network_has_the_trained_weights_and_the_settings(tmp_path: Path) -> None:
    trainee = ValueTrainee(replace(SMALL, epochs=1))
    trainee.advance()
    run = open_run(tmp_path, "value", {"kind": "train-value"})
    trainee.finish(run)
    net = load_net(run.folder / "value.onnx")
    assert all(
        torch.equal(one, other)
        for one, other in zip(
            net.state_dict().values(), trainee.net.state_dict().values(), strict=True
        )
    )
    assert net.network.about["training"]["epochs"] == 1


def test_the_sewell_preset_is_full_batch_gradient_descent_with_momentum() -> None:
    trainee = ValueTrainee(replace(SEWELL, epochs=3))
    assert [tuple(parameter.shape) for parameter in trainee.net.parameters()] == [
        (100, 42),
        (100,),
        (1, 100),
        (1,),
    ]
    planes, truth = trainee.planes[:1600].flatten(1), trainee.results[:1600].float()
    weights = [
        parameter.detach().clone().requires_grad_() for parameter in trainee.net.parameters()
    ]
    speeds = [torch.zeros_like(weight) for weight in weights]
    for _ in range(3):  # plain gradient descent with momentum
        values = torch.relu(planes @ weights[0].T + weights[1]) @ weights[2].T + weights[3]
        gradients = torch.autograd.grad((values[:, 0] - truth).square().mean(), weights)
        speeds = [0.9 * speed + gradient for speed, gradient in zip(speeds, gradients, strict=True)]
        weights = [
            (weight - 0.01 * speed).detach().requires_grad_()
            for weight, speed in zip(weights, speeds, strict=True)
        ]
    while not trainee.finished:
        trainee.advance()
    for weight, parameter in zip(weights, trainee.net.parameters(), strict=True):
        assert torch.allclose(weight, parameter, atol=1e-6)


def test_the_learning_rate_rises_and_falls_once() -> None:
    rates = [one_cycle(percent / 100) for percent in range(101)]
    top = rates.index(max(rates))
    assert top == 30
    assert rates[30] == pytest.approx(1)
    assert rates[:31] == sorted(rates[:31])
    assert rates[30:] == sorted(rates[30:], reverse=True)
    assert rates[100] == pytest.approx(0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs"),
        ({"share": 1.0}, "share"),
        ({"batch": -1}, "batch"),
        ({"optimiser": "x"}, "optimiser"),
        ({"labels": "x"}, "labels"),
        ({"after": True}, "after uses the positions of extra"),
    ],
)
def test_inconsistent_settings_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        ValueTrainee(replace(SMALL, **change))
