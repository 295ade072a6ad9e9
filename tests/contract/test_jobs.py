"""A job of any kind that is killed at any moment and resumed ends with the same products.

A generator with a fixed seed draws the moments from the whole life of a job: its events and all its
operations on the files of its run. `make soak` draws more of them.
"""

import json
import random
import shlex
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourlab.jobs.kinds import KINDS
from tests.cli.interrupted import interrupted, stopped_by_ctrl_c
from tests.conftest import Result
from tests.in_process import run_in_process

TIMES = {
    "seconds",
    "cpu_seconds",
    "seconds_a_move",
    "games_a_second",
    "lines",
    "command",
    "created",
    "file",
}
"""Keys whose values may differ: times and paths."""

JOBS = {
    "match": "match random mcts:simulations=20 --games 60 --board 5x4x4 --workers 2",
    "tournament": "tournament league.toml --workers 2",
    "train-patterns": (
        "train patterns --board 5x4x4 --tuples 8 --cells 5 --games 3000 --block 500 --batch 100"
        " --opening 6"
    ),
    "train-q": "train q --board 4x3x3 --games 4000 --block 500 --exam-games 20",
    "train-dqn": (
        "train dqn --board 4x4x3 --moves 1600 --games 16 --against rules --warmup 200 --replay 2000"
        " --batch 32 --layers 'conv 4, relu' --piece 160 --exam-games 4 --exam-positions 4"
    ),
    "train-value": (
        "train value --data solved.npz --body 'conv 4, relu' --head 'dense 4, relu' --epochs 6"
    ),
    "train-alphazero": (
        "train alphazero --preset smoke --board 4x4x3 --networks 4x1 --games 80"
        " --exam-every 80 --exam-games 2"
    ),
    "reproduce": "study vannucci-abril exact figure-2 --scale smoke --workers 2",
    "chess": "chess match random random --games 12 --workers 2",
    "book": "book build --plies 6 --board 5x4x4 --file FOLDER/book.npz --workers 2",
    "replies": "book replies --plies 9 --board 5x4x4 --file FOLDER/replies.npz --workers 2",
    "dataset": (
        "dataset solved --positions 200 --board 6x5 --plies 11-24 -o FOLDER/set.npz --workers 2"
    ),
}
"""A command for every kind of job."""
KILLS = 3
"""How often a job is killed, if it lives that long."""
FEWER_KILLS = {"train-dqn": 2, "train-value": 2, "train-alphazero": 2}
"""The same of jobs that take seconds to import torch, each time."""
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 6))]
STOPPED_AT = {"train-value": 1}
"""The event after which a job gets Ctrl-C; 2 by default."""


def test_every_kind_of_job_is_tested() -> None:
    assert set(JOBS) == set(KINDS)


def command_of(kind: str, folder: Path, run: str) -> list[str]:
    """Return the command for a kind of job, and write the files it needs."""
    (folder / "league.toml").write_text(
        'agents = ["random", "rules", "minimax:depth=2"]\nboards = ["5x4x4"]\nrounds = 8\n'
    )
    (folder / run).mkdir()
    words = shlex.split(JOBS[kind].replace("FOLDER", run))
    return [*words, "--run", f"{run}/run", "--quiet"]


def products(folder: Path) -> dict[str, Any]:
    """Return the products of a run: games, rows of metrics, results, and files byte by byte."""
    contents: dict[str, Any] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(file.relative_to(folder))
        if file.suffix in (".onnx", ".safetensors", ".q", ".npz") and "checkpoints" not in name:
            contents[name] = file.read_bytes()
        elif file.name == "metrics.jsonl":
            contents[name] = [
                without_times(json.loads(line)) for line in file.read_text().splitlines()
            ]
        elif file.name in ("results.json", "found.json"):
            contents[name] = without_times(json.loads(file.read_text()))
        elif file.suffix == ".sqlite":
            with sqlite3.connect(file) as games:
                contents[name] = games.execute(
                    "SELECT number, red, yellow, moves, result FROM games ORDER BY number"
                ).fetchall()
    assert contents
    return contents


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(entry) for name, entry in value.items() if name not in TIMES}
    return [without_times(entry) for entry in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solved")
    command = "dataset solved --positions 60 --board 4x4x3 --plies 4-9 -o solved.npz --quiet"
    made = run_in_process(command.split(), folder)
    assert made.returncode == 0, made.stderr
    return folder / "solved.npz"


@pytest.fixture
def folder(tmp_path: Path, solved: Path) -> Path:
    shutil.copy(solved, tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", JOBS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_job_killed_at_any_moment_has_the_same_products(
    kind: str, seed: int, folder: Path, fourlab: Callable[..., Result]
) -> None:
    moments = moments_of(folder, command_of(kind, folder, "whole"), "moment")
    rng = random.Random(f"{kind} {seed}")
    # A resumed job has less to do, and the number of batches depends on the workers' speed, so only
    # the first moment is certain to come.
    kills = FEWER_KILLS.get(kind, KILLS)
    drawn = [rng.randint(1, moments // 2), *(rng.randint(1, moments) for _ in range(kills - 1))]
    killed = killed_at(drawn, "moment", folder, command_of(kind, folder, "killed"), rng)
    assert killed[0], f"it was not killed at {drawn[0]} of {moments}"
    # Nobody works on it any more; the last kill may have come after the results were written.
    listed = json.loads(fourlab("runs", "--runs", "killed", "--json").stdout)
    assert {run["status"] for run in listed} <= {"stopped", "finished"}
    finishes_like_the_whole(kind, folder, fourlab)


@pytest.mark.parametrize("kind", ["match", "dataset"])
def test_a_job_killed_by_the_clock_has_the_same_products(
    kind: str, folder: Path, fourlab: Callable[..., Result]
) -> None:
    """The clock strikes anywhere, in compiled code and between two system calls, too."""
    ticks = moments_of(folder, command_of(kind, folder, "whole"), "clock")
    rng = random.Random(f"{kind} by the clock")
    drawn = [rng.randint(1, max(ticks, 1)) for _ in range(KILLS)]
    killed_at(drawn, "clock", folder, command_of(kind, folder, "killed"), rng)
    finishes_like_the_whole(kind, folder, fourlab)


def moments_of(folder: Path, command: list[str], point: str) -> int:
    """Run a command to its end; return how often it reached a point."""
    process = interrupted(folder, command, point, 0)
    _, printed = process.communicate()
    assert process.returncode == 0, printed
    return int(printed.splitlines()[-1])


def killed_at(
    moments: list[int], point: str, folder: Path, command: list[str], rng: random.Random
) -> list[bool]:
    """Start a job and kill it, again and again; return whether each start was killed."""
    killed = []
    for moment in moments:
        # Before there is a manifest there is no run to resume.
        has_run = (folder / "killed" / "run" / "manifest.json").exists()
        resume = ["resume", "killed/run", "--quiet"]
        attempt = resume if has_run and rng.random() < 0.5 else command
        process = interrupted(folder, attempt, point, moment, signal.SIGKILL)
        _, printed = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), printed
        killed.append(process.returncode != 0)
    return killed


def finishes_like_the_whole(kind: str, folder: Path, fourlab: Callable[..., Result]) -> None:
    """Check that the killed run is resumed, finished, and equal to the whole one."""
    words = shlex.split(JOBS[kind].replace("FOLDER", "killed"))
    done = fourlab(*words, "--run", "killed/run", "--quiet")
    assert done.returncode == 0, done.stderr
    listed = json.loads(fourlab("runs", "--runs", "killed", "--json").stdout)
    assert [(run["kind"], run["status"]) for run in listed] == [(kind, "finished")]
    assert products(folder / "killed") == products(folder / "whole")


STOPPED_ELSEWHERE = ("train-alphazero", "train-dqn", "train-value")
"""Jobs that load torch, which takes seconds; tests/cli/test_train_*.py stop them by Ctrl-C, too."""


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.soak] * (kind in STOPPED_ELSEWHERE)) for kind in JOBS],
)
def test_ctrl_c_prints_the_command_that_resumes(
    kind: str, folder: Path, fourlab: Callable[..., Result]
) -> None:
    at = STOPPED_AT.get(kind, 2)
    command = [word for word in command_of(kind, folder, "stopped") if word != "--quiet"]
    printed = stopped_by_ctrl_c(folder, command, "event", at)
    message, resume = printed.splitlines()[-2:]
    assert message.startswith("stopped after ")
    assert message.endswith("; resume with:")
    program, *arguments = shlex.split(resume)
    assert (program, arguments[:2]) == ("fourlab", ["resume", "stopped/run"])
    done = fourlab(*arguments, "--quiet")
    assert done.returncode == 0, done.stderr


EXTENDED = {
    "match": ("match random rules --board 5x4x4 --workers 1 --accuracy --games", 4, 12),
    "chess": ("chess match random random --workers 1 --games", 4, 12),
}
"""Commands that end with a number of games, and two such numbers."""


@pytest.mark.parametrize("kind", EXTENDED)
def test_a_killed_extension_is_a_stopped_run_and_can_be_resumed(
    kind: str, tmp_path: Path, fourlab: Callable[..., Result]
) -> None:
    words, few, many = EXTENDED[kind]
    command = [*shlex.split(words)]
    assert fourlab(*command, str(few), "--run", "killed/run", "--quiet").returncode == 0
    process = interrupted(
        tmp_path,
        [*command, str(many), "--run", "killed/run", "--quiet"],
        "event",
        3,
        signal.SIGKILL,
    )
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    (row,) = json.loads(fourlab("runs", "--runs", "killed", "--json").stdout)
    assert (row["status"], row["total"]) == ("stopped", many)
    assert fourlab("resume", "last", "--runs", "killed", "--quiet").returncode == 0
    assert fourlab(*command, str(many), "--run", "whole/run", "--quiet").returncode == 0
    assert products(tmp_path / "killed") == products(tmp_path / "whole")
