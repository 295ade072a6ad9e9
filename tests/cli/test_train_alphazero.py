"""`fourlab train alphazero` as users run it."""

import json
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

from tests.cli.interrupted import ends_the_same, interrupted
from tests.conftest import Result

TINY = shlex.split(
    "train alphazero --preset smoke --set board=4x4x3 --set networks='[\"4x1\"]'"
    " --set exam_games=2 --quiet"
)


def test_a_network_is_trained_reported_and_played(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(
        'preset = "smoke"\nboard = "4x4x3"\nnetworks = ["4x1"]\nexam_games = 2\n'
    )
    done = fourlab(
        "train",
        "alphazero",
        "--config",
        "mine.toml",
        "--set",
        "games=40",
        "--run",
        "here",
        "--quiet",
    )
    assert done.returncode == 0, done.stderr
    headline, how, report = done.stdout.splitlines()
    assert headline.startswith("mistakes in ")
    assert how == "play it: fourlab play --board 4x4x3 --yellow alphazero:net=here/alphazero.onnx"
    assert report == "report: here/report.html"
    assert len((tmp_path / "here" / "metrics.jsonl").read_text().splitlines()) == 2
    assert (tmp_path / "here" / "figures").is_dir()
    game = fourlab(
        "play",
        "--board",
        "4x4x3",
        "--red",
        "random",
        "--yellow",
        "alphazero:net=here/alphazero.onnx",
        "--json",
    )
    assert game.returncode == 0, game.stderr
    assert json.loads(game.stdout)["outcome"] is not None


def test_a_training_stopped_by_ctrl_c_resumes_to_the_same_result(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    many = [*TINY, "--set", "games=80", "--set", "exam_every=80"]
    ends_the_same(fourlab, tmp_path, many, "80 games", "alphazero.onnx")


def test_bad_input_is_one_line(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("games = = 3\n")
    assert fourlab(*TINY, "--set", "games=20", "--run", "there").returncode == 0
    for arguments, why in (
        (["--preset", "huge"], "there is no preset 'huge'"),
        (
            ["--set", "gamez=3"],
            "training 'alphazero' has no option 'gamez' (did you mean 'games'?)",
        ),
        (["--set", "games"], "a setting is changed by NAME=VALUE"),
        (["--config", "none.toml"], "cannot read none.toml"),
        (["--config", "wrong.toml"], "wrong.toml is not TOML"),
        (["--executor", "moon"], "there is no executor 'moon'"),
        (["--preset", "smoke", "--run", "there"], "there"),
    ):
        done = fourlab("train", "alphazero", *arguments)
        assert done.returncode == 2
        assert why in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_second_ctrl_c_exits_immediately_during_self_play(tmp_path: Path) -> None:
    """The first Ctrl-C comes after some evaluations, when games that take hours have begun."""
    command = ["train", "alphazero", "--set", "simulations=2000", "--run", "left"]
    started = interrupted(tmp_path, command, "evaluation", 20)
    assert started.stderr is not None
    while "press Ctrl-C again" not in (line := started.stderr.readline()):
        assert line, "the training ended too early"
    started.send_signal(signal.SIGINT)
    _, printed = started.communicate()
    assert started.returncode == 130
    assert printed.endswith("stopped; what was saved is safe, resume with:\nfourlab resume left\n")
