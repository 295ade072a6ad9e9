"""`fourlab train value` and `fourlab resume` as a user meets them."""

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

TINY = ("train", "value", "--data", "some.data", "--body", "conv 4, relu", "--head", "dense 8, relu", "--epochs", "3")


@cache
def every(so_many: int) -> bytes:
    """A file with a few of the positions, for speed."""
    return as_text(uci8().take(np.arange(0, 67_557, so_many)))


@pytest.fixture(autouse=True)
def some_positions(tmp_path: Path) -> None:
    (tmp_path / "some.data").write_bytes(every(60))


def test_a_training_leaves_a_network_that_plays(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    done = fourlab(*TINY, "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    folder = tmp_path / results["run"]
    assert {each.name for each in folder.iterdir()} >= {
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
    played = fourlab("match", f"value:net={folder / 'value.onnx'}", "random", "--games", "4", "--json", "--quiet")
    assert played.returncode == 0, played.stderr
    again = fourlab("resume", str(folder), "--json")
    assert json.loads(again.stdout)["test_accuracy"] == results["test_accuracy"]
    assert "epochs  test error" in fourlab("runs").stdout


def test_ctrl_c_prints_the_command_that_goes_on_and_the_end_is_the_same(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    command = [*TINY, "--epochs", "80", "--runs", "stopped", "--json"]
    said = stopped_by_ctrl_c(tmp_path, command, "piece", 1)
    assert "stopped after" in said
    command = said.splitlines()[-1].split()
    assert command[:2] == ["fourlab", "resume"]
    resumed = json.loads(fourlab(*command[1:], "--json").stdout)
    whole = json.loads(fourlab(*TINY, "--epochs", "80", "--json").stdout)
    for name in ("test_mse", "train_mse", "badly_wrong", "confusion"):
        assert resumed[name] == whole[name]
    networks = [next(tmp_path.glob(f"{home}/*/value.safetensors")).read_bytes() for home in ("stopped", "runs")]
    assert networks[0] == networks[1]


def test_a_changed_file_is_never_answered_with_the_old_result(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    first = json.loads(fourlab(*TINY, "--epochs", "1", "--json").stdout)
    (tmp_path / "some.data").write_bytes(every(120))
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
        (("--epochs", "0"), "--epochs must be a whole number of at least 1, not '0'"),
        (("--features", "x"), "sees"),
        (("--after",), "after is about the positions of extra, and there is none"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], word: str, fourlab: Callable[..., Result]) -> None:
    done = fourlab("train", "value", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_training_is_refused_what_only_games_have(fourlab: Callable[..., Result]) -> None:
    assert fourlab(*TINY, "--quiet").returncode == 0
    for option in (["--games", "10"], ["--accuracy"]):
        done = fourlab("resume", "last", *option)
        assert done.returncode == 2
        assert f"{option[0]} is for matches and tournaments" in done.stderr


def test_without_torch_the_install_command_is_told(
    fourlab: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec
    without = {"torch": None}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: without.get(name, find(name)))
    done = fourlab("train", "value")
    assert done.returncode == 2
    assert "pip install 'fourlab[train]'" in done.stderr
