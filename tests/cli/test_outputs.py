"""Pipes and devices that a user names as output files are refused and stay what they are."""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.hostile_runs import ALONE, SMALL, run
from tests.in_process import run_in_process

OUTPUTS = [
    "show 44 --svg {}",
    "review 4455 --html {}",
    "analyze 44 --agent mcts:simulations=100 --plot {}",
    "chess play --svg {}",
    "chess match random random --games 2 --quiet --keep {}",
    "book build --plies 3 --board 4x4x4 --quiet --file {}",
    "dataset solved --positions 10 --board 4x4x3 --plies 4-6 --quiet -o {}",
    "export kaggle random -o {}",
    "games last --csv {}",
    "games last --jsonl {}",
    "study vannucci-abril exact --scale smoke --quiet --publish {}",
]


@pytest.mark.parametrize("command", OUTPUTS)
def test_outputs_are_regular_files(command: str, tmp_path: Path) -> None:
    if command.startswith("games"):
        assert run(SMALL["match"], tmp_path, *ALONE, "--quiet").returncode == 0
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "linked").symlink_to("pipe")
    (tmp_path / "device").symlink_to(os.devnull)
    places = [tmp_path / name for name in ("pipe", "linked", "device")]
    before = [place.lstat().st_ino for place in places]
    for place in places:
        done = run_in_process(shlex.split(command.format(place.name)), tmp_path)
        assert done.returncode == 2, done
        assert done.stderr.count("\n") == 1
        assert re.search(rf"{place.name}.* is not a (regular file|file|folder)$", done.stderr)
    assert before == [place.lstat().st_ino for place in places]
