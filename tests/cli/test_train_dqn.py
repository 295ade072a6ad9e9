"""`fourlab train dqn` as users run it."""

import json
import shlex
from pathlib import Path

import pytest

from fourlab.cli import main
from tests.cli.interrupted import stopped_by_ctrl_c

SMALL = shlex.split(
    "train dqn --board 4x4x3 --moves 1600 --games 16 --against self --against rules"
    " --warmup 200 --replay 2000 --batch 32 --layers 'conv 4, relu, dense 16, relu'"
    " --piece 160 --exam-games 20 --exam-positions 20 --seed 3"
)


def run(*arguments: str) -> int | str | None:
    """Run the command in this process, which has imported torch; return the exit code."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


def test_a_training_stopped_by_ctrl_c_resumes_and_its_network_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = stopped_by_ctrl_c(tmp_path, [*SMALL, "--run", "stopped"], "piece", 2)
    assert "stopped after" in printed

    assert run(*shlex.split(printed.splitlines()[-1])[1:]) == 0
    headline, how, report = capsys.readouterr().out.splitlines()
    assert headline.endswith(" positions")
    assert how == "play it: fourlab play --board 4x4x3 --yellow dqn:net=stopped/dqn.onnx"
    assert report == "report: stopped/report.html"
    assert "exact.decisive" in Path("stopped/report.html").read_text()
    assert run("resume", "stopped", "--json") == 0
    assert json.loads(capsys.readouterr().out)["headline"] == headline
    assert run("analyze", "12", "--board", "4x4x3", "--agent", "dqn:net=stopped/dqn.onnx") == 0
    assert "plays" in capsys.readouterr().out

    assert run(*SMALL, "--run", "straight", "--quiet") == 0
    assert capsys.readouterr().out.splitlines()[0] == headline
    for name in ("dqn.onnx", "dqn.safetensors", "dqn.json"):
        assert Path("stopped", name).read_bytes() == Path("straight", name).read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--against", "nobody"),
        ("--against", "human"),
        ("--moves", "0"),
        ("--layers", "conv"),
        ("--gamma", "2"),
        ("--board", "7"),
        ("--against", "dqn", "--board", "5x4x4", "--run", "run", "--quiet"),
    ],
)
def test_bad_settings_are_reported_in_one_line(
    arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("train", "dqn", *arguments) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("fourlab: ")
    assert printed.count("\n") == 1
