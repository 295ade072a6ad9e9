"""`fourlab train value` and `fourlab resume` as users run them."""

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fourlab.datasets.labels import as_text, uci8
from tests.cli.interrupted import stopped_by_ctrl_c
from tests.conftest import Result

TINY = (
    "train",
    "value",
    "--data",
    "some.data",
    "--body",
    "conv 4, relu",
    "--head",
    "dense 8, relu",
    "--epochs",
    "3",
)


@cache
def sample(step: int) -> bytes:
    """Return a data file with every `step`-th position only, for speed."""
    return as_text(uci8().take(np.arange(0, 67_557, step)))


@pytest.fixture(autouse=True)
def some_positions(tmp_path: Path) -> None:
    (tmp_path / "some.data").write_bytes(sample(60))


def test_a_training_writes_a_network_that_plays(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    done = fourlab(*TINY, "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    folder = tmp_path / results["run"]
    assert {file.name for file in folder.iterdir()} >= {
        "value.onnx",
        "value.safetensors",
        "value.json",
        "metrics.jsonl",
        "report.html",
    }
    assert results["epochs"] == 3
    last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert results["test_accuracy"] == last["test_accuracy"]
    assert "3/3 epochs" in done.stderr
    played = fourlab(
        "match", f"value:net={folder / 'value.onnx'}", "random", "--games", "4", "--json", "--quiet"
    )
    assert played.returncode == 0, played.stderr
    again = fourlab("resume", str(folder), "--json")
    assert json.loads(again.stdout)["test_accuracy"] == results["test_accuracy"]
    assert "epochs  test error" in fourlab("runs").stdout


def test_a_training_stopped_by_ctrl_c_resumes_to_the_same_result(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    command = [*TINY, "--epochs", "80", "--runs", "stopped", "--json"]
    printed = stopped_by_ctrl_c(tmp_path, command, "piece", 1)
    assert "stopped after" in printed
    command = printed.splitlines()[-1].split()
    assert command[:2] == ["fourlab", "resume"]
    resumed = json.loads(fourlab(*command[1:], "--json").stdout)
    whole = json.loads(fourlab(*TINY, "--epochs", "80", "--json").stdout)
    for name in ("test_mse", "train_mse", "badly_wrong", "confusion"):
        assert resumed[name] == whole[name]
    networks = [
        next(tmp_path.glob(f"{home}/*/value.safetensors")).read_bytes()
        for home in ("stopped", "runs")
    ]
    assert networks[0] == networks[1]


def test_a_changed_file_never_gives_the_old_result(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    first = json.loads(fourlab(*TINY, "--epochs", "1", "--json").stdout)
    (tmp_path / "some.data").write_bytes(sample(120))
    again = fourlab(*TINY, "--epochs", "1", "--json")
    assert "of the same name differs in files" in again.stderr
    assert json.loads(again.stdout)["run"] != first["run"]
    resumed = fourlab("resume", first["run"])
    assert resumed.returncode == 2
    assert "files have changed since the training began" in resumed.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--preset", "x"), "there is no preset 'x'"),
        (("--data", "nothing.npz"), "nothing.npz"),
        (("--body", "conv"), "there is no layer 'conv'"),
        (("--labels", "x"), "--labels must be signed, unit or results, not 'x'"),
        (("--epochs", "0"), "--epochs must be a whole number from 1 to 1,000,000, not '0'"),
        (("--features", "x"), "sees"),
        (("--after",), "after uses the positions of extra, so extra must name a data set"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...], word: str, fourlab: Callable[..., Result]
) -> None:
    done = fourlab("train", "value", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_training_refuses_options_for_games(fourlab: Callable[..., Result]) -> None:
    assert fourlab(*TINY, "--quiet").returncode == 0
    for option in (["--games", "10"], ["--accuracy"]):
        done = fourlab("resume", "last", *option)
        assert done.returncode == 2
        assert f"{option[0]} is for matches" in done.stderr


def test_without_torch_the_install_command_is_printed(
    fourlab: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec
    missing = {"torch": None}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: missing.get(name, find(name)))
    done = fourlab("train", "value")
    assert done.returncode == 2
    assert "pip install 'fourlab[train]'" in done.stderr
