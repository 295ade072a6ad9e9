"""Files of any content give one line, never a traceback."""

import itertools
import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.hostile import DIGITS, variants, without_hashes

Command = Callable[..., subprocess.CompletedProcess[str]]

COUNT = 40
"""Changed versions of each file in `make test`; `make soak` has SOAK."""
SOAK = 1000
REPORTED = 10
"""Of the settings files, every tenth that is accepted gets a report with figures."""
READ = [
    ("runs",),
    ("runs", "--json"),
    ("runs", "last", "last"),
    ("games", "last"),
    ("games", "last", "0"),
    ("games", "last", "--json"),
]
RESUME = ("resume", "last", "--workers", "1", "--quiet")


def is_clean(done: subprocess.CompletedProcess[str], *context: object) -> None:
    """Check the exit code and that errors are one line.

    A command inside this process that would end with a traceback raises its exception here.
    """
    assert done.returncode in (0, 1, 2), (done, context)
    if done.returncode:
        assert done.stderr.startswith("fourlab: "), (done, context)
        assert done.stderr.count("\n") == 1, (done, context)


@pytest.mark.parametrize("name", ["manifest.json", "config.toml", "results.json", "progress.json"])
@pytest.mark.parametrize(
    "count", [COUNT, pytest.param(SOAK, marks=pytest.mark.soak)], ids=["quick", "soak"]
)
def test_changed_run_folders(fourlab: Command, small_match: Path, name: str, count: int) -> None:
    file = small_match / name
    without_hashes(small_match)
    whole = {path: path.read_bytes() for path in small_match.iterdir() if path.is_file()}
    for number, data in enumerate(itertools.islice(variants(file.read_text(), 1), count)):
        file.write_bytes(data)
        for command in READ:
            is_clean(fourlab(*command), command, data)
        if name in ("manifest.json", "config.toml") or number % 8 == 0:
            is_clean(fourlab(*RESUME), RESUME, data)
            assert (small_match / "games.sqlite").read_bytes()  # nothing is lost
        for path, contents in whole.items():
            path.write_bytes(contents)


TOURNAMENT = """rounds = 1
openings = "random:2"
boards = ["5x4x3"]
starts = "fixed"
seed = 3
grace = 1.5
workers = 1
accuracy = false
name = "small"

[sprt]
elo0 = 0
elo1 = 5

[[agents]]
spec = "random"
name = "one"
simulations = 3

[[agents]]
spec = "rules"
seconds = 1.0
"""


@pytest.mark.parametrize(
    "count", [COUNT, pytest.param(SOAK, marks=pytest.mark.soak)], ids=["quick", "soak"]
)
def test_changed_tournament_files(fourlab: Command, tmp_path: Path, count: int) -> None:
    command = ("tournament", "t.toml", "--quiet")
    (tmp_path / "t.toml").write_text(TOURNAMENT)
    assert fourlab(*command).returncode == 0
    for data in itertools.islice(variants(TOURNAMENT, 2), count):
        (tmp_path / "t.toml").write_bytes(data)
        is_clean(fourlab(*command), data)


SETTINGS = """preset = "self-play"
board = "3x3x3"
games = 20
seed = 1
epsilon = 0.5
alpha = 0.1
against = ["random"]
target = "best"
exam_games = 2
exam_against = ["rules"]
"""


@pytest.mark.parametrize(
    "count", [COUNT, pytest.param(SOAK, marks=pytest.mark.soak)], ids=["quick", "soak"]
)
def test_changed_settings_files(
    fourlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    command = ("train", "q", "--config", "s.toml", "--quiet", "--games", "20")
    (tmp_path / "s.toml").write_text(SETTINGS)
    assert fourlab(*command).returncode == 0
    for number, data in enumerate(itertools.islice(variants(SETTINGS, 3), count)):
        (tmp_path / "s.toml").write_bytes(data)
        with monkeypatch.context() as patch:
            # A training of 20 games takes milliseconds, but the figures of its report half a
            # second, so that a thousand files would take many minutes.
            if number % REPORTED:
                patch.setattr("fourlab.training.report.write_training_report", lambda *_: None)
            is_clean(fourlab(*command), data)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("config.toml", b"kind = '\xff'", "config.toml is not TOML: 'utf-8' codec can't decode"),
        ("config.toml", b"x = " + b"[" * 9999, "is not TOML: it is nested too deeply"),
        ("config.toml", f"x = {DIGITS}".encode(), "is not TOML: a number has too many digits"),
        ("manifest.json", b"[" * 99_999, "is not a run folder: "),
        ("manifest.json", DIGITS.encode(), "is not JSON: a number has too many digits"),
        ("manifest.json", b'{"config": {"kind": ["match"]}}', "is a run of kind ['match']"),
    ],
)
def test_what_is_said_about_a_run_folder(
    fourlab: Command, small_match: Path, file: str, content: bytes, reason: str
) -> None:
    without_hashes(small_match)
    (small_match / file).write_bytes(content)
    done = fourlab("resume", str(small_match))
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("moves", "4x"),
        ("moves", "1,,x"),
        ("moves", DIGITS + ","),
        ("moves", b"\xff"),
        ("moves", "44444444"),
        ("start", "nowhere"),
        ("board", "0x0"),
        ("red", b"\xff"),
        ("unit", "many"),
        ("plies", "many"),
        ("red_seconds", "long"),
        ("thoughts", "[]"),
        ("thoughts", "{}"),
        ("thoughts", "[[1]]"),
        ("thoughts", "[" * 99_999),
        ("thoughts", json.dumps([["x", {}, None]])),
        ("scores", "{}"),
        ("scores", "[1"),
        ("scores", '["x"]'),
    ],
)
def test_unreadable_values_in_the_store(
    fourlab: Command, small_match: Path, column: str, value: object
) -> None:
    without_hashes(small_match)
    with sqlite3.connect(small_match / "games.sqlite") as connection:
        connection.execute(f"UPDATE games SET {column} = ? WHERE number = 0", (value,))
    connection.close()
    for command in (
        *READ,
        ("games", "last", "0", "--json"),
        ("review", "--run", "last", "--game", "0"),
        RESUME,
    ):
        is_clean(fourlab(*command), command)
    done = fourlab("games", "last", "0")
    if done.returncode:
        assert done.returncode == 2, done.stderr
        assert "game 0" in done.stderr
